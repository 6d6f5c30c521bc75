"""Searches over arrays find what `atento.decoding` finds: the same tokens, the same scores, the same draws."""

from typing import NamedTuple

import numpy as np
import pytest
import torch

from atento.decoding import SpecialTokens
from atento.decoding import search as torch_search
from atento.exporting.runtime.search import Begun, Special, search, seeds_of
from atento.models.protocols import DecoderStep, Encoded
from atento.spec import DecodeRecipe
from atento.tasks.outputs import written_text

TOKENS, ROWS, END = 7, 5, 3
FORBIDDEN = (0, 1, 2)


class Seen(NamedTuple):
    row: torch.Tensor  # (B,)
    history: torch.Tensor  # (B,) a number for what was written


class Chance:
    """A decoder whose logits depend on the row and on all that was written, and on nothing else."""

    def start(self, encoded):
        rows = torch.arange(len(encoded.valid))
        return Seen(rows, rows * 0)

    def step(self, token, state):
        history = (state.history * 31 + token + 1) % 10007
        seeds = zip(state.row.tolist(), history.tolist(), strict=True)
        logits = [np.random.default_rng([row, seen]).normal(size=TOKENS) * 2 for row, seen in seeds]
        return DecoderStep(torch.tensor(np.array(logits), dtype=torch.float32), Seen(state.row, history))


def by_arrays(recipe, limits, seeds):
    decoder = Chance()
    start = decoder.step(torch.full((ROWS,), 2), decoder.start(sources()))

    def step(token, state):
        found = decoder.step(torch.from_numpy(token), Seen(*(torch.from_numpy(part) for part in state.values())))
        return found.logits.numpy(), as_arrays(found.state)

    begun = Begun(start.logits.numpy(), as_arrays(start.state))
    return search(begun, step, recipe, special=Special(END, FORBIDDEN), limits=limits, seeds=seeds)


def as_arrays(state):
    return {name: part.numpy() for name, part in state._asdict().items()}


def sources():
    return Encoded(torch.zeros(ROWS, 1, 1), torch.ones(ROWS, 1, dtype=torch.bool), torch.zeros(ROWS, 1))


@pytest.mark.parametrize(
    "recipe",
    [
        DecodeRecipe(),
        DecodeRecipe(beam=2),
        DecodeRecipe(beam=3, length_penalty=0.0),
        DecodeRecipe(beam=4, length_penalty=2.0),
        DecodeRecipe(temperature=0.7),
        DecodeRecipe(temperature=1.3, top_k=2),
        DecodeRecipe(temperature=1.0, top_p=0.6),
    ],
    ids=str,
)
@pytest.mark.parametrize("limits", [[9, 1, 4, 9, 2], [1] * ROWS, [30] * ROWS])
def test_the_same_outputs_are_found(recipe, limits):
    seeds = [f"seed {row}" for row in range(ROWS)]
    special = SpecialTokens(start=2, end=END, forbidden=FORBIDDEN)
    wanted = torch_search(Chance(), sources(), recipe, special_tokens=special, max_tokens=limits, seeds=seeds)
    found = by_arrays(recipe, limits, seeds)
    assert [one.tokens for one in found] == [one.tokens for one in wanted]
    assert [one.score for one in found] == pytest.approx([one.score for one in wanted], abs=1e-4)


def test_sources_have_the_same_seeds():
    keys = [[1, 2], [3], [1, 2], ["a"]]
    assert seeds_of(keys, 5) == written_text.seeds_of(keys, 5)
