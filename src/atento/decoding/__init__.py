"""Decoding: searches for a good output of any decoder that has `start` and `step`.

greedy              greedy search, hypotheses, special tokens
beam                beam search with a length penalty
sampling            temperature, top-k and nucleus sampling
search              the search that a decoding recipe names
prefix              a decoder that goes on from a prefix
scheduled_sampling  the model's own predictions as inputs during training
"""

from atento.decoding.beam import beam
from atento.decoding.greedy import (
    Hypothesis,
    SpecialTokens,
    TokenChoice,
    argmax,
    follow_tokens,
    generate,
    greedy,
    log_probabilities,
)
from atento.decoding.prefix import PrefixedDecoder
from atento.decoding.sampling import TokenSampler, sample
from atento.decoding.scheduled_sampling import draw_tokens, mix_inputs
from atento.decoding.search import search

__all__ = [
    "Hypothesis",
    "PrefixedDecoder",
    "SpecialTokens",
    "TokenChoice",
    "TokenSampler",
    "argmax",
    "beam",
    "draw_tokens",
    "follow_tokens",
    "generate",
    "greedy",
    "log_probabilities",
    "mix_inputs",
    "sample",
    "search",
]
