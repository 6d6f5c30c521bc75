"""The picture of the parts of attention: what is drawn is what the parts give."""

import numpy as np
import pytest

from atento.attention import DISTRIBUTIONS, EXTENTS, SCORES
from atento.errors import InputError
from atento.views import patterns_figure
from atento.views.attention.patterns import ITEMS, sample_sequence, weight_patterns

UPPER = np.triu(np.ones((ITEMS, ITEMS), dtype=bool), k=1)


@pytest.fixture(scope="module")
def patterns():
    return weight_patterns()


def test_every_member_is_drawn(patterns):
    assert {kind: list(members) for kind, members in patterns.items()} == {
        "score": list(SCORES),
        "distribution": list(DISTRIBUTIONS),
        "extent": list(EXTENTS),
    }
    assert all(weights.shape == (ITEMS, ITEMS) for members in patterns.values() for weights in members.values())


def test_weights_are_those_of_the_formula(patterns):
    items = sample_sequence()[0].numpy()
    grown = np.exp(items @ items.T / np.sqrt(items.shape[1]))
    expected = grown / grown.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(patterns["distribution"]["softmax"], expected, rtol=1e-12)
    np.testing.assert_allclose(patterns["extent"]["everything"], expected, rtol=1e-12)
    past = np.where(UPPER, 0.0, grown)
    np.testing.assert_allclose(patterns["extent"]["causal"], past / past.sum(axis=1, keepdims=True), rtol=1e-12)


def test_members_differ_where_they_should(patterns):
    shares = patterns["distribution"]
    assert (shares["sparsemax"] == 0).any()
    assert (shares["softmax"] > 0).all()
    assert (shares["de-attention"] < 0).any()
    assert ((shares["hard"] == 0) | (shares["hard"] == 1)).all()
    near = patterns["extent"]["local"]
    distance = np.abs(np.subtract.outer(np.arange(ITEMS), np.arange(ITEMS)))
    assert (near[distance > 4] == 0).all() and (near[distance <= 4] > 0).all()
    drawn = [weights.tobytes() for name, weights in patterns["score"].items() if name != "location"]
    assert len(set(drawn)) == len(drawn)


def test_the_same_picture_every_time(tmp_path):
    first, again = patterns_figure(tmp_path / "a.png"), patterns_figure(tmp_path / "b.png")
    assert first.read_bytes().startswith(b"\x89PNG") and first.read_bytes() == again.read_bytes()


def test_a_kind_of_file_that_is_no_picture(tmp_path):
    with pytest.raises(InputError, match="cannot be saved"):
        patterns_figure(tmp_path / "parts.doc")
