"""What the systems do differently, asked of the one here; `journeys/test_other_systems.py` hides what it has."""

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from atento import system
from atento.data.files.archives import split_archive_path
from atento.data.files.memory import find_held, keep
from atento.errors import unwritable


def test_cores_and_memory_are_those_of_this_process(monkeypatch):
    assert 1 <= system.usable_cores() <= os.cpu_count()
    assert 2**28 < system.usable_memory() < 2**50
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert system.usable_cores() == 1


def test_the_peak_grows_with_what_is_held_and_is_told_in_megabytes():
    before = system.peak_memory()
    held = bytearray(os.urandom(1)) * (300 * 2**20)
    assert 20 < before < 20_000 and system.peak_memory() > 300 and len(held)


FAULTS = """
import resource, sys, torch
from atento.system import keep_freed_memory
assert sys.argv[1] == "no" or keep_freed_memory()
for _ in range(30):
    torch.ones(12_000_000)  # 48 MB, whose place is free again at once
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc's allocator is told")
def test_freed_memory_is_kept_for_the_next_batch():
    command = [sys.executable, "-c", FAULTS]
    without, kept = (int(subprocess.check_output([*command, told], text=True)) for told in ("no", "yes"))
    pages = 48_000_000 // 4096
    assert without - kept > 20 * pages  # each of the 30 tensors took its pages anew


def test_a_lock_is_held_by_one(tmp_path):
    path = tmp_path / "lock"
    with path.open("ab") as one:
        assert not system.is_locked(path)
        assert system.take_lock(one.fileno())
        assert system.is_locked(path)
        with path.open("ab") as other:
            assert not system.take_lock(other.fileno())
    assert not system.is_locked(path)


def test_a_file_that_is_read_elsewhere_is_replaced_a_moment_later(tmp_path, monkeypatch):
    new, path, refused = tmp_path / "new", tmp_path / "old", [1, 2, 3]
    new.write_bytes(b"new")
    path.write_bytes(b"old")
    move = Path.replace

    def replace(self, target):
        if refused.pop():
            raise PermissionError(13, "in use")
        return move(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(PermissionError):  # here it is a matter of permissions
        system.replace_file(new, path)
    monkeypatch.setattr(system, "fcntl", None)
    monkeypatch.setattr(system, "SECONDS_BETWEEN_TRIES", 0.0)
    refused[:] = [0, 1, 2]
    assert system.replace_file(new, path).read_bytes() == b"new"
    refused[:] = [1] * system.TRIES
    with pytest.raises(PermissionError):
        system.replace_file(path, new)


@pytest.mark.parametrize(
    "name, allowed",
    [
        ("con.csv", "c-on.csv"),
        ("NUL", "N-UL"),
        ("com1.tar.gz", "c-om1.tar.gz"),
        ("console.csv", "console.csv"),
        ("company", "company"),
        ("lstm+additive", "lstm+additive"),
    ],
)
def test_a_name_that_windows_forbids_is_changed(name, allowed):
    assert system.portable_name(name) == allowed


@pytest.mark.skipif(sys.platform == "win32", reason="Windows opens no folder")
def test_the_names_in_a_folder_are_flushed(tmp_path):
    system.flush_folder(tmp_path)
    with pytest.raises(NotADirectoryError):
        (tmp_path / "file").touch()
        system.flush_folder(tmp_path / "file")


def test_paths_of_windows_lead_into_archives_and_into_memory(monkeypatch):
    """pathlib writes them with its own separator."""
    held = keep("list.jsonl", b"{}")
    monkeypatch.setattr(os, "sep", "\\")
    assert split_archive_path("C:\\data\\set.zip!\\train\\a.csv") == ("C:\\data\\set.zip", "train/a.csv")
    assert find_held(held.name.replace("/", "\\")) is held


def test_what_to_do_is_said_for_the_shell_that_there_is(monkeypatch, tmp_path):
    refused = PermissionError(13, "Permission denied")
    assert unwritable(tmp_path, refused).fix.startswith("give yourself the permission: chmod u+rwX ")
    monkeypatch.setattr("atento.errors.os.name", "nt")
    assert "chmod" not in unwritable(str(tmp_path), refused).fix


@pytest.fixture
def thawed():
    yield
    gc.unfreeze()
    gc.enable()


def test_what_was_loaded_is_never_looked_through(thawed):
    with system.loading():
        assert not gc.isenabled()
        loaded = [["a module"]]
    assert gc.isenabled()
    assert not any(one is loaded for one in gc.get_objects())
    assert gc.get_freeze_count() > 0


@pytest.mark.parametrize("enabled", [True, False])
def test_afterwards_all_is_as_it_was_even_after_an_error(thawed, enabled):
    (gc.enable if enabled else gc.disable)()
    with pytest.raises(ValueError, match="wrong"), system.garbage_kept():
        assert not gc.isenabled()
        raise ValueError("wrong")
    assert gc.isenabled() == enabled
