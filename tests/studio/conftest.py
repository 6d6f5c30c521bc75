"""A real server of the studio in a process of its own, and a small client that asks it as its page does."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

SLOW = 90_000  # milliseconds: a training begins after torch is loaded, on a machine that may be busy
LINK = re.compile(r"http://(\S+?):(\d+)/\?token=(\S+)")


@pytest.fixture(autouse=True)
def patient():
    """Whatever a page is expected to show may take its time."""
    expect.set_options(timeout=SLOW)


@dataclass
class Reply:
    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


@dataclass
class Studio:
    """A server that runs: its address, its token, and requests to it as from its own page."""

    folder: Path
    process: subprocess.Popen
    host: str
    port: int
    token: str

    @property
    def url(self):
        return f"http://{self.host}:{self.port}"

    @property
    def link(self):
        """What a browser opens first."""
        return f"{self.url}/?token={self.token}"

    def ask(self, method, path, body=None, *, headers=None, own=True, timeout=300):
        """A request; with `own` it carries what the page sends by itself, and `headers` replace or (None) remove."""
        sent = {"Host": f"{self.host}:{self.port}"}
        if own:
            sent |= {"Cookie": f"atento-studio-{self.port}={self.token}"}
            if method == "POST":
                kind = "application/octet-stream" if isinstance(body, bytes) else "application/json"
                sent |= {"Origin": self.url, "Content-Type": kind}
        sent |= headers or {}
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                if value is not None:
                    connection.putheader(name, value)
            if content is not None and "Content-Length" not in sent and "Transfer-Encoding" not in sent:
                connection.putheader("Content-Length", str(len(content)))
            connection.endheaders(content)
            answer = connection.getresponse()
            return Reply(answer.status, dict(answer.getheaders()), answer.read())
        finally:
            connection.close()

    def get(self, path, **query):
        """The JSON of a question; a refusal fails the test."""
        reply = self.ask("GET", f"{path}?{urlencode(query)}" if query else path)
        assert reply.status == 200, (path, reply.status, reply.body[:2000])
        return reply.json

    def post(self, path, body):
        """The JSON of a demand; a refusal fails the test."""
        reply = self.ask("POST", path, body)
        assert reply.status == 200, (path, reply.status, reply.body[:2000])
        return reply.json

    def kill(self):
        """End it as a crash would: nothing is told, nothing is closed."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        """End it as Ctrl-C would; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=300)


@contextmanager
def run_studio(folder, *options, port=0):
    """Start `atento studio` in a folder on a free port, and yield it when it has printed its link."""
    command = [sys.executable, "-m", "atento", "studio", str(folder), "--port", str(port), "--no-browser", *options]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    )
    said = []
    try:
        for line in process.stdout:
            said.append(line)
            found = LINK.search(line)
            if found:
                break
        else:
            pytest.fail(f"the studio did not start: {''.join(said)}")
        threading.Thread(target=lambda: said.extend(process.stdout), daemon=True).start()  # or its pipe would fill
        studio = Studio(Path(folder), process, found[1], int(found[2]), found[3])
        studio.said = said
        yield studio
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture(scope="session")
def studio_server():
    """`with studio_server(folder) as studio:` a running server; studio.link, .url, .token, .get(), .post(), .kill()."""
    return run_studio
