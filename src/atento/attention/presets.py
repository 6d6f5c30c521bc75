"""Scores, distributions and extents by name, with formula, paper and cost; and compositions of their names."""

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from atento.attention.attention import Attention, validate_kinds
from atento.attention.distributions.distributions import (
    DeAttention,
    Distribution,
    Entmax,
    Proportional,
    Sigmoid,
    Softmax,
    Sparsemax,
)
from atento.attention.distributions.hard import Hard
from atento.attention.extents.extents import Causal, Everything, Extent
from atento.attention.extents.local import AdaptiveSpan, Alibi, PredictiveLocal, RelativeBias, Window
from atento.attention.extents.sparse import BlockLocal, Fixed, Strided
from atento.attention.scores.kernel import EluPlusOne, Kernel, RandomFeatures
from atento.attention.scores.learned import Additive, Deep, FeatureBased, Location
from atento.attention.scores.product import ActivatedGeneral, BiasedGeneral, Dot, General, Kind, ScaledDot, Score
from atento.attention.scores.similarity import Opposed, Similarity, SquaredDistance, cosine, minus_manhattan
from atento.errors import InputError, unknown_name

Made = TypeVar("Made")


class Sizes(NamedTuple):
    """The sizes from which named parts are built."""

    query: int
    key: int
    reach: int = 16
    heads: int = 1
    block: int = 32
    max_length: int = 512
    alpha: float = 0.0  # of entmax; 0: learned


class Part(NamedTuple, Generic[Made]):
    """A named part: how to build it, its formula, paper and cost per query, for n keys of width d and hidden size h."""

    make: Callable[[Sizes], Made]
    formula: str
    paper: str
    cost: str
    kind: Kind = "scores"  # what a score gives or a distribution takes


