"""Every failure a user can meet: what is wrong, where, and one way to mend it."""

import errno
import os
import re
import shlex
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path

__all__ = ["AtentoError", "InputError", "Interrupted", "MachineError", "RunError"]

NO_SETTINGS: Mapping[str, str] = {}


class AtentoError(Exception):
    """Base of all our errors; `exit_code` is what the command line ends with, `settings` are the recipe keys and values
    of the fix, where settings mend it, and `choices` are settings, KEY=VALUE, one of which only the user can choose.
    """

    exit_code = 1
    told = False  # whether another process of the same run says it

    def __init__(
        self,
        problem: str,
        *,
        found: str = "",
        fix: str = "",
        settings: Mapping[str, str] = NO_SETTINGS,
        choices: tuple[str, ...] = (),
    ) -> None:
        self.problem, self.found, self.fix = problem, found, fix
        self.settings, self.choices = settings, choices
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


WRONG_PATH = {  # errors of the system that tell of the path the caller gave; all others are faults of the machine
    errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EINVAL, errno.EEXIST,
    errno.ENOTEMPTY,
}  # fmt: skip
NO_MEMORY = re.compile(r"can't allocate memory|not enough memory|out of memory", re.IGNORECASE)  # as torch says it
FIXES = {
    errno.ENOSPC: "free some space on this disk: df -h {folder}",
    errno.EDQUOT: "free some of your quota on this disk: df -h {folder}",
    errno.EACCES: "give yourself the permission: chmod u+rwX {place}",
    errno.EPERM: "give yourself the permission: chmod u+rwX {place}",
    errno.EROFS: "choose a folder on a disk that can be written",
    errno.EMFILE: "allow more open files in this shell: ulimit -n 4096",
    errno.ENFILE: "close other programs: the whole machine has too many open files",
    errno.ENOENT: "make the folder first: mkdir -p {place}",
    errno.EIO: "copy the file to another disk: this one fails",
}
WINDOWS_FIXES = {  # where the shell has none of these commands
    errno.ENOSPC: "free some space on this disk",
    errno.EDQUOT: "free some of your quota on this disk",
    errno.EACCES: "close the program that has it open, or give yourself the permission in its properties",
    errno.EPERM: "give yourself the permission in its properties",
    errno.EMFILE: "close other programs: there are too many open files",
    errno.ENOENT: "make the folder first: mkdir {place}",
}
LESS_MEMORY = "close other programs, or ask for less: --set train.batch_tokens=512 --set model.hidden=64"


def is_machine_fault(error: BaseException) -> bool:
    """Whether the machine failed: its disk, memory, permissions or streams, not what a file holds or is called."""
    if isinstance(error, OSError):
        return error.errno is not None and error.errno not in WRONG_PATH
    return is_out_of_memory(error)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory could not be had; torch has errors of its own for that."""
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and bool(NO_MEMORY.search(str(error))))


def system_error(error: OSError) -> AtentoError:
    """What the system refused: a fault of the machine, or of the path that the caller gave."""
    path = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else ""
    problem = f"{path} cannot be used." if path else "a file could not be read or written."
    if is_machine_fault(error):
        return MachineError(problem, found=reason_of(error), fix=system_fix(error, path))
    missing = error.errno in (errno.ENOENT, errno.ENOTDIR)
    return InputError(problem, found=reason_of(error), fix="check the path" if missing else "choose another name")


def unwritable(path: str | os.PathLike[str], error: OSError) -> MachineError:
    """The one message for a file or a folder that could not be written."""
    return MachineError(
        f"{os.fspath(path)} could not be written.", found=reason_of(error), fix=system_fix(error, os.fspath(path))
    )


def reason_of(error: OSError) -> str:
    """What the system says."""
    return error.strerror or str(error) or type(error).__name__


def system_fix(error: OSError, path: str) -> str:
    """What to type against an error of the system about a path."""
    if error.errno == errno.ENOMEM:
        return LESS_MEMORY
    place = path if os.path.lexists(path) else os.path.dirname(path) or "."  # noqa: PTH120  Path.exists would raise
    folder = place if os.path.isdir(place) else os.path.dirname(place) or "."  # noqa: PTH112, PTH120
    fixes = {**FIXES, **WINDOWS_FIXES} if os.name == "nt" else FIXES
    fix = fixes.get(error.errno or 0, "choose another place for it")
    return fix.format(place=shlex.quote(place), folder=shlex.quote(folder))


PACKAGES = {"sklearn": "scikit-learn", "tomli_w": "tomli-w"}  # by module, where another name installs it


def failure_of(error: BaseException) -> AtentoError:
    """Any exception as a failure with a message and an exit code."""
    if isinstance(error, AtentoError):
        return error
    if isinstance(error, OSError) and error.errno is not None:
        return system_error(error)
    if is_out_of_memory(error):
        return MachineError("there is not enough memory.", found=str(error).split("\n")[0], fix=LESS_MEMORY)
    if isinstance(error, UnicodeEncodeError):
        return MachineError(
            "a name is not in the encoding that this machine has for names of files.",
            found=ascii(error.object[max(0, error.start - 30) : error.end + 30]),
            fix="export PYTHONUTF8=1, and give the file a name in UTF-8",
        )
    if isinstance(error, ModuleNotFoundError) and error.name and not error.name.startswith("atento"):
        package = PACKAGES.get(error.name.split(".")[0], error.name.split(".")[0])
        return MachineError(
            f"this needs {package}, which is not installed.",
            found=f"no package {package}",
            fix=f"pip install {package}",
        )
    if "can't start new thread" in str(error):
        return MachineError("no thread could be started.", found=str(error), fix="allow more processes: ulimit -u 4096")
    text = f"atento made a mistake of its own: {type(error).__name__}: {error}"
    return AtentoError(text, fix="run it again with --debug and report the traceback")


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


def no_such_run(folder: Path) -> InputError:
    """The error for a folder that is not there, with the most similar name beside it."""
    beside = {one.name: one for one in folder.parent.iterdir() if one.is_dir()} if folder.parent.is_dir() else {}
    close = alike(folder.name, beside)
    return InputError(
        f"{folder}: there is no such run.",
        found=str(folder),
        fix=f"did you mean {beside[close]}? `atento runs` lists all" if close else "`atento runs` lists them",
    )
