"""`python -m MODULE` without the seconds that torch takes to load: forked from a process that has loaded it.

What runs is a process of its own, with its own memory, files, environment and session, and it dies as any other does.
Only its command line is that of the process it was forked from, and its parent is a small process that waits for it.
"""

import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import traceback
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from atento.system import kill_with_parent

MOST = 1 << 20  # bytes of an order
NUMBER = 12  # bytes of a number that is told


class Nursery:
    """The asking side: a process, made by `start(serve, socket)`, that forks what it is ordered to."""

    def __init__(self, start):
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MOST)
        start(serve, theirs)
        theirs.close()

    def close(self):
        """Let its process end."""
        self.socket.close()

    @classmethod
    def by_fork(cls):
        """One that is forked from this very process."""

        def start(target, orders):
            if os.fork() == 0:
                target(orders)
                os._exit(0)

        return cls(start)

    def popen(self, words, *, cwd=None, env=None, stdin=None, stdout=None, stderr=None, start_new_session=False):
        """As `subprocess.Popen`, for [sys.executable, "-m", MODULE, ...]; other words get a process of their own."""
        words = [word for word in map(str, words) if not word.startswith("-X")]
        if words[:2] != [sys.executable, "-m"]:
            files = {"stdin": stdin, "stdout": stdout, "stderr": stderr}
            return subprocess.Popen(words, cwd=cwd, env=env, start_new_session=start_new_session, **files)
        order = {
            "words": words[2:],
            "cwd": str(cwd or Path.cwd()),
            "env": dict(os.environ if env is None else env),
            "session": start_new_session,
        }
        return Forked(self.socket, order, (stdin, stdout, stderr))


@contextmanager
def forked_workers(popen):
    """Comparisons and searches of this process start the processes that train by `popen`.

    That `python -m atento.worker` is a command which does the same is asked in tests/journeys/test_compare.py and
    tests/cli/test_faults.py.
    """
    from atento.api.comparison import workers

    with mock.patch.object(workers, "subprocess", SimpleNamespace(**{**vars(subprocess), "Popen": popen})):
        yield


class Forked:
    """A process that was forked by another one: what is used of `subprocess.Popen`."""

    def __init__(self, orders, order, files):
        self.returncode = None
        self.stdin = self.stdout = self.stderr = None
        ours, theirs = os.pipe()
        given, opened = [], [theirs]
        for number, file in enumerate(files):
            if file == subprocess.PIPE:
                near, far = os.pipe()[:: -1 if number == 0 else 1]
                setattr(self, ("stdin", "stdout", "stderr")[number], os.fdopen(near, "rb" if number else "wb"))
                given.append(far)
                opened.append(far)
            elif file == subprocess.DEVNULL:
                given.append(os.open(os.devnull, os.O_RDWR))
                opened.append(given[-1])
            else:
                given.append(number if file is None else file if isinstance(file, int) else file.fileno())
        socket.send_fds(orders, [json.dumps(order).encode()], [*given, theirs])
        for number in opened:
            os.close(number)
        self.told = os.fdopen(ours, "rb", buffering=0)
        self.pid = int(self.told.read(NUMBER))

    def poll(self):
        """Its exit code; None while it runs."""
        return self._look(0)

    def _look(self, seconds):
        if self.returncode is None and select.select([self.told], [], [], seconds)[0]:
            self.returncode = int(self.told.read(NUMBER) or -signal.SIGKILL)  # nothing: who waits for it was killed
            self.told.close()
        return self.returncode

    def wait(self, timeout=None):
        """Its exit code, once it has ended."""
        if self._look(timeout) is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout)
        return self.returncode

    def send_signal(self, number):
        """A signal, if there is still anyone to get it."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self):
        self.send_signal(signal.SIGTERM)

    def kill(self):
        self.send_signal(signal.SIGKILL)


def serve(orders):
    """Fork what is ordered until nobody can order anything more."""
    kill_with_parent()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # those that wait are let go of by themselves
    orders.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, MOST)
    while True:
        message, files, _, _ = socket.recv_fds(orders, MOST, 4)
        if not message:
            return
        if os.fork() == 0:
            orders.close()
            mind(json.loads(message), files)
        for number in files:
            os.close(number)


def mind(order, files):
    """Fork what was ordered, which tells its number, wait for it, and tell how it ended."""
    kill_with_parent()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    *streams, told = files
    child = os.fork()
    if child == 0:
        if order["session"]:
            os.setsid()  # before anyone knows it and may signal its group
        os.write(told, b"%12d" % os.getpid())
        os.close(told)
        run(order, streams)
    for number in (*streams, 0, 1, 2):  # or its pipes would never end
        os.close(number)
    os.write(told, b"%12d" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    os._exit(0)


def run(order, streams):
    """Be `python -m MODULE ...`."""
    kill_with_parent()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    for number in streams:
        if number > 2:
            os.close(number)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    module, *words = order["words"]
    sys.argv = [module, *words]
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - open to the end
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
    code = 1
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - as Python itself ends
        traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            code = code or 120
    os._exit(code)
