"""Laws of Transformers with every kind of positions, every place of the norm, every start of the weights."""

import functools

import pytest
import torch
from torch import nn

from atento.attention import Everything
from atento.models import ModelPart
from atento.models.builders import Vocabularies, build_translator
from atento.models.builders.transformer import (
    POSITION_BIASES,
    POSITIONS,
    ROTATIONS,
    WEIGHT_INITS,
    self_attention_heads,
    transformer_body,
)
from atento.spec import ModelRecipe
from cases import law_over

BATCH, SOURCE, TARGET, SOURCE_TOKENS, TARGET_TOKENS, SIZE = 3, 7, 19, 13, 11, 12

POSITIONS = [*POSITIONS, *ROTATIONS, *POSITION_BIASES]
NORMS = ModelRecipe.model_fields["norm"].annotation.__args__
RELATIVE = [*ROTATIONS, *POSITION_BIASES]

LENGTHS = (7, 4, 2)
VALID = torch.arange(SOURCE) < torch.tensor(LENGTHS).unsqueeze(-1)

every_kind = law_over(positions=POSITIONS, norm=NORMS)


def recipe(positions, norm="pre", **choices):
    sizes = {"hidden": SIZE, "layers": 2, "heads": 2, "feed_forward": 7, "window": 3, "max_length": 23}
    return ModelRecipe(name="transformer", positions=positions, norm=norm, **{**sizes, **choices})


