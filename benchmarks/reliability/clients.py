"""A small served model and clients of it, for the commands about servers: one question, or many clients at once.

The clients of a crowd live in one process and one loop over ready sockets, with every request written in advance and
every answer read afterwards: they cost a fraction of what a server does, so that the times are the server's.
"""

import gc
import heapq
import json
import os
import random
import re
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple

ALIKE = 1e-5  # of probabilities, float32
PATIENCE = 60.0  # seconds for an answer
POLITE = 0.2  # seconds before a refused client asks again
LINK = re.compile(r"^  http://127\.0\.0\.1:(\d+)/")
HEADER = b"ontent-length: "
TEXTS = [
    f"{first} {second} {third}, and {fourth}"
    for first in ("the film", "this story", "a cast")
    for second in ("was", "is not", "seems", "could be")
    for third in ("very good", "quite bad", "long", "great")
    for fourth in ("I liked it", "I left")
]
BODIES = [json.dumps({"rows": [{"text": text}]}).encode() for text in TEXTS]


class Reply(NamedTuple):
    """What a server said."""

    status: int
    head: bytes
    body: bytes


class Crowd(NamedTuple):
    """What many clients saw."""

    seconds: list[float]  # of each answered request
    statuses: Counter[str]
    bodies: Counter[tuple[int, bytes]]  # number of a question and answer to it
    per_second: float

    @property
    def p50(self) -> float:
        return median(self.seconds)

    @property
    def p99(self) -> float:
        return quantiles(self.seconds, n=100)[98] if len(self.seconds) > 1 else self.seconds[0]


def small_model(folder: Path) -> Path:
    """A classifier of short texts, hardly trained."""
    import atento

    settings = {"train.steps": 20, "train.threads": 1}
    atento.fit("opinions", model="gru+additive", settings=settings, seed=0, device="cpu", out=folder / "run")
    return folder / "run"


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[int]:
    """`atento serve` in a process of its own, from the moment it says its address; yields the port."""
    words = [sys.executable, "-m", "atento", "serve", str(folder), "--port", "0", "--device", "cpu", *options]
    with running(words) as process:
        for line in process.stdout or ():
            if found := LINK.match(line):
                yield int(found[1])
                break
        else:
            raise RuntimeError("the server did not start")


@contextmanager
def running(words: list[str]) -> Iterator["subprocess.Popen[str]"]:
    """A command for as long as it is needed, on one thread, with everything it starts."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, process_group=0
    )
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)


def request_of(body: bytes, port: int, *, method: str = "POST", path: str = "/predict", more: str = "") -> bytes:
    """A request as it goes over the wire; `more` are further headers, of which a Host replaces our own."""
    host = "" if "Host:" in more else f"Host: 127.0.0.1:{port}\r\n"
    kind = "" if "Content-Type:" in more or method == "GET" else "Content-Type: application/json\r\n"
    head = f"{method} {path} HTTP/1.1\r\n{host}{kind}{more}"
    return head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body


def ask(port: int, content: bytes, *, seconds: float = PATIENCE) -> Reply:
    """One request on a connection of its own; an `OSError` or `EOFError` where no answer comes."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as connection:
        connection.sendall(content)
        found = b""
        while (reply := reply_of(found)) is None:
            some = connection.recv(2**16)
            if not some:
                raise EOFError("the server hung up")
            found += some
        return reply


def reply_of(found: bytes) -> Reply | None:
    """The answer in what has come so far, once it is whole."""
    head, ended, body = found.partition(b"\r\n\r\n")
    if head.startswith(b"HTTP/1.1 100") and ended:  # go on: the answer itself follows
        head, ended, body = body.partition(b"\r\n\r\n")
    at = head.find(HEADER)
    if not ended or (at >= 0 and len(body) < int(head[at + len(HEADER) :].split(b"\r", 1)[0])):
        return None
    return Reply(int(head[9:12]), head.lower(), body)


