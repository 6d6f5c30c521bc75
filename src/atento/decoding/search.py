"""Sampling, greedy search or a beam: whichever a recipe asks for."""

from collections.abc import Sequence
from typing import Any

from atento.decoding.beam import beam
from atento.decoding.greedy import Hypothesis, Marks, greedy
from atento.decoding.sampling import sample
from atento.models.protocols import Encoded, Writer
from atento.spec import DecodeRecipe


def search(
    writer: Writer[Any],
    encoded: Encoded,
    recipe: DecodeRecipe,
    *,
    marks: Marks,
    longest: Sequence[int],
    seeds: Sequence[str],
) -> list[Hypothesis]:
    """The best output of each row; `seeds` are read only where outputs are drawn."""
    if recipe.temperature:
        return sample(
            writer,
            encoded,
            marks=marks,
            longest=longest,
            seeds=seeds,
            temperature=recipe.temperature,
            top_k=recipe.top_k,
            top_p=recipe.top_p,
        )
    if recipe.beam == 1:
        return greedy(writer, encoded, marks=marks, longest=longest)
    penalty = recipe.length_penalty
    kept = beam(writer, encoded, marks=marks, longest=longest, width=recipe.beam, length_penalty=penalty)
    return [hypotheses[0] for hypotheses in kept]
