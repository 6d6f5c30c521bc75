"""The command `atento`. Torch is imported only by commands that need it, so that --help is quick."""

import shlex
import signal
import sys
from difflib import get_close_matches
from types import FrameType
from typing import Annotated, Any

import typer
from typer import Option
from typer.core import TyperCommand, TyperGroup

from atento.cli.catalogue import data, models, parts, schema
from atento.cli.compare import backtest, compare
from atento.cli.demo import demo
from atento.cli.export import export
from atento.cli.inspect import inspect
from atento.cli.look import look
from atento.cli.manage import check, doctor, report, runs
from atento.cli.output import emit, remarks, say, show
from atento.cli.predict import evaluate, predict, try_
from atento.cli.serve import serve
from atento.cli.stop import stop
from atento.cli.studio import studio
from atento.cli.train import recipe, train, tune
from atento.cli.usage import (
    UsageError,
    close,
    open_streams,
    output_error,
    refuse_locale,
    refuse_torchrun,
    tolerant,
    usage_error,
)
from atento.errors import AtentoError, InputError, Interrupted, failure_of
from atento.version import __version__


def without_types(options: list[Any]) -> list[Any]:
    """Options whose help shows no <bool> behind a switch."""
    for option in options:
        if getattr(option, "is_flag", False):
            option.metavar = ""
    return options


class Command(TyperCommand):
    """A command with plain switches."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its options, with --help."""
        return without_types(super().get_params(ctx))


class Group(TyperGroup):
    """All commands, with plain switches."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its options, with --help."""
        return without_types(super().get_params(ctx))


app = typer.Typer(
    name="atento",
    cls=Group,
    help="Learn from sequences: train, compare honestly, look inside.",
    epilog="Try `atento demo`, then `atento compare numbers`. Add --debug to any command to see a traceback.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
BUILD = (demo, compare, train, tune, backtest, stop, studio)
USE = (evaluate, predict, look, check, report, export, serve)
FIND_OUT = (inspect, recipe, runs, data, models, parts, schema, doctor)
for command in (*BUILD, *USE, *FIND_OUT):  # in the order of --help
    app.command(cls=Command)(command)
app.command("try", cls=Command)(try_)


def show_version(asked: bool) -> None:
    """Print the version and leave."""
    if asked:
        say(f"atento {__version__}")
        raise typer.Exit


@app.callback()
def start(
    version: Annotated[
        bool, Option("--version", "-V", help="print the version", is_eager=True, callback=show_version)
    ] = False,
) -> None:
    """Learn from sequences: train, compare honestly, look inside."""


def main() -> None:
    """Run a command; every failure becomes a message and an exit code."""
    debug = "--debug" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--debug"]
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt)
    try:
        code = run_command(sys.argv[1:])
    except BrokenPipeError:  # `atento ... | head`: enough was read
        close(1)
        code = 0
    except Exception as error:
        if debug:
            raise
        fail(output_error(error) or failure_of(error))
    sys.exit(code)


def run_command(words: list[str]) -> int:
    """Run what was typed; its exit code."""
    open_streams()
    refuse_torchrun(words)
    refuse_locale(words)
    refuse_task(words)
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except SystemExit as end:  # typer makes one of a broken pipe
        if isinstance(end.__context__, BrokenPipeError):
            raise BrokenPipeError from None
        raise
    except UsageError as error:
        if "NoArgs" in type(error).__name__:
            error.show()  # type: ignore[attr-defined]
            return 0 if len(words) == 0 else InputError.exit_code
        raise usage_error(error, words) from None
    return code if isinstance(code, int) else 0


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
    """Say what went wrong and leave with its code; with --json the error is the document. Of many processes that fail
    alike, one says it.
    """
    if error.told:
        sys.exit(error.exit_code)
    if "--json" in sys.argv:
        facts = {"problem": error.problem, "found": error.found, "fix": error.fix, "exit_code": error.exit_code}
        with tolerant(1):
            emit({"error": facts})
            sys.stdout.flush()
    with tolerant(2):
        show(remarks(), str(error))
        sys.stderr.flush()
    sys.exit(error.exit_code)


def interrupt(number: int, frame: FrameType | None) -> None:
    """Outside training there is nothing to save."""
    signal.signal(number, signal.SIG_IGN)
    raise Interrupted(number, "stopped.")
