"""The classify-images task: a picture in, a label out, and the regions it rests on."""

import random

import pytest
import torch

from atento.baselines import Majority
from atento.data.builtin.scenes import labelled
from atento.data.images.drawing import shapes_in
from atento.errors import InputError
from atento.metrics import regions_in_box, weight_in_box
from atento.spec import DataRecipe, DecodeRecipe, ModelRecipe, Recipe, TokensRecipe
from atento.tasks.catalogue import CLASSIFY_IMAGES

PAIRS = [
    (f"drawn:16 {colour} {kind} 8 8 5", kind) for colour in ("red", "blue") for kind in ("circle", "star", "square")
]
SOURCES = [source for source, _ in PAIRS]
NAMES = ("conv", "conv+dot", "conv+additive+sparsemax")
SIDE = 32


@pytest.fixture(scope="module")
def codec():
    return CLASSIFY_IMAGES.learning.learn(TokensRecipe(), PAIRS)


def built(name, codec, **choices):
    torch.manual_seed(0)
    recipe = ModelRecipe(name=name, **{"hidden": 8, "dropout": 0.0, **choices})
    return CLASSIFY_IMAGES.learning.build(recipe, codec).eval()


@pytest.fixture(scope="module", params=NAMES)
def module(request, codec):
    return built(request.param, codec)


def test_the_codec_knows_labels_and_the_side_and_comes_back(codec):
    assert codec.output.labels == ("circle", "square", "star") and codec.output.counts == (2, 2, 2)
    assert codec.input.images.side == 32 and "16 × 16 pixels are read at 32 × 32" in codec.notes[0]
    again = CLASSIFY_IMAGES.learning.load(codec.to_json())
    assert again.to_json() == codec.to_json() and CLASSIFY_IMAGES.learning.encode(again, PAIRS[1]).target == 2
    asked = CLASSIFY_IMAGES.learning.bind(
        codec, Recipe(data=DataRecipe(image_size=48, exif_rotation="no", max_megapixels=2.0))
    )
    assert (asked.input.images.side, asked.input.images.upright, asked.input.images.largest) == (48, False, 2.0)
    assert "48 × 48, as asked" in asked.notes[0]
    for broken in ({}, {**codec.to_json(), "input": {"images": {"side": 0}}}):
        with pytest.raises(InputError):
            CLASSIFY_IMAGES.learning.load(broken)
    with pytest.raises(InputError, match="nothing to tell apart"):
        CLASSIFY_IMAGES.learning.learn(TokensRecipe(), PAIRS[:1])


def test_batches_hold_pixels_and_labels(codec):
    batch = CLASSIFY_IMAGES.learning.batch(codec, [CLASSIFY_IMAGES.learning.encode(codec, pair) for pair in PAIRS])
    assert batch.source.shape == (6, 3, 32, 32) and batch.truth.tolist() == [0, 2, 1, 0, 2, 1]
    assert batch.source.min() >= -1 and batch.source.max() <= 1 and batch.valid.all()
    red = batch.source[0, :, 16, 16]
    assert red[0] > 0.5 and red[1] < -0.3


def test_the_loss_is_that_of_the_answers_and_neighbours_do_not_matter(codec, module):
    loss = CLASSIFY_IMAGES.learning.loss(
        module,
        CLASSIFY_IMAGES.learning.batch(codec, [CLASSIFY_IMAGES.learning.encode(codec, pair) for pair in PAIRS]),
        0.0,
    )
    answers = CLASSIFY_IMAGES.answering.answer(module, codec, SOURCES, DecodeRecipe())
    total = -sum(
        torch.tensor(answer.probabilities[label]).log() for answer, (_, label) in zip(answers, PAIRS, strict=True)
    )
    assert loss.items == 6 and loss.total.item() == pytest.approx(float(total), rel=1e-5)
    for source, answer in zip(SOURCES, answers, strict=True):
        (alone,) = CLASSIFY_IMAGES.answering.answer(module, codec, [source], DecodeRecipe())
        assert (alone.text, alone.evidence) == (answer.text, answer.evidence)
        assert alone.score == pytest.approx(answer.score, abs=1e-5)
        assert sum(answer.probabilities.values()) == pytest.approx(1)
    assert CLASSIFY_IMAGES.answering.answer(module, codec, [], DecodeRecipe()) == []


