"""What only some systems have is used in `system.py` alone, text files are opened with an encoding, and every Python
from 3.11 on reads the sources.
"""

import ast
import sys
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "atento"
SYSTEM = "system.py"
LIBRARY = {"native/library.py": ["ctypes"]}  # calls compiled C, where that can be had
MODULES = {  # of Linux, of POSIX, of Windows, and those that Python 3.12 to 3.14 no longer have
    "ctypes", "fcntl", "grp", "msvcrt", "nt", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty", "winreg",
    "asynchat", "asyncore", "cgi", "crypt", "distutils", "imp", "imghdr", "pipes", "smtpd", "sndhdr", "telnetlib",
}  # fmt: skip
NAMES = {  # of functions and signals
    "os": {
        "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "chown", "fork", "forkpty", "getegid", "geteuid", "getgid",
        "getloadavg", "getpgid", "getppid", "getuid", "kill", "killpg", "mkfifo", "nice", "openpty",
        "process_cpu_count", "rename", "sched_getaffinity", "sched_setaffinity", "setpgid", "setsid", "startfile",
        "statvfs", "symlink", "sysconf", "uname", "wait", "waitpid",
    },
    "signal": {
        "SIGALRM", "SIGBREAK", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGSTOP", "SIGUSR1", "SIGUSR2",
        "alarm", "pause", "setitimer",
    },
    "multiprocessing": {"get_context", "set_start_method"},
    "subprocess": {"CREATE_NEW_PROCESS_GROUP", "DETACHED_PROCESS"},
}  # fmt: skip
METHODS = {"symlink_to", "hardlink_to", "rename"}  # of a path: a link needs a right, a rename replaces nothing
OPTIONS = {"start_new_session", "preexec_fn", "process_group"}  # of subprocess.Popen
PLACES = ("/proc/", "/dev/shm", "/sys/")
TEXT = {"read_text", "write_text", "open", "fdopen"}


def uses_of(tree):
    """Whatever one of the systems lacks, with the line where it is used."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            first = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            yield from (f"{name} at line {node.lineno}" for name in first if name.split(".")[0] in MODULES)
            if isinstance(node, ast.ImportFrom) and node.module in NAMES:
                names = NAMES[node.module] & {alias.name for alias in node.names}
                yield from (f"{name} at line {node.lineno}" for name in sorted(names))
        if isinstance(node, ast.Attribute):
            owner = ast.unparse(node.value)
            if node.attr in NAMES.get(owner, ()):
                yield f"{owner}.{node.attr} at line {node.lineno}"
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS and not named(node):
                yield f"{node.func.attr} at line {node.lineno}"
            found = OPTIONS & {option.arg for option in node.keywords}
            yield from (f"{name} at line {node.lineno}" for name in sorted(found))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(PLACES):
            yield f"{node.value} at line {node.lineno}"


def named(call):
    """`rename(columns={...})` is of a table."""
    return any(option.arg for option in call.keywords)


def without_encoding(tree):
    """Text files that are opened in whatever encoding the system prefers."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
            texts = [part.value for part in node.args if isinstance(part, ast.Constant) and isinstance(part.value, str)]
            modes = [text for text in texts if text and set(text) <= set("rwxabt+")]
            is_file = name in ("read_text", "write_text") or (name == "open" and (modes or not node.args))
            is_method = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) not in ("os", "Image")
            options = {option.arg for option in node.keywords}
            if (
                is_file
                and is_method
                and not options
                and not any("b" in mode for mode in modes)
                and not encoded(name, node)
            ):
                yield f"{name} at line {node.lineno}"


def encoded(name, call):
    """`read_text("utf-8")` names it by its place."""
    return name == "read_text" and bool(call.args)


MODULES_OF_ATENTO = sorted(SOURCE.rglob("*.py"))


def name_of(path):
    return path.relative_to(SOURCE).as_posix()


def test_one_file_knows_the_systems():
    found = {name_of(path): list(uses_of(ast.parse(path.read_text("utf-8")))) for path in MODULES_OF_ATENTO}
    assert found.pop(SYSTEM), "the test is blind"
    assert {name: [use.split(" ")[0] for use in uses] for name, uses in found.items() if uses} == LIBRARY


def test_text_files_have_an_encoding():
    opened = {"reading.test.open": "tasks/sealed.py"}  # the sealed test part is no file
    found = {name_of(path): list(without_encoding(ast.parse(path.read_text("utf-8")))) for path in MODULES_OF_ATENTO}
    assert {name: uses for name, uses in found.items() if uses and name not in opened.values()} == {}


@pytest.mark.parametrize(
    "line, use",
    [
        ("import fcntl", "fcntl at line 1"),
        ("def late():\n    from resource import getrusage", "resource at line 2"),
        ("os.sched_getaffinity(0)", "os.sched_getaffinity at line 1"),
        ("from signal import SIGKILL", "SIGKILL at line 1"),
        ("signal.signal(signal.SIGHUP, stop)", "signal.SIGHUP at line 1"),
        ("Popen(words, start_new_session=True)", "start_new_session at line 1"),
        ("beside.rename(path)", "rename at line 1"),
        ("Path('/proc/self/stat')", "/proc/self/stat at line 1"),
        ("import distutils.core", "distutils.core at line 1"),
    ],
)
def test_a_bare_use_is_seen(line, use):
    assert list(uses_of(ast.parse(line))) == [use]
    assert not list(uses_of(ast.parse("table.rename(columns=names); signal.SIGTERM; os.replace(a, b)")))


@pytest.mark.parametrize("line", ["path.read_text()", 'path.open("a")', "path.open()", "path.write_text(x)"])
def test_a_missing_encoding_is_seen(line):
    assert len(list(without_encoding(ast.parse(line)))) == 1
    assert not list(without_encoding(ast.parse(line.replace(")", ', encoding="utf-8")').replace("(,", "("))))
    assert not list(without_encoding(ast.parse('path.open("rb"); path.read_text("utf-8"); os.open(a, b)')))


@pytest.mark.parametrize("folder", ["src", "benchmarks", "examples"])
def test_sources_are_read_by_every_python_without_a_warning(folder):
    """By the grammar of 3.11; by this Python, for which an invalid escape or `return` in `finally` is an error."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tree = ast.parse(text, filename=str(path), feature_version=(3, 11))
            compile(text, str(path), "exec", dont_inherit=True)
        leaves = [node for node in ast.walk(tree) if isinstance(node, ast.Try) for node in leaving(node.finalbody)]
        assert not leaves, f"{path}: Python 3.14 warns of what leaves a finally block"
    assert sys.version_info >= (3, 11)


def leaving(statements):
    """`return`, and `break` or `continue` of an outer loop, in a finally block (PEP 765)."""
    for node in statements:
        if isinstance(node, ast.Return | ast.Break | ast.Continue):
            yield node
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.For | ast.While):
            yield from leaving([child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)])
