"""Laws of every encoder with every decoder: whatever the tables hold goes together."""

import functools
import itertools

import pytest
import torch

from atento.attention.presets import DISTRIBUTIONS, EXTENTS, SCORES, Sizes
from atento.data.vocabulary import END, PAD, START, UNKNOWN
from atento.decoding import Marks, beam, greedy
from atento.layers.losses import token_cross_entropy
from atento.models.build import FAMILIES, Vocabularies, build_translator, parse
from atento.models.protocols import reorder
from atento.models.translator import TranslationBatch
from atento.spec import ModelRecipe

BATCH, SOURCE, TARGET, SOURCE_TOKENS, TARGET_TOKENS = 3, 7, 5, 13, 11

COMPOSITIONS = ["+".join(names) for names in itertools.product(SCORES, DISTRIBUTIONS, EXTENTS)]
DECODERS = [
    *(family for family in FAMILIES if family != "transformer"),
    *(f"{family}+{names}" for family in FAMILIES for names in COMPOSITIONS),
]
PAIRS = [f"{encoder}/{decoder}" for encoder in FAMILIES for decoder in DECODERS]
PAIRS += [f"transformer+{names}/gru+dot" for names in COMPOSITIONS]

every_pair = pytest.mark.parametrize("name", PAIRS)
FEWER = [decoder for decoder in DECODERS if decoder.startswith(("gru", "transformer")) or decoder.count("+") == 0]
FEWER += [f"{family}+{COMPOSITIONS[-1]}" for family in FAMILIES if family not in ("gru", "transformer")]
every_decoder = pytest.mark.parametrize("name", [f"gru/{decoder}" for decoder in FEWER])  # cells attend all alike
every_encoder = pytest.mark.parametrize(
    "name", [*(f"{family}/gru+dot" for family in FAMILIES), *PAIRS[-len(COMPOSITIONS) :]]
)

MARKS = Marks(start=START, end=END, forbidden=(PAD, UNKNOWN, START))


def build(name, **choices):
    torch.manual_seed(0)
    recipe = ModelRecipe(name=name, **{"hidden": 10, "layers": 2, "heads": 2, "feed_forward": 7, "reach": 2, **choices})
    return build_translator(recipe, Vocabularies(SOURCE_TOKENS, TARGET_TOKENS))


@functools.cache
def built(name):
    """Shared by the laws that change nothing."""
    return build(name).eval()


def some_batch():
    torch.manual_seed(1)
    source, target = torch.randint(4, SOURCE_TOKENS, (BATCH, SOURCE)), torch.randint(4, TARGET_TOKENS, (BATCH, TARGET))
    source_valid = torch.arange(SOURCE) < torch.tensor([[7], [4], [2]])
    target_valid = torch.arange(TARGET) < torch.tensor([[3], [5], [4]])
    previous = torch.cat([torch.full((BATCH, 1), START), target[:, :-1]], dim=1)
    return TranslationBatch(source.masked_fill(~source_valid, PAD), source_valid, previous, target, target_valid)


def by_steps(decoder, previous, encoded):
    state, logits = decoder.start(encoded), []
    for at in range(previous.size(1)):
        step = decoder.step(previous[:, at], state)
        state = step.state
        logits.append(step.logits)
    return torch.stack(logits, dim=1)


@pytest.mark.spec("X03", "A32")
@every_pair
def test_every_pair_trains_a_step_and_decodes(name):
    """Loss falls, every weight gets a finite gradient, and steps give what the parallel pass gives."""
    model, batch = build(name, layers=1, dropout=0.0), some_batch()
    truth = batch.target[batch.target_valid]
    loss = token_cross_entropy(model(batch), truth)
    loss.mean.backward()
    without = [weight_name for weight_name, weight in model.named_parameters() if weight.grad is None]
    assert without == []
    assert torch.cat([weight.grad.flatten() for weight in model.parameters()]).isfinite().all()
    with torch.no_grad():
        for weight in model.parameters():
            weight.sub_(0.01 * weight.grad)
        encoded = model.encode(batch.source, batch.source_valid)
        parallel = model.decoder(batch.previous, encoded)
        assert token_cross_entropy(parallel[batch.target_valid], truth).total < loss.total
        steps = by_steps(model.decoder, batch.previous[:, :3], encoded)
        torch.testing.assert_close(steps, parallel[:, :3], rtol=0, atol=1e-12)
    for row in greedy(model.decoder, encoded, marks=MARKS, longest=2):
        assert len(row.tokens) <= 2
        assert all(END < token < TARGET_TOKENS for token in row.tokens)


@every_decoder
@torch.no_grad()
def test_one_token_at_a_time_equals_all_at_once(name):
    """The cached steps, the parallel pass, and each prefix walked anew without a cache."""
    model, batch = built(name), some_batch()
    encoded = model.encode(batch.source, batch.source_valid)
    parallel = model.decoder(batch.previous, encoded)
    torch.testing.assert_close(by_steps(model.decoder, batch.previous, encoded), parallel, rtol=0, atol=1e-12)
    for length in (1, 2, 4):
        uncached = model.decoder(batch.previous[:, :length], encoded)[:, -1]
        torch.testing.assert_close(uncached, parallel[:, length - 1], rtol=0, atol=1e-12)


