"""The nearest picture, by brute force."""

import numpy as np
import pytest

from atento.baselines import images
from atento.baselines.images import NearestPicture
from atento.errors import InputError

PICTURES = {str(number): np.random.default_rng(number).integers(0, 256, (5, 5, 3), np.uint8) for number in range(23)}


def test_the_target_of_the_nearest_pixels(monkeypatch):
    monkeypatch.setattr(images, "ROWS", 3)  # several rounds
    known, asked = list(PICTURES)[:16], list(PICTURES)[16:]
    model = NearestPicture(PICTURES.__getitem__).fit(known, [f"caption {name}" for name in known])

    def distance(one, other):
        return ((PICTURES[one].astype(float) - PICTURES[other].astype(float)) ** 2).sum()

    expected = [f"caption {min(known, key=lambda name: distance(name, one))}" for one in asked]
    assert model.predict(asked) == expected
    assert model.predict(known) == [f"caption {name}" for name in known]
    assert model.predict([]) == []


def test_before_it_has_learned():
    with pytest.raises(InputError, match="has not learned"):
        NearestPicture(PICTURES.__getitem__).predict(["1"])
    with pytest.raises(InputError, match="as many of each"):
        NearestPicture(PICTURES.__getitem__).fit(["1"], [])
