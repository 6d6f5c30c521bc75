"""Training, locks, comparisons, pauses and the studio's jobs, where what only POSIX systems have is hidden."""

import json
import os
import subprocess
import sys
from pathlib import Path

import atento

TESTS = Path(__file__).parents[1]
HIDING = TESTS / "tools" / "other_system"
SOURCE = Path(atento.__file__).parents[1]


def test_a_day_without_posix(tiny_pairs, tmp_path):
    paths = os.pathsep.join([str(HIDING), str(SOURCE)])
    env = {**os.environ, "PYTHONPATH": paths, "PYTHONWARNDEFAULTENCODING": "1"}
    command = [sys.executable, str(Path(__file__).with_name("other_system.py")), str(tiny_pairs)]

    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300, check=False)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "posix": False,
        "memory": True,
        "peak": None,
        "answers": True,
        "conflict": [True, "taken is in use by another run."],
        "free again": True,
        "saved": True,
        "resumed": True,
        "stopped": [True, True],
        "compared": ["gru", "rnn"],
        "the same": True,
        "another start": True,
        "job": [None, True],
    }