class Client:
    """One connection that asks again as soon as it is answered."""

    def __init__(self, port: int, number: int, requests: list[bytes]) -> None:
        self.port, self.requests, self.chance = port, requests, random.Random(number)
        self.question, self.began, self.found = 0, 0.0, b""
        self.connection = self.connect()

    def connect(self) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def send(self) -> None:
        self.question, self.found = self.chance.randrange(len(self.requests)), b""
        self.began = time.perf_counter()
        self.connection.sendall(self.requests[self.question])

    def receive(self) -> Reply | None:
        some = self.connection.recv(2**16)
        if not some:
            raise EOFError("the server hung up")
        self.found += some
        return reply_of(self.found)


def crowd(port: int, clients: int, seconds: float, bodies: list[bytes] = BODIES) -> Crowd:
    """So many clients for so many seconds. A client that is refused waits a moment, as Retry-After asks."""
    requests = [request_of(body, port) for body in bodies]
    everyone = [Client(port, number, requests) for number in range(clients)]
    ready, waiting = selectors.DefaultSelector(), list[tuple[float, int]]()
    for number, client in enumerate(everyone):
        ready.register(client.connection, selectors.EVENT_READ, number)
    took, statuses, said = list[float](), Counter[str](), Counter[tuple[int, bytes]]()
    gc.collect()
    gc.freeze()  # the clients' own garbage collection is not the server's
    began = time.perf_counter()
    end, open_ones = began + seconds, clients
    for client in everyone:
        client.send()
    while open_ones and time.perf_counter() < end + PATIENCE:
        for key, _ in ready.select(max(0.0, waiting[0][0] - time.perf_counter()) if waiting else PATIENCE):
            client = everyone[key.data]
            try:
                reply = client.receive()
            except (OSError, EOFError) as error:
                statuses[type(error).__name__] += 1
                ready.unregister(client.connection)
                open_ones -= 1
                continue
            if reply is None:
                continue
            now = time.perf_counter()
            if reply.status == 200:
                took.append(now - client.began)
                said[client.question, reply.body] += 1
            statuses[name_of(reply)] += 1
            if now >= end:
                ready.unregister(client.connection)
                open_ones -= 1
            elif reply.status == 200:
                client.send()
            else:
                heapq.heappush(waiting, (now + POLITE, key.data))
        while waiting and waiting[0][0] <= time.perf_counter():
            everyone[heapq.heappop(waiting)[1]].send()
    statuses["no answer"] += open_ones
    for client in everyone:
        client.connection.close()
    return Crowd(took, +statuses, said, len(took) / (time.perf_counter() - began))


def name_of(reply: Reply) -> str:
    """The status; a refusal that says when to come again is another than one that does not."""
    return "503 + Retry-After" if reply.status == 503 and b"retry-after:" in reply.head else str(reply.status)


def different(seen: Crowd, port: int, bodies: list[bytes] = BODIES) -> tuple[int, float]:
    """How many answers are not those that the same server gives to one client, and the share that is bit for bit the
    same. The number of a label must be the same, and its probability to the rounding of float32.
    """
    alone = [ask(port, request_of(body, port)).body for body in bodies]
    wrong = sum(count for (question, body), count in seen.bodies.items() if not alike(body, alone[question]))
    same = sum(count for (question, body), count in seen.bodies.items() if body == alone[question])
    return wrong, same / max(1, seen.bodies.total())


def alike(one: bytes, other: bytes) -> bool:
    """Whether two answers are the same up to the last digits of their numbers."""
    text, expected = NUMBER.sub(b"0", one), NUMBER.sub(b"0", other)
    pairs = zip(NUMBER.findall(one), NUMBER.findall(other), strict=False)
    return text == expected and all(abs(float(a) - float(b)) <= ALIKE for a, b in pairs)


NUMBER = re.compile(rb"(?<=[:\[,])-?\d+\.\d+(?:e-?\d+)?")
