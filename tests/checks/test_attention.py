"""Contracts of attention and of its parts: each fails on a part broken in just that way."""

import pytest
import torch

import atento
from atento.attention import (
    DISTRIBUTIONS,
    EXTENTS,
    SCORES,
    Additive,
    Attention,
    Causal,
    Distribution,
    Dot,
    Everything,
    General,
    MultiHead,
    RelativeBias,
    ScaledDot,
    Score,
    Sizes,
    Softmax,
    Window,
)
from atento.checks.attention_parts import DISTRIBUTION_LAWS, EXTENT_LAWS, SCORE_LAWS
from cases import asked_of

SIZES = Sizes(query=6, key=6, reach=2)
PARTS = {name: part for table in (SCORES, DISTRIBUTIONS, EXTENTS) for name, part in table.items()}
SOUND = [
    Attention(Additive(13, 7, hidden_size=5), Softmax(), Everything()),
    Attention(General(5, 11), Softmax(), Causal() & Window(2)),
    Attention(Dot(), DISTRIBUTIONS["sparsemax"].make(SIZES), Window(1)),
    MultiHead(12, 3, Attention(ScaledDot(), Softmax(), Causal())),
    MultiHead(12, 3, Attention(Additive(4, 4, hidden_size=5), Softmax(), Everything()), source_size=7),
]


def broken(checked):
    return {finding.contract for finding in checked.broken}


@pytest.mark.spec("X01")
@asked_of({"scores": SCORES, "distributions": DISTRIBUTIONS, "extents": EXTENTS})
def test_every_part_keeps_its_contracts(name):
    assert atento.check(PARTS[name].make(SIZES))


@pytest.mark.spec("X01")
@pytest.mark.parametrize("module", SOUND, ids=range(len(SOUND)))
def test_compositions_keep_every_contract(module):
    checked = atento.check(module)
    assert checked, checked
    causal = checked["future"].verdict == "held"
    assert causal == ("Causal" in repr(module))


def test_an_extent_is_asked_with_the_heads_that_it_has():
    assert atento.check(RelativeBias(3, 5) & Everything())


class Halved(Softmax):
    """Says that it sums to 1."""

    def normalize(self, scores, visible):
        return super().normalize(scores, visible) / 2


class Centred(Softmax):
    """Says that it is never negative."""

    sums_to_one = False

    def normalize(self, scores, visible):
        return super().normalize(scores, visible) - 0.01


class Leaky(Softmax):
    """A mask that is not low enough."""

    def forward(self, scores, visible):
        top = scores.masked_fill(~visible, -torch.inf).amax(-1, keepdim=True).nan_to_num(neginf=0.0)
        return self.normalize(torch.where(visible, scores, top - 9), visible) * visible.any(-1, keepdim=True)


class Curious(Softmax):
    """What a hidden score holds, it weighs."""

    def forward(self, scores, visible):
        return (scores.softmax(-1) * visible) / (scores.softmax(-1) * visible).sum(-1, keepdim=True).clamp(min=1e-9)


class Even(Softmax):
    """A query that sees nothing sees all."""

    def forward(self, scores, visible):
        return super().forward(scores, visible | ~visible.any(-1, keepdim=True))


class Ranked(Softmax):
    """The first keys count for more."""

    def normalize(self, scores, visible):
        return super().normalize(scores - torch.arange(scores.size(-1)), visible)


class Sharp(Softmax):
    def normalize(self, scores, visible):
        return super().normalize(scores * scores.abs(), visible)


class Overflowing(Softmax):
    """exp without taking the largest away first."""

    def normalize(self, scores, visible):
        powers = scores.exp()
        return powers / powers.sum(-1, keepdim=True).clamp(min=1e-300)


BROKEN_DISTRIBUTIONS = {
    Halved: {"weights"},
    Centred: {"weights"},
    Leaky: {"weights"},
    Curious: {"hidden content"},
    Even: {"nothing visible"},
    Ranked: {"key order"},
    Sharp: {"constant"},
    Overflowing: {"large scores"},
}


@pytest.mark.spec("X01")
@pytest.mark.parametrize("kind", BROKEN_DISTRIBUTIONS, ids=lambda kind: kind.__name__)
def test_a_broken_distribution(kind):
    assert broken(atento.check(kind())) == BROKEN_DISTRIBUTIONS[kind]


