"""Images and questions judged together, against the formulas written out."""

import pytest
import torch
from torch import nn

from atento.errors import InputError
from atento.models import ImageQuestionBatch, LabelHead, LabelledBatch
from atento.models.builders import build_image_classifier, build_image_matcher
from atento.spec import ModelRecipe

# Axes: B batch, N words, R regions, D size, C answers.

B, N, SIDE, D, C, VOCABULARY = 2, 5, 16, 6, 3, 11
NAMES = ("conv/gru", "conv/lstm+additive", "conv/gru+dot+co", "conv/rnn+general+sparsemax+co")


def matcher(name, **choices):
    torch.manual_seed(0)
    recipe = ModelRecipe(name=name, **{"hidden": D, "dropout": 0.0, **choices})
    return build_image_matcher(recipe, VOCABULARY, LabelHead, C, side=SIDE).eval()


def batch_of(seed=0):
    torch.manual_seed(seed)
    valid = torch.arange(N) < torch.tensor([[N], [3]])
    truth = torch.tensor([2, 0])
    return ImageQuestionBatch(torch.randn(B, 3, SIDE, SIDE), torch.randint(4, VOCABULARY, (B, N)), valid, truth)


def softmax(scores):
    shifted = torch.exp(scores - max(scores))
    return shifted / shifted.sum()


def by_hand(module, image, question):
    """`CoAttentionImageMatcher` with dot products, one row at a time: image (R, D), question (N, D) without padding."""
    found = torch.stack([sum(p * r for p, r in zip(softmax(image @ word), image, strict=True)) for word in question])
    asked = torch.stack([sum(p * w for p, w in zip(softmax(question @ one), question, strict=True)) for one in image])
    both = []
    for layer, own, other in ((module.compare_words, question, found), (module.compare_regions, image, asked)):
        parts = torch.cat([own, other, own - other, own * other], dim=-1)
        both.append(torch.clamp(parts @ layer.weight.T + layer.bias, min=0))
    walked = module.after(both[0][None], valid=torch.ones(1, len(question), dtype=torch.bool)).outputs[0]
    u, v = (torch.cat([states.mean(0), states.max(0).values]) for states in (both[1], walked))
    pair = torch.cat([u, v, (u - v).abs(), u * v])
    pair_head = module.pair_head
    hidden = torch.clamp(pair @ pair_head.together.weight.T + pair_head.together.bias, min=0)
    return hidden @ pair_head.head.map.weight.T + pair_head.head.map.bias


def test_words_and_regions_look_at_each_other_as_the_formula_says():
    module, batch = matcher("conv/gru+dot+co"), batch_of()
    image, question = module.encode(batch)
    expected = torch.stack(
        [by_hand(module, image.states[row], question.states[row][batch.valid[row]]) for row in range(B)]
    )
    torch.testing.assert_close(module(batch), expected)
    weights = list(module.parameters())
    chosen = torch.randn(B, C)
    ours = torch.autograd.grad((module(batch) * chosen).sum(), weights, allow_unused=True)
    theirs = torch.autograd.grad((expected * chosen).sum(), weights, allow_unused=True)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("name", ["conv/gru+additive+hard-reinforce", "conv/gru+additive+hard-reinforce+co"])
def test_regions_that_are_drawn_are_judged_by_the_cost_of_their_pair(name):
    module = matcher(name).train()
    attention = module.attention if hasattr(module, "attention") else module.coattention.across
    (slope,) = torch.autograd.grad(module.loss(batch_of()).total, attention.score.project_key.weight)
    assert slope.isfinite().all() and slope.any()


def test_states_are_brought_to_one_scale():
    batch = batch_of()
    image, question = matcher("conv/gru+dot+co").encode(batch)
    for states in (image.states.flatten(0, 1), question.states[batch.valid]):
        torch.testing.assert_close(states.mean(-1), torch.zeros(len(states)), atol=1e-9, rtol=0)
        assert (states.var(-1, correction=0) > 0.8).all() and (states.var(-1, correction=0) <= 1).all()


