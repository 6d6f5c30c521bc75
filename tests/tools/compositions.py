"""Laws of compositions of the tables: score × distribution × extent."""

from collections.abc import Callable, Iterable
from typing import Any

from atento.attention import DISTRIBUTIONS, EXTENTS, SCORES, Attention, Composition, Sizes
from cases import Law, all_pairs, asked_of, by_first

BIASED = [name for name, part in EXTENTS.items() if part.make(Sizes(query=5, key=5)).biased]


def go_together(score: str, distribution: str) -> bool:
    """Kernels are divided by their sum, and nothing else is."""
    return (score in ("linear", "performer")) == (distribution == "proportional")


def has_meaning(score: str, distribution: str, extent: str, *_: object) -> bool:
    """A bias is added to scores before an exponential: it has no place in proportions."""
    return go_together(score, distribution) and not (distribution == "proportional" and extent in BIASED)


def law_of_compositions(
    build: Callable[[Composition], Attention],
    *,
    extents: Iterable[str] = EXTENTS,
    allowed: Callable[..., bool] = has_meaning,
    **factors: Iterable[Any],
) -> Callable[[Law], Law]:
    """A law `law(attention, **factors)` becomes a test for each score: every two parts and values meet in some case."""
    groups = by_first(all_pairs(SCORES, DISTRIBUTIONS, extents, *factors.values(), allowed=allowed))

    def as_test(law: Law) -> Law:
        def of_case(case: tuple[Any, ...]) -> None:
            score, distribution, extent, *values = case
            law(build(Composition(score, distribution, extent)), **dict(zip(factors, values, strict=True)))

        of_case.__name__, of_case.__doc__ = law.__name__, law.__doc__
        return asked_of(groups)(of_case)

    return as_test
