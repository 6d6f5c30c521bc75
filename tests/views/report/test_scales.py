import itertools

import pytest

from atento.views.report.scales import Axis, bounds, fitting, reach, space_labels, tick_label


def test_a_scale_maps_its_ends_and_its_middle():
    scale = Axis(2.0, 4.0, 100.0, 20.0)

    assert [scale.place(value) for value in (2.0, 3.0, 4.0)] == [100.0, 60.0, 20.0]


@pytest.mark.parametrize(
    "low, high, ticks",
    [
        (0.0, 1.0, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (0.0, 60.0, [0, 10, 20, 30, 40, 50, 60]),
        (0.92, 0.96, [0.92, 0.93, 0.94, 0.95, 0.96]),
        (-3.0, 7.0, [-2, 0, 2, 4, 6]),
    ],
)
def test_ticks_are_round_and_inside(low, high, ticks):
    assert Axis(low, high, 0.0, 1.0).ticks() == pytest.approx(ticks)


def test_errors_far_apart_stand_by_their_powers_of_ten():
    scale = fitting([3e-13, 2e-7, 1.4], 0.0, 140.0, errors=True)
    assert (scale.low, scale.high, scale.steep) == (pytest.approx(1e-13), 10.0, True)
    assert [scale.place(10.0**power) for power in (-13, -6, 1)] == pytest.approx([0.0, 70.0, 140.0])
    assert scale.place(0.0) == 0.0  # no logarithm, and no place below the lowest
    assert scale.ticks(7) == pytest.approx([10.0**power for power in range(-13, 2, 2)])
    assert not fitting([0.02, 1.4], 0.0, 140.0, errors=True).steep
    assert not fitting([3e-13, 1.4], 0.0, 140.0, errors=False).steep
    assert not fitting([0.0, 1.4], 0.0, 140.0, errors=True).steep


def test_a_chart_of_errors_reaches_so_far_that_half_of_them_can_be_told_apart():
    assert reach([1.0, 2.0, 90.0], [3.0, 4.0, 99.0]) == 4.0 + 2 * (4.0 - 1.0)


@pytest.mark.parametrize(
    "values", [[0.3], [0.0], [1.0], [0.97, 0.99], [0.02, 0.98], [12.0, 35.0], [-4.0, -3.0], [1e-9, 2e-9]]
)
def test_bounds_hold_all_values_and_never_leave_the_range_of_shares(values):
    low, high = bounds(values)

    assert low <= min(values) <= max(values) <= high
    assert low < high
    if all(0 <= value <= 1 for value in values):
        assert 0 <= low < high <= 1


def test_shares_far_apart_are_shown_from_nought_to_one():
    assert bounds([0.2, 0.9]) == (0.0, 1.0)


def test_spread_keeps_order_gap_and_bottom():
    wanted = [50.0, 10.0, 11.0, 49.0, 12.0]
    places = space_labels(wanted, gap=10.0, bottom=60.0)
    sorted_places = [place for _, place in sorted(zip(wanted, places, strict=True))]

    assert max(places) <= 60.0
    assert all(after - before >= 10.0 - 1e-9 for before, after in itertools.pairwise(sorted_places))


def test_spread_leaves_alone_what_has_room():
    assert space_labels([10.0, 30.0, 50.0], gap=10.0, bottom=60.0) == [10.0, 30.0, 50.0]


def test_tick_labels_are_short():
    assert [tick_label(value) for value in (0.0, 0.2, 1.0, 40.0, -2.5)] == ["0", "0.2", "1", "40", "−2.5"]
    assert [tick_label(value) for value in (0.001, 0.0001, 2.5e-13)] == ["0.001", "1e−4", "2.5e−13"]


@pytest.mark.parametrize("values", [[0.3, 5.9], [0.0, 254.0], [9.2, 0.8, 12.4], [3.0, 3.0]])
def test_an_axis_of_what_is_never_negative_does_not_begin_below_nought(values):
    low, high = bounds(values)
    assert 0 <= low <= min(values) and max(values) <= high
    assert bounds([-value for value in values])[0] < 0