@every_decoder
@torch.no_grad()
def test_the_future_never_matters_exactly(name):
    model, batch = built(name), some_batch()
    encoded = model.encode(batch.source, batch.source_valid)
    changed = batch.previous.clone()
    changed[:, 3:] = (changed[:, 3:] + 1) % TARGET_TOKENS
    expected = model.decoder(batch.previous, encoded)
    actual = model.decoder(changed, encoded)
    assert torch.equal(actual[:, :3], expected[:, :3])
    assert not torch.allclose(actual[:, 3:], expected[:, 3:])


@every_decoder
@torch.no_grad()
def test_neither_neighbours_nor_padding_matter_to_a_decoder(name):
    model, batch = built(name), some_batch()
    encoded = model.encode(batch.source, batch.source_valid)
    together = model.decoder(batch.previous, encoded)
    for row in range(BATCH):
        real = int(batch.source_valid[row].sum())
        alone = model.encode(batch.source[row : row + 1, :real], batch.source_valid[row : row + 1, :real])
        logits = model.decoder(batch.previous[row : row + 1], alone)
        torch.testing.assert_close(logits, together[row : row + 1], rtol=0, atol=1e-12)
    spoiled = encoded._replace(states=encoded.states.masked_fill(~encoded.valid.unsqueeze(-1), torch.nan))
    assert torch.equal(model.decoder(batch.previous, spoiled), together)
    torch.testing.assert_close(by_steps(model.decoder, batch.previous, spoiled), together, rtol=0, atol=1e-12)


@every_encoder
@torch.no_grad()
def test_neither_neighbours_nor_padding_matter_to_an_encoder(name):
    model, batch = built(name), some_batch()
    together = model.encode(batch.source, batch.source_valid)
    other = torch.where(batch.source_valid, batch.source, 5)  # another token in the padding
    spoiled = model.encode(other, batch.source_valid)
    assert torch.equal(spoiled.states[batch.source_valid], together.states[batch.source_valid])
    assert torch.equal(spoiled.summary, together.summary)
    for row in range(BATCH):
        real = int(batch.source_valid[row].sum())
        alone = model.encode(batch.source[row : row + 1, :real], batch.source_valid[row : row + 1, :real])
        torch.testing.assert_close(alone.states[0], together.states[row, :real], rtol=0, atol=1e-12)
        torch.testing.assert_close(alone.summary[0], together.summary[row], rtol=0, atol=1e-12)


@every_decoder
@torch.no_grad()
def test_weights_belong_to_their_step_and_sum_to_one(name):
    model, batch = built(name), some_batch()
    encoded = model.encode(batch.source, batch.source_valid)
    weights = model.decoder.weights(batch.previous, encoded)
    assert weights.shape[0] == BATCH
    assert weights.shape[-2:] == (TARGET, SOURCE)
    assert (weights.numel() > 0) is model.decoder.attends
    if not model.decoder.attends:
        return
    assert (weights[~batch.source_valid[:, None, None, None].expand_as(weights)] == 0).all()
    sees = weights.sum(-1) > 0
    attention = parse(name)[1].attention
    if DISTRIBUTIONS[attention.distribution].make(Sizes(5, 5)).sums_to_one:
        torch.testing.assert_close(weights.sum(-1), sees.double())
    assert attention.extent != "everything" or sees.all()
    for length in (1, 3):
        prefix = model.decoder.weights(batch.previous[:, :length], encoded)
        torch.testing.assert_close(prefix[..., -1, :], weights[..., length - 1, :], rtol=0, atol=1e-13)


@every_decoder
@torch.no_grad()
def test_a_reordered_state_goes_on_as_its_rows_would(name):
    model, batch = built(name), some_batch()
    encoded = model.encode(batch.source, batch.source_valid)
    state = model.decoder.start(encoded)
    for at in range(2):
        state = model.decoder.step(batch.previous[:, at], state).state
    rows = torch.tensor([2, 0, 2, 1, 0])
    moved = model.decoder.step(batch.previous[rows, 2], reorder(state, rows))
    stayed = model.decoder.step(batch.previous[:, 2], state)
    torch.testing.assert_close(moved.logits, stayed.logits[rows], rtol=0, atol=1e-13)
    again = model.decoder.step(batch.previous[rows, 3], moved.state).logits
    torch.testing.assert_close(again, model.decoder(batch.previous, encoded)[rows, 3], rtol=0, atol=1e-12)


@every_decoder
def test_a_beam_of_one_is_greedy(name):
    model, batch = built(name), some_batch()
    encoded = model.encode(batch.source, batch.source_valid)
    options = {"marks": MARKS, "longest": TARGET}
    ones = [found[0] for found in beam(model.decoder, encoded, width=1, **options)]
    best = greedy(model.decoder, encoded, **options)
    assert [one.tokens for one in ones] == [one.tokens for one in best]
    assert [one.score for one in ones] == pytest.approx([one.score for one in best], abs=1e-5)


@pytest.mark.parametrize(
    "name", ["rnn", "gru", "lstm", "gru+additive", "lstm+dot", "transformer", "transformer+additive"]
)
def test_products_in_bfloat16_train_on_a_processor(name):
    model, batch = build(name, dropout=0.0).float(), some_batch()
    expected = token_cross_entropy(model(batch), batch.target[batch.target_valid]).mean
    with torch.autocast("cpu", torch.bfloat16):
        loss = token_cross_entropy(model(batch), batch.target[batch.target_valid]).mean
    loss.backward()
    assert loss.item() == pytest.approx(expected.item(), abs=0.05)
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())
