import os
import subprocess
import sys
from pathlib import Path

import pytest

import atento

SOURCE = Path(atento.__file__).parents[1]  # of the version under test


@pytest.fixture(scope="session")
def processes():
    """Starts a module of Python in processes of its own, with what torchrun would set of threads."""

    def start(*words, cwd):
        environment = {**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}
        return subprocess.Popen(
            [sys.executable, "-m", *map(str, words)], cwd=cwd, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    return start
