"""A job on a node of a Ray cluster: the same process that a comparison starts on its own machine (`atento.worker`).

Ray finds `run_worker` by its name, in the atento that is installed on the node, and passes it plain texts.
"""

import platform
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from atento.errors import MachineError
from atento.system import own_session
from atento.version import __version__

SECONDS_BETWEEN_LOOKS = 0.1
NOT_RUN = MachineError.exit_code


def run_worker(words: list[str], log: str, version: str) -> tuple[int, str]:
    """Run `python -m atento.worker` with these words, what it says going to a file; its exit code, and why it could not
    be run here.

    version: of the atento that asks; two that differ could train differently.
    """
    if version != __version__:
        return NOT_RUN, f"the node {platform.node()} has atento {__version__}, and here is {version}."
    if not Path(words[0]).is_file():
        return NOT_RUN, f"the node {platform.node()} cannot see {words[0]}."
    with Path(log).open("wb") as errors, noted_interrupts() as cancelled:
        process = subprocess.Popen(
            [sys.executable, "-m", "atento.worker", *words],
            stdin=subprocess.PIPE,  # by which it sees that we have died
            stdout=subprocess.DEVNULL,
            stderr=errors,
            **own_session(),
        )
        try:
            while process.poll() is None and not cancelled.is_set():
                time.sleep(SECONDS_BETWEEN_LOOKS)
            if cancelled.is_set():
                process.terminate()  # it saves first, and whoever cancelled it insists when that takes too long
                process.wait()
        finally:
            process.kill()
            process.communicate()
    if cancelled.is_set():
        raise KeyboardInterrupt
    return process.returncode, ""


@contextmanager
def noted_interrupts() -> Iterator[threading.Event]:
    """Whether the cluster has cancelled the task, which it does by an interrupt of the main thread. A busy cluster may
    send several, at any moment: none of them may cut short what the first one began.
    """
    cancelled = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield cancelled
        return
    before = signal.signal(signal.SIGINT, lambda *_: cancelled.set())
    try:
        yield cancelled
    finally:
        signal.signal(signal.SIGINT, before or signal.default_int_handler)
