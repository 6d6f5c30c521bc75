"""What operating systems do differently, each with an alternative: cores, memory, locks, replaced files and processes;
and when a process looks for garbage.

No other file uses a module or a function that Linux, macOS or Windows lacks (`tests/architecture/test_portable.py`).
"""

import gc
import os
import platform
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows, where msvcrt locks files
    fcntl = None  # type: ignore[assignment]
try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
CPU_FACTS = Path("/proc/cpuinfo")
PR_SET_PDEATHSIG = 1  # of linux/prctl.h
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4  # of glibc's malloc.h
KEPT, GROWTH = 2**30, 2**26  # bytes of freed memory that a process keeps, and by which it grows
SIGKILL = 9  # Windows has no name for it
KILLED = 128 + SIGKILL  # the exit code of a process that was killed
TRIES, SECONDS_BETWEEN_TRIES = 20, 0.05  # for a file to be replaced that another process reads
LOOKS, SECONDS_BETWEEN_LOOKS = 5, 0.02  # for a lock to become free that another process only looks at
ENDS_GENTLY = hasattr(signal, "SIGKILL")  # whether `terminate` sends a signal; on Windows it kills
RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)  # names that no file has on Windows


def usable_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # macOS and Windows


def processor_features() -> str:
    """What the processor can do, as the system tells it: a library that is compiled for one may not run on another."""
    lines = CPU_FACTS.read_text(encoding="utf-8").split("\n") if CPU_FACTS.exists() else []
    told = (line for line in lines if line.startswith(("flags", "Features")))  # of Linux
    return f"{platform.machine()} {next(told, platform.processor())}"


