"""Laws of every language model: one token at a time is all at once, the future and the padding never matter.

A law is a test for each family, and one for the scores, the distributions and the extents that a Transformer may have.
"""

import functools

import pytest
import torch

from atento.attention import DISTRIBUTIONS, EXTENTS, SCORES
from atento.data.text.vocabulary import END, PAD, START, UNKNOWN
from atento.decoding import SpecialTokens, beam, greedy, sample
from atento.errors import InputError
from atento.models import TextBatch
from atento.models.builders import build_language_model
from atento.models.names import FAMILIES
from atento.models.protocols import reorder
from atento.spec import ModelRecipe
from cases import asked_of

BATCH, STEPS, TOKENS = 3, 5, 11
MARKS = SpecialTokens(start=START, end=END, forbidden=(PAD, UNKNOWN, START))

UNHEARD = {  # maps whose output nobody reads, or that learn from rewards alone
    "location": ("to_key",),
    "feature-based": ("to_query",),
    "hard-reinforce": ("to_query", "to_key"),
}
COMPOSITIONS = {
    "scores": [f"transformer+{score}" for score in SCORES],
    "distributions": [f"transformer+{distribution}" for distribution in DISTRIBUTIONS],
    "extents": [f"transformer+{extent}" for extent in EXTENTS],
}


def has_meaning(name):
    try:
        build(name)
    except InputError:
        return False
    return True


def build(name, **choices):
    torch.manual_seed(0)
    sizes = {"hidden": 10, "layers": 2, "heads": 2, "feed_forward": 7, "window": 2, "max_length": 13}
    return build_language_model(ModelRecipe(name=name, **{**sizes, **choices}), TOKENS).eval()


built = functools.cache(build)
every_model = asked_of(
    {
        **{family: [family] for family in FAMILIES},
        **{kind: list(filter(has_meaning, names)) for kind, names in COMPOSITIONS.items()},
    }
)


def some_batch():
    torch.manual_seed(1)
    target = torch.randint(4, TOKENS, (BATCH, STEPS))
    valid = torch.arange(STEPS) < torch.tensor([[3], [5], [4]])
    previous = torch.cat([torch.full((BATCH, 1), START), target[:, :-1]], dim=1)
    return TextBatch(previous, target, valid)


def by_steps(model, previous):
    state, logits = model.decoder.start(model.empty_source(len(previous))), []
    for at in range(previous.size(1)):
        step = model.decoder.step(previous[:, at], state)
        state = step.state
        logits.append(step.logits)
    return torch.stack(logits, dim=1)


def all_at_once(model, previous):
    return model.decoder(previous, model.empty_source(len(previous)))


def test_only_what_needs_the_end_of_a_text_is_refused():
    refused = {name for names in COMPOSITIONS.values() for name in names if not has_meaning(name)}
    assert refused <= {"transformer+local-predictive", "transformer+proportional", "transformer+de-attention"}


@pytest.mark.spec("R16")
@every_model
@torch.no_grad()
def test_the_log_probability_of_a_sequence_is_the_sum_of_its_steps(name):
    """Each step taken by itself, from the state or the cache the one before left."""
    model, batch = built(name), some_batch()
    chances = by_steps(model, batch.previous).log_softmax(dim=-1)
    expected = [
        sum(chances[row, at, batch.target[row, at]].item() for at in range(STEPS) if batch.valid[row, at])
        for row in range(BATCH)
    ]
    found = model.log_probabilities(batch)
    assert found.tolist() == pytest.approx(expected, abs=1e-11)
    loss = model.loss(batch)
    assert loss.items == 12
    assert loss.total.item() == pytest.approx(-sum(expected), abs=1e-10)


@pytest.mark.spec("R16")
@every_model
@torch.no_grad()
def test_one_token_at_a_time_equals_all_at_once_equals_each_prefix(name):
    model, batch = built(name), some_batch()
    whole = all_at_once(model, batch.previous)
    torch.testing.assert_close(by_steps(model, batch.previous), whole, rtol=0, atol=1e-12)
    for length in (1, 2, 4):
        prefix = all_at_once(model, batch.previous[:, :length])
        torch.testing.assert_close(prefix[:, -1], whole[:, length - 1], rtol=0, atol=1e-12)


@pytest.mark.spec("T03", "R16")
@every_model
@torch.no_grad()
def test_the_future_never_matters_exactly(name):
    """Neither in use nor in training, with dropout."""
    model, batch = build(name, dropout=0.3), some_batch()
    changed = batch.previous.clone()
    changed[:, 3:] = (changed[:, 3:] + 1) % TOKENS
    for training in (False, True):
        model.train(training)
        results = []
        for tokens in (batch.previous, changed):
            torch.manual_seed(2)
            results.append(all_at_once(model, tokens))
        assert torch.equal(results[0][:, :3], results[1][:, :3])
        assert not torch.allclose(results[0][:, 3:], results[1][:, 3:])


