"""Frames to symbols: a small model writes what was played, and where it looks moves forward."""

import json
import random

import numpy as np
import pytest
import torch

import atento
from atento.data.builtin.signals import NOTES, tune
from atento.metrics import monotonicity
from atento.spec import DecodeRecipe, ModelRecipe, TokensRecipe
from atento.tasks.catalogue import TRANSCRIBE
from atento.tasks.defaults.written_text import transcribe_sizes

QUICK = {
    "train.steps": 200,
    "train.lr": 0.015,
    "train.warmup": 10,
    "train.batch_tokens": 900,
    "train.threads": 1,
    "train.validations": 1,
    "model.hidden": 48,
    "model.dropout": 0.0,
}


def tunes(count, most, seed=0):
    generator = random.Random(seed)
    return [tune(generator, generator.randint(1, most)) for _ in range(count)]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    place = tmp_path_factory.mktemp("tunes")
    rows = [
        {"frames": [[float(e) for e in step.split(",")] for step in source.split()], "notes": text}
        for source, text in tunes(1500, 3)
    ]
    (place / "tunes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    settings = {**QUICK, "data.split": "90/2/8"}
    return atento.fit(place / "tunes.jsonl", task="transcribe", model="gru+dot", settings=settings, out=place / "run")


@pytest.mark.spec("K13")
def test_it_writes_what_was_played_and_its_look_moves_forward(run):
    assert run.metrics["scores"]["exact"][0] >= 0.85
    assert run.metrics["scores"]["character_error"][0] <= 0.07
    looks = [run.predictor.look(source) for source, text in tunes(40, 3, seed=3) if len(text) > 1]
    found = [monotonicity(look.weights[0, 0, :-1].numpy()) for look in looks if len(look.output) > 2]
    assert np.mean([one.forward_share for one in found]) >= 0.95
    assert np.mean([one.kendall_tau for one in found]) >= 0.95


def test_a_look_has_a_row_a_symbol_and_a_column_a_frame(run):
    source, _ = tunes(1, 3, seed=5)[0]
    look = run.predictor.look(source)
    assert look.weights.shape == (1, 1, len(look.output), len(source.split()))
    assert look.output[-1] == "<end>"
    assert "".join(look.output[:-1]) == look.text == run.predict([source])[0]
    titles = [
        one.title for one in TRANSCRIBE.answering.trace(run.module, run.predictor.bundle.codec, source, DecodeRecipe())
    ]
    assert titles[:3] == ["numbers", "encoder states", "summary"]
    assert "weights" in titles


def test_company_does_not_matter_and_a_beam_is_as_good(run):
    sources = [source for source, _ in tunes(6, 3, seed=7)]
    together = run.predictor.answer(sources)
    alone = [run.predictor.answer([source])[0] for source in sources]
    assert [one.text for one in together] == [one.text for one in alone]
    wide = run.predictor.answer(sources, decode=DecodeRecipe(beam=3))
    assert all(
        one.score >= other.score - 1e-4 for one, other in zip(wide, together, strict=True) if one.text == other.text
    )
    drawn = DecodeRecipe(temperature=1.0, seed=4)
    assert run.predictor.answer(sources, decode=drawn) == run.predictor.answer(sources, decode=drawn)


@pytest.mark.spec("K13")
def test_the_codec_there_and_back():
    codec = TRANSCRIBE.learning.learn(TokensRecipe(), tunes(9, 4))
    again = TRANSCRIBE.learning.load(codec.to_json())
    assert again.to_json() == codec.to_json() and again.output.limit.growth is None
    source, text = tunes(1, 4)[0]
    encoded = TRANSCRIBE.learning.encode(again, (source, text))
    assert encoded.source.shape == (len(source.split()), len(NOTES))
    assert again.output.vocabulary.decode(encoded.target) == text
    batch = TRANSCRIBE.learning.batch(codec, [encoded])
    assert batch.previous[0, 1:].tolist() == batch.target[0, :-1].tolist() == encoded.target


def test_several_frames_are_read_together_where_many_go_to_a_symbol():
    many = transcribe_sizes(None, [(" ".join("1" * 400), "ab")], "cpu")
    few = transcribe_sizes(None, tunes(20, 4), "cpu")
    assert many["model.patch"] > 1
    assert few["model.patch"] == 1
    codec = TRANSCRIBE.learning.learn(TokensRecipe(), tunes(9, 4))
    module = TRANSCRIBE.learning.build(ModelRecipe(name="gru+additive", hidden=8, patch=3), codec).eval()
    source, _ = tunes(1, 4)[0]
    with torch.no_grad():
        look = TRANSCRIBE.answering.look(module, codec, source, DecodeRecipe(max_tokens=3))
    assert look.weights.shape[-1] == -(-len(source.split()) // 3) == len(look.source)
