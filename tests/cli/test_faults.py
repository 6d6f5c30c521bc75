"""Faults of the machine: exit code 3 with what, where and why; a file is whole, or as it was, or not there."""

import errno
import io
import os
import shlex
import shutil
import subprocess
import sys
from contextlib import contextmanager
from unittest import mock
from zipfile import ZipFile

import numpy as np
import pytest
import torch

from atento.data.files.archives import files_below
from atento.data.tables.folders import text_names
from atento.data.text.vectors import write_vectors
from atento.errors import InputError, MachineError, failure_of

TINY = ("--model", "gru+additive", "--set", "model.hidden=4", "--set", "train.steps=1", "--set", "train.threads=1")


class Counted:
    """The operations on files that may fail: opening for writing, flushing to disk, renaming, making a folder; the
    one of the given number, counted from 1, and all after it fail.
    """

    def __init__(self, fails=0, number=errno.ENOSPC):
        self.fails, self.number, self.seen = fails, number, 0

    def reach(self, path):
        self.seen += 1
        if self.fails and self.seen >= self.fails:
            raise OSError(self.number, os.strerror(self.number), *([os.fspath(path)] if path else []))

    @contextmanager
    def watch(self, folder):
        """Watch the operations on files below a folder; those on open files have no name."""
        opened, replaced, made = io.open, os.replace, os.mkdir

        def is_ours(path):
            return isinstance(path, str | os.PathLike) and os.path.abspath(path).startswith(str(folder))

        def open_(path, mode="r", *rest, **options):
            if is_ours(path) and set(mode) & set("wax+"):
                if "w" in mode:  # a full disk lets a file be opened, and then holds none of it
                    opened(path, mode, *rest, **options).close()
                self.reach(path)
            return opened(path, mode, *rest, **options)

        def replace(path, *rest, **options):
            if is_ours(path):
                self.reach(path)
            return replaced(path, *rest, **options)

        def fsync(number):
            self.reach("")  # it is not worth the time of the tests to flush to disk

        def mkdir(path, *rest, **options):
            if is_ours(path):
                self.reach(path)
            return made(path, *rest, **options)

        with (
            mock.patch("io.open", open_),
            mock.patch("os.replace", replace),
            mock.patch("os.fsync", fsync),
            mock.patch("os.mkdir", mkdir),
        ):
            yield self


def assert_machine_fault(done, *, code=3, why=os.strerror(errno.ENOSPC)):
    assert done.code == code, done.err
    assert why in done.err and "fix:" in done.err
    for word in ("mistake", "damaged", "Traceback"):
        assert word not in done.err


@pytest.fixture(scope="module")
def run(atento_command, tiny_pairs, tmp_path_factory):
    place = tmp_path_factory.mktemp("faults")
    done = atento_command.here("train", tiny_pairs, *TINY, "--out", "run", cwd=place)
    assert done.code == 0, done.err
    return place / "run"


def test_a_full_disk_at_every_operation_of_a_training(atento_command, tmp_path):
    (tmp_path / "few.tsv").write_text("".join(f"{one}{two}\t{two} {one}\n" for one in "abcdef" for two in "abcd"))
    words = ("train", "few.tsv", *TINY, "--task", "translate", "--set", "train.baselines=no", "--out", "run")
    with Counted().watch(tmp_path) as whole:
        assert atento_command.here(*words, cwd=tmp_path).code == 0
    assert whole.seen > 30
    for number in range(1, whole.seen + 1):
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
        with Counted(number).watch(tmp_path):
            assert_machine_fault(atento_command.here(*words, cwd=tmp_path))
        assert not [name for name in os.listdir(tmp_path / "run" if number > 1 else tmp_path) if name.endswith(".tmp")]


