"""How the C files are compiled, kept, found, refused and called."""

import os
import subprocess

import pytest
import torch

from atento.native import library
from atento.native.library import (
    Library,
    ThisProcess,
    compile_to,
    find_library,
    library_for,
    library_path,
    without_library,
)


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """A process that has looked for no library yet, of a user who has none."""
    for name, value in (("library", None), ("looked", False), ("reason", ""), ("seconds", 0.0)):
        monkeypatch.setattr(ThisProcess, name, value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "atento"


def needs_compiler():
    try:
        library.find_compiler()
    except library.NoLibraryError as error:
        pytest.skip(str(error))


def test_a_training_compiles_it_once_and_other_processes_find_it(fresh, monkeypatch):
    needs_compiler()
    values = torch.randn(3, dtype=torch.float32)
    with torch.no_grad():
        assert library_for(values) is None  # a process that only answers compiles nothing
    assert not fresh.exists()
    made = library_for(values)
    assert ThisProcess.seconds > 0  # which a training says
    assert made is not None
    assert [made.path] == list(fresh.iterdir())  # nothing else is left behind
    assert fresh.stat().st_mode & 0o777 == made.path.stat().st_mode & 0o777 == 0o700
    monkeypatch.setattr(subprocess, "run", None)  # a second call of the compiler would fail
    ThisProcess.library, ThisProcess.looked = None, False
    with torch.no_grad():
        assert library_for(values).path == made.path


@pytest.mark.parametrize(("dtype", "why"), [(torch.float64, "double"), (torch.bfloat16, "short")])
def test_only_float32_is_computed(dtype, why):
    assert library_for(torch.randn(3, dtype=dtype, requires_grad=True)) is None, why


def test_it_can_be_turned_off(fresh, monkeypatch):
    values = torch.randn(3, dtype=torch.float32, requires_grad=True)
    with without_library():
        assert library_for(values) is None
    assert not ThisProcess.looked
    monkeypatch.setenv("ATENTO_NATIVE", "0")
    assert library_for(values) is None
    assert "ATENTO_NATIVE=0" in ThisProcess.reason
    assert not fresh.exists()


def test_without_a_compiler_there_is_a_reason(fresh, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_library(may_compile=True) is None
    assert ThisProcess.reason == "there is no C compiler: none of cc, gcc, clang"


def test_a_user_without_a_home_goes_on_without_it(fresh, monkeypatch):
    needs_compiler()

    def nowhere():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(library.Path, "home", nowhere)
    assert find_library(may_compile=True) is None
    assert ThisProcess.reason == "this user has no home folder, and XDG_CACHE_HOME names no other"


def test_a_compiler_that_fails_is_quoted(fresh, monkeypatch, tmp_path):
    (tmp_path / "cc").write_text("#!/bin/sh\necho no such instruction >&2\nexit 3\n")
    (tmp_path / "cc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert find_library(may_compile=True) is None
    assert ThisProcess.reason == "the C compiler failed: no such instruction"
    assert list(fresh.iterdir()) == []


@pytest.mark.parametrize("open_to_others", ["folder", "file"])
def test_what_others_may_have_written_is_not_loaded(fresh, open_to_others):
    needs_compiler()
    path = library_path()
    fresh.mkdir(mode=0o700)
    path.write_bytes(b"never loaded")
    path.chmod(0o722 if open_to_others == "file" else 0o700)
    fresh.chmod(0o777 if open_to_others == "folder" else 0o700)
    assert find_library(may_compile=True) is None
    assert ThisProcess.reason == f"others may write to {path if open_to_others == 'file' else fresh}"


def test_a_damaged_library_is_not_loaded(fresh):
    needs_compiler()
    path = library_path()
    fresh.mkdir(mode=0o700)
    path.write_bytes(b"")
    path.chmod(0o700)
    assert find_library(may_compile=True) is None
    assert path.name in ThisProcess.reason


def test_a_tensor_of_another_type_is_refused():
    with pytest.raises(TypeError, match=r"C takes float32, int32 or int64, not torch\.float64"):
        library.address(torch.randn(3, dtype=torch.float64))


def test_a_walk_refuses_a_tensor_with_gaps():
    """C would read and write past it."""
    weight = torch.randn(6, 2, dtype=torch.float32)
    with pytest.raises(TypeError, match="gru_forward takes tensors without gaps"):
        Library.walk(None, "gru_forward", [1], 1, weight, torch.randn(3, 5, dtype=torch.float32).t())


def test_every_number_of_rows_is_computed_once_by_any_number_of_threads(tmp_path, monkeypatch):
    """Each thread gets rows of its own: together all of them, whatever their number."""
    needs_compiler()
    compile_to(tmp_path / "some.so")
    made, taken = Library(tmp_path / "some.so"), []
    monkeypatch.setattr(made, "functions", {"count": lambda first, last: taken.append((first.value, last.value))})
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    for rows in (1, 8, 17, 24, 101):
        taken.clear()
        made.run("count", rows)
        assert sorted(row for first, last in taken for row in range(first, last)) == list(range(rows))
        assert len(taken) == max(1, min(3, rows // 8))
