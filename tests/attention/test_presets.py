import pytest

from atento.attention import Additive, Causal, Everything, ScaledDot, Softmax, Sparsemax, Window
from atento.attention.presets import TABLES, Composition, Sizes, compose
from atento.errors import InputError


def test_names_become_parts_of_the_right_size():
    attention = Composition("additive", "sparsemax", "window").build(Sizes(query=5, key=7, reach=3))
    assert isinstance(attention.score, Additive)
    assert (attention.score.project_query.in_features, attention.score.project_key.in_features) == (5, 7)
    assert isinstance(attention.distribution, Sparsemax)
    assert isinstance(attention.extent, Window)
    assert attention.extent.reach == 3


def test_what_is_left_out_has_its_default():
    assert compose([], default_score="scaled-dot") == ("scaled-dot", "softmax", "everything")
    assert compose(["causal", "general"], default_score="dot") == ("general", "softmax", "causal")
    plain = Composition("scaled-dot").build(Sizes(5, 5))
    assert [type(part) for part in (plain.score, plain.distribution, plain.extent)] == [ScaledDot, Softmax, Everything]
    assert isinstance(Composition("dot", extent="causal").build(Sizes(5, 5)).extent, Causal)


def test_a_wrong_name_is_answered_with_the_nearest():
    with pytest.raises(InputError, match="did you mean 'sparsemax'"):
        compose(["sparsmax"], default_score="dot")


@pytest.mark.parametrize("kind", TABLES)
def test_two_of_a_kind_are_refused(kind):
    first, second, *_ = TABLES[kind]
    with pytest.raises(InputError, match=f"one {kind}, not two"):
        compose([first, second], default_score="dot")


def test_no_name_means_two_things():
    names = [name for table in TABLES.values() for name in table]
    assert len(set(names)) == len(names)
    for table in TABLES.values():
        for part in table.values():
            assert part.formula
            assert part.paper
            assert part.cost
