"""A served model under load, beside a LitServe server of the same model, on this machine alone.

    OMP_NUM_THREADS=1 python benchmarks/serving.py [--seconds 60] [--only load,fuzz,large]

load    200 clients for a minute: no failure, p99/p50 at most 1.5, at least 3 times the throughput of one client, every
        answer that of a quiet server; 2,000 clients get 200, or 503 with Retry-After; the same of LitServe (pip install
        litserve), whose throughput and p99 are not better
fuzz    20,000 broken requests: no 500, no path of this machine in an answer, a golden request bit-equal afterwards
large   a million tokens are refused within 50 ms; 200 slow clients do not slow others

Every line is a figure with pass or miss; a miss ends with exit code 1. Traffic goes to 127.0.0.1, bounded in count and
time. Clients, server and model share the cores of one machine, so figures on a busy machine are too low for both peers.
"""

import argparse
import asyncio
import gc
import importlib.util
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

CLIENTS, CROWD = 200, 2000
FUZZED = 20_000
ALIKE = 1e-5  # of probabilities, float32
TEXTS = [
    f"{first} {second} {third}, and {fourth}"
    for first in ("the film", "this story", "a cast")
    for second in ("was", "is not", "seems", "could be")
    for third in ("very good", "quite bad", "long", "great")
    for fourth in ("I liked it", "I left")
]
LITSERVE = """
import sys
import litserve
import torch
import atento

class Api(litserve.LitAPI):
    def setup(self, device):
        torch.set_num_threads(1)
        self.run = atento.load(sys.argv[1], device="cpu")

    def decode_request(self, request):
        return request["text"]

    def batch(self, inputs):
        return list(inputs)

    def predict(self, texts):
        return self.run.answers(texts, ())

    def unbatch(self, output):
        return output

    def encode_response(self, output):
        return {"label": output.text, "probabilities": dict(output.probabilities)}

if __name__ == "__main__":
    server = litserve.LitServer(Api(max_batch_size=256, batch_timeout=0.005), accelerator="cpu", timeout=60)
    server.run(host="127.0.0.1", port=8472, generate_client_file=False, log_level="error", num_api_servers=1)
"""
LONG = "x" * 70_000
VALUES: list[Any] = [
    "film",
    "",
    LONG,
    7,
    None,
    True,
    [],
    {},
    ["a"],
    {"text": "a"},
    -1e308,
    "\ud800",
    "\0",
    "file:///etc",
]
KEYS = ["text", "rows", "attention", "file", "path", "url", "__class__", "\u202e", "row", ""]
PATHS = ["/stream", "/model", "/static/../app.py", "/%2e%2e/", "/predict?x=" + "y" * 99]
HEADERS = ["Origin: http://evil.example\r\n", "X-A: " + "b" * 4000 + "\r\n", "Expect: 100-continue\r\n"]
missed: list[str] = []


class Reply(NamedTuple):
    """What a server said."""

    status: int
    headers: bytes
    body: bytes


class Load(NamedTuple):
    """What many clients saw."""

    seconds: list[float]  # of each answered request
    statuses: Counter[str]
    wrong: int  # answers that are not those of a quiet server
    equal: int  # answers that are so bit by bit
    per_second: float

    @property
    def p50(self) -> float:
        return median(self.seconds)

    @property
    def p99(self) -> float:
        return quantiles(self.seconds, n=100)[98] if len(self.seconds) > 1 else self.seconds[0]


def tell(name: str, figure: str, holds: bool | None = None) -> None:
    """One line; where something was promised, whether it holds."""
    said = "" if holds is None else "   pass" if holds else "   MISS"
    print(f"{name:46s} {figure}{said}", flush=True)
    if holds is False:
        missed.append(name)


def request_of(body: bytes, port: int, *, path: str = "/predict", more: str = "") -> bytes:
    """A request as it goes over the wire."""
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n{more}"
    return head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body


