"""F11: a million tokens are refused within 50 ms, and clients that send a byte now and then do not slow others.

    python benchmarks/reliability/large_and_slow.py [--count 20] [--seed 0]

The count is how often each large request is sent, and how many turns the quick client takes without and with 200 slow
ones beside it.
"""

import json
import socket
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from statistics import median

from clients import ask, crowd, request_of, serving, small_model
from measure import options, verdict, workshop

SLOW, BETWEEN = 200, 0.25  # clients, and seconds between two bytes of each
TURN = 0.5  # seconds that the quick client asks in one turn
MOST_SECONDS, MOST_RATIO = 0.05, 1.25
LARGE = {"a million characters": "a" * 1_000_000, "a million words": "ab " * 1_000_000}


class Drip:
    """Slow clients, for as long as a `with` lasts."""

    def __init__(self, port: int) -> None:
        self.port, self.ended = port, threading.Event()
        self.thread = threading.Thread(target=self.send)

    def __enter__(self) -> "Drip":
        self.stack = ExitStack()
        connections = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(SLOW)]
        self.connections = [self.stack.enter_context(one) for one in connections]
        self.thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.ended.set()
        self.thread.join()
        self.stack.close()

    def send(self) -> None:
        for at in request_of(b" " * 500, self.port):
            for connection in self.connections:
                connection.sendall(bytes([at]))
            if self.ended.wait(BETWEEN):
                return


def main(arguments: Sequence[str] | None = None) -> int:
    given = options(__doc__, arguments, count=20)
    took: list[float] = []
    statuses: set[int] = set()
    quick: list[float] = []
    slowed: list[float] = []
    with workshop() as folder, serving(small_model(folder)) as port:
        for text in LARGE.values():
            content = request_of(json.dumps({"rows": [{"text": text}]}).encode(), port)
            for _ in range(given.count):
                started = time.perf_counter()
                statuses.add(ask(port, content, seconds=10).status)
                took.append(time.perf_counter() - started)
        for _ in range(given.count):  # by turns, so that what else the machine does is the same for both
            quick += crowd(port, 1, TURN).seconds
            with Drip(port):
                slowed += crowd(port, 1, TURN).seconds
    ratio = median(slowed) / median(quick)
    refused = statuses <= {413, 422}
    figure = (
        f"{len(took)} large requests: {sorted(statuses)}, median {1000 * median(took):.0f} ms, slowest "
        f"{1000 * max(took):.0f} ms; p50 of one client beside {SLOW} slow ones {ratio:.2f} × as long"
    )
    target = f"each refused within {1000 * MOST_SECONDS:.0f} ms, at most {MOST_RATIO} ×"
    return verdict("F11", figure, target, met=refused and max(took) <= MOST_SECONDS and ratio <= MOST_RATIO)


if __name__ == "__main__":
    sys.exit(main())
