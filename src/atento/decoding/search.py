"""The search that a decoding recipe names: sampling, greedy search or beam search."""

from collections.abc import Sequence
from typing import Any

from atento.decoding.beam import beam
from atento.decoding.greedy import Hypothesis, SpecialTokens, greedy
from atento.decoding.sampling import sample
from atento.models.protocols import Encoded, IncrementalDecoder
from atento.spec import DecodeRecipe


def search(
    decoder: IncrementalDecoder[Any],
    encoded: Encoded,
    recipe: DecodeRecipe,
    *,
    special_tokens: SpecialTokens,
    max_tokens: Sequence[int],
    seeds: Sequence[str],
) -> list[Hypothesis]:
    """The best output of each row; `seeds` matter only for sampling."""
    if recipe.temperature:
        return sample(
            decoder,
            encoded,
            special_tokens=special_tokens,
            max_tokens=max_tokens,
            seeds=seeds,
            temperature=recipe.temperature,
            top_k=recipe.top_k,
            top_p=recipe.top_p,
        )
    if recipe.beam == 1:
        return greedy(decoder, encoded, special_tokens=special_tokens, max_tokens=max_tokens)
    kept = beam(
        decoder,
        encoded,
        special_tokens=special_tokens,
        max_tokens=max_tokens,
        width=recipe.beam,
        length_penalty=recipe.length_penalty,
    )
    return [hypotheses[0] for hypotheses in kept]
