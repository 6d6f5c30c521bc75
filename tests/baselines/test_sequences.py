"""The mean and the line, against closed forms."""

import numpy as np
import pytest

from atento.baselines.sequences import LinearOnMeans, MeanTarget
from atento.errors import InputError


def read(text):
    return [[float(number) for number in step.split(",")] for step in text.split()]


def test_the_mean_whatever_the_sequence():
    model = MeanTarget().fit(["1 2", "3"], ["1", "4"])
    assert model.predict(["9", "8 7"]) == ["2.5", "2.5"]
    assert model.predict([]) == []


def test_a_line_is_found_exactly():
    """y = 2 · mean(x) − 3 · last(z) + 0.5 · steps + 7."""
    chance = np.random.default_rng(0)
    sources, targets = [], []
    for _ in range(40):
        steps = chance.normal(size=(int(chance.integers(2, 9)), 2))
        sources.append(" ".join(f"{x!r},{z!r}" for x, z in steps.tolist()))
        targets.append(repr(float(2 * steps[:, 0].mean() - 3 * steps[-1, 1] + 0.5 * len(steps) + 7)))
    model = LinearOnMeans(read).fit(sources[:30], targets[:30])
    found = [float(text) for text in model.predict(sources[30:])]
    assert found == pytest.approx([float(text) for text in targets[30:]], abs=1e-4)
    assert model.predict([]) == []


@pytest.mark.parametrize("make", [MeanTarget, lambda: LinearOnMeans(read)])
def test_nothing_to_learn_from(make):
    with pytest.raises(InputError, match="has not learned yet"):
        make().predict(["1"])
    with pytest.raises(InputError, match="one at least"):
        make().fit([], [])