async def read_reply(reader: asyncio.StreamReader) -> Reply:
    """The next answer on a connection."""
    head = await reader.readuntil(b"\r\n\r\n")
    if head.startswith(b"HTTP/1.1 100"):  # go on: the answer itself follows
        head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    body = await reader.readexactly(int(length[1])) if length else await reader.read()
    return Reply(int(head.split(b" ", 2)[1]), head.lower(), body)


async def ask(port: int, content: bytes) -> Reply:
    """One request on a connection of its own."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(content)
        return await read_reply(reader)
    finally:
        writer.close()


def body_of(text: str, *, plain: bool) -> bytes:
    """One row; LitServe takes the row itself."""
    return json.dumps({"text": text} if plain else {"rows": [{"text": text}]}).encode()


def chance_of(body: bytes, *, plain: bool) -> dict[str, float]:
    """The probabilities in an answer."""
    found = json.loads(body)
    return dict(found["probabilities"] if plain else found["results"][0]["answer"]["probabilities"])


async def load(port: int, clients: int, seconds: float, expected: dict[str, dict[str, float]], *, plain: bool) -> Load:
    """Clients that each ask again as soon as they are answered."""
    took: list[float] = []
    statuses: Counter[str] = Counter()
    wrong = equal = 0
    end = time.perf_counter() + seconds

    async def one(number: int) -> None:
        nonlocal wrong, equal
        chance, reader, writer = random.Random(number), None, None
        while time.perf_counter() < end:
            text = chance.choice(TEXTS)
            try:
                if writer is None or reader is None:
                    reader, writer = await asyncio.open_connection("127.0.0.1", port)
                started = time.perf_counter()
                writer.write(request_of(body_of(text, plain=plain), port))
                reply = await asyncio.wait_for(read_reply(reader), 60)
            except (OSError, EOFError, TimeoutError) as error:
                statuses[type(error).__name__] += 1
                writer = None
                continue
            if reply.status == 200:
                took.append(time.perf_counter() - started)
                found = chance_of(reply.body, plain=plain)
                far = max(abs(found[label] - expected[text][label]) for label in found)
                wrong, equal = wrong + (far > ALIKE), equal + (far == 0)
                statuses["200"] += 1
            else:
                named = reply.status == 503 and b"retry-after:" in reply.headers
                statuses["503 + Retry-After" if named else str(reply.status)] += 1
                await asyncio.sleep(0.2)  # a polite client waits
        if writer is not None:
            writer.close()

    gc.collect()
    gc.freeze()  # the clients' own garbage collection is not the server's
    started = time.perf_counter()
    await asyncio.gather(*(one(number) for number in range(clients)))
    return Load(took, statuses, wrong, equal, len(took) / (time.perf_counter() - started))


@contextmanager
def serving(words: list[str], port: int) -> Iterator[int]:
    """A server in a process of its own, from the moment it answers."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        content = request_of(b"{}", port)
        for _ in range(600):
            try:
                asyncio.run(ask(port, content))
                break
            except (OSError, EOFError):
                time.sleep(0.1)
        yield process.pid
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)


def quiet_answers(port: int, *, plain: bool) -> dict[str, dict[str, float]]:
    """The answer to each text, asked one after the other."""
    replies = {text: asyncio.run(ask(port, request_of(body_of(text, plain=plain), port))) for text in TEXTS}
    return {text: chance_of(reply.body, plain=plain) for text, reply in replies.items()}


def measure(name: str, port: int, seconds: float, *, plain: bool) -> tuple[Load, Load]:
    """One client, then many, of one server."""
    expected = quiet_answers(port, plain=plain)
    asyncio.run(load(port, 20, 2, expected, plain=plain))  # warm
    alone = asyncio.run(load(port, 1, max(3, seconds / 6), expected, plain=plain))
    many = asyncio.run(load(port, CLIENTS, seconds, expected, plain=plain))
    tell(f"{name}: one client", f"{alone.per_second:,.0f}/s, p50 {1000 * alone.p50:.1f} ms")
    times = f"p50 {1000 * many.p50:.1f} ms, p99 {1000 * many.p99:.1f} ms"
    tell(f"{name}: {CLIENTS} clients, {seconds:.0f} s", f"{many.per_second:,.0f}/s, {times}")
    return alone, many


