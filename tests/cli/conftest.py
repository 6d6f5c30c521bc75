"""A run of a moment, shared by the tests of this folder."""

import pytest


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
