"""Through one vector: each way to make it and to hand it over learns number words on short inputs."""

import random

import pytest

import atento
from atento.data.builtin.numbers import LANGUAGES

BELOW = 1000  # at most five words each
TRAIN, VALID = 850, 50

WAYS = {
    "last, both": {},
    "mean": {"model.pooling": "mean"},
    "max": {"model.pooling": "max"},
    "as state": {"model.context": "state"},
    "as input": {"model.context": "input"},
    "one direction": {"model.directions": 1},
    "one direction, max, as input": {"model.directions": 1, "model.pooling": "max", "model.context": "input"},
}


@pytest.fixture(scope="module")
def short_numbers(tmp_path_factory):
    """Spanish to English, 0 to 999, word by word; a hundred numbers are never seen."""
    numbers = list(range(BELOW))
    random.Random(0).shuffle(numbers)
    folder = tmp_path_factory.mktemp("short")
    parts = {"train": numbers[:TRAIN], "valid": numbers[TRAIN : TRAIN + VALID], "test": numbers[TRAIN + VALID :]}
    for name, chosen in parts.items():
        lines = [f"{LANGUAGES['es'](number)}\t{LANGUAGES['en'](number)}\n" for number in chosen]
        (folder / f"{name}.tsv").write_text("".join(lines), encoding="utf-8")
    return folder


@pytest.mark.spec("E01", "E02")
@pytest.mark.parametrize("way", WAYS)
def test_number_words_are_learned_through_one_vector(short_numbers, tmp_path, way):
    settings = {
        "data.valid": str(short_numbers / "valid.tsv"),
        "data.test": str(short_numbers / "test.tsv"),
        "data.header": "no",
        "tokens.source": "word",
        "tokens.target": "word",
        "model.hidden": 48,
        "model.dropout": 0.0,
        "train.steps": 320,
        "train.lr": 1e-2,
        "train.warmup": 10,
        "train.batch_tokens": 512,
        "train.validations": 1,
        "train.threads": 1,
        **WAYS[way],
    }
    run = atento.fit(
        short_numbers / "train.tsv",
        task="translate",
        model="gru",
        settings=settings,
        seed=0,
        device="cpu",
        out=tmp_path / "run",
    )
    assert run.metrics["examples"] == BELOW - TRAIN - VALID
    assert run.metrics["scores"]["exact"][0] >= 0.8
    assert run.explain("cuarenta y tres").weights.numel() == 0
