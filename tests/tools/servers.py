"""Real servers in processes of their own, and a small client that asks them as a program does."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

LINK = re.compile(r"^  http://(\S+?):(\d+)/")


@dataclass
class Reply:
    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


@dataclass
class Server:
    """A server that runs, and requests to it."""

    process: subprocess.Popen
    port: int
    said: list = field(default_factory=list)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method, path, body=None, *, headers=None, timeout=300):
        """A request as curl sends it; `headers` replace or (None) remove."""
        sent = {"Host": f"127.0.0.1:{self.port}"}
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        if content is not None:
            sent |= {"Content-Type": "application/json", "Content-Length": str(len(content))}
        sent |= headers or {}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders(content)
            answer = connection.getresponse()
            return Reply(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def predict(self, *rows, **more):
        """The results of rows, and the model that gave them."""
        reply = self.ask("POST", "/predict", {"rows": list(rows), **more})
        assert reply.status == 200, (reply.status, reply.body[:500])
        return reply.json

    def ready(self):
        return self.ask("GET", "/readyz").json["ready"]

    def until(self, holds, *, seconds=300):
        """Wait until something holds."""
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, f"it did not happen; the server said: {''.join(self.said)}"
            time.sleep(0.05)

    def worker(self):
        """The number of the process of the model."""
        lines = subprocess.run(
            ["ps", "-o", "pid=,args=", "--ppid", str(self.process.pid)], capture_output=True, text=True, check=True
        ).stdout.strip()
        (line,) = [line for line in lines.split("\n") if "atento.serving.worker" in line]
        return int(line.split()[0])

    def count(self, name):
        """A number of /metrics."""
        text = self.ask("GET", "/metrics").body.decode()
        return sum(float(line.rsplit(" ", 1)[1]) for line in text.split("\n") if line.startswith(name))

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(timeout=300)


@contextmanager
def run_server(folder, *options, **variables):
    """Start `atento serve` on a free port with variables of its environment; yield it when it has said its address."""
    command = [sys.executable, "-m", "atento", "serve", str(folder), "--port", "0", "--device", "cpu", *options]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1", **variables}
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    )
    said = []
    try:
        for line in process.stdout:
            said.append(line)
            if found := LINK.search(line):
                break
        else:
            pytest.fail(f"the server did not start: {''.join(said)}")
        threading.Thread(target=lambda: said.extend(process.stdout), daemon=True).start()  # or its pipe would fill
        yield Server(process, int(found[2]), said)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=300)
        process.stdout.close()
