"""A worker dies with its parent, whatever it computes."""

import os
import signal
import subprocess
import sys
import time

import pytest

PATIENCE = 300.0  # seconds; the system needs a moment, a busy machine more
CHILD = """
import os, re
from atento.system import end_with_parent
end_with_parent()
print(os.getpid(), flush=True)
re.match('(a*)*b', 'a' * 99)  # takes ages, and lets no other thread run
"""
PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, '-c', sys.argv[1]], stdin=subprocess.PIPE)
time.sleep(600)
"""
WAITING = """
import time
from atento import system
system.sys.platform = "other"
system.end_with_parent()
print("tied", flush=True)
time.sleep(600)
"""


def is_running(number):
    try:
        with open(f"/proc/{number}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a computation that lets no thread run is waited for")
def test_it_ends_with_its_parent_in_the_middle_of_a_long_computation():
    parent = subprocess.Popen([sys.executable, "-c", PARENT, CHILD], stdout=subprocess.PIPE, text=True)
    number = int(parent.stdout.readline())
    time.sleep(0.1)
    assert is_running(number)
    parent.kill()
    until = time.monotonic() + PATIENCE
    try:
        while is_running(number) and time.monotonic() < until:
            time.sleep(0.005)
        assert not is_running(number)
    finally:
        if is_running(number):
            os.kill(number, signal.SIGKILL)
        parent.communicate()


def test_where_the_system_does_not_kill_it_the_end_of_its_input_does():
    """Also where the parent was dead before it could be tied to it."""
    child = subprocess.Popen([sys.executable, "-c", WAITING], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"tied\n"
    assert child.poll() is None
    child.stdin.close()
    assert child.wait(timeout=PATIENCE) == 137
    child.stdout.close()
