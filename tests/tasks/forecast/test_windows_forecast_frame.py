"""How far is read and forecast when nobody says."""

import pytest
from tests.tasks.hand_series import series, several

from atento.spec import DataRecipe
from atento.tasks.forecast.windows import frame_of, guess_horizon, guess_look_back


@pytest.mark.parametrize(
    "rows, season, horizon, look_back",
    [
        (17_420, 24, 24, 336),  # two weeks of hours
        (2_820, 132, 132, 303),  # sunspots: more than two cycles
        (3_650, 365, 365, 365),  # a year of days, read whole
        (60, 12, 12, 12),  # five years of months
        (10_000, 1, 24, 48),  # no season
        (30, 1, 1, 3),
        (7, 7, 1, 1),
        (1, 1, 1, 1),
    ],
)
def test_a_season_is_forecast_from_several(rows, season, horizon, look_back):
    assert guess_horizon(rows, season) == horizon
    assert guess_look_back(rows, horizon, season) == look_back
    assert look_back + horizon <= max(rows, 2)


def test_every_guess_is_said_and_none_where_the_recipe_speaks():
    found = several(series(range(100)), season=7)
    frame, notes = frame_of(found, DataRecipe(look_back=11))
    assert (frame.look_back, frame.horizon, frame.window, frame.season) == (11, 7, 18, 7)
    assert [note.partition(":")[0] for note in notes] == ["horizon"]
    assert "data.horizon=" in notes[0]
    assert frame_of(found, DataRecipe(look_back=11, horizon=3)) == (frame._replace(horizon=3), ())


def test_one_short_series_among_many_does_not_decide():
    many = several(*(series(range(100), str(at)) for at in range(19)), series(range(4), "short"), season=1)
    assert frame_of(many, DataRecipe())[0].horizon == 5
    assert frame_of(several(series(range(60), "a"), series(range(100), "b")), DataRecipe())[0].horizon == 3
