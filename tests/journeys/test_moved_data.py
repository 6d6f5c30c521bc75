"""A run whose data was moved goes on from the new place, bit for bit; other data, or none, is refused."""

import shutil
import signal

import pytest
from tests.journeys.test_resume import leftovers, same_run

from atento.spec import read_recipe

AGAIN = ("train", "run/recipe.toml", "--out", "run", "--resume")


@pytest.fixture
def moved(half, tiny_pairs, tmp_path):
    """The data of the run in another place."""
    shutil.copy(tiny_pairs, tmp_path / "elsewhere.tsv")
    return tmp_path / "elsewhere.tsv"


def test_it_goes_on_from_the_new_place(atento_command, processes, tmp_path, half, whole, moved):
    done = atento_command.run(*AGAIN, "--set", "data.train=elsewhere.tsv", cwd=tmp_path)
    assert done.code == 0, done.err
    assert same_run(processes, half, whole("rnn", processes.TO_THE_END))
    assert read_recipe(half / "recipe.toml").data.train == str(moved)


@pytest.mark.parametrize("flush, place", [(2, "old"), (3, "old"), (3, "new"), (4, "new"), (7, "new")])
def test_a_kill_while_the_place_is_written_down_loses_nothing(
    atento_command, processes, tmp_path, half, whole, moved, tiny_pairs, flush, place
):
    """The checkpoint vouches for both recipes (two flushes), then the new recipe takes its place (two more)."""
    new = ("--set", "data.train=elsewhere.tsv")
    died = atento_command.run(*AGAIN, *new, cwd=tmp_path, fault=("die_at_flush", flush))
    assert died.code == -signal.SIGKILL
    written = read_recipe(half / "recipe.toml").data.train
    assert written == str(tiny_pairs if flush < 4 else moved)
    again = (*AGAIN, *new) if place == "new" and flush < 4 else AGAIN
    done = atento_command.run(*again, cwd=tmp_path)
    assert done.code == 0, done.err
    assert same_run(processes, half, whole("rnn", processes.TO_THE_END)) and not leftovers(tmp_path)


def test_other_data_in_the_new_place_is_refused(atento_command, processes, tmp_path, half, moved):
    moved.write_text(moved.read_text().replace("a", "b", 1))
    before = processes.snapshot(half)
    done = atento_command.here(*AGAIN, "--set", "data.train=elsewhere.tsv", cwd=tmp_path)
    assert done.code == 2
    assert f"--resume: {moved} does not hold the data that run began with.\n  found: fingerprint " in done.err
    assert "… where the run began with " in done.err and "--set data.train=FILE" in done.err
    assert processes.snapshot(half) == before


def test_data_that_is_gone_is_told_with_what_to_type(atento_command, processes, tmp_path, half):
    before = processes.snapshot(half)
    done = atento_command.here(*AGAIN, "--set", "data.train=gone.tsv", cwd=tmp_path)
    assert done.code == 2
    fix = "put it back, or name its new place: atento train run/recipe.toml --out run --resume --set data.train=FILE"
    assert done.err.strip() == (
        f"--resume: the data of run is no longer where it was.\n  found: no file gone.tsv\n  fix:   {fix}"
    )
    assert processes.snapshot(half) == before


def test_another_setting_still_is_another_recipe(atento_command, tmp_path, half, moved):
    done = atento_command.here(*AGAIN, "--set", "data.train=elsewhere.tsv", "--seed", "7", cwd=tmp_path)
    assert done.code == 2 and "another recipe than run began with" in done.err and "train.seed" in done.err