@pytest.mark.parametrize(
    "words, name",
    [
        (("look", "run", "abcd", "--out", "out.png"), "out.png"),
        (("look", "run", "abcd", "--out", "out.html"), "out.html"),
        (("look", "run", "abcd", "--out", "out.svg"), "out.svg"),
        (("predict", "run", "PAIRS", "--out", "out.csv"), "out.csv"),
        (("predict", "run", "PAIRS", "--out", "out.parquet"), "out.parquet"),
        (("evaluate", "run", "PAIRS", "--out", "out.json"), "out.json"),
        (("report", "run"), "run/report.html"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_an_output_is_whole_or_as_it_was(atento_command, tiny_pairs, run, tmp_path, words, name):
    shutil.copytree(run, tmp_path / "run")
    words = [tiny_pairs if word == "PAIRS" else word for word in words]
    with Counted().watch(tmp_path) as whole:
        done = atento_command.here(*words, cwd=tmp_path)
        assert done.code == 0, done.err
    path = tmp_path / name
    assert path.stat().st_size and whole.seen
    path.write_text("before")
    for number in range(1, max(2, whole.seen)):  # the last flushes the folder, after the file is whole
        with Counted(number, errno.EDQUOT).watch(tmp_path):
            assert_machine_fault(atento_command.here(*words, cwd=tmp_path), why=os.strerror(errno.EDQUOT))
        assert path.read_text() == "before"
        assert not list(path.parent.glob("*.tmp"))


def test_a_file_of_a_run_that_may_not_be_read(atento_command, tiny_pairs, run):
    """Neither damaged nor missing: the file is named, with what gives the permission."""
    opened = io.open
    for name in sorted(os.listdir(run)):

        def refuse(path, *rest, name=name, **options):
            if str(path).endswith(name):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
            return opened(path, *rest, **options)

        with mock.patch("io.open", refuse):
            done = atento_command.here("predict", "run", tiny_pairs, cwd=run.parent)
        if done.code == 0:
            assert name == ".lock", f"{name} is not read"
            continue
        assert_machine_fault(done, why=f"run/{name} cannot be used.\n  found: Permission denied")
        assert done.err.endswith(f"fix:   give yourself the permission: chmod u+rwX run/{name}\n")


@pytest.mark.parametrize(
    "words",
    [("inspect", "a.tsv"), ("inspect", "a.tsv.gz"), ("inspect", "a.zip"), ("inspect", "a.zip!/a.tsv"),
     ("inspect", "a.parquet"), ("inspect", "a.npy"), ("train", "a.toml"),
     ("train", "a.tsv", "--set", "tokens.vectors=v.vec")],
    ids=" ".join,
)  # fmt: skip
@pytest.mark.parametrize("number", [errno.EACCES, errno.EMFILE])
def test_data_that_cannot_be_read(atento_command, tmp_path, words, number):
    rows = "text\tlabel\n" + "".join(f"good film {at}\tyes\nbad film {at}\tno\n" for at in range(40))
    for name in ("a.tsv", "a.parquet", "a.npy", "a.tsv.gz", "v.vec"):
        (tmp_path / name).write_text(rows)
    (tmp_path / "a.toml").write_text("")
    with ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.tsv", rows)
    refused = words[-1].rpartition("=")[2].partition("!")[0]
    opened = io.open

    def refuse(path, *rest, **options):
        if str(path).endswith(refused):
            raise OSError(number, os.strerror(number), str(path))
        return opened(path, *rest, **options)

    with mock.patch("io.open", refuse), mock.patch("builtins.open", refuse):
        done = atento_command.here(*words, cwd=tmp_path)
    assert_machine_fault(done, why=f"{refused} cannot be used.\n  found: {os.strerror(number)}")


@pytest.mark.parametrize("number", [1, 2, 3, 4, 6])
def test_a_full_disk_stops_a_comparison(atento_command, tiny_pairs, tmp_path, number):
    """Before any process is started."""
    with Counted(number).watch(tmp_path):
        words = ("compare", tiny_pairs, "--models", "gru", "--set", "train.steps=1", "--out", "board")
        assert_machine_fault(atento_command.here(*words, cwd=tmp_path))


@pytest.mark.parametrize("blocks, code", [(600, 3), (90000, 0)])
def test_a_comparison_in_which_no_model_could_be_written(tiny_pairs, tmp_path, blocks, code):
    """Files of more kilobytes than the shell allows fail in the worker processes, as on a full disk."""
    options = "--models rnn --set train.steps=2 --set model.hidden=400 --out b"
    words = f"-m atento compare {shlex.quote(str(tiny_pairs))} {options}"
    command = f"ulimit -f {blocks}; exec {shlex.quote(sys.executable)} {words}"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert ("could not be written" in done.stdout) == bool(code) and "mistake" not in done.stderr + done.stdout


@pytest.mark.parametrize(
    "fault, words, code, said",
    [
        ("close_input", ("try", "RUN"), 0, "an empty line ends"),
        ("close_input", ("predict", "RUN", "-"), 2, "no line on standard input"),
        ("full_output", ("try", "RUN"), 3, "standard output could not be written"),
        ("full_output", ("predict", "RUN", "PAIRS"), 3, "standard output could not be written"),
        ("full_output", ("train", "PAIRS", *TINY, "--out", "run"), 3, "standard output could not be written"),
    ],
)
def test_streams(atento_command, tiny_pairs, run, tmp_path, fault, words, code, said):
    words = [{"RUN": run, "PAIRS": tiny_pairs}.get(word, word) for word in words]
    done = atento_command.run(*words, cwd=tmp_path, fault=(fault,))
    assert done.code == code and said in done.err
    assert "mistake" not in done.err and "Traceback" not in done.err and "Exception ignored" not in done.err


def test_a_folder_that_may_not_be_read_is_no_empty_one(tmp_path):
    for name in ("pos", "neg"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text("a text")
    listed = os.scandir

    def refuse(path):
        if str(path).endswith("neg"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return listed(path)

    for find in (text_names, files_below):
        assert len(find(tmp_path)) == 2
        with mock.patch("os.scandir", refuse), pytest.raises(PermissionError):
            find(tmp_path)


def test_vectors_are_written_whole_or_not_at_all(tmp_path):
    with Counted(2).watch(tmp_path), pytest.raises(MachineError, match="could not be written"):
        write_vectors(tmp_path / "words.gz", ["a"], np.ones((1, 2)))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "error, kind, said",
    [
        (PermissionError(errno.EACCES, "Permission denied", "a b"), MachineError, "a b cannot be used."),
        (OSError(errno.EMFILE, "Too many open files", "x"), MachineError, "ulimit -n 4096"),
        (OSError(errno.EROFS, "Read-only file system", "x"), MachineError, "a disk that can be written"),
        (OSError(errno.EIO, "Input/output error"), MachineError, "a file could not be read or written."),
        (OSError(errno.EDQUOT, "Disk quota exceeded", b"x"), MachineError, "df -h ."),
        (MemoryError(), MachineError, "there is not enough memory."),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: 12 bytes"), MachineError, "12 bytes"),
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB."), MachineError, "2 GiB"),
        (RuntimeError("can't start new thread"), MachineError, "processes"),
        (ModuleNotFoundError("No module named 'torch'", name="torch"), MachineError, "pip install torch"),
        (ModuleNotFoundError("No module", name="sklearn.base"), MachineError, "pip install scikit-learn"),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "x"), InputError, "check the path"),
        (IsADirectoryError(errno.EISDIR, "Is a directory", "x"), InputError, "x cannot be used."),
    ],
)
def test_the_one_translation(error, kind, said):
    failure = failure_of(error)
    assert type(failure) is kind and said in str(failure) and failure.fix
    assert failure_of(failure) is failure
    assert "a mistake of its own" in str(failure_of(RuntimeError("no idea")))
