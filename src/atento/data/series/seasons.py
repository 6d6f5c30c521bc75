"""How many rows a season has: what the distance of rows suggests, against what the numbers themselves repeat."""

from collections.abc import Sequence

import numpy as np

from atento.data.series.series import Numbers, Series, Step
from atento.data.series.steps import SIZES

USUAL = {"wd": 5, "mo": 12, "y": 1}
DAY, WEEK, YEAR = SIZES["d"], 7 * SIZES["d"], 365 * SIZES["d"]
FIRST = 0.7  # of a series is looked at: what comes later may be held out
MOST_SERIES, MOST_ROWS = 50, 20_000
CLEAR = 0.2  # correlation from which something repeats
SLACK, AROUND = 0.05, 0.15
AGAIN, VERY_CLEAR = 0.3, 0.6  # of it at twice the lag; what is clear without
BETTER = 0.1  # by how much another season must repeat better than the usual one


def usual_season(step: Step) -> int:
    """Rows in a day, a week or a year: the first that holds several."""
    if step.unit == "mo":
        return max(1, 12 // step.count) if 12 % step.count == 0 else 1
    if step.unit in USUAL:
        return USUAL[step.unit] if step.count == 1 else 1
    if step.unit not in SIZES:
        return 1
    size = step.count * SIZES[step.unit]
    if size < SIZES["min"]:
        minute = SIZES["min"] // size
        return minute if SIZES["min"] % size == 0 else 1
    if size == WEEK:
        return 52
    return next((whole // size for whole in (DAY, WEEK) if size < whole and whole % size == 0), 1)


def find_season(series: Sequence[Series], step: Step) -> tuple[int, str]:
    """The likeliest season and what to say of it."""
    usual = usual_season(step)
    curve = repetition(series)  # (lags,) from lag 0 on
    if len(curve) < 3:
        return usual, f"a season has {usual} rows, by their distance" if usual > 1 else "no season is known"
    peak = highest_peak(curve)
    best = by_calendar(peak, curve, step)
    found = curve[best] if best and comes_again(curve, best) else 0.0
    suggested = curve[usual] if 1 < usual < len(curve) and curve[usual] > curve[usual // 2] else 0.0
    if best > 1 and found >= CLEAR and found > suggested + BETTER:
        how = "best" if best == peak else "as the calendar does"
        return best, f"a season has {best} rows: they repeat {how} (correlation {found:.2f})"
    if usual > 1 and (usual >= len(curve) or suggested >= CLEAR):
        return usual, f"a season has {usual} rows, by their distance"
    if usual > 1 and step.unit:
        return usual, f"a season has {usual} rows, by their distance; they repeat little (correlation {suggested:.2f})"
    return 1, "rows repeat in no season"


def by_calendar(lag: int, curve: Numbers, step: Step) -> int:
    """The rows of a week or a year where a lag is near them and they repeat nearly as well: the top of a wide peak is
    anywhere.
    """
    size = step.count * SIZES.get(step.unit, 0)
    whole = [round(each / size) for each in (WEEK, YEAR) if size and each >= 2 * size]
    near = [each for each in whole if each < len(curve) and abs(each - lag) <= SLACK * each]
    return next((each for each in near if curve[each] >= curve[lag] - BETTER), lag)


def comes_again(curve: Numbers, lag: int) -> bool:
    """Whether rows repeat at twice a lag too, as they do not in a random walk; where that is too far, very clearly."""
    twice = curve[2 * lag - lag // 8 : 2 * lag + lag // 8 + 1]
    return bool(twice.max() >= AGAIN * curve[lag]) if len(twice) else bool(curve[lag] >= VERY_CLEAR)


def repetition(series: Sequence[Series]) -> Numbers:
    """The mean correlation of rows with those so many rows earlier, over channels and series."""
    curves: list[Numbers] = []
    for one in sorted(series, key=len, reverse=True)[:MOST_SERIES]:
        values = one.values[: int(FIRST * len(one))][-MOST_ROWS:]
        curves.extend(autocorrelation(channel) for channel in values.T if len(channel) > 4 and np.ptp(channel) > 0)
    if not curves:
        return np.zeros(0)
    length = max(map(len, curves))
    total, number = np.zeros(length), np.zeros(length)
    for curve in curves:
        total[: len(curve)] += curve
        number[: len(curve)] += 1
    return total / number


def autocorrelation(values: Numbers) -> Numbers:
    """Correlation at lags up to a third of the length, without a straight trend; by Fourier transform."""
    count = len(values)
    time = np.arange(count) - (count - 1) / 2
    centred = values / np.abs(values).max()  # squares of any number fit then
    centred = centred - centred.mean()
    centred = centred - time * (centred @ time) / (time @ time)
    power = np.abs(np.fft.rfft(centred, 2 * count)) ** 2
    products = np.fft.irfft(power)[: count // 3 + 1]
    if products[0] <= 0:
        return np.zeros(len(products))
    return products / products[0] * count / (count - np.arange(len(products)))  # as if each lag had as many pairs


def highest_peak(curve: Numbers) -> int:
    """The first lag, beyond where the curve fell below nothing, that repeats nearly as well as any; 0: none."""
    below = np.flatnonzero(curve < 0)
    if not len(below):
        return 0
    begin = int(below[0])
    inner = np.arange(max(begin, 1), len(curve) - 1)
    peaks = inner[(curve[inner] >= curve[inner - 1]) & (curve[inner] >= curve[inner + 1])]
    if not len(peaks):
        return 0
    first = int(peaks[np.argmax(curve[peaks] >= (1 - SLACK) * curve[peaks].max())])
    around = np.arange(max(int((1 - AROUND) * first), begin, 1), min(int((1 + AROUND) * first) + 1, len(curve)))
    return int(around[np.argmax(curve[around])])  # the top of a ragged peak
