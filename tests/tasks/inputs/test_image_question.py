"""The match-images task: a picture and a question in, an answer out, and the regions it rests on."""

import random

import pytest
import torch
from tests.tasks.inputs.test_image import taught

from atento.data.builtin.scenes import is_coloured
from atento.data.images.drawing import shapes_in
from atento.data.records import join_items
from atento.errors import InputError
from atento.metrics import regions_in_box, weight_in_box
from atento.spec import DataRecipe, DecodeRecipe, ModelRecipe, Recipe, TokensRecipe
from atento.tasks.catalogue import MATCH_IMAGES

PAIRS = [
    ("drawn:16 red circle 8 8 5\tis it red?", "yes"),
    ("drawn:16 blue star 8 8 5\tis there a star in the picture?", "yes"),
    ("drawn:16 blue star 8 8 5\tis it red?", "no"),
    ("drawn:16 red star 5 8 3\tis it Blue?", "no"),
]
SOURCES = [source for source, _ in PAIRS]
NAMES = ("conv/gru", "conv/lstm+additive", "conv/gru+dot+co")


@pytest.fixture(scope="module")
def codec():
    return MATCH_IMAGES.learning.learn(TokensRecipe(lowercase=True), PAIRS)


def built(name, codec, **choices):
    torch.manual_seed(0)
    recipe = ModelRecipe(name=name, **{"hidden": 8, "dropout": 0.0, **choices})
    return MATCH_IMAGES.learning.build(recipe, codec).eval()


@pytest.fixture(scope="module", params=NAMES)
def module(request, codec):
    return built(request.param, codec)


def test_the_codec_knows_words_answers_and_the_side_and_comes_back(codec):
    assert codec.output.labels == ("no", "yes") and codec.output.counts == (2, 2)
    assert any("16 × 16 pixels are read at 32 × 32" in note for note in codec.notes)
    again = MATCH_IMAGES.learning.load(codec.to_json())
    assert again.to_json() == codec.to_json()
    assert again.input.encode(SOURCES[3]) == codec.input.encode(SOURCES[3])
    assert codec.input.tokens(SOURCES[3]) == ["is", "it", "Blue", "?"]
    asked = MATCH_IMAGES.learning.bind(codec, Recipe(data=DataRecipe(image_size=64)))
    assert asked.input.images.side == 64 and asked.output is codec.output
    with pytest.raises(InputError, match="this is not a vocabulary"):
        MATCH_IMAGES.learning.load({})


def test_batches_hold_pixels_words_and_answers(codec):
    batch = MATCH_IMAGES.learning.batch(codec, [MATCH_IMAGES.learning.encode(codec, pair) for pair in PAIRS])
    assert batch.pixels.shape == (4, 3, 32, 32) and batch.truth.tolist() == [1, 1, 0, 0]
    assert batch.valid.sum(1).tolist() == [4, 8, 4, 4]
    torch.testing.assert_close(batch.pixels[1], batch.pixels[2])
    assert MATCH_IMAGES.learning.length(
        codec, MATCH_IMAGES.learning.encode(codec, PAIRS[1])
    ) == MATCH_IMAGES.learning.length(codec, MATCH_IMAGES.learning.encode(codec, PAIRS[0]))
    blurred = MATCH_IMAGES.learning.word_dropout(batch, 0.9)
    assert (blurred.question == 1).any() and torch.equal(blurred.pixels, batch.pixels)


def test_the_loss_is_that_of_the_answers_and_neighbours_do_not_matter(codec, module):
    loss = MATCH_IMAGES.learning.loss(
        module, MATCH_IMAGES.learning.batch(codec, [MATCH_IMAGES.learning.encode(codec, pair) for pair in PAIRS]), 0.0
    )
    answers = MATCH_IMAGES.answering.answer(module, codec, SOURCES, DecodeRecipe())
    total = -sum(
        torch.tensor(answer.probabilities[label]).log() for answer, (_, label) in zip(answers, PAIRS, strict=True)
    )
    assert loss.items == 4 and loss.total.item() == pytest.approx(float(total), rel=1e-5)
    for source, answer in zip(SOURCES, answers, strict=True):
        (alone,) = MATCH_IMAGES.answering.answer(module, codec, [source], DecodeRecipe())
        assert (alone.text, alone.evidence) == (answer.text, answer.evidence)
        assert alone.score == pytest.approx(answer.score, abs=1e-5)
        assert (answer.evidence is not None) == module.attends
    assert MATCH_IMAGES.answering.answer(module, codec, [], DecodeRecipe()) == []


def test_a_look_is_from_the_words_at_the_regions(codec, module):
    typed = SOURCES[1].replace("\t", " ||| ")
    look = MATCH_IMAGES.answering.look(module, codec, typed, DecodeRecipe())
    assert look.grid == (8, 8) and look.image.startswith("data:image/png")
    steps = [step.title for step in MATCH_IMAGES.answering.trace(module, codec, typed, DecodeRecipe())]
    assert steps[-1] == "probabilities" and ("weights" in steps) == module.attends
    if type(module).__name__ == "CoAttentionImageMatcher":
        assert look.output == ["is", "there", "a", "star", "in", "the", "picture", "?"]
        torch.testing.assert_close(look.weights.sum(-1), torch.ones(1, 1, 8))
    elif module.attends:
        assert look.output == [look.text] and look.weights.shape == (1, 1, 1, 64)
    else:
        assert look.weights.numel() == 0
    with pytest.raises(InputError, match="two texts, with a tab"):
        MATCH_IMAGES.answering.answer(module, codec, ["drawn:16 red circle 8 8 5"], DecodeRecipe())


def asked(chance, count, most):
    """Pictures and `is the circle red?`."""
    found = []
    for _ in range(count):
        true = chance.random() < 0.5
        question, scene = is_coloured(chance, most, true=true)
        found.append((join_items((str(scene), question)), "yes" if true else "no"))
    return found


@pytest.mark.spec("K15", "A27")
def test_questions_are_answered_from_the_picture():
    chance = random.Random(0)
    pairs, tested = asked(chance, 1500, 1), asked(chance, 200, 1)
    codec = MATCH_IMAGES.learning.learn(TokensRecipe(), pairs)
    recipe = ModelRecipe(name="conv/gru+scaled-dot+co", hidden=16, dropout=0.0)
    module = taught(MATCH_IMAGES, codec, pairs, recipe, steps=170, lr=3e-3, warmup=50)
    sources, truth = zip(*tested, strict=True)
    said = [answer.text for answer in MATCH_IMAGES.answering.answer(module, codec, sources, DecodeRecipe())]
    assert share(said, truth) > 0.75
    for make in MATCH_IMAGES.judging.baselines:
        simple = make().fit(*zip(*pairs[:400], strict=True))
        assert share(simple.predict(sources), truth) < 0.65, simple.name
    looks = [MATCH_IMAGES.answering.look(module, codec, source, DecodeRecipe()) for source in sources[:40]]
    scenes = [source.split("\t") for source in sources[:40]]
    boxes = [next(one.box for one in shapes_in(scene) if one.kind in question.split()) for scene, question in scenes]
    told = list(zip(looks, boxes, strict=True))
    on = sum(weight_in_box(look.weights[0, 0].sum(0).double().numpy(), box, look.grid, 32) for look, box in told) / 40
    assert on > 1.3 * sum(regions_in_box(box, look.grid, 32).mean() for look, box in told) / 40


def share(said, truth):
    return sum(one == other for one, other in zip(said, truth, strict=True)) / len(truth)
