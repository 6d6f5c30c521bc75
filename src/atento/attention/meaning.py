"""Which compositions mean something. One that does not is refused when it is made, with the reason."""

from atento.attention.distributions import Distribution
from atento.attention.extents import Extent
from atento.attention.scores import Kind, Score
from atento.errors import InputError

REASONS: dict[tuple[Kind, Kind], tuple[str, str]] = {  # (what a score gives, what a distribution takes): why not, fix
    ("kernel", "scores"): (
        "a kernel's φ(q) . φ(k) stands for exp(score) already and is divided by its sum; nothing else goes on top.",
        "take the distribution Proportional() (proportional)",
    ),
    ("kernel", "opposed"): (
        "de-attention weighs a similarity of either sign, and a kernel's φ(q) . φ(k) is never negative.",
        "take the distribution Proportional() (proportional), or another score",
    ),
    ("scores", "kernel"): (
        "proportions are shares of numbers that are never negative, and this score gives any number.",
        "take Softmax() (softmax), or a kernel score, Kernel(EluPlusOne()) (linear)",
    ),
    ("scores", "opposed"): (
        "de-attention needs two matrices: how alike query and key are, and how far apart.",
        "join two scores: Opposed(score, Similarity(minus_manhattan))",
    ),
    ("opposed", "scores"): (
        "this score gives two matrices, and only de-attention makes one of them.",
        "take the distribution DeAttention() (de-attention)",
    ),
    ("opposed", "kernel"): (
        "this score gives two matrices, and only de-attention makes one of them.",
        "take the distribution DeAttention() (de-attention)",
    ),
}


def require_meaning(score: Score, distribution: Distribution, extent: Extent) -> None:
    """The parts of an attention must go together."""
    found = f"{type(score).__name__}, {type(distribution).__name__}"
    require_fit(score.gives, distribution.takes, found=found)
    if distribution.takes == "kernel" and extent.biased:
        raise InputError(
            "a bias is added to scores before an exponential, and proportions have none.",
            found=f"{found}, {type(extent).__name__}",
            fix="take another extent, or a softmax of scores",
        )


def require_fit(gives: Kind, takes: Kind, *, found: str) -> None:
    """What a score gives must be what the distribution takes."""
    if gives != takes:
        problem, fix = REASONS[gives, takes]
        raise InputError(problem, found=found, fix=fix)
