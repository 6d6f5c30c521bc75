"""Python as it is on Windows, as far as atento can see: every process that has this folder in PYTHONPATH imports it.

The modules, functions and signals that Windows lacks are hidden from the modules of atento; the libraries below it,
which are those of this system, keep them. `msvcrt` is a stand-in that behaves as its documentation says.
"""

import builtins
import errno
import fcntl
import os
import signal
import subprocess
import sys
import types
import warnings

MODULES = {"ctypes", "fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"}  # ctypes: the loader of prctl
ATTRIBUTES = {
    os: {
        "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "chown", "fork", "forkpty", "getegid", "geteuid", "getgid",
        "getloadavg", "getpgid", "getuid", "killpg", "mkfifo", "nice", "openpty", "sched_getaffinity",
        "sched_setaffinity", "setpgid", "setsid", "statvfs", "symlink", "sync", "sysconf", "sysconf_names", "uname",
        "waitpid", "wait",
    },
    signal: {
        "SIGALRM", "SIGCHLD", "SIGCONT", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGSTOP", "SIGTSTP", "SIGUSR1",
        "SIGUSR2", "alarm", "pause", "setitimer", "sigwait",
    },
}  # fmt: skip
import_module, open_descriptor = builtins.__import__, os.open


def import_as_on_windows(name, globals=None, locals=None, fromlist=(), level=0):
    if str((globals or {}).get("__name__", "")).split(".")[0] != "atento" or level:
        return import_module(name, globals, locals, fromlist, level)
    if name.split(".")[0] in MODULES:
        raise ImportError(f"No module named {name!r} on this system", name=name)
    return SEEN.get(name) or import_module(name, globals, locals, fromlist, level)


def without(module, hidden):
    """A module that lacks some of its attributes."""
    seen = types.ModuleType(module.__name__)
    vars(seen).update({name: value for name, value in vars(module).items() if name not in hidden})
    return seen


def open_files_only(path, *args, **options):
    if os.path.isdir(path):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))
    return open_descriptor(path, *args, **options)


def locking(descriptor, mode, count):
    if (os.lseek(descriptor, 0, os.SEEK_CUR), count) != (0, 1):
        raise ValueError("another byte is locked than the first")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_UN if mode == 0 else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise PermissionError(errno.EACCES, "Permission denied") from None


SEEN = {module.__name__: without(module, hidden) for module, hidden in ATTRIBUTES.items()}
SEEN["os"].open = open_files_only
sys.modules["msvcrt"] = types.ModuleType("msvcrt")
vars(sys.modules["msvcrt"]).update(locking=locking, LK_UNLCK=0, LK_LOCK=1, LK_NBLCK=2)
subprocess.Popen.terminate = subprocess.Popen.kill  # no signal: a process is ended at once
builtins.__import__ = import_as_on_windows
warnings.filterwarnings("error", category=EncodingWarning, module="atento")  # of PYTHONWARNDEFAULTENCODING