def shaken(module):
    """Norms start at one, biases at zero: give every parameter a value of its own."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return module.eval()


@functools.cache
def built(positions, norm):
    torch.manual_seed(0)
    return shaken(build_translator(recipe(positions, norm), Vocabularies(SOURCE_TOKENS, TARGET_TOKENS)))


@functools.cache
def decoder_only(positions, norm):
    torch.manual_seed(0)
    embedding, stack = transformer_body(ModelPart("transformer"), recipe(positions, norm), TARGET_TOKENS, causal=True)
    return shaken(embedding), shaken(stack)


def tokens():
    torch.manual_seed(1)
    return torch.randint(4, SOURCE_TOKENS, (BATCH, SOURCE)), torch.randint(4, TARGET_TOKENS, (BATCH, TARGET))


def test_the_recipe_names_what_the_tables_hold():
    assert set(ModelRecipe.model_fields["positions"].annotation.__args__) == set(POSITIONS)


@pytest.mark.spec("T04")
@every_kind
@torch.no_grad()
def test_cached_equals_uncached_equals_parallel(positions, norm):
    model, (source, previous) = built(positions, norm), tokens()
    encoded = model.encode(source, VALID)
    parallel, state = model.decoder(previous, encoded), model.decoder.start(encoded)
    for at in range(TARGET):
        step = model.decoder.step(previous[:, at], state)
        state = step.state
        torch.testing.assert_close(step.logits, parallel[:, at], rtol=0, atol=1e-11)
    uncached = model.decoder(previous[:, :11], encoded)
    torch.testing.assert_close(uncached, parallel[:, :11], rtol=0, atol=1e-11)


@pytest.mark.spec("T04")
@law_over(positions=POSITIONS, norm=NORMS, chunk=[1, 3, 17])
@torch.no_grad()
def test_decoder_only_in_cached_chunks_equals_the_whole(positions, norm, chunk):
    (embedding, stack), (_, previous) = decoder_only(positions, norm), tokens()
    whole = stack(embedding(previous, torch.arange(TARGET)))
    past, outputs = (), []
    for at in torch.arange(TARGET).split(chunk):
        values, past = stack.extend(embedding(previous[:, at], at), past, at=at)
        outputs.append(values)
    torch.testing.assert_close(torch.cat(outputs, dim=1), whole, rtol=0, atol=1e-11)


@every_kind
@torch.no_grad()
def test_the_future_never_matters_exactly(positions, norm):
    (_, previous), changed = tokens(), tokens()[1]
    changed[:, 11:] = (changed[:, 11:] + 1) % TARGET_TOKENS
    model = built(positions, norm)
    encoded = model.encode(tokens()[0], VALID)
    assert torch.equal(*(model.decoder(one, encoded)[:, :11] for one in (previous, changed)))
    embedding, stack = decoder_only(positions, norm)
    outputs = [stack(embedding(one, torch.arange(TARGET))) for one in (previous, changed)]
    assert torch.equal(*(one[:, :11] for one in outputs))
    assert not torch.allclose(*(one[:, 11:] for one in outputs))


@pytest.mark.spec("T07")
@every_kind
@torch.no_grad()
def test_neither_content_amount_nor_side_of_padding_matters(positions, norm):
    model, (source, _) = built(positions, norm), tokens()
    together = model.encode(source.masked_fill(~VALID, 0), VALID)
    spoiled = model.encode(source, VALID)  # other tokens in the padding
    assert torch.equal(spoiled.states[VALID], together.states[VALID])
    assert torch.equal(spoiled.summary, together.summary)
    for row, length in enumerate(LENGTHS):
        real = source[row : row + 1, :length]
        padding, some = torch.zeros(1, 5, dtype=torch.long), torch.ones(1, length, dtype=torch.bool)
        left = model.encode(torch.cat([padding, real], dim=1), torch.cat([padding.bool(), some], dim=1))
        for states in (model.encode(real, some).states[0], left.states[0, 5:]):
            torch.testing.assert_close(states, together.states[row, :length], rtol=0, atol=1e-12)


@pytest.mark.spec("T09")
@pytest.mark.parametrize("positions", RELATIVE)
@pytest.mark.parametrize("causal", [False, True])
def test_scores_depend_on_the_offset_only(positions, causal):
    """Items all alike: what one key scores over the next is the same wherever both stand as far from the query."""
    heads = shaken(self_attention_heads(ModelPart("transformer"), recipe(positions), causal=causal))
    items = torch.randn(SIZE).expand(1, TARGET, SIZE)
    logs = heads.weights(items, items)[0].log()  # (H, T, T)
    ratios = logs[..., 1:] - logs[..., :-1]
    if causal:
        ratios = ratios.masked_fill(torch.ones_like(ratios, dtype=torch.bool).triu(), 0.0)
    for head in ratios:
        torch.testing.assert_close(head[1:, 1:], head[:-1, :-1], rtol=0, atol=1e-10)
    assert (logs[:, -1].std(dim=-1) > 1e-3).all()  # and they do depend on it


@pytest.mark.spec("T09")
@pytest.mark.parametrize("positions", RELATIVE)
def test_moving_everything_moves_no_score(positions):
    heads = shaken(self_attention_heads(ModelPart("transformer"), recipe(positions), causal=False))
    items, at = torch.randn(1, SOURCE, SIZE), torch.arange(SOURCE)
    asked, key = heads.split(heads.to_query(items)), heads.split(heads.to_key(items))

    def scores(query_at, key_at):
        turned = heads.turn(asked, query_at), heads.turn(key, key_at)
        view = heads.attention.extent(*turned, query_at=query_at, key_at=key_at, valid=None)
        return view.add_bias(heads.attention.score.compare(*turned))

    torch.testing.assert_close(scores(at + 1009, at + 1009), scores(at, at), rtol=0, atol=1e-10)
    assert not torch.allclose(scores(at + 1, at), scores(at, at))


@pytest.mark.parametrize("positions", POSITIONS)
def test_between_two_sequences_there_is_no_offset(positions):
    cross = built(positions, "pre").decoder.layers[0].cross_attention
    assert cross.rotary is None
    assert type(cross.attention.extent) is Everything


@pytest.mark.parametrize("init", WEIGHT_INITS)
@pytest.mark.parametrize("norm", NORMS)
def test_every_start_trains_a_step(init, norm):
    torch.manual_seed(0)
    model = build_translator(
        recipe("sinusoidal", norm, init=init, dropout=0.0), Vocabularies(SOURCE_TOKENS, TARGET_TOKENS)
    )
    source, target = tokens()

    def loss():
        logits = model.decoder(target[:, :-1], model.encode(source, VALID))
        return nn.functional.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten())

    before = loss()
    before.backward()
    assert all(weight.grad is not None and weight.grad.isfinite().all() for weight in model.parameters())
    with torch.no_grad():
        for weight in model.parameters():
            weight.sub_(1e-3 * weight.grad)
        assert loss() < before
