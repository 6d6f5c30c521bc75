"""F10: a foreign Host, a foreign or missing Origin on a write, paths that lead outside, and other machines without a
token: all refused by `atento serve` and `atento studio`, with no side effect.

    python benchmarks/reliability/foreign_requests.py [--count 2000] [--seed 0]

A program that is no browser sends no Origin, and `atento serve` answers it; a browser that hides its Origin is refused.
The studio takes no write without its own Origin.
"""

import hashlib
import random
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from clients import BODIES, ask, request_of, running, serving, small_model
from measure import options, verdict, workshop

HOSTS = (
    "evil.example",
    "evil.example:{port}",
    "127.0.0.1",
    "127.0.0.1:1",
    "169.254.169.254",
    "localhost.evil:{port}",
    "",
)
ORIGINS = (
    "http://evil.example",
    "null",
    "http://127.0.0.1:1",
    "https://127.0.0.1:{port}",
    "http://localhost.evil:{port}",
)
BROWSERS = ("Cookie: a=b", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: no-cors")
ESCAPES = (
    "/../../etc/passwd", "/static/../app.py", "/static/%2e%2e/app.py", "/..%2f..%2fetc/passwd", "//etc/passwd",
    "/static/..%5c..%5capp.py", "/static//etc/passwd", "/static/%252e%252e/app.py", "/predict/../model", "/static/\\..",
)  # fmt: skip
ADDRESSES = ("0.0.0.0", "::", "192.0.2.7")
WRITES = ("/predict", "/stream")
STUDIO_WRITES = ("/api/train", "/api/inspect", "/api/upload", "/api/stop")
STUDIO_LINK = re.compile(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)")


class Foreign(NamedTuple):
    """A request, and the statuses of which one must refuse it."""

    content: bytes
    refusals: tuple[int, ...]


def foreign(chance: random.Random, port: int, writes: Sequence[str], more: str) -> Foreign:
    """A request that must be refused; `more` is what would let it in otherwise."""
    body, path = chance.choice(BODIES), chance.choice(writes)
    match chance.randrange(4):
        case 0:
            method, host = chance.choice(["GET", "POST"]), chance.choice(HOSTS).format(port=port)
            return Foreign(request_of(body, port, method=method, path=path, more=f"{more}Host: {host}\r\n"), (403,))
        case 1:
            origin = chance.choice(ORIGINS).format(port=port)
            return Foreign(request_of(body, port, path=path, more=f"{more}Origin: {origin}\r\n"), (403,))
        case 2:
            return Foreign(request_of(body, port, path=path, more=f"{more}{chance.choice(BROWSERS)}\r\n"), (403,))
        case _:
            return Foreign(request_of(b"", port, method="GET", path=chance.choice(ESCAPES), more=more), (400, 404))


def state_of(folder: Path) -> str:
    """Every file below a folder, by name and content."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        found.update(str(path).encode() + (path.read_bytes() if path.is_file() else b""))
    return found.hexdigest()


def rows_seen(port: int) -> list[bytes]:
    """What the server counts of the rows that it was given."""
    text = ask(port, request_of(b"", port, method="GET", path="/metrics")).body
    return [line for line in text.split(b"\n") if line.startswith(b"atento_rows_total")]


def let_in(port: int, count: int, chance: random.Random, writes: Sequence[str], more: str = "") -> int:
    """How many of so many foreign requests are not refused as they must be."""
    asked = [foreign(chance, port, writes, more) for _ in range(count)]
    return sum(ask(port, one.content, seconds=30).status not in one.refusals for one in asked)


def main(arguments: Sequence[str] | None = None) -> int:
    given = options(__doc__, arguments, count=2000)
    chance, effects = random.Random(given.seed), 0
    with workshop() as folder:
        run, work = small_model(folder), folder / "work"
        work.mkdir()
        with serving(run) as port:
            ask(port, request_of(BODIES[0], port))
            before = state_of(folder), rows_seen(port)
            passed = let_in(port, given.count // 2, chance, WRITES)
            effects += before != (state_of(folder), rows_seen(port))
        words = [sys.executable, "-m", "atento", "studio", str(work), "--no-browser", "--port", "0"]
        with running(words) as studio:
            said = "".join(studio.stdout.readline() for _ in range(2)) if studio.stdout else ""
            found = STUDIO_LINK.search(said)
            if found is None:
                raise RuntimeError(f"the studio did not start: {said}")
            port, token = int(found[1]), f"Authorization: Bearer {found[2]}\r\n"
            state = state_of(work)
            passed += let_in(port, given.count // 2, chance, STUDIO_WRITES, token)
            effects += state != state_of(work)
        opened = [address for address in ADDRESSES if not refused_to_listen(run, address)]
    figure = (
        f"{given.count:,} requests to serve and studio: {passed} let in, {effects} side effects; "
        f"{len(opened)} of {len(ADDRESSES)} addresses opened without a token"
    )
    return verdict("F10", figure, "none, none, none", met=not passed and not effects and not opened)


def refused_to_listen(run: Path, address: str) -> bool:
    """Whether a server for other machines is refused without a token."""
    words = [sys.executable, "-m", "atento", "serve", str(run), "--host", address, "--port", "0"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode == 2 and "--token" in done.stderr


if __name__ == "__main__":
    sys.exit(main())
