"""Names of matchers: what each means, and what is refused."""

import pytest

from atento.attention import DISTRIBUTIONS, SCORES
from atento.errors import InputError
from atento.models import LabelHead
from atento.models.builders import build_matcher
from atento.models.matcher import CoAttentionMatcher, JointMatcher, TwoTowers
from atento.models.names import FAMILIES
from atento.spec import ModelRecipe


def build(name, **choices):
    return build_matcher(ModelRecipe(name=name, hidden=8, heads=2, **choices), 11, LabelHead, 3)


def test_every_family_is_two_towers_or_looks_across():
    for family in FAMILIES:
        assert isinstance(build(family), TwoTowers), family
        kind = JointMatcher if family == "transformer" else CoAttentionMatcher
        assert isinstance(build(f"{family}+co"), kind), family


def test_the_suffix_may_stand_anywhere_and_the_score_is_dot_unless_told():
    assert type(build("lstm+co").attention.score).__name__ == "Dot"
    model = build("lstm+co+additive+sparsemax")
    assert [type(part).__name__ for part in (model.attention.score, model.attention.distribution)] == [
        "Additive",
        "Sparsemax",
    ]
    assert build("lstm+additive").pooling is not None
    assert build("lstm").pooling is None


def test_any_score_compares_two_texts():
    for score in (name for name in SCORES if name not in ("linear", "performer")):
        assert isinstance(build(f"gru+{score}+co"), CoAttentionMatcher), score


def test_any_distribution_shares_a_look():
    for distribution in (name for name in DISTRIBUTIONS if name != "proportional"):
        assert isinstance(build(f"gru+dot+{distribution}+co"), CoAttentionMatcher), distribution


def test_one_direction_is_as_wide_as_two():
    assert build("gru+co", directions=1).after.output_size == build("gru+co").after.output_size == 8


@pytest.mark.parametrize(
    ("name", "choices", "words"),
    [
        ("lstm+co+co", {}, "says co twice"),
        ("lstm/gru+co", {}, "one part"),
        ("lstm+alibi+co", {}, "names no score"),
        ("lstm+dot+alibi+co", {}, "within one sequence only"),
        ("lstm+dot+linformer+co", {}, "token by token"),
        ("lstm+co", {"pooling": "mean"}, "model.pooling"),
        ("lstm", {"attend": "bahdanau"}, "model.attend"),
        ("lsmt+co", {}, "did you mean 'lstm'"),
        ("lstm+dot+cosine+co", {}, "one score"),
    ],
)
def test_what_has_no_meaning_is_refused(name, choices, words):
    with pytest.raises(InputError, match=words) as caught:
        build(name, **choices)
    assert caught.value.fix
