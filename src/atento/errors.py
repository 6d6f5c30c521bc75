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


def nearest(wanted: str, known: Iterable[str]) -> str:
    """The known name most like the one asked for; the first one when none is alike."""
    names = list(known)
    close = get_close_matches(wanted, names, n=1, cutoff=0.4)
    return close[0] if close else names[0]


def unknown_name(kind: str, wanted: str, known: Iterable[str], *, where: str = "") -> InputError:
    """The one message for a name that is not in a table of names."""
    names = list(known)
    return InputError(
        f"{where + ': ' if where else ''}there is no {kind} {wanted!r}.",
        found=repr(wanted),
        fix=f"did you mean {nearest(wanted, names)!r}? There are {', '.join(names)}",
    )
