"""Names become parts here and nowhere else: plain tables, one entry a member."""

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from atento.attention.attention import Attention
from atento.attention.distributions import Distribution, Softmax, Sparsemax
from atento.attention.extents import Causal, Everything, Extent, Window
from atento.attention.scores import Additive, Dot, General, ScaledDot, Score
from atento.errors import InputError, unknown_name

Made = TypeVar("Made")


class Sizes(NamedTuple):
    """What a part may need to know to be built."""

    query: int
    key: int
    reach: int = 16


class Part(NamedTuple, Generic[Made]):
    """A named part: how to make it, and what a reader wants to know of it. n keys a query, d width, h hidden."""

    make: Callable[[Sizes], Made]
    formula: str
    paper: str
    cost: str


SCORES: dict[str, Part[Score]] = {
    "dot": Part(lambda sizes: Dot(), "q · k", "Luong et al. 2015, eq. 8", "n d"),
    "scaled-dot": Part(lambda sizes: ScaledDot(), "q · k / √d", "Vaswani et al. 2017, eq. 1", "n d"),
    "general": Part(lambda sizes: General(sizes.query, sizes.key), "q · W k", "Luong et al. 2015, eq. 8", "n d"),
    "additive": Part(
        lambda sizes: Additive(sizes.query, sizes.key, hidden_size=sizes.query),
        "v · tanh(W q + U k)",
        "Bahdanau et al. 2015, app. A.1.2",
        "n h, with a tanh each",
    ),
}

DISTRIBUTIONS: dict[str, Part[Distribution]] = {
    "softmax": Part(lambda sizes: Softmax(), "exp(s_i) / Σ exp(s_j)", "Bridle 1990", "n"),
    "sparsemax": Part(
        lambda sizes: Sparsemax(), "max(s − τ, 0), summing to 1", "Martins & Astudillo 2016, eq. 1", "n log n"
    ),
}

EXTENTS: dict[str, Part[Extent]] = {
    "everything": Part(lambda sizes: Everything(), "all keys", "Bahdanau et al. 2015", "n"),
    "causal": Part(lambda sizes: Causal(), "key at or before the query", "Vaswani et al. 2017, sec. 3.2.3", "n / 2"),
    "window": Part(
        lambda sizes: Window(sizes.reach), "|key − query| ≤ reach", "Luong et al. 2015, sec. 3.2", "2 reach + 1"
    ),
}


class Composition(NamedTuple):
    """An attention by its names, e.g. additive, sparsemax, everything."""

    score: str
    distribution: str = "softmax"
    extent: str = "everything"

    def build(self, sizes: Sizes) -> Attention:
        """The object these names mean."""
        return Attention(
            SCORES[self.score].make(sizes),
            DISTRIBUTIONS[self.distribution].make(sizes),
            EXTENTS[self.extent].make(sizes),
        )


def compose(names: list[str], *, default_score: str) -> Composition:
    """["additive", "sparsemax"] -> a composition. A name may be left out, not repeated in kind."""
    chosen: dict[str, str] = {}
    for name in names:
        kind = next((kind for kind, table in TABLES.items() if name in table), None)
        if kind is None:
            raise unknown_name("score, distribution or extent", name, [*SCORES, *DISTRIBUTIONS, *EXTENTS])
        if kind in chosen:
            raise InputError(
                f"an attention has one {kind}, not two.",
                found=f"{chosen[kind]} and {name}",
                fix=f"leave {name!r} out, or {chosen[kind]!r}",
            )
        chosen[kind] = name
    return Composition(**{"score": default_score, **chosen})


TABLES: dict[str, dict[str, Part[Score]] | dict[str, Part[Distribution]] | dict[str, Part[Extent]]] = {
    "score": SCORES,
    "distribution": DISTRIBUTIONS,
    "extent": EXTENTS,
}