def usable_memory() -> int:
    """Bytes of memory that this process may have: those of the machine, within the limits that are set."""
    found = [sys.maxsize, *windows_memory("installed")]
    if hasattr(os, "sysconf") and {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= set(os.sysconf_names):
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for path in map(Path, CGROUP_LIMITS):
        if path.is_file() and (text := path.read_text(encoding="ascii").strip()).isdigit():
            found.append(int(text))
    if resource is not None:
        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        found += [limit] if limit != resource.RLIM_INFINITY else []
    return min(found)


def keep_freed_memory() -> bool:
    """Keep what a batch frees for the next one; whether the system's allocator can be told so.

    glibc gives large blocks back when they are freed, so that each batch gets its memory page by page, and zeroed, from
    the system: a seventh of the time of a Transformer's training. At most 1 GiB is kept.
    """
    try:
        import ctypes

        mallopt = ctypes.CDLL(None).mallopt
    except (ImportError, AttributeError, OSError, TypeError):  # a system, or a C library, that has none
        return False
    options = ((M_MMAP_MAX, 0), (M_TRIM_THRESHOLD, KEPT), (M_TOP_PAD, GROWTH))
    return all(mallopt(option, value) for option, value in options)


@contextmanager
def loading() -> Iterator[None]:
    """Within it a process of our own loads modules: torch and this package are half a million objects, which stay.
    Python never looks through them for garbage: not now, not later, not when the process ends, which took a second.
    """
    with garbage_kept():
        yield
    gc.freeze()


@contextmanager
def garbage_kept() -> Iterator[None]:
    """Within it Python does not look for garbage: where many objects are made that stay, or that have no cycles."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def peak_memory() -> float | None:
    """The most megabytes that this process has held; None where the system does not tell."""
    if resource is not None:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most / (2**20 if sys.platform == "darwin" else 2**10)  # bytes on macOS, kilobytes elsewhere
    return next((most / 2**20 for most in windows_memory("peak")), None)


def windows_memory(what: str) -> list[int]:
    """Bytes that are `installed`, or the `peak` of this process, as Windows tells them; nothing elsewhere."""
    if sys.platform != "win32":
        return []
    import ctypes

    table = (ctypes.c_uint64 * 9)()  # MEMORYSTATUSEX or PROCESS_MEMORY_COUNTERS: size, a count, then what is asked for
    size = 64 if what == "installed" else 72
    ctypes.cast(table, ctypes.POINTER(ctypes.c_uint32))[0] = size
    kernel = ctypes.windll.kernel32
    if what == "installed":
        return [int(table[1])] if kernel.GlobalMemoryStatusEx(table) else []
    kernel.GetCurrentProcess.restype = ctypes.c_void_p
    told = kernel.K32GetProcessMemoryInfo(ctypes.c_void_p(kernel.GetCurrentProcess()), table, size)
    return [int(table[1])] if told else []


def take_lock(descriptor: int) -> bool:
    """Lock an open file until it is closed or the process ends; whether that was possible. Another process that asks
    `is_locked` holds it for a moment.
    """
    for look in range(LOOKS):
        if locked_now(descriptor, shared=False):
            return True
        time.sleep(SECONDS_BETWEEN_LOOKS if look < LOOKS - 1 else 0.0)
    return False


def is_locked(path: Path) -> bool:
    """Whether a process holds the lock of a file now."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        if fcntl is not None:
            return not locked_now(descriptor, shared=True)  # others may look at the same time
        if not take_lock(descriptor):
            return True
        unlock(descriptor)
        return False
    finally:
        os.close(descriptor)


def locked_now(descriptor: int, *, shared: bool) -> bool:
    """Try once to lock an open file; only flock has shared locks."""
    if fcntl is not None:
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
    windows = msvcrt()
    os.lseek(descriptor, 0, os.SEEK_SET)  # a lock is of bytes from the current position
    try:
        windows.locking(descriptor, windows.LK_NBLCK, 1)
    except PermissionError:
        return False
    return True


def unlock(descriptor: int) -> None:
    """Let go of a lock of Windows, which would last for a while after the file is closed."""
    windows = msvcrt()
    os.lseek(descriptor, 0, os.SEEK_SET)
    windows.locking(descriptor, windows.LK_UNLCK, 1)


def msvcrt() -> Any:
    """The module of Windows that locks files."""
    import msvcrt

    return msvcrt


def replace_file(new: Path, path: Path) -> Path:
    """Put a new file in the place of another. Windows refuses while another process has that one open: it is tried for
    a second.
    """
    for left in reversed(range(TRIES)):
        try:
            return new.replace(path)
        except PermissionError:
            if fcntl is not None or not left:
                raise
            time.sleep(SECONDS_BETWEEN_TRIES)
    return path


def flush_folder(folder: Path) -> None:
    """Write the names in a folder to disk; Windows opens no folder, and writes them by itself."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_private(path: Path) -> bool:
    """Whether a file or folder is this user's own, and nobody else may write to it."""
    facts = path.stat()
    return (not hasattr(os, "getuid") or facts.st_uid == os.getuid()) and not facts.st_mode & 0o022


def portable_name(name: str) -> str:
    """A name that every system allows: `con.csv` is none on Windows."""
    return f"{name[0]}-{name[1:]}" if RESERVED.match(name) else name


def own_session() -> dict[str, Any]:
    """What `subprocess.Popen` is given so that no Ctrl-C in the terminal of this process reaches the new one."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def call_at_hangup(call: Callable[[], object]) -> None:
    """Let the running event loop call this whenever the signal SIGHUP arrives; Windows has no such signal."""
    import asyncio  # which a command that only lists something need not load

    if hasattr(signal, "SIGHUP"):
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, call)


def end_with_parent() -> None:
    """End this process when its parent dies, whose end of the pipe to standard input is then closed. Linux kills it at
    once, also in a computation that lets no thread run.
    """
    kill_with_parent()
    threading.Thread(target=end_at_end_of_input, daemon=True).start()


def kill_with_parent() -> None:
    """Let Linux kill this process when its parent dies."""
    if sys.platform == "linux":
        with suppress(ImportError, AttributeError, OSError):  # the thread is enough
            import ctypes

            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL)


def end_with_process(parent: int) -> None:
    """The same of a process that has no pipe to its parent: a thread looks for it. On Windows the launcher ends it."""
    kill_with_parent()
    threading.Thread(target=end_without, args=(parent,), daemon=True).start()


def end_without(parent: int) -> None:
    """Wait for the death of the parent, and end this process."""
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    os._exit(KILLED)


def end_at_end_of_input() -> None:
    """Wait until nobody can write to standard input any more, and end this process."""
    while os.read(0, 1):
        pass
    os._exit(KILLED)
