"""Files in memory: found as long as someone holds them, lent to other processes, and missed with a way to mend it."""

import gc

import pytest

from atento.data.files.memory import HELD, borrow, bytes_in_memory, find_held, is_in_memory, keep, lend
from atento.errors import InputError


def test_held_as_long_as_someone_holds_it():
    first, second = keep("a.jsonl", b"1\n"), keep("a.jsonl", b"1\n")
    assert first is second and is_in_memory(first.name) and not is_in_memory("memory/a.jsonl")
    assert keep("a.jsonl", b"2\n").name != first.name
    del second
    gc.collect()
    assert bytes_in_memory(first.name) == b"1\n" and find_held(first.name) is first
    name = first.name
    del first
    gc.collect()
    assert name not in HELD
    with pytest.raises(InputError, match="give the same data again"):
        bytes_in_memory(name)


def test_lent_to_another_process_and_taken_back(tmp_path):
    held = keep("rows.jsonl", b'{"a": 1}\n')
    (path,) = lend([held.name, "on/disk.csv", ""], tmp_path)
    name = held.name
    del held
    gc.collect()
    (again,) = borrow([name, "on/disk.csv"], tmp_path)
    assert again.name == name and again.content == path.read_bytes()
    path.unlink()
    assert borrow([name], tmp_path) == []
