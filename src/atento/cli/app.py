"""The command `atento`. Torch is imported only by commands that need it, so that --help is quick."""

import os
import shlex
import signal
import sys
from difflib import get_close_matches
from types import FrameType

import typer

from atento.cli.catalogue import data, models, parts, schema
from atento.cli.compare import backtest, compare
from atento.cli.inspect import inspect
from atento.cli.look import look
from atento.cli.manage import check, doctor, report, runs
from atento.cli.output import emit, remarks
from atento.cli.predict import evaluate, predict, try_
from atento.cli.train import recipe, train, tune
from atento.errors import AtentoError, InputError, Interrupted, MachineError

app = typer.Typer(
    name="atento",
    help="Learn from sequences: train, compare honestly, look inside.",
    epilog="Try `atento compare numbers`. Add --debug to any command to see a traceback.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
BUILD = (compare, train, tune, backtest)
USE = (evaluate, predict, look, check, report)
FIND_OUT = (inspect, recipe, runs, data, models, parts, schema, doctor)
for command in (*BUILD, *USE, *FIND_OUT):  # in the order of --help
    app.command()(command)
app.command("try")(try_)


def main() -> None:
    """Run a command; every failure becomes a message and an exit code."""
    debug = "--debug" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--debug"]
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt)
    try:
        refuse_task(sys.argv[1:])
        app()
    except AtentoError as error:
        if debug:
            raise
        fail(error)
    except SystemExit as end:
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # `atento ... | head`: enough was read
        sys.exit(0)
    except MemoryError as error:
        if debug:
            raise
        fail(
            MachineError(
                "there is not enough memory.", found=str(error), fix="--set train.batch_tokens= a smaller number"
            )
        )
    except Exception as error:
        if debug:
            raise
        text = f"atento made a mistake of its own: {type(error).__name__}: {error}"
        fail(AtentoError(text, fix="run it again with --debug and report the traceback"))


def refuse_task(words: list[str]) -> None:
    """Refuse a task where a command should be, as in `atento forecast FILE`, and name the command that is meant."""
    commands = [str(entry.name or getattr(entry.callback, "__name__", "")) for entry in app.registered_commands]
    if not words or words[0][0:1] in ("", "-") or get_close_matches(words[0], commands):
        return
    from atento.tasks.catalogue import TASKS

    for task in get_close_matches(words[0], TASKS, n=1, cutoff=0.8):
        line = shlex.join(["atento", "compare", *(words[1:] or ["FILE"]), "--task", task])
        raise InputError(f"{task} is a task, not a command.", found=f"atento {words[0]}", fix=line)


def fail(error: AtentoError) -> None:
    """Say what went wrong and leave with its code; with --json the error is the document."""
    if "--json" in sys.argv:
        facts = {"problem": error.problem, "found": error.found, "fix": error.fix, "exit_code": error.exit_code}
        emit({"error": facts})
    remarks().print(str(error), style=None, markup=False, highlight=False)
    sys.exit(error.exit_code)


def interrupt(number: int, frame: FrameType | None) -> None:
    """Outside training there is nothing to save."""
    signal.signal(number, signal.SIG_IGN)
    raise Interrupted(number, "stopped.")
