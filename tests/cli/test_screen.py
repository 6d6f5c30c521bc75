"""What a person sees: help without torch, progress in a terminal and elsewhere, a conversation."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections import deque

import psutil
import pytest
from rich.cells import cell_len

COMMANDS = (
    "demo", "compare", "train", "stop", "evaluate", "predict", "try", "look", "report",
    "inspect", "runs", "data", "models", "parts", "schema", "doctor", "studio",
)  # fmt: skip


def test_help_without_torch(tmp_path):
    program = (
        "import sys; sys.argv = ['atento', '--help']\n"
        "from atento.cli.app import main\n"
        "late = {'torch', 'numpy', 'pyarrow', 'fastapi', 'uvicorn'}\n"
        "try: main()\n"
        "except SystemExit as end: print(end.code, sorted(late & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=True)
    *_, last = done.stdout.splitlines()
    assert last == "0 []"
    for command in COMMANDS:
        assert re.search(rf"\b{command}\b", done.stdout)


def test_every_command_has_help(atento_command, tmp_path):
    for command in COMMANDS:
        done = atento_command.here(command, "--help", cwd=tmp_path)
        assert done.code == 0, command
        assert re.search(rf"Usage: .*\b{command} \[OPTIONS\]", done.out)
        assert ("--json" in done.out) == (command not in ("try", "studio")), command


def test_plain_lines_where_there_is_no_terminal(atento_command, tiny_pairs, small_words, tmp_path):
    done = atento_command.run("train", tiny_pairs, "--model", "gru", *small_words, "--out", "r", cwd=tmp_path)
    assert "\x1b" not in done.err and "\r" not in done.err
    lines = done.err.splitlines()
    assert any(
        re.fullmatch(r" 50% step 3 · loss \d\.\d+ · exact \d\.\d+ · \w+ \d\.\d+ · .* examples/s · \d+ s left", line)
        for line in lines
    )
    assert re.fullmatch(r"100% step 6 · loss .* · stopped: all 6 steps taken", lines[-1])
    assert not done.out.count("\x1b")


class Terminal:
    """A pseudo-terminal: what was written to it, and a way to type."""

    def __init__(self, columns=120):
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self.name = os.ttyname(theirs)
        self.theirs = theirs
        self.seen = ""

    def read_until(self, text, *, seconds=300.0):
        """All that came up to and with this text."""
        end = time.monotonic() + seconds
        while text not in self.seen and time.monotonic() < end:
            if select.select([self.ours], [], [], 0.1)[0]:
                self.seen += os.read(self.ours, 65536).decode("utf-8", "replace")
        assert text in self.seen, self.seen
        return self.seen

    def close(self):
        os.close(self.ours)
        os.close(self.theirs)


@pytest.fixture
def terminal():
    made = Terminal()
    yield made
    made.close()


def test_a_live_display_in_a_terminal(atento_command, terminal, tiny_pairs, small_words, tmp_path):
    arguments = ("train", tiny_pairs, "--model", "gru", *small_words, "--out", "r")
    child = atento_command.start(*arguments, cwd=tmp_path, terminal=terminal.name, env={"TERM": "xterm"})
    terminal.read_until("all 6 steps taken")
    assert child.wait().code == 0
    assert "\x1b[" in terminal.seen, "a live display moves the cursor"
    assert "learning" in terminal.seen
    assert "loss" in terminal.seen


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize(
    "words", [("schema",), ("parts",), ("data",), ("compare", "numbers", "--modls", "rnn"), ("inspect", "sales.csv")]
)
def test_nothing_is_wider_than_the_terminal(nursery, columns, words, tmp_path):
    """All but the line of a command, which is copied as a whole."""
    rows = [f"2021-{at // 28 + 1:02}-{at % 28 + 1:02};{at * 7 % 90 + 0.5};the shop at the corner" for at in range(200)]
    rows[17] = rows[17].replace(";", ";no number, as the till was closed for the whole of the afternoon ", 1)
    (tmp_path / "sales.csv").write_text("\n".join(["day;sales of the shop;name", *rows]), encoding="utf-8")
    terminal = Terminal(columns)
    env = {key: value for key, value in os.environ.items() if key != "COLUMNS"} | {"TERM": "xterm"}
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), terminal.theirs)
    child = nursery.popen([sys.executable, "-m", "atento", *words], cwd=tmp_path, env=env, **streams)
    while child.poll() is None or select.select([terminal.ours], [], [], 0.1)[0]:
        if select.select([terminal.ours], [], [], 0.1)[0]:
            terminal.seen += os.read(terminal.ours, 65536).decode("utf-8", "replace")
    terminal.close()
    lines = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.seen).replace("\r", "").split("\n")
    assert len(lines) > 2
    commands = re.compile(r" *(?:[a-z]+: +)?atento ")
    assert not [line for line in lines if cell_len(line) > columns and not commands.match(line)]
    assert words != ("schema",) or columns == 120 or f"not shown in {columns} columns: " in terminal.seen


def test_a_conversation_by_standard_input(atento_command, trained_run, tmp_path):
    (tmp_path / "typed").write_text("dreiundvierzigtausendzwölf\nxyz\n\nnever read\n", encoding="utf-8")
    done = atento_command.run("try", trained_run.folder, cwd=tmp_path, stdin=tmp_path / "typed")
    assert done.code == 0, done.err
    assert trained_run.predict("dreiundvierzigtausendzwölf")[0] in done.out
    assert "dreiundvierzigtausendzwölf" in done.out, "the alignment shows what was read"
    assert "░" in done.out
    assert done.out.count("≥") == 8, "two answers, each with its legend"


def test_a_conversation_in_a_terminal(trained_run, terminal, processes, atento_command, tmp_path):
    files = {"stdin": terminal.name, "terminal": terminal.name}
    child = atento_command.start("try", trained_run.folder, "--device", "cpu", cwd=tmp_path, **files)
    terminal.read_until("an empty line ends")
    os.write(terminal.ours, b"zweitausenddrei\n")
    processes.until(lambda: "≥" in child.out.read_text(encoding="utf-8"), what="an answer", child=child)
    os.write(terminal.ours, b"\n")
    done = child.wait()
    assert done.code == 0
    assert trained_run.predict("zweitausenddrei")[0] in done.out


def wait_for_a_line(child, processes):
    """Until it has slept at a few looks in a row: one that a busy machine does not let run is ready, not asleep."""
    if sys.platform != "linux":
        return time.sleep(1.0)  # elsewhere the system calls both running
    looks = deque(maxlen=20)

    def asleep():
        looks.append(psutil.Process(child.pid).status())
        return looks.count(psutil.STATUS_SLEEPING) == looks.maxlen

    return processes.until(asleep, what="it waits for a line", child=child)


def test_ctrl_c_ends_a_conversation(trained_run, terminal, atento_command, processes, tmp_path):
    files = {"stdin": terminal.name, "terminal": terminal.name}
    child = atento_command.start("try", trained_run.folder, cwd=tmp_path, **files)
    terminal.read_until("an empty line ends")
    wait_for_a_line(child, processes)  # a signal in the very moment before is only seen after the line
    child.send(signal.SIGINT)
    assert child.wait().code == 130
    assert "Traceback" not in terminal.read_until("stopped.")


@pytest.mark.parametrize("words", [("schema", "--json"), ("schema",)])
def test_a_reader_who_has_read_enough(tmp_path, words):
    """`atento schema | head -1`: neither an error nor a word about it."""
    program = [sys.executable, "-m", "atento", *words]
    child = subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path)
    child.stdout.close()
    said = child.stderr.read()
    child.stderr.close()
    assert (child.wait(), said) == (0, b"")


def test_look_at_a_picture_and_at_a_page(atento_command, trained_run, tmp_path):
    for name, begin in (("look.html", b"<!"), ("look.png", b"\x89PNG"), ("look.svg", b"<?xml"), ("look.pdf", b"%PDF")):
        done = atento_command.run("look", trained_run.folder, "elftausend", "--out", name, cwd=tmp_path)
        assert done.code == 0, done.err
        assert (tmp_path / name).read_bytes().startswith(begin)
        assert f"written to {name}" in done.out
    done = atento_command.run("look", trained_run.folder, "--what", "steps", "--out", "s.json", cwd=tmp_path)
    assert done.code == 0, done.err
    assert (tmp_path / "s.json").read_text().startswith("[")


@pytest.mark.parametrize("what", ["attention", "steps"])
@pytest.mark.parametrize("text", [" ", "", "漢字", "x" * 300])
def test_look_at_anything(atento_command, small, trained_run, tmp_path, what, text):
    """No attention, no text, no known character, a text far too long: an answer all the same."""
    for run in (small[0], trained_run.folder):
        done = atento_command.here("look", run, text, "--what", what, cwd=tmp_path)
        assert done.code == 0, done.err
        assert done.out
