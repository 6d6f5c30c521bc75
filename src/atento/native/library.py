"""The C files of this folder as a library: compiled by the machine's own compiler, kept for the next process, called.

A training compiles them when it first needs one, which takes seconds once. A process that only answers takes them where
they are there already, and where they are not, for want of a compiler, torch computes the same. The library lies in a
folder that nobody else may write to; its name holds a digest of the sources, the compiler and the processor.
"""

import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from atento.system import is_private, processor_features

try:
    import ctypes
except ImportError:  # a Python that was built without it
    ctypes = None  # type: ignore[assignment]

FOLDER = Path(__file__).parent
COMPILERS = ("cc", "gcc", "clang")
FOR_THIS_PROCESSOR = "-mcpu=native" if platform.machine() in ("aarch64", "arm64") else "-march=native"
FLAGS = ("-O3", "-fno-math-errno", "-fno-trapping-math", "-fvisibility=hidden", "-shared", "-fPIC")
SECONDS = 120  # for the compiler
SWITCH = "ATENTO_NATIVE"  # of the environment: 0 turns the library off
FEW_ROWS = 8  # of a batch: fewer are not shared by threads
WANTED = ContextVar("WANTED", default=True)


class Library:
    """The compiled functions, by name. Each is told from which row of a batch it computes, and before which it ends."""

    def __init__(self, path: Path) -> None:
        self.path, self.functions = path, ctypes.CDLL(str(path))
        self.lanes: int = self.functions.lanes()  # a width is a multiple of so many numbers
        self.has_bf16 = bool(self.functions.has_bf16())  # whether it was compiled with instructions for bfloat16

    def threads(self, rows: int) -> int:
        """How many of torch's threads share the rows of a batch."""
        return max(1, min(torch.get_num_threads(), rows // FEW_ROWS))

    def run(self, name: str, rows: int, *arguments: Tensor | int, own: Tensor | None = None) -> None:
        """Call a function for all rows; `own` (threads, ...) holds its last argument where each thread has one."""
        function, threads = self.functions[name], self.threads(rows) if own is None else len(own)
        given = [address(argument) for argument in arguments]

        def run_part(part: int) -> None:
            first, last = (ctypes.c_long(place * rows // threads) for place in (part, part + 1))
            function(first, last, *given, *(address(one) for one in ([] if own is None else own[part : part + 1])))

        if threads == 1:
            run_part(0)
        else:
            list(pool(os.getpid(), threads).map(run_part, range(threads)))

    def walk(
        self, name: str, sizes: list[int], batch: int, weight: Tensor, *arguments: Tensor | int, bf16: bool = False
    ) -> None:
        """Call a function that takes a batch through its steps, of which each has so many rows, with the weight (G, H)
        of the product with the state; `bf16`: whether both factors of it are rounded.
        """
        if not all(argument.is_contiguous() for argument in arguments if isinstance(argument, Tensor)):
            raise TypeError(f"{name} takes tensors without gaps between their rows")
        gates, hidden = weight.shape
        own = weight.new_empty(self.threads(batch), gates, hidden + batch)  # the packed weight, and rounded rows
        steps, weight = torch.tensor(sizes, dtype=torch.int64), weight.contiguous()
        brief = int(bf16 and self.has_bf16)
        self.run(name, batch, brief, len(sizes), steps, batch, hidden, weight, *arguments, own=own)


def address(argument: Tensor | int) -> "ctypes.c_void_p | ctypes.c_long":
    """An argument as C takes it: a whole number, or where the numbers of a tensor begin. Its strides are the caller's
    concern.
    """
    if isinstance(argument, int):
        return ctypes.c_long(argument)
    if argument.dtype not in (torch.float32, torch.int32, torch.int64):
        raise TypeError(f"C takes float32, int32 or int64, not {argument.dtype}")
    return ctypes.c_void_p(argument.data_ptr())


@cache
def pool(process: int, threads: int) -> ThreadPoolExecutor:
    """The threads of this process; a forked one has none of its parent's."""
    return ThreadPoolExecutor(threads, thread_name_prefix="atento-native")


def library_for(*parts: Tensor) -> Library | None:
    """The library, where it computes these tensors: float32 on a CPU. It is compiled where gradients may be asked for;
    None where it is not there.
    """
    if not WANTED.get() or any(part.dtype != torch.float32 or not part.is_cpu for part in parts):
        return None
    return find_library(may_compile=torch.is_grad_enabled())


class ThisProcess:
    """What this process has found out."""

    library: Library | None = None
    looked = False  # for one that is compiled already
    reason = ""  # why there will be none
    seconds = 0.0  # that it took to compile


def find_library(*, may_compile: bool) -> Library | None:
    """The library, compiled first where that is allowed and was not done before."""
    if ThisProcess.library is None and not ThisProcess.reason and (may_compile or not ThisProcess.looked):
        ThisProcess.looked = True
        try:
            path = library_path()
            if may_compile and not path.exists():
                started = time.perf_counter()
                compile_to(path)
                ThisProcess.seconds = time.perf_counter() - started
            if path.exists():
                require_private(path)
                ThisProcess.library = Library(path)
        except (NoLibraryError, OSError) as error:
            ThisProcess.reason = str(error)
    return ThisProcess.library


class NoLibraryError(Exception):
    """Why there is no library here."""


def library_path() -> Path:
    """Where the library of these sources, this compiler and this processor lies."""
    if os.environ.get(SWITCH) == "0":
        raise NoLibraryError(f"{SWITCH}=0 turns it off")
    if ctypes is None:
        raise NoLibraryError("this Python has no ctypes")
    if platform.system() == "Windows":
        raise NoLibraryError("it is compiled on Linux and macOS only")
    compiler = Path(find_compiler())
    facts = compiler.stat()
    digest = hashlib.sha256()
    for source in sources():
        digest.update(source.read_bytes())
    for fact in (
        *FLAGS,
        FOR_THIS_PROCESSOR,
        str(compiler),
        str(facts.st_size),
        str(facts.st_mtime_ns),
        processor_features(),
    ):
        digest.update(fact.encode())
    return cache_folder() / f"native-{digest.hexdigest()[:24]}.so"


def sources() -> list[Path]:
    """The C files, and the header that they share."""
    return sorted([*FOLDER.glob("*.c"), *FOLDER.glob("*.h")])


def find_compiler() -> str:
    """The path of a C compiler."""
    found = next(filter(None, map(shutil.which, COMPILERS)), None)
    if found is None:
        raise NoLibraryError(f"there is no C compiler: none of {', '.join(COMPILERS)}")
    return found


def cache_folder() -> Path:
    """Where users keep what can be made again."""
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "atento"
    except RuntimeError:  # a user without a home, as in some containers
        raise NoLibraryError("this user has no home folder, and XDG_CACHE_HOME names no other") from None


def require_private(path: Path) -> None:
    """Refuse a library, or a folder of it, that somebody else could have written."""
    for one in (path.parent, path):
        if not is_private(one):
            raise NoLibraryError(f"others may write to {one}")


def compile_to(path: Path, *, instructions: str = FOR_THIS_PROCESSOR) -> None:
    """Compile the C files to a library, which is there as a whole or not at all."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        made = Path(folder) / path.name
        files = [str(one) for one in sources() if one.suffix == ".c"]
        command = [find_compiler(), *FLAGS, instructions, *files, "-o", str(made)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise NoLibraryError(f"the C compiler took longer than {SECONDS} s") from None
        if done.returncode:
            raise NoLibraryError(f"the C compiler failed: {' '.join(done.stderr.split())[:200]}")
        made.chmod(0o700)
        with made.open("rb") as file:
            os.fsync(file.fileno())
        made.replace(path)


@contextmanager
def without_library() -> Iterator[None]:
    """Within it torch computes what the library would."""
    before = WANTED.set(False)
    try:
        yield
    finally:
        WANTED.reset(before)


def compiled() -> tuple[bool, str]:
    """Whether there is a library here, which is compiled for it now, and a sentence about it."""
    found = find_library(may_compile=True)
    return found is not None, f"compiled, {found.lanes} numbers at a time" if found else ThisProcess.reason
