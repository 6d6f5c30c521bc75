"""The compiled library for the processor at hand and for lesser ones, each compiled once in a test process."""

import tempfile
from functools import cache
from pathlib import Path

import pytest

from atento.native import library
from atento.native.library import Library, NoLibraryError, ThisProcess, compile_to

INSTRUCTIONS = {"here": library.FOR_THIS_PROCESSOR, "eight lanes": "-march=x86-64-v3", "four": "-march=x86-64"}


@cache
def compiled_for(name: str) -> Library | NoLibraryError:
    folder = tempfile.TemporaryDirectory()
    try:
        compile_to(Path(folder.name) / "some.so", instructions=INSTRUCTIONS[name])
    except NoLibraryError as error:
        return error
    made = Library(Path(folder.name) / "some.so")
    made.folder = folder  # it lives as long as the library
    return made


def take_library(monkeypatch: pytest.MonkeyPatch, name: str = "here") -> Library:
    """Let this process compute by the library of these instructions; without a compiler the test is left out."""
    made = compiled_for(name)
    if isinstance(made, NoLibraryError):
        pytest.skip(str(made))
    monkeypatch.setattr(ThisProcess, "library", made)
    return made
