"""What context does to a word, on a Transformer that had to tell the two meanings of one apart."""

import random
from types import SimpleNamespace

import numpy as np
import pytest

import atento
from atento.data import learn_vocabulary
from atento.errors import InputError
from atento.models import ModelPart
from atento.models.builders import build_encoder
from atento.spec import ModelRecipe
from atento.views.context import context_text, context_view, sentences_of, vectors_of

FRUIT, DEVICES = ["orange", "pear", "cherry", "plum"], ["phone", "laptop", "tablet", "printer"]
ASKED = "apple: an apple and an orange | an apple phone"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Each thing is tagged as fruit or device; an apple is whatever stands with it."""
    folder, chance, sentences = tmp_path_factory.mktemp("context"), random.Random(0), []
    for _ in range(400):
        kind, things = chance.choice([("fruit", FRUIT), ("device", DEVICES)])
        one, other = chance.sample([*things, "apple"], 2)
        words = ["an", one, "and", "an", other] if chance.random() < 0.5 else ["an", one, other]
        sentences.append("\n".join(f"{word}\t{'-' if word in ('an', 'and') else kind}" for word in words))
    (folder / "tags.conll").write_text("\n\n".join(sentences) + "\n")
    settings = {
        "train.steps": 60, "train.threads": 1, "train.validations": 1, "train.lr": 1e-2, "train.warmup": 5,
        "train.batch_tokens": 256, "train.word_dropout": 0, "train.ema": 0, "model.hidden": 32, "model.layers": 1,
        "model.dropout": 0, "model.characters": 0,
    }  # fmt: skip
    return atento.fit(
        folder / "tags.conll", task="tag", model="transformer", settings=settings, device="cpu", out=folder / "run"
    )


def context_of(run, asked):
    return context_view(run.module, run.predictor.bundle.codec, asked)


@pytest.mark.spec("S04")
def test_apple_is_nearer_to_orange_in_one_sentence_and_to_phone_in_the_other(run):
    (found,) = context_of(run, ASKED).words
    assert found.word == "apple"
    assert found.stages == ["embedding", "layer 1"]
    fruit, device = (line.cosines for line in found.sentences)
    assert fruit["orange"][0] == device["orange"][0] and fruit["phone"][0] == device["phone"][0]  # before attention
    assert fruit["orange"][-1] > fruit["phone"][-1] + 0.3
    assert device["phone"][-1] > device["orange"][-1] + 0.3
    assert found.between[0] == 1.0
    assert found.between[-1] < 0.8


def test_where_no_word_is_named_all_shared_ones_are_followed(run):
    found = context_of(run, "an apple and an orange | an apple phone").words
    assert [one.word for one in found] == ["an", "apple"]
    assert found[0].others == ["and", "orange", "phone"]


def test_a_terminal_shows_a_column_a_stage(run):
    lines = context_text(context_of(run, ASKED)).splitlines()
    assert lines[0] == "apple: cosine with each word read alone"
    assert lines[1].split() == ["embedding", "layer", "1"]
    assert lines[2] == "an apple and an orange"
    assert lines[4].split()[0] == "orange" and len(lines[4].split()) == 3
    assert lines[-1].startswith("the same apple in the first two") and lines[-1].split()[-2] == "1.000"


@pytest.mark.spec("S04")
@pytest.mark.parametrize("level", ["char", "subword"])
def test_a_word_is_the_mean_of_its_own_tokens(level):
    """Read letter by letter or in subwords, a word has no part of its neighbours."""
    vocabulary = learn_vocabulary(level, ["an apple pie", "the pie"], size=40, least_count=1)
    recipe = ModelRecipe(name="transformer", hidden=6, heads=2)
    module = build_encoder(ModelPart("transformer"), recipe, len(vocabulary)).eval()
    before = vectors_of(module, SimpleNamespace(vocabulary=vocabulary), "an-apple,pie", "apple")[0]
    numbers, places = vocabulary.encode("an-apple,pie"), vocabulary.offsets("an-apple,pie")
    inside = [number for number, (start, end) in zip(numbers, places, strict=True) if start >= 3 and end <= 8]
    assert len(inside) > 1
    table = module.embedding.tokens.table.weight.detach().double().numpy()
    np.testing.assert_allclose(before, table[inside].mean(axis=0))


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("an apple", "two sentences"),
        ("", "two sentences"),
        ("an apple | a pear", "a word in common"),
        ("plum: an apple | an apple pie", "'plum'"),
        ("an apple | an apple", "do not differ"),
    ],
)
def test_what_cannot_be_compared_is_refused(asked, why):
    with pytest.raises(InputError, match=why) as caught:
        sentences_of(asked)
    assert "apple: an apple and" in caught.value.fix


def test_small_letters_where_the_model_reads_them_so():
    assert sentences_of("Apple: An APPLE pie | apple tart", lower=True).words == ["apple"]
    assert sentences_of("he said: an apple | she said: a pear").words == ["said"]  # two words before a colon name none
