"""After a comparison: `--finish` lets the best network go on, `--seeds` gives the mean of its models."""

from pathlib import Path

import pytest

import atento
from atento.errors import InputError

QUICK = {"train.steps": 30, "train.validations": 3, "model.hidden": 16, "train.batch_tokens": 300, "model.dropout": 0}


def pairs(folder):
    words = ["".join("abcd"[(n // 4**place) % 4] for place in range(4)) for n in range(200)]
    path = Path(folder) / "pairs.tsv"
    path.write_text("".join(f"{word}\t{' '.join(reversed(word))}\n" for word in words))
    return path


@pytest.mark.spec("X04")
def test_the_best_network_goes_on_and_stands_for_the_comparison(tmp_path):
    out = tmp_path / "board"
    board = atento.compare(pairs(tmp_path), models=["gru+dot"], settings=QUICK, finish="3s", out=out, verbose=False)
    own = out / "gru+dot-finished"
    assert any("gru+dot went on for" in sentence for sentence in board.verdict)
    if board.finished:  # better on the validation part, and not behind a baseline
        assert board.finished == own.name
        assert board.best().folder == own == atento.load(out).folder
    before, after = (atento.load(folder) for folder in (out / "gru+dot", own))
    assert after.metrics["data"]["fingerprint"] == before.metrics["data"]["fingerprint"]
    assert after.metrics["steps"] > 0


def test_a_time_that_is_none_is_refused_before_anything_is_trained(tmp_path):
    with pytest.raises(InputError, match="--finish"):
        atento.compare(
            pairs(tmp_path), models=["gru"], settings=QUICK, finish="soon", out=tmp_path / "b", verbose=False
        )
    assert not (tmp_path / "b").exists()


def test_the_mean_of_all_seeds_is_one_more_model(tmp_path):
    out = tmp_path / "board"
    board = atento.compare(pairs(tmp_path), models=["gru+dot"], settings=QUICK, seeds=2, out=out, verbose=False)
    mean = next(row for row in board.rows if row.model == "gru+dot, mean of 2")
    run, one = atento.load(out / mean.folder), atento.load(out / "gru+dot")
    assert run.metrics["scores"]["exact"][0] == mean.value
    assert mean.parameters == run.metrics["parameters"] == 2 * one.metrics["parameters"]
    assert len(run.predict(["abcd"])) == 1
    assert run.explain("abcd").weights.shape[0] == 2 * one.explain("abcd").weights.shape[0]


def test_an_ensemble_is_not_trained_as_one_model(tmp_path):
    with pytest.raises(InputError, match="one by one"):
        atento.fit(
            pairs(tmp_path), model="gru", settings={**QUICK, "model.members": 2}, out=tmp_path / "r", verbose=False
        )
