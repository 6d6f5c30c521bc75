"""A job on a node of a Ray cluster: the same process that a comparison starts on its own machine (`atento.worker`).

Ray finds `run_worker` by its name, in the atento that is installed on the node, and passes it plain texts.
"""

import platform
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from atento.errors import MachineError
from atento.system import own_session
from atento.version import __version__

SECONDS_BETWEEN_LOOKS = 0.1  # an interrupt from the cluster is seen in between
SECONDS_TO_SAVE = 15.0
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
    with Path(log).open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "atento.worker", *words],
            stdin=subprocess.PIPE,  # by which it sees that we have died
            stdout=subprocess.DEVNULL,
            stderr=errors,
            **own_session(),
        )
        try:
            while process.poll() is None:
                time.sleep(SECONDS_BETWEEN_LOOKS)
        except KeyboardInterrupt:  # the job was cancelled: it saves first
            process.terminate()
            wait_for_end(process)
            raise
        finally:
            process.kill()
            process.communicate()
    return process.returncode, ""


def wait_for_end(process: subprocess.Popen[bytes]) -> None:
    """Give a process the time to save; a busy cluster may cancel twice, and the second must not cut it short."""
    until = time.monotonic() + SECONDS_TO_SAVE
    while process.poll() is None and time.monotonic() < until:
        with suppress(KeyboardInterrupt):
            time.sleep(SECONDS_BETWEEN_LOOKS)
