"""Weights beside the fast path: those that were used, only those asked for, in every kind of model."""

import functools

import pytest
import torch
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from atento.attention import (
    DISTRIBUTIONS,
    EXTENTS,
    Attention,
    Everything,
    MultiHead,
    ScaledDot,
    Sizes,
    Softmax,
    summarize_weights,
    summary_of,
)
from atento.models.builders import Vocabularies, build_translator
from atento.spec import ModelRecipe
from cases import in_case

BATCH, SOURCE, TARGET, TOKENS, LAYERS, HEADS, SIZE = 2, 7, 5, 11, 3, 2, 6

PARTS = [
    {"layers": slice(1, 2)},
    {"layers": slice(0, 3, 2), "heads": slice(1, 2)},
    {"rows": slice(1, 4), "heads": slice(0, 1)},
    {"layers": slice(-1, None), "heads": slice(1, None), "rows": slice(2, 3)},
]


@functools.cache
def built(name):
    torch.manual_seed(0)
    recipe = ModelRecipe(name=name, hidden=SIZE, layers=LAYERS, heads=HEADS, dropout=0.0, window=2)
    return build_translator(recipe, Vocabularies(TOKENS, TOKENS)).double().eval()


def some_texts(source=SOURCE, target=TARGET):
    tokens, previous = torch.randint(4, TOKENS, (BATCH, source)), torch.randint(4, TOKENS, (BATCH, target))
    valid = torch.ones(BATCH, source, dtype=torch.bool)
    valid[0, -2:] = False
    return tokens.masked_fill(~valid, 0), valid, previous


def sliced(weights, part):
    everything = slice(None)
    places = [part.get(name, everything) for name in ("layers", "heads", "rows")]
    return weights[(everything, *places)]


@pytest.mark.spec("X02")
@pytest.mark.parametrize("name", ["gru", "lstm+additive", "transformer", "transformer+local", "transformer/gru+dot"])
@torch.no_grad()
def test_a_decoder_gives_what_is_asked(name):
    model, (tokens, valid, previous) = built(name), some_texts()
    encoded = model.encode(tokens, valid)
    weights = model.decoder.weights(previous, encoded)
    recurrent = weights.size(1) < LAYERS  # one layer of one head, or none
    for part in [{"rows": slice(1, 4)}, {"rows": slice(2, 3)}] if recurrent else PARTS:
        with in_case(part):
            found = model.decoder.weights(previous, encoded, **part)
            torch.testing.assert_close(found, sliced(weights, part), rtol=0, atol=1e-14)


@pytest.mark.spec("X02")
@torch.no_grad()
def test_an_encoder_gives_what_is_asked():
    encoder, (tokens, valid, _) = built("transformer").encoder, some_texts()
    weights = encoder.weights(tokens, valid)
    assert weights.shape == (BATCH, LAYERS, HEADS, SOURCE, SOURCE)
    torch.testing.assert_close(weights.sum(-1), torch.ones(BATCH, LAYERS, HEADS, SOURCE))
    assert (weights[0, ..., -2:] == 0).all()
    for part in PARTS:
        with in_case(part):
            found = encoder.weights(tokens, valid, **part)
            torch.testing.assert_close(found, sliced(weights, part), rtol=0, atol=1e-14)


class OurSoftmax(Softmax):
    """The same numbers, of a kind that no kernel knows: contexts are made with the weights themselves."""


@pytest.fixture
def kernel_calls(monkeypatch):
    made, kernel = [], functional.scaled_dot_product_attention

    def counted(*arguments, **options):
        made.append(options)
        return kernel(*arguments, **options)

    monkeypatch.setattr(functional, "scaled_dot_product_attention", counted)
    return made