def test_a_look_is_over_regions_and_evidence_names_those_taken_most(codec, module):
    look = CLASSIFY_IMAGES.answering.look(module, codec, SOURCES[0], DecodeRecipe())
    (answer,) = CLASSIFY_IMAGES.answering.answer(module, codec, [SOURCES[0]], DecodeRecipe())
    steps = [step.title for step in CLASSIFY_IMAGES.answering.trace(module, codec, SOURCES[0], DecodeRecipe())]
    assert look.grid == (8, 8) and look.image.startswith("data:image/png;base64,")
    assert look.output == [look.text] == [answer.text]
    if module.pooling is None:
        assert look.weights.numel() == 0 and answer.evidence is None and "weights" not in steps
        return
    weights = look.weights[0, 0, 0]
    assert weights.sum().item() == pytest.approx(1, abs=1e-5) and steps.count("weights") == 1
    best = int(weights.argmax())
    assert answer.evidence.startswith(f"regions {best // 8 + 1}·{best % 8 + 1} (")
    assert answer.evidence.endswith("of 8 × 8")


def test_rare_labels_weigh_more_where_asked():
    codec = CLASSIFY_IMAGES.learning.learn(TokensRecipe(), PAIRS + PAIRS[:1] * 6)
    module = built("conv", codec)
    batch = CLASSIFY_IMAGES.learning.batch(codec, [CLASSIFY_IMAGES.learning.encode(codec, pair) for pair in PAIRS])
    CLASSIFY_IMAGES.learning.class_weights(module, codec, 1.0)
    costs = torch.nn.functional.cross_entropy(module(batch), batch.truth, reduction="none")
    weighed = (costs * module.head.weights[batch.truth]).sum()
    torch.testing.assert_close(CLASSIFY_IMAGES.learning.loss(module, batch, 0.0).total, weighed)


def taught(task, codec, pairs, recipe, *, steps, lr, together=32, warmup=20):
    """A model after so many batches."""
    torch.manual_seed(0)
    module = task.learning.build(recipe, codec)
    examples = [task.learning.encode(codec, pair) for pair in pairs]
    optimiser = torch.optim.AdamW(module.parameters(), lr=lr, betas=(0.9, 0.98), fused=True)
    chance = random.Random(0)
    for step in range(1, steps + 1):
        loss = task.learning.loss(module, task.learning.batch(codec, chance.sample(examples, together)), 0.0).mean
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        for group in optimiser.param_groups:
            group["lr"] = lr * min(1.0, step / warmup) * (1 - 0.9 * step / steps)
        optimiser.step()
    return module.eval()


@pytest.mark.spec("K14")
def test_the_label_is_learned_by_looking_at_the_shape_that_decides():
    chance = random.Random(0)
    pairs, tested = ([labelled(chance, 2) for _ in range(count)] for count in (1000, 150))
    codec = CLASSIFY_IMAGES.learning.learn(TokensRecipe(), pairs)
    recipe = ModelRecipe(name="conv+additive", hidden=32, dropout=0.0)
    module = taught(CLASSIFY_IMAGES, codec, pairs, recipe, steps=180, lr=5e-3)
    sources, truth = zip(*tested, strict=True)
    said = [answer.text for answer in CLASSIFY_IMAGES.answering.answer(module, codec, sources, DecodeRecipe())]
    right = sum(one == other for one, other in zip(said, truth, strict=True)) / len(truth)
    usual = Majority().fit(sources, truth).predict(sources)
    chance_level = sum(one == other for one, other in zip(usual, truth, strict=True)) / len(truth)
    assert right > 0.8 > 0.4 > chance_level
    looks = [CLASSIFY_IMAGES.answering.look(module, codec, source, DecodeRecipe()) for source in sources[:40]]
    boxes = [max(shapes_in(source), key=lambda shape: shape.size).box for source in sources[:40]]
    pairs_of = list(zip(looks, boxes, strict=True))
    on = sum(weight_in_box(look.weights[0, 0, 0].double().numpy(), box, look.grid, SIDE) for look, box in pairs_of) / 40
    by_chance = sum(regions_in_box(box, look.grid, SIDE).mean() for look, box in pairs_of) / 40
    assert on > 0.6 > 2 * by_chance


def test_simple_models_see_too():
    chance = random.Random(0)
    pairs = [(f"drawn:16 {colour} circle {chance.randint(5, 11)} 8 4", colour) for colour in ("red", "blue") * 20]
    sources, labels = zip(*pairs, strict=True)
    for make in CLASSIFY_IMAGES.judging.baselines:
        baseline = make().fit(sources[:30], labels[:30])
        right = sum(one == other for one, other in zip(baseline.predict(sources[30:]), labels[30:], strict=True))
        assert right == (5 if baseline.name == "majority" else 10), baseline.name
        assert baseline.predict([]) == []