@pytest.mark.parametrize("name", NAMES)
def test_padding_and_neighbours_do_not_matter(name):
    module, batch = matcher(name), batch_of()
    outputs = module(batch)
    assert outputs.shape == (B, C)
    for row in range(B):
        alone = ImageQuestionBatch(*(part[row : row + 1] for part in batch))
        short = alone._replace(question=alone.question[:, batch.valid[row]], valid=alone.valid[:, batch.valid[row]])
        torch.testing.assert_close(module(short)[0], outputs[row])
    other = batch._replace(question=batch.question.masked_fill(~batch.valid, 7))
    torch.testing.assert_close(module(other), outputs)


@pytest.mark.parametrize("name", NAMES)
def test_weights_say_how_much_of_each_region_was_taken(name):
    module, batch = matcher(name), batch_of()
    weights = module.weights(batch)
    regions = module.image_encoder.grid(SIDE)[0] * module.image_encoder.grid(SIDE)[1]
    assert weights.shape[-1] == regions
    if not module.attends:
        assert weights.numel() == 0
        return
    sums = weights.sum(-1)
    if weights.size(3) > 1:
        torch.testing.assert_close(sums[:, 0, 0], batch.valid.double())
    else:
        torch.testing.assert_close(sums, torch.ones_like(sums))


def test_a_question_that_asks_takes_what_it_asked_for():
    module, batch = matcher("conv/gru+additive"), batch_of()
    image, question = module.encode(batch)
    both = module.pool(image, question)
    taken = module.weights(batch)[:, 0, 0, 0]  # (B, R)
    torch.testing.assert_close(both.first, torch.einsum("br,brd->bd", taken, image.states))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gru+dot+co", "has two parts"),
        ("conv", "has two parts, ENCODER/READER"),
        ("conv+dot/gru", "an image encoder has no attention"),
        ("conv/transformer", "read by a recurrent network"),
        ("conv/gru+dot+local+co", "have no order"),
        ("vgg/gru", "image encoder"),
        ("conv/gru+dot+linformer+co", "regions are few"),
    ],
)
def test_names_that_make_no_sense_are_refused_in_words(name, words):
    with pytest.raises(InputError, match=words):
        matcher(name)


def test_both_parts_are_equally_wide():
    module = matcher("conv/gru")
    narrow = matcher("conv/gru", hidden=4)
    with pytest.raises(InputError, match="same size"):
        type(module)(module.image_encoder, narrow.question_encoder, module.pair_head)


def test_a_image_is_judged_by_what_the_query_takes_of_its_regions():
    torch.manual_seed(0)
    recipe = ModelRecipe(name="conv+additive+sparsemax", hidden=D, dropout=0.0)
    module = build_image_classifier(recipe, LabelHead, C, side=SIDE).eval()
    pixels, there = torch.randn(B, 3, SIDE, SIDE), torch.ones(B, 1, dtype=torch.bool)
    batch = LabelledBatch(pixels, there, torch.tensor([1, 2]))
    encoded, taken = module.encoder.encode(pixels, there), module.weights(batch)
    torch.testing.assert_close(taken.sum(-1), torch.ones(B))
    summed = torch.einsum("br,brd->bd", taken, encoded.states)
    expected = summed @ module.head.map.weight.T + module.head.map.bias
    torch.testing.assert_close(module(batch), expected)
    losses = -torch.log_softmax(expected, -1)[torch.arange(B), batch.truth]
    torch.testing.assert_close(module.loss(batch).total, losses.sum())
    with pytest.raises(InputError, match="one part"):
        build_image_classifier(ModelRecipe(name="conv/gru"), LabelHead, C, side=SIDE)


def test_any_module_that_sees_goes_in():
    module = matcher("conv/gru+dot+co")
    body = nn.Sequential(nn.Conv2d(3, 6, 5, stride=4), nn.Tanh())
    module.image_encoder.body = body
    module.image_encoder.channels = 6
    assert module(batch_of()).shape == (B, C) and module.image_encoder.grid(SIDE) == (3, 3)