SCORES: dict[str, Part[Score]] = {
    "dot": Part(lambda sizes: Dot(), "q · k", "Luong et al. 2015, eq. 8", "n d"),
    "scaled-dot": Part(lambda sizes: ScaledDot(), "q · k / √d", "Vaswani et al. 2017, eq. 1", "n d"),
    "cosine": Part(
        lambda sizes: Similarity(cosine, sharpness=10.0, learned=True),
        "β q · k / (|q| |k|), β learned from 10",
        "Graves et al. 2014, eqs. 5, 6",
        "n d",
    ),
    "distance": Part(
        lambda sizes: SquaredDistance(),
        "−|q − k|² / (2 √d)",
        "Lu et al. 2021, sec. 3.1",
        "n d",
    ),
    "general": Part(lambda sizes: General(sizes.query, sizes.key), "q · W k", "Luong et al. 2015, eq. 8", "n d"),
    "biased-general": Part(
        lambda sizes: BiasedGeneral(sizes.query, sizes.key), "k · (W q + b)", "Sordoni et al. 2016, sec. 3.2", "n d"
    ),
    "activated-general": Part(
        lambda sizes: ActivatedGeneral(sizes.query, sizes.key), "tanh(q · W k + b)", "Ma et al. 2017, sec. 2.2", "n d"
    ),
    "additive": Part(
        lambda sizes: Additive(sizes.query, sizes.key, hidden_size=sizes.query),
        "v · tanh(W q + U k)",
        "Bahdanau et al. 2015, app. A.1.2",
        "n h, with a tanh each",
    ),
    "deep": Part(
        lambda sizes: Deep(sizes.query, sizes.key, hidden_sizes=2 * (max(1, sizes.query // 2),)),
        "v · tanh(W₂ tanh(W₀ k + W₁ q + b₁) + b₂) + c",
        "Pavlopoulos et al. 2017, sec. 3",
        "n h²",
    ),
    "location": Part(
        lambda sizes: Location(sizes.query, sizes.max_length),
        "(W q) at the key's position",
        "Luong et al. 2015, sec. 3.1",
        "n d",
    ),
    "feature-based": Part(
        lambda sizes: FeatureBased(sizes.key, sizes.key),
        "v · tanh(W₁ k + W₂ k² + b)",
        "Brauwers & Frasincar 2021, sec. 3.2",
        "n; d h per key, once",
    ),
    "linear": Part(
        lambda sizes: Kernel(EluPlusOne()),
        "φ(q) · φ(k), φ(x) = elu(x) + 1",
        "Katharopoulos et al. 2020, eqs. 4, 7",
        "d², whatever n",
        kind="kernel",
    ),
    "performer": Part(
        lambda sizes: Kernel(RandomFeatures(sizes.query, count=4 * sizes.query)),
        "φ(q) · φ(k) ≈ exp(q · k / √d), φ random",
        "Choromanski et al. 2021, lemma 1",
        "4 d², whatever n",
        kind="kernel",
    ),
}

DISTRIBUTIONS: dict[str, Part[Distribution]] = {
    "softmax": Part(lambda sizes: Softmax(), "exp(s_i) / Σ exp(s_j)", "Bridle 1990", "n"),
    "sigmoid": Part(lambda sizes: Sigmoid(), "1 / (1 + exp(−s))", "Ramapuram et al. 2024, sec. 2", "n"),
    "sparsemax": Part(
        lambda sizes: Sparsemax(), "max(s − τ, 0), summing to 1", "Martins & Astudillo 2016, eq. 1", "n, about 7 times"
    ),
    "entmax15": Part(
        lambda sizes: Entmax(1.5), "max(s / 2 − τ, 0)², summing to 1", "Peters et al. 2019, sec. 3", "n, about 7 times"
    ),
    "entmax": Part(
        lambda sizes: Entmax(sizes.alpha) if sizes.alpha else Entmax.learned(sizes.heads),
        "max((α − 1) s − τ, 0)^(1 / (α − 1)), summing to 1, α learned per head",
        "Correia et al. 2019, sec. 3",
        "n, about 7 times",
    ),
    "proportional": Part(
        lambda sizes: Proportional(), "s_i / Σ s_j, s ≥ 0", "Katharopoulos et al. 2020, eq. 4", "n", kind="kernel"
    ),
    "de-attention": Part(
        lambda sizes: DeAttention(),
        "tanh(s) · 2 σ(−Σ |q_i − k_i| / d)",
        "Tay et al. 2019, sec. 2",
        "n d",
        kind="opposed",
    ),
    "hard": Part(
        lambda sizes: Hard(), "one key, drawn by softmax(s)", "Xu et al. 2015, sec. 4.1; Bengio et al. 2013", "n"
    ),
    "hard-reinforce": Part(
        lambda sizes: Hard("score-function"),
        "one key, drawn by softmax(s)",
        "Xu et al. 2015, sec. 4.1; Williams 1992",
        "n",
    ),
    "hard-half": Part(
        lambda sizes: Hard(expected=0.5),
        "one key, drawn by softmax(s); in training, half of the time softmax(s) itself",
        "Xu et al. 2015, sec. 4.1; Bengio et al. 2013",
        "n",
    ),
}

EXTENTS: dict[str, Part[Extent]] = {
    "everything": Part(lambda sizes: Everything(), "all keys", "Bahdanau et al. 2015", "n"),
    "causal": Part(lambda sizes: Causal(), "key at or before the query", "Vaswani et al. 2017, sec. 3.2.3", "n / 2"),
    "local": Part(
        lambda sizes: Window(sizes.reach), "|key − query| ≤ reach", "Luong et al. 2015, sec. 3.2", "2 reach + 1"
    ),
    "local-predictive": Part(
        lambda sizes: PredictiveLocal(sizes.query, sizes.query, sizes.reach),
        "|key − p| ≤ reach, p = n σ(v · tanh(W q)); weights × exp(−2 ((key − p) / reach)²)",
        "Luong et al. 2015, eqs. 9, 10",
        "n",
    ),
    "block-local": Part(
        lambda sizes: BlockLocal(sizes.block),
        "key in the query's block or a neighbouring one",
        "Parmar et al. 2018, sec. 3.3",
        "3 block",
    ),
    "strided": Part(
        lambda sizes: Strided(sizes.block),
        "|key − query| ≤ block, or a multiple of block",
        "Child et al. 2019, sec. 4.2",
        "3 block + n / block",
    ),
    "fixed": Part(
        lambda sizes: Fixed(sizes.block),
        "key in the query's block, or last of any block",
        "Child et al. 2019, sec. 4.2",
        "block + n / block",
    ),
    "adaptive-span": Part(
        lambda sizes: AdaptiveSpan(sizes.heads, sizes.max_length, sizes.reach),
        "s + log clip(1 + (z − |key − query|) / reach, 0, 1), z learned per head",
        "Sukhbaatar et al. 2019, eqs. 2, 3",
        "2 (z + reach)",
    ),
    "alibi": Part(lambda sizes: Alibi(sizes.heads), "s − 2^(−8h / H) |key − query|", "Press et al. 2022, sec. 3", "n"),
    "relative": Part(
        lambda sizes: RelativeBias(sizes.heads, sizes.reach),
        "s + table[clip(key − query, ±reach)]",
        "Shaw et al. 2018, sec. 3.2; Raffel et al. 2020, sec. 2.1",
        "n",
    ),
}

TABLES: dict[str, dict[str, Part[Score]] | dict[str, Part[Distribution]] | dict[str, Part[Extent]]] = {
    "score": SCORES,
    "distribution": DISTRIBUTIONS,
    "extent": EXTENTS,
}

DEFAULT_DISTRIBUTION: dict[Kind, str] = {"scores": "softmax", "kernel": "proportional"}  # by what a score gives


class Composition(NamedTuple):
    """The names of an attention's parts, e.g. additive, sparsemax, everything."""

    score: str
    distribution: str = "softmax"
    extent: str = "everything"

    def build(self, sizes: Sizes) -> Attention:
        """The attention with these parts."""
        score, distribution = SCORES[self.score].make(sizes), DISTRIBUTIONS[self.distribution].make(sizes)
        if distribution.takes == "opposed" and score.gives == "scores":
            score = Opposed(score, Similarity(minus_manhattan, sharpness=1 / sizes.query))
        return Attention(score, distribution, EXTENTS[self.extent].make(sizes))


def compose(names: list[str], *, default_score: str) -> Composition:
    """["additive", "sparsemax"] -> a composition, with defaults for parts without a name."""
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
    chosen.setdefault("score", default_score)
    gives = SCORES[chosen["score"]].kind
    chosen.setdefault("distribution", DEFAULT_DISTRIBUTION[gives])
    takes = DISTRIBUTIONS[chosen["distribution"]].kind
    if (gives, takes) != ("scores", "opposed"):  # the second score is added when it is built
        validate_kinds(gives, takes, found=f"{chosen['score']} and {chosen['distribution']}")
    return Composition(**chosen)
