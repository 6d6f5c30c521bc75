"""Every failure a user can meet: what is wrong, where, and one way to mend it."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

__all__ = ["AtentoError", "InputError", "Interrupted", "MachineError", "RunError"]

NO_SETTINGS: Mapping[str, str] = {}


class AtentoError(Exception):
    """Base of all our errors; `exit_code` is what the command line ends with, `settings` are the recipe keys and values
    of the fix, where settings mend it.
    """

    exit_code = 1

    def __init__(
        self, problem: str, *, found: str = "", fix: str = "", settings: Mapping[str, str] = NO_SETTINGS
    ) -> None:
        self.problem, self.found, self.fix, self.settings = problem, found, fix, settings
        lines = [problem]
        if found:
            lines.append(f"  found: {found}")
        if fix:
            lines.append(f"  fix:   {fix}")
        super().__init__("\n".join(lines))


class InputError(AtentoError, ValueError):
    """The caller's file, option or argument is wrong; nothing was written."""

    exit_code = 2


class MachineError(AtentoError):
    """This machine refused: disk, memory, a missing device or package."""

    exit_code = 3


class RunError(AtentoError):
    """The run itself failed: it diverged, or a worker died."""

    exit_code = 4


class Interrupted(AtentoError):
    """The user or the system asked to stop; work was saved first."""

    def __init__(self, signal_number: int, problem: str, *, fix: str = "") -> None:
        super().__init__(problem, fix=fix)
        self.exit_code = 128 + signal_number


ALSO_CALLED = {  # what other programs call it -> what it is called here
    "attention": "transformer",
    "bert": "transformer",
    "classification": "classify",
    "gpt": "transformer",
    "gpu": "cuda",
    "lm": "generate",
    "mps": "cpu",
    "ner": "tag",
    "nli": "match",
    "pos": "tag",
    "regression": "estimate",
    "sentiment": "classify",
    "seq2seq": "translate",
    "summarization": "translate",
    "timeseries": "forecast",
}


def alike(wanted: str, known: Iterable[str], *, cutoff: float = 0.5) -> str:
    """The known name most like the one asked for, whatever its case, or what other programs call it; empty where none
    is alike.
    """
    names = {name.lower(): name for name in known}
    called = ALSO_CALLED.get(wanted.lower(), "")
    close = [called] if called in names else get_close_matches(wanted.lower(), names, n=1, cutoff=cutoff)
    return names[close[0]] if close else ""


def nearest(wanted: str, known: Iterable[str]) -> str:
    """The known name most like the one asked for; the first one when none is alike."""
    names = list(known)
    return alike(wanted, names, cutoff=0.4) or next(iter(names), "")


def unknown_name(kind: str, wanted: str, known: Iterable[str], *, where: str = "") -> InputError:
    """The one message for a name that is not in a table of names."""
    names = list(known)
    near = alike(wanted, names)
    return InputError(
        f"{where + ': ' if where else ''}there is no {kind} {wanted!r}.",
        found=repr(wanted),
        fix=f"did you mean {near!r}? There are {', '.join(names)}" if near else f"choose one of {', '.join(names)}",
    )
