"""Exposure: what a model loses when it reads its own words instead of the true ones (Ranzato et al., 2016, sec. 1)."""

from collections.abc import Sequence
from typing import NamedTuple


class Agreement(NamedTuple):
    """How much of one truth was written."""

    hits: int  # true tokens that stand at their place
    tokens: int  # of the truth

    @property
    def share(self) -> float:
        """Of the true tokens."""
        return self.hits / max(self.tokens, 1)


def agree(written: Sequence[int], truth: Sequence[int]) -> Agreement:
    """Place by place; what was written beyond the truth is a miss by the end mark that should stand there."""
    return Agreement(sum(one == other for one, other in zip(written, truth, strict=False)), len(truth))


def summarise(best: Sequence[Agreement]) -> dict[str, float]:
    """Share of tokens that are right, and of examples right in every token."""
    tokens = sum(one.tokens for one in best)
    hits = sum(one.hits for one in best)
    return {
        "tokens": hits / max(tokens, 1),
        "exact": sum(one.hits == one.tokens for one in best) / max(len(best), 1),
    }
