"""Commands in processes of their own, as in tests/journeys."""

import importlib.util
import sys
from pathlib import Path

import pytest

NAME = "atento_test_commands"


def load_commands():
    """One module for all folders, hence one server; tests are no package, so it is loaded by its place."""
    if NAME not in sys.modules:
        path = Path(__file__).parent.parent / "journeys" / "commands.py"
        place = importlib.util.spec_from_file_location(NAME, path)
        sys.modules[NAME] = importlib.util.module_from_spec(place)
        place.loader.exec_module(sys.modules[NAME])
    return sys.modules[NAME]


@pytest.fixture(scope="session")
def processes():
    return load_commands()


@pytest.fixture(scope="session")
def atento_command(processes, tmp_path_factory):
    """`atento_command.run("predict", ..., cwd=folder)`."""
    commands = processes.Commands(tmp_path_factory.mktemp("said"))
    yield commands
    commands.close()


@pytest.fixture(scope="session")
def small_words(processes):
    """The options of a run of a moment."""
    return (*processes.SIZES, "--set", "train.steps=6", "--set", "train.validations=2")


@pytest.fixture(scope="session")
def small(atento_command, tiny_pairs, small_words, tmp_path_factory):
    """Such a run: its folder, and how the command ended."""
    place = tmp_path_factory.mktemp("small")
    done = atento_command.run("train", tiny_pairs, "--model", "gru", *small_words, "--out", "run", "--json", cwd=place)
    return place / "run", done
