"""How surprised a language model is by a text: from the log-probabilities of whole sequences and their lengths."""

import math
import sys
from collections.abc import Sequence

from atento.errors import InputError

MOST_NATS = math.log(sys.float_info.max)  # exp of more is no float


def nats_per_token(log_probabilities: Sequence[float], tokens: Sequence[int]) -> float:
    """Minus the log-probability of all sequences over all their tokens; an end mark that is predicted is a token."""
    if len(log_probabilities) != len(tokens):
        raise InputError(
            "every sequence has a log-probability and a number of tokens.",
            found=f"{len(log_probabilities)} log-probabilities, {len(tokens)} numbers of tokens",
            fix="give as many of each",
        )
    if sum(tokens) < 1:
        raise InputError("a text without tokens surprises nobody.", found=f"tokens={list(tokens)}", fix="give a text")
    return -math.fsum(log_probabilities) / sum(tokens)


def bits_per_token(log_probabilities: Sequence[float], tokens: Sequence[int]) -> float:
    """The same in bits."""
    return nats_per_token(log_probabilities, tokens) / math.log(2)


def perplexity(log_probabilities: Sequence[float], tokens: Sequence[int]) -> float:
    """exp of the nats a token: among how many equally likely tokens the model seems to choose."""
    nats = nats_per_token(log_probabilities, tokens)
    return math.exp(nats) if nats < MOST_NATS else math.inf