class Transposed(Score):
    def compare(self, query, key):
        return key @ query.mT


class Normed(Score):
    """By the largest of the batch."""

    def compare(self, query, key):
        scores = query @ key.mT
        return scores / scores.abs().max()


class Placed(Score):
    def compare(self, query, key):
        return query @ key.mT + torch.arange(key.size(-2))


class Twice(Dot):
    """Prepares in forward what it also prepares before."""

    def forward(self, query, key):
        return self.compare(query, 2 * self.prepare(key))


BROKEN_SCORES = {
    Transposed: {"shape", "neighbours", "key order"},
    Normed: {"neighbours"},
    Placed: {"key order"},
    Twice: {"prepared"},
}


@pytest.mark.spec("X01")
@pytest.mark.parametrize("kind", BROKEN_SCORES, ids=lambda kind: kind.__name__)
def test_a_broken_score(kind):
    assert broken(atento.check(kind())) == BROKEN_SCORES[kind]


class FromTheFirstQuery(Causal):
    """Counts queries from the first of the call, so that a cached step sees one key."""

    def forward(self, query, key, *, query_at, key_at, valid):
        return super().forward(query, key, query_at=query_at - query_at[0], key_at=key_at, valid=valid)


class Soft(Causal):
    """A mask of numbers."""

    def forward(self, query, key, *, query_at, key_at, valid):
        view = super().forward(query, key, query_at=query_at, key_at=key_at, valid=valid)
        return view._replace(visible=view.visible.float())


@pytest.mark.spec("X01")
def test_a_broken_extent():
    assert broken(atento.check(FromTheFirstQuery())) == {"cache"}
    assert broken(atento.check(Soft())) == {"shape"}


def test_every_contract_of_a_part_was_seen_broken():
    seen = [set().union(*table.values()) for table in (BROKEN_DISTRIBUTIONS, BROKEN_SCORES)]
    assert seen == [set(DISTRIBUTION_LAWS), set(SCORE_LAWS)]
    assert set(EXTENT_LAWS) == {"cache", "shape"}


class OtherWeights(Attention):
    """Shows weights that it does not use."""

    def weights(self, query, key, **options):
        return super().weights(2 * query, key, **options)


class StaleCache(Attention):
    """Each query of a step asks as if it stood at the start."""

    def read(self, query, prepared, *, query_at=None):
        return super().read(query, prepared)


class Unmasked(Attention):
    def prepare(self, key, value, *, valid=None):
        return super().prepare(key, value, valid=None)


@pytest.mark.spec("X01")
@pytest.mark.parametrize(
    "kind, expected",
    [
        (OtherWeights, {"weights used"}),
        (StaleCache, {"cache"}),
        (
            Unmasked,
            {"padding content", "padding amount", "no valid items", "gradients at padding", "weights"},
        ),
    ],
    ids=lambda kind: getattr(kind, "__name__", ""),
)
def test_a_broken_attention(kind, expected):
    extent = Everything() if kind is Unmasked else Causal()
    found = broken(atento.check(kind(General(5, 11), Softmax(), extent)))
    assert expected <= found
    assert found - expected <= ({"padding side"} if kind is Unmasked else set())


class MixedUp(MultiHead):
    """Merges features before heads."""

    def read(self, query, prepared, *, query_at=None):
        asked = self.split(self.to_query(query))
        context = self.attention.read(asked, prepared, query_at=query_at)  # (B, H, T, d)
        return self.combine(context.permute(0, 2, 3, 1).flatten(2))


@pytest.mark.spec("X01")
def test_heads_that_are_mixed_up():
    attention = Attention(ScaledDot(), Softmax(), Everything())
    assert broken(atento.check(MixedUp(12, 3, attention))) == {"heads"}
    assert not broken(atento.check(MultiHead(12, 3, attention)))


def test_a_distribution_is_held_to_what_it_says():
    """Sigmoid-like weights need not sum to 1, and the table says which promises were looked at."""

    class Single(Distribution):
        sums_to_one = False

        def normalize(self, scores, visible):
            return scores.sigmoid()

    found = atento.check(Single())
    assert found
    assert found["weights"].words == "they are 0 where hidden, never negative"
    assert found["constant"].verdict == "does not apply"
