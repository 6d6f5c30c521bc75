"""Commands in processes of their own, for the tests of this folder."""

import importlib.util
import shutil
import signal
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
    """`atento_command.run("train", ..., cwd=folder)`."""
    commands = processes.Commands(tmp_path_factory.mktemp("said"))
    yield commands
    commands.close()


@pytest.fixture(scope="session")
def words(processes, tiny_pairs):
    """The arguments of a small run: a model, and what bounds it."""
    sizes = (*processes.SIZES, *processes.PACE)
    return lambda model, bounds: ("train", tiny_pairs, "--model", model, *sizes, *bounds)


@pytest.fixture(scope="session")
def whole(atento_command, words, tmp_path_factory):
    """That run, never stopped: a folder by model and bounds."""
    made = {}

    def make(model, bounds):
        if (model, bounds) not in made:
            place = tmp_path_factory.mktemp("whole")
            done = atento_command.run(*words(model, bounds), "--out", "run", cwd=place)
            assert done.code == 0, done.err
            made[model, bounds] = place / "run"
        return made[model, bounds]

    return make


@pytest.fixture(scope="session")
def half_way(atento_command, words, tmp_path_factory):
    """That run, killed as its eighth checkpoint was safe, at step 24, in the middle of an epoch."""
    made = {}

    def make(model, bounds):
        if (model, bounds) not in made:
            place = tmp_path_factory.mktemp("half")
            fault = ("die_at_flush", 2 * (3 + 8))  # each write is flushed twice; vocabulary, recipe, events come first
            died = atento_command.run(*words(model, bounds), "--out", "run", cwd=place, fault=fault)
            assert died.code == -signal.SIGKILL
            made[model, bounds] = place / "run"
        return made[model, bounds]

    return make


@pytest.fixture
def half(half_way, processes, tmp_path):
    """A copy of such a run, to be spoilt: RNN, with its one validation at the end."""
    shutil.copytree(half_way("rnn", processes.TO_THE_END), tmp_path / "run")
    return tmp_path / "run"