def check_load(folder: Path, seconds: float) -> None:
    """Both servers, one after the other."""
    with serving(serve_words(folder, 8471), 8471):
        alone, many = measure("atento", 8471, seconds, plain=False)
        failed = many.statuses.total() - many.statuses["200"]
        tell("F9 no failure", f"{failed} of {many.statuses.total():,}", failed == 0)
        tell("F9 p99/p50 at most 1.5", f"{many.p99 / many.p50:.2f}", many.p99 / many.p50 <= 1.5)
        gain = many.per_second / alone.per_second
        tell("F9 throughput at least 3 x one client", f"{gain:.1f} x", gain >= 3)
        tell(f"F9 answers as when quiet, to {ALIKE:g}", f"{many.wrong} differ", many.wrong == 0)
        tell("   bit by bit", f"{many.equal / max(1, len(many.seconds)):.1%}")
        crowd = asyncio.run(load(8471, CROWD, 10, quiet_answers(8471, plain=False), plain=False))
        good = set(crowd.statuses) <= {"200", "503 + Retry-After"}
        tell(f"F9 {CROWD:,} clients: 200 or 503 + Retry-After", f"{dict(crowd.statuses)}", good)
    if importlib.util.find_spec("litserve") is None:
        tell("LitServe beside it", "not installed: pip install litserve", False)
        return
    script = folder.with_name("litserver.py")
    script.write_text(LITSERVE, encoding="utf-8")
    with serving([sys.executable, str(script), str(folder)], 8472):
        _, peer = measure("LitServe", 8472, seconds, plain=True)
    ratio, slower = many.per_second / peer.per_second, many.p99 / peer.p99
    tell("throughput, atento / LitServe", f"{ratio:.2f}", ratio >= 1)
    tell("p99, atento / LitServe", f"{slower:.2f}", slower <= 1)


def serve_words(folder: Path, port: int) -> list[str]:
    """The command of a server."""
    return [sys.executable, "-m", "atento", "serve", str(folder), "--port", str(port), "--device", "cpu"]


def broken(chance: random.Random, port: int) -> bytes:
    """A request with something wrong in it."""
    body = json.dumps({"rows": [{"text": chance.choice(TEXTS)}]}).encode()
    match chance.randrange(6):
        case 0:
            body = json.dumps({chance.choice(KEYS): chance.choice(VALUES) for _ in range(3)}).encode()
        case 1:
            rows = [{chance.choice(KEYS): chance.choice(VALUES)} for _ in range(chance.randrange(6))]
            body = json.dumps({"rows": rows, "attention": chance.choice([True, False, 1])}).encode()
        case 2:
            letters = bytearray(body)
            for _ in range(chance.randrange(1, 6)):
                letters[chance.randrange(len(letters))] = chance.randrange(256)
            body = bytes(letters)
        case 3:
            body = b"[" * chance.randrange(1, 60_000)
        case 4:
            body = chance.randbytes(chance.randrange(400))
    more = chance.choice([""] * 6 + HEADERS) + "Connection: close\r\n"
    return request_of(body, port, path=chance.choice(["/predict"] * 6 + PATHS), more=more)


