"""A polynomial of the last row as a simple model of a flow."""

from math import comb

import numpy as np
import pytest

from atento.data import Series
from atento.data.dynamics import lorenz
from atento.data.series import Frequency, Past
from atento.spec import TokensRecipe
from atento.tasks.forecast.baselines import PolynomialBaseline, monomials
from atento.tasks.forecast.codec import SeriesCodec
from atento.tasks.forecast.forecast import FORECAST
from atento.tasks.forecast.windows import WindowSpec
from atento.tasks.task import baselines_of

FRAME = WindowSpec(1, 40, ("x", "y", "z"), (), Frequency(1, ""), 1)


def series(rows):
    return Series("", rows, np.zeros((len(rows), 0)))


@pytest.mark.spec("D05")
def test_it_foresees_a_flow_in_the_units_of_the_series():
    rows = lorenz(1500)
    model = PolynomialBaseline().fit([series(rows[:1300])], [FRAME])
    assert model.model.degree > 2
    pasts = [Past("", "", rows[at : at + 1], np.zeros((41, 0))) for at in (1300, 1350)]
    for at, found in zip((1301, 1351), model.predict(pasts), strict=True):
        assert found.shape == (40, 3, 1)
        assert np.abs(found[..., 0] - rows[at : at + 40]).max() < 0.3


def test_no_run_goes_to_infinity():
    model = PolynomialBaseline().fit([series(lorenz(400))], [FRAME])
    (far,) = model.predict([Past("", "", np.full((1, 3), 1e4), np.zeros((41, 0)))])
    assert np.isfinite(far).all()


def test_it_stands_in_comparisons_of_flows_only():
    assert [monomials(3, degree) for degree in (1, 2, 5)] == [comb(3 + degree, degree) for degree in (1, 2, 5)]
    for look_back, there in ((1, True), (2, False)):
        frame = FRAME._replace(look_back=look_back)
        codec = SeriesCodec.learn(TokensRecipe(), [(series(lorenz(300)), frame)])
        assert (PolynomialBaseline in baselines_of(FORECAST, codec)) is there