@pytest.mark.spec("R16")
@every_model
def test_padding_never_matters_be_it_what_it_may_and_where_it_may(name):
    model, batch = build(name, dropout=0.0), some_batch()
    weights = list(model.parameters())

    def measured(one):
        loss = model.loss(one)
        slopes = torch.autograd.grad(loss.total, weights, materialize_grads=True)
        return [model.log_probabilities(one), loss.total, *slopes]

    expected = measured(batch)
    other = TextBatch(*(part.masked_fill(~batch.valid, -1) for part in batch[:2]), batch.valid)
    for part, found in zip(expected, measured(other), strict=True):
        assert torch.equal(part, found)
    order = torch.tensor([[5, 6, 0, 1, 2, 7, 3, 4]] * BATCH)  # padding before, within and after
    wide = [torch.cat([part, part.new_zeros(BATCH, 3)], dim=1) for part in batch]
    torch.testing.assert_close(measured(TextBatch(*(part.gather(1, order) for part in wide))), expected)


@every_model
@torch.no_grad()
def test_neighbours_never_matter(name):
    model, batch = built(name), some_batch()
    together = model.log_probabilities(batch)
    for row in range(BATCH):
        length = int(batch.valid[row].sum())
        alone = TextBatch(*(part[row : row + 1, :length] for part in batch))
        torch.testing.assert_close(model.log_probabilities(alone), together[row : row + 1], rtol=0, atol=1e-12)
    nothing = batch._replace(valid=batch.valid & torch.tensor([[True], [False], [True]]))
    found = model.log_probabilities(nothing)
    assert found[1] == 0.0  # the empty product is 1
    torch.testing.assert_close(found[[0, 2]], together[[0, 2]], rtol=0, atol=1e-12)


@every_model
def test_every_weight_learns(name):
    model, batch = build(name, layers=1, dropout=0.0), some_batch()
    loss = model.loss(batch)
    loss.mean.backward()
    silent = UNHEARD.get(name.partition("+")[2], ())
    for weight_name, weight in model.named_parameters():
        is_silent = any(part in weight_name for part in silent)
        assert (weight.grad is None or (is_silent and not weight.grad.any())) == is_silent, weight_name
    with torch.no_grad():
        for weight in (weight for weight in model.parameters() if weight.grad is not None):
            assert weight.grad.isfinite().all()
            weight.sub_(0.01 * weight.grad)
        assert model.loss(batch).total < loss.total


@pytest.mark.spec("R16")
@every_model
@torch.no_grad()
def test_searches_and_sampling_write_with_it(name):
    """A search's score is the log-probability of what it wrote, among the tokens that may be written."""
    model = built(name)
    options = {"special_tokens": MARKS, "max_tokens": 4}
    best = greedy(model.decoder, model.empty_source(2), **options)
    first = [found[0] for found in beam(model.decoder, model.empty_source(2), width=1, **options)]
    drawn = sample(model.decoder, model.empty_source(2), seeds=["a", "b"], **options)
    again = sample(model.decoder, model.empty_source(2), seeds=["a", "b"], **options)
    assert [one.tokens for one in best] == [one.tokens for one in first]
    assert drawn == again
    for one in (*best, *first, *drawn):
        target = [*one.tokens, END][: options["max_tokens"]]
        logits = all_at_once(model, torch.tensor([[START, *one.tokens][: len(target)]]))[0]
        logits[:, list(MARKS.forbidden)] = -torch.inf
        expected = sum(logits[at].log_softmax(-1)[token].item() for at, token in enumerate(target))
        assert one.score == pytest.approx(expected, abs=1e-5)


@every_model
@torch.no_grad()
def test_a_reordered_state_goes_on_as_its_rows_would(name):
    model, batch = built(name), some_batch()
    state = model.decoder.start(model.empty_source(BATCH))
    rows = torch.tensor([2, 0, 2, 1])
    moved = model.decoder.step(batch.previous[rows, 0], reorder(state, rows))
    for at in range(2):
        state = model.decoder.step(batch.previous[:, at], state).state
    moved = model.decoder.step(batch.previous[rows, 2], reorder(state, rows))
    stayed = model.decoder.step(batch.previous[:, 2], state)
    torch.testing.assert_close(moved.logits, stayed.logits[rows], rtol=0, atol=1e-13)


@every_model
@torch.no_grad()
def test_weights_look_back_only(name):
    model, batch = built(name), some_batch()
    weights = model.decoder.weights(batch.previous, model.empty_source(BATCH))
    if not model.decoder.attends:
        assert weights.numel() == 0
        return
    assert weights.shape == (BATCH, 2, 2, STEPS, STEPS)
    assert (weights.triu(1) == 0).all()
    prefix = model.decoder.weights(batch.previous[:, :3], model.empty_source(BATCH))
    torch.testing.assert_close(prefix, weights[..., :3, :3], rtol=0, atol=1e-13)
