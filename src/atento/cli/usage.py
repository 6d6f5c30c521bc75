"""What was typed wrongly, and what to type instead; and the streams that a command is given."""

import codecs
import errno
import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from io import TextIOWrapper
from typing import Any

import typer

from atento.errors import InputError, MachineError, nearest, reason_of

UsageError: type[Exception] = typer.BadParameter.__base__ or Exception  # typer does not export it
HABITS = {  # options of other programs -> recipe key
    "batch": "train.batch_tokens",
    "batch-size": "train.batch_tokens",
    "bs": "train.batch_tokens",
    "column": "data.source",
    "early-stopping": "train.patience",
    "embedding-dim": "model.hidden",
    "epoch": "train.epochs",
    "freq": "data.frequency",
    "hidden-dim": "model.hidden",
    "hidden-size": "model.hidden",
    "label-column": "data.label",
    "learning-rate": "train.lr",
    "lookback": "data.look_back",
    "lower": "tokens.lowercase",
    "max-epochs": "train.epochs",
    "max-steps": "train.steps",
    "num-epochs": "train.epochs",
    "num-heads": "model.heads",
    "num-layers": "model.layers",
    "target-column": "data.target",
    "text-column": "data.source",
    "units": "model.hidden",
    "width": "model.hidden",
}
OPTIONS = {  # options of other programs -> ours; of one word, the value goes with it
    "cpu": "--device cpu",
    "cuda": "--device cuda",
    "gpu": "--device cuda",
    "output": "--out",
    "output-dir": "--out",
    "random-state": "--seed",
    "silent": "--quiet",
    "time-limit": "--budget",
    "timeout": "--budget",
}
SWITCHES = ("cpu", "cuda", "gpu", "silent")
COUNTED_OTHERWISE = {"train.batch_tokens": "4000"}  # tokens, where other programs count examples
PLAIN = {"–": "-", "—": "-", "·": "-", "…": "...", "→": "->", "−": "-", "×": "x", "≥": ">=", "≤": "<=", "±": "+-",
         "━": "=", "╺": "-", "’": "'", "“": '"', "”": '"'}  # fmt: skip
PLAIN_ERRORS = "atento-plain"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF)


def usage_error(error: Exception, words: list[str]) -> InputError:
    """An error of the parser in our words, with what to type instead; `words` are all that was typed."""
    context = getattr(error, "ctx", None)
    command = getattr(context, "command", None)
    message = str(getattr(error, "format_message", lambda: str(error))())
    typed = shlex.join(["atento", *words])
    help_line = (
        f"atento {getattr(context, 'info_name', '') if getattr(context, 'parent', None) else ''}".strip() + " --help"
    )
    if hasattr(error, "possibilities"):
        name = str(getattr(error, "option_name", ""))
        instead = option_instead(name, words, options_of(command))
        return InputError(f"there is no option {name}.", found=typed, fix=instead or f"{help_line} lists the options")
    if message.startswith("No such command"):
        known = sorted(getattr(command, "commands", {}))
        wanted = message.split("'")[1]
        fix = shlex.join(["atento", nearest(wanted, known), *words[words.index(wanted) + 1 :]])
        return InputError(f"there is no command {wanted!r}.", found=typed, fix=fix)
    bounds = bounds_of(error, message)
    if bounds is not None:
        name, low, high = bounds
        most = "" if high is None else f" and at most {high}"
        fix = with_number(name, words, low, high) or help_line
        return InputError(f"{name} takes a whole number, at least {low}{most}.", found=typed, fix=fix)
    if "unexpected extra argument" in message:
        return InputError(message, found=typed, fix=f"put a name that has blanks in quotes; {help_line}")
    return InputError(message, found=typed, fix=help_line)


def bounds_of(error: Exception, message: str) -> tuple[str, int, int | None] | None:
    """The option whose value is no whole number within its bounds, and the bounds."""
    option = getattr(error, "param", None)
    low, high = (getattr(option, end, getattr(getattr(option, "type", None), end, None)) for end in ("min", "max"))
    if not message.startswith("Invalid value") or not isinstance(low, int):
        return None
    return max(getattr(option, "opts", [""]), key=len), low, high


def with_number(name: str, words: list[str], low: int, high: int | None) -> str:
    """The whole command with the number that is nearest to what was typed; empty where an option stands otherwise."""
    for place, word in enumerate(words):
        option, equals, value = word.partition("=")
        if option != name or not (equals or words[place + 1 :]):
            continue
        typed = value if equals else words[place + 1]
        number = max(low, int(typed) if re.fullmatch(r"[+-]?\d{1,18}", typed) else low)
        near = str(number if high is None else min(number, high))
        own = [f"{name}={near}"] if equals else [name, near]
        return shlex.join(["atento", *words[:place], *own, *words[place + (1 if equals else 2) :]])
    return ""