def check_fuzz(folder: Path) -> None:
    """Broken requests, many at a time."""
    with serving(serve_words(folder, 8473), 8473):
        golden = request_of(body_of(TEXTS[0], plain=False), 8473)
        before, statuses, leaks = asyncio.run(ask(8473, golden)).body, Counter[str](), 0
        chance = random.Random(0)
        told = [str(folder), str(Path(__file__).parents[1]), "site-packages", "Traceback", tempfile.gettempdir()]

        async def one(content: bytes) -> None:
            nonlocal leaks
            try:
                reply = await asyncio.wait_for(ask(8473, content), 30)
            except (OSError, EOFError, TimeoutError) as error:
                statuses[type(error).__name__] += 1
                return
            statuses[str(reply.status)] += 1
            leaks += any(text.encode() in reply.body for text in told)

        async def all_of_them() -> None:
            for _ in range(FUZZED // 50):
                await asyncio.gather(*(one(broken(chance, 8473)) for _ in range(50)))

        started = time.perf_counter()
        asyncio.run(all_of_them())
        tell(f"{statuses.total():,} broken requests", f"{time.perf_counter() - started:.0f} s, {dict(statuses)}")
        known = {"200", "400", "403", "404", "405", "408", "413", "415", "422"}
        tell("F8 no 500, no hanging up", f"{set(statuses) - known or 'none'}", not set(statuses) - known)
        tell("F8 no path of this machine in an answer", f"{leaks}", leaks == 0)
        after = asyncio.run(ask(8473, golden)).body
        tell("F8 a golden request bit-equal afterwards", f"{after == before}", after == before)


def check_large(folder: Path) -> None:
    """What is too large, and who is too slow."""
    with serving(serve_words(folder, 8474), 8474):
        for name, text in (("a million characters", "a" * 1_000_000), ("a million words", "ab " * 1_000_000)):
            content, took, status = request_of(body_of(text, plain=False), 8474), list[float](), 0
            for _ in range(10):
                started = time.perf_counter()
                status = asyncio.run(timed_out_of(ask(8474, content))).status
                took.append(time.perf_counter() - started)
            good = median(took) <= 0.05 and status in (413, 422)
            tell(f"F11 {name} refused within 50 ms", f"{status} in {1000 * median(took):.0f} ms", good)
        quick, slowed = asyncio.run(beside_slow_clients(8474))
        ratio = slowed.p50 / quick.p50
        good = ratio <= 1.25 and set(slowed.statuses) == {"200"}
        tell("F11 p50 beside 200 slow clients, ratio", f"{ratio:.2f}", good)


async def timed_out_of(asking: Coroutine[Any, Any, Reply]) -> Reply:
    """An answer within a few seconds."""
    return await asyncio.wait_for(asking, 10)


async def beside_slow_clients(port: int) -> tuple[Load, Load]:
    """One client without and with others that send a byte now and then."""
    replies = {text: await ask(port, request_of(body_of(text, plain=False), port)) for text in TEXTS}
    expected = {text: chance_of(reply.body, plain=False) for text, reply in replies.items()}
    quick = await load(port, 1, 5, expected, plain=False)
    slow = [(await asyncio.open_connection("127.0.0.1", port))[1] for _ in range(200)]

    async def drip() -> None:
        for letter in request_of(b" " * 500, port):
            for writer in slow:
                writer.write(bytes([letter]))
            await asyncio.sleep(0.05)

    dripping = asyncio.create_task(drip())
    slowed = await load(port, 1, 5, expected, plain=False)
    dripping.cancel()
    for writer in slow:
        writer.close()
    return quick, slowed


def main() -> int:
    """Train a small model once, then measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--only", default="load,fuzz,large")
    given = parser.parse_args()
    import atento

    with tempfile.TemporaryDirectory(prefix="atento-serving-") as place:
        folder = Path(place) / "run"
        settings = {"train.steps": 20, "train.threads": 1}
        atento.fit("opinions", model="gru+additive", settings=settings, seed=0, device="cpu", out=folder)
        parts: dict[str, Callable[[], None]] = {
            "large": lambda: check_large(folder),
            "fuzz": lambda: check_fuzz(folder),
            "load": lambda: check_load(folder, given.seconds),
        }
        for name, part in parts.items():
            if name in given.only.split(","):
                part()
    print(f"{len(missed)} missed: {', '.join(missed)}" if missed else "all hold")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
