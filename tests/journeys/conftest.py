"""Small runs and what befalls them, for the tests of this folder."""

import shutil
import signal

import pytest


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
