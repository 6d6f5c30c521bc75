"""Counts beside a network, from training to answers: they are of the training part, saved, and never below alone."""

import numpy as np
import pytest
import torch

import atento
from atento.errors import InputError
from atento.layers.kneser_ney import KneserNey
from atento.tasks.generate.scoring import calibrate, judge_texts, network_log_probabilities
from atento.tasks.task import EvaluationExample

LINE = "Who goes there? said the guard, and nobody said a word. It is I, said the fox; and the guard let it in. "
QUICK = {
    "model.hidden": 8,
    "tokens.source": "char",
    "train.steps": 4,
    "train.validations": 1,
    "train.threads": 1,
    "train.sequence_length": 16,
    "train.batch_tokens": 128,
    "data.split": "60/20/20",
}


def write(path, names, many=8):
    path.write_text("".join(LINE.replace("fox", name) for name in names * many), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("counts")
    text = write(folder / "tale.txt", ["fox", "cat", "owl"])
    return atento.fit(text, task="generate", model="gru+ngram", settings=QUICK, out=folder / "run", verbose=False)


def test_a_network_that_knows_nothing_leaves_the_counts_as_they_are(run):
    """The mixture is no worse than the counts on the text that weighed them, and the counts are the training part's."""
    module, codec, reading = run.predictor.module, run.predictor.bundle.codec, run.predictor.bundle.read()
    alone = KneserNey(7, len(codec.vocabulary)).fit([codec.row(reading.train[0][0]).numpy()], skipped=1)
    for length, table in enumerate(alone.tables):
        assert np.array_equal(getattr(module.ngram, f"shares_{length}").numpy(), table.shares)
    (valid,) = reading.valid
    calibrate(module, codec, reading.valid)
    (found,) = judge_texts(module, codec, [valid.source], run.predictor.bundle.recipe.decode)
    counted = np.log(alone.score(codec.row(valid.source).numpy(), skipped=1).probabilities).sum()
    (network,) = network_log_probabilities(module, codec, [codec.row(valid.source)])
    assert found[0] >= counted - 0.5 and found[0] > network.sum()


def test_it_writes_fills_and_comes_back(run):
    asked = ["Who goes", "It is ___, said the fox"]
    answers = run.predict(asked)
    assert answers[0].startswith("Who goes there? said the guard") and "___" not in answers[1]
    assert atento.load(run.folder).predict(asked) == answers
    with pytest.raises(InputError, match="looks up counts"):
        run.export("torch-export")


def test_another_run_begins_with_its_weights_and_its_own_counts(run, tmp_path):
    text = write(tmp_path / "other.txt", ["cat", "dog"])
    settings = {key: value for key, value in QUICK.items() if key != "tokens.source"}
    other = atento.fit(
        text, task="generate", model="gru+ngram", settings=settings, start_from=run.folder, out=tmp_path / "run",
        verbose=False,
    )  # fmt: skip
    codec, reading = other.predictor.bundle.codec, other.predictor.bundle.read()
    own = KneserNey(7, len(codec.vocabulary)).fit([codec.row(reading.train[0][0]).numpy()], skipped=1)
    for length, table in enumerate(own.tables):
        assert np.array_equal(getattr(other.predictor.module.ngram, f"ngrams_{length}").numpy(), table.ngrams)


def test_calibration_without_text_changes_nothing(run):
    module, codec = run.predictor.module, run.predictor.bundle.codec
    before = module.shares.clone()
    calibrate(module, codec, [EvaluationExample("", ("",))] if not codec.ends else [])
    assert torch.equal(module.shares, before)
