"""A comparison from several seeds: one split, one row a model, the spread of its seeds in the interval."""

import pytest

import atento
from atento.bundle import METRICS, read_json
from atento.errors import InputError

SMALL = {"model.hidden": 8, "train.batch_tokens": 200, "train.steps": 3, "train.validations": 1}


@pytest.fixture(scope="module")
def board(tiny_pairs, tmp_path_factory):
    place = tmp_path_factory.mktemp("seeds")
    return atento.compare(str(tiny_pairs), models=["rnn"], seeds=2, seed=5, settings=SMALL, out=place / "board")


def test_one_row_a_model_over_its_seeds(board):
    row = next(row for row in board.rows if row.model == "rnn")
    assert [one["seed"] for one in row.seeds] == [5, 6]
    values = [one["value"] for one in row.seeds]
    assert min(values) <= row.value <= max(values)
    assert board.seeds == 2
    assert "--seeds 2" in board.command
    table = board.to_frame()
    assert list(table["model"]) == [row.model for row in board.ranked()] and next(iter(table[board.metric])) is not None


def test_all_seeds_share_the_split_and_nothing_else(board):
    first, second = (read_json(board.folder / name, METRICS) for name in ("rnn", "rnn-seed-1"))
    assert first["data"]["fingerprint"] == second["data"]["fingerprint"]
    assert (first["seed"], second["seed"]) == (5, 6)
    weights = [(board.folder / name / "weights.safetensors").read_bytes() for name in ("rnn", "rnn-seed-1")]
    assert weights[0] != weights[1]


def test_no_seeds_is_refused(tiny_pairs, tmp_path):
    with pytest.raises(InputError, match="one seed at least"):
        atento.compare(str(tiny_pairs), models=["rnn"], seeds=0, out=tmp_path / "board")
