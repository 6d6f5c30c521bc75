"""F8: broken requests to a server: no 500, no hanging up, no path of the machine in an answer, and a golden request is
answered afterwards bit for bit as before.

    python benchmarks/reliability/fuzzed_requests.py [--count 20000] [--seed 0]

Wrong fields, types, letters, lengths, nesting, headers and paths; many at a time, on connections of their own.
"""

import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from clients import BODIES, TEXTS, ask, request_of, serving, small_model
from measure import ROOT, options, verdict, workshop

AT_ONCE = 16
REFUSALS = {"200", "400", "403", "404", "405", "408", "413", "415", "422"}
VALUES: list[Any] = [
    "film", "", "x" * 70_000, 7, None, True, [], {}, ["a"], {"text": "a"}, -1e308, "\ud800", "\0", "file:///etc",
]  # fmt: skip
KEYS = ["text", "rows", "attention", "file", "path", "url", "__class__", "\u202e", "row", ""]
PATHS = ["/stream", "/model", "/static/../app.py", "/%2e%2e/", "/predict?x=" + "y" * 99]
HEADERS = ["Origin: http://evil.example\r\n", "X-A: " + "b" * 4000 + "\r\n", "Expect: 100-continue\r\n"]


def broken(chance: random.Random, port: int) -> bytes:
    """A request with something wrong in it; one of six is only strange."""
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


def main(arguments: Sequence[str] | None = None) -> int:
    given = options(__doc__, arguments, count=20_000)
    chance, statuses, leaks = random.Random(given.seed), Counter[str](), 0
    with workshop() as folder, serving(small_model(folder)) as port, ThreadPoolExecutor(AT_ONCE) as pool:
        told = [str(folder), str(ROOT), str(Path(sys.prefix)), "site-packages", "Traceback", tempfile.gettempdir()]
        golden = request_of(BODIES[0], port)

        def one(content: bytes) -> tuple[str, bool]:
            try:
                reply = ask(port, content, seconds=30)
            except (OSError, EOFError) as error:
                return type(error).__name__, False
            return str(reply.status), any(text.encode() in reply.body for text in told)

        before = ask(port, golden).body
        for _ in range(0, given.count, AT_ONCE * 8):
            for status, leaked in pool.map(one, [broken(chance, port) for _ in range(AT_ONCE * 8)]):
                statuses[status] += 1
                leaks += leaked
        same = ask(port, golden).body == before
    wrong = {status: count for status, count in statuses.items() if status not in REFUSALS}
    print(", ".join(f"{count:,} × {status}" for status, count in statuses.most_common()), file=sys.stderr)
    figure = (
        f"{statuses.total():,} requests: {sum(wrong.values())} answered by 500 or not at all, "
        f"{leaks} paths told, golden request {'bit-equal' if same else 'CHANGED'}"
    )
    return verdict("F8", figure, "none, none, bit-equal", met=not wrong and not leaks and same)


if __name__ == "__main__":
    sys.exit(main())