@pytest.mark.spec("X02")
@torch.no_grad()
def test_they_are_the_slow_path_s_weights_and_the_fast_path_stays_on(kernel_calls, monkeypatch):
    """A twin whose every attention goes by the formula is watched while it works."""
    model, (tokens, valid, previous) = built("transformer"), some_texts()
    kernel_calls.clear()
    encoded = model.encode(tokens, valid)
    in_source = model.encoder.weights(tokens, valid)
    in_target = model.decoder.weights(previous, encoded)
    assert len(kernel_calls) == LAYERS + LAYERS + 2 * LAYERS  # every context, and weights by none of them
    twin = built.__wrapped__("transformer")
    for module in twin.modules():
        if isinstance(module, Attention):
            module.distribution = OurSoftmax()
    used, share = [], Attention.weights_from

    def watched(*arguments, **options):
        used.append(share(*arguments, **options))
        return used[-1]

    monkeypatch.setattr(Attention, "weights_from", watched)
    kernel_calls.clear()
    twin.decoder.features(previous, twin.encode(tokens, valid))
    assert not kernel_calls
    torch.testing.assert_close(in_source, torch.stack(used[:LAYERS], dim=1), rtol=0, atol=1e-13)
    across = used[LAYERS + 1 :: 2]  # after each self-attention of the decoder
    torch.testing.assert_close(in_target, torch.stack(across, dim=1), rtol=0, atol=1e-13)


class Largest(TorchDispatchMode):
    """How many numbers the largest tensor holds that is made meanwhile."""

    numbers = 0

    def __torch_dispatch__(self, function, types, arguments=(), options=None):
        made = function(*arguments, **(options or {}))
        for part in tree_leaves(made):
            if isinstance(part, torch.Tensor):
                self.numbers = max(self.numbers, part.untyped_storage().nbytes() // part.element_size())
        return made


@pytest.mark.spec("X02")
@pytest.mark.parametrize("asked", ["weights", "summary"])
@torch.no_grad()
def test_a_long_input_never_meets_its_matrix(asked):
    """Also while the layers below are passed: 300 tokens, and no tensor of 300 × 300."""
    long, rows = 300, slice(7, 17)
    model, (tokens, valid, previous) = built("transformer"), some_texts(long, long)
    encoded = model.encode(tokens, valid)
    with Largest() as largest:
        if asked == "weights":
            model.encoder.weights(tokens, valid, rows=rows, layers=slice(-1, None))
            model.decoder.weights(previous, encoded, rows=rows, layers=slice(-1, None))
        else:
            summary_of(model.encoder.attention_calls(tokens, valid), block=10)
            summary_of(model.decoder.attention_calls(previous, encoded), block=10)
    assert largest.numbers < long * long
    with Largest() as largest:
        model.encoder.weights(tokens, valid, layers=slice(0, 1))
    assert largest.numbers >= BATCH * HEADS * long * long  # what would be seen


@torch.no_grad()
def test_the_summary_of_a_model_is_that_of_its_weights():
    model, (tokens, valid, _) = built("transformer"), some_texts()
    found = summary_of(model.encoder.attention_calls(tokens, valid), block=3)
    whole = summarize_weights(model.encoder.weights(tokens, valid), valid[:, None, None], query_at=torch.arange(SOURCE))
    torch.testing.assert_close(found, whole, rtol=0, atol=1e-13)


@torch.no_grad()
def test_layers_above_the_asked_ones_are_not_passed(kernel_calls):
    model, (tokens, valid, _) = built("transformer"), some_texts()
    kernel_calls.clear()
    model.encoder.weights(tokens, valid, layers=slice(1, 2))
    assert len(kernel_calls) == 2


@pytest.mark.parametrize(
    "kind, name",
    [("distribution", name) for name, part in DISTRIBUTIONS.items() if part.kind == "scores"]
    + [("extent", name) for name in EXTENTS],
)
@torch.no_grad()
def test_some_heads_are_the_same_heads(kind, name):
    """Also where a part has a number of its own for each head."""
    heads, size = 3, 5
    sizes = Sizes(query=size, key=size, heads=heads, reach=2)
    made = {"distribution": DISTRIBUTIONS, "extent": EXTENTS}[kind][name].make(sizes)
    chosen = {"distribution": Softmax(), "extent": Everything(), kind: made}
    attention = Attention(ScaledDot(), chosen["distribution"], chosen["extent"])
    module = MultiHead(heads * size, heads, attention).double().eval()
    for parameter in module.parameters():
        parameter.add_(0.3 * torch.randn_like(parameter))
    items = torch.randn(BATCH, SOURCE, heads * size)
    whole = module.weights(items, items)
    for part in (slice(1, 2), slice(0, 3, 2), slice(None)):
        torch.testing.assert_close(module.weights(items, items, heads=part), whole[:, part], rtol=0, atol=1e-13)
