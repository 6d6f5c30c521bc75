"""Packed softmax attention in C against the formula in float64, sequence by sequence."""

import pytest
import torch

from atento.attention.fast.packed import packed_library, packed_softmax
from atento.layers.packing import Packing
from cases import law_over
from compiled import INSTRUCTIONS, take_library

BATCH, HEADS = 19, 3


def some_packing(longest):
    """Lengths from 0 to the longest, padding anywhere."""
    valid = torch.rand(BATCH, longest) < torch.rand(BATCH, 1) * 1.2
    valid[0], valid[1] = True, False
    return Packing.of(valid, valid)


def formula(query, key, value, targets, sources, causal, scale):
    """softmax(scale q kᵀ) v of each sequence and head; zeros without a key."""
    found, rows, columns = [], targets.bounds.tolist(), sources.bounds.tolist()
    for place in range(BATCH):
        q, k, v = (
            part[slice(*bounds[place : place + 2])].transpose(0, 1)
            for part, bounds in zip((query, key, value), (rows, columns, columns), strict=True)
        )
        scores = scale * q @ k.mT
        if causal:
            scores = scores.masked_fill(torch.ones_like(scores[0], dtype=torch.bool).triu(1), -torch.inf)
        found.append((scores.softmax(-1) @ v if k.size(1) else torch.zeros_like(q)).transpose(0, 1))
    return torch.cat(found)


@law_over(
    instructions=list(INSTRUCTIONS), width=[16, 32, 80], longest=[1, 13, 37], causal=[False, True], size=[1.0, 30.0],
    scaled=[False, True],
)  # fmt: skip
def test_values_and_gradients(monkeypatch, instructions, width, longest, causal, size, scaled):
    library = take_library(monkeypatch, instructions)
    torch.manual_seed(longest)
    targets = some_packing(longest)
    sources = targets if causal else some_packing(longest + 5)
    made = [size * torch.randn(targets.rows, HEADS, width), torch.randn(sources.rows, 2, HEADS, width)]
    short, exact = ([part.to(dtype).requires_grad_() for part in made] for dtype in (torch.float32, torch.float64))
    direct = (None if scaled else 1.0, causal)
    assert packed_library(direct, width, short[0], targets, sources) is library
    found = packed_softmax(library, direct, short[0], *short[1].unbind(1), targets, sources)
    expected = formula(exact[0], *exact[1].unbind(1), targets, sources, causal, width**-0.5 if scaled else 1.0)
    assert not found[targets.items :].any()
    upstream = torch.randn_like(expected)
    slopes = torch.autograd.grad(found[: targets.items], short, upstream.float())
    references = torch.autograd.grad(expected, exact, upstream)
    for one, other in zip((found[: targets.items], *slopes), (expected, *references), strict=True):
        torch.testing.assert_close(one.double(), other, rtol=0, atol=2e-5 * (size + other.abs().max().item()))


def test_what_it_does_not_compute(monkeypatch):
    take_library(monkeypatch)
    packing, like = some_packing(7), torch.randn(3, dtype=torch.float32)
    assert packed_library((None, True), 32, like, packing) is not None
    assert packed_library(None, 32, like, packing) is None  # another score, distribution or extent
    assert packed_library((None, True), 7, like, packing) is None  # no whole vectors
    assert packed_library((None, True), 32, like.double(), packing) is None
    assert packed_library((None, True), 32, like, some_packing(257)) is None


@pytest.mark.parametrize("causal", [False, True])
def test_a_nan_stays_in_its_own_sequence(monkeypatch, causal):
    library = take_library(monkeypatch)
    packing = some_packing(11)
    parts = [torch.randn(packing.rows, HEADS, 16, dtype=torch.float32) for _ in range(3)]
    parts[1][0] = torch.nan  # the first key of the first sequence
    found = packed_softmax(library, (None, causal), *parts, packing, packing)
    assert found[:11].isnan().all() and found[11:].isfinite().all()