def option_instead(name: str, words: list[str], known: list[str]) -> str:
    """The whole command with what is meant by an unknown option: a recipe key, or an option of a similar name; empty
    where nothing is alike.
    """
    place = next(at for at, word in enumerate(words) if word == name or word.startswith(f"{name}="))
    _, equals, value = words[place].partition("=")
    after = words[place + 1 : place + 2]
    if not equals and after and not after[0].startswith("-"):
        value = after[0]
    rest = words[place + 1 :]
    bare = name.lstrip("-").replace("_", "-").lower()
    near = get_close_matches(bare, [each.lstrip("-") for each in known], n=1, cutoff=0.6)
    key = HABITS.get(bare) or recipe_key(bare)
    if bare == "target" and "--text" in known:  # only the answers to texts are asked for
        instead, rest = [], rest if equals else rest[1:]
    elif bare in OPTIONS:
        instead = OPTIONS[bare].split()
        rest = rest[1:] if value and not equals and len(instead) == 1 and bare not in SWITCHES else rest
        instead += [value] if len(instead) == 1 else []
    elif key and "--set" in known and not (near and f"--{near[0]}" == name):
        instead = ["--set", f"{key}={COUNTED_OTHERWISE.get(key, value or 'VALUE')}"]
        rest = rest[1:] if value and not equals else rest
    elif near:
        instead = [f"--{near[0]}{'=' + value if equals else ''}"]
    else:
        return ""
    return shlex.join(["atento", *words[:place], *filter(None, instead), *rest])


def recipe_key(bare: str) -> str:
    """The recipe key whose last word this is, such as train.lr of lr; where several are, the first."""
    from atento.spec import keys

    return next((key.name for key in keys() if key.name.split(".")[-1].replace("_", "-") == bare), "")


def options_of(command: Any) -> list[str]:
    """The long options of a command."""
    return [name for each in getattr(command, "params", []) for name in each.opts if name.startswith("--")]


def refuse_torchrun(words: list[str]) -> None:
    """Refuse to be started several times, as `torchrun` does, for a command that is one process; the first says so."""
    started = all(os.environ.get(name) for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"))
    if words[:1] == ["train"] or not started or os.environ["WORLD_SIZE"] == "1":
        if started:
            os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")  # DDP's advice is for programmers
        return
    if os.environ["RANK"] != "0":
        sys.exit(InputError.exit_code)
    raise InputError(
        "torchrun is for atento train: any other command is one process.",
        found=f"{os.environ['WORLD_SIZE']} processes of torchrun",
        fix=shlex.join(["atento", *words]),
    )


def open_streams() -> None:
    """Make sure that there are three streams, and that none fails on a character that its encoding does not have."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free; no file of ours may take it
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY), encoding="utf-8")
    if isinstance(sys.stdin, TextIOWrapper) and sys.stdin.encoding.lower() in ("ascii", "us-ascii", "ansi_x3.4-1968"):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
    codecs.register_error(PLAIN_ERRORS, plainly)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=PLAIN_ERRORS)
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
        raise MachineError("standard output is closed.", found=">&-", fix="redirect it: > /dev/null")


def close(number: int) -> None:
    """Close a stream for good: what could not be written is not tried again at the end of the process."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), number)


@contextmanager
def tolerant(number: int) -> Iterator[None]:
    """Within it a stream may fail; it is then closed."""
    try:
        yield
    except OSError:
        close(number)


def plainly(error: UnicodeError) -> tuple[str, int]:
    """Replace what cannot be encoded: signs by plain ones, any other character by its number."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(PLAIN.get(sign, sign.encode("ascii", "backslashreplace").decode()) for sign in text), error.end


def output_error(error: Exception) -> MachineError | None:
    """The failure where the disk behind standard output took no more, which is then closed: files of ours are named in
    the errors of writing them.
    """
    if not isinstance(error, OSError) or error.filename is not None or error.errno not in FULL:
        return None
    close(1)
    return MachineError(
        "standard output could not be written.",
        found=reason_of(error),
        fix="free some space on the disk that it is written to, or write elsewhere",
    )


def refuse_locale(words: list[str]) -> None:
    """Refuse words that the locale cannot decode: as names of files they could not be written into a recipe."""
    unknown = next((word for word in words if any("\ud800" <= sign <= "\udfff" for sign in word)), None)
    if unknown is not None:
        raise MachineError(
            "this locale does not have all characters of what was typed.",
            found=f"{os.fsencode(unknown).decode('utf-8', 'replace')!a} where names are in "
            f"{sys.getfilesystemencoding()}",
            fix="export PYTHONUTF8=1" if sys.getfilesystemencoding() != "utf-8" else "give it a name in UTF-8",
        )
