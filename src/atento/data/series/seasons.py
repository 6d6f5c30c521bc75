"""The season length of series: what the frequency suggests, compared with the autocorrelation of the values."""

from collections.abc import Sequence

import numpy as np

from atento.data.series.frequency import MICROSECONDS
from atento.data.series.series import Frequency, Numbers, Series

WEEK, YEAR = 7 * MICROSECONDS["d"], 365 * MICROSECONDS["d"]
CALENDAR_SEASONS = {"wd": 5, "mo": 12, "y": 1}
TRAINING_SHARE = 0.7  # of a series is used: later rows may be held out
MOST_SERIES, MOST_ROWS = 50, 20_000
CLEAR = 0.2  # correlation from which rows repeat
SLACK, AROUND = 0.05, 0.15  # relative widths of a peak
DOUBLE_LAG, VERY_CLEAR = 0.3, 0.6  # share of the correlation at twice the lag; what is clear without it
BETTER = 0.1  # by which another season's correlation must exceed that of the calendar


def calendar_season(frequency: Frequency) -> int:
    """Rows in a minute, a day, a week or a year: the first that holds several."""
    if frequency.unit == "mo":
        return max(1, 12 // frequency.count) if 12 % frequency.count == 0 else 1
    if frequency.unit in CALENDAR_SEASONS:
        return CALENDAR_SEASONS[frequency.unit] if frequency.count == 1 else 1
    if frequency.unit not in MICROSECONDS:
        return 1
    size = frequency.count * MICROSECONDS[frequency.unit]
    if size < MICROSECONDS["min"]:
        return MICROSECONDS["min"] // size if MICROSECONDS["min"] % size == 0 else 1
    if size == WEEK:
        return 52
    return next((whole // size for whole in (MICROSECONDS["d"], WEEK) if size < whole and whole % size == 0), 1)


def find_season(series: Sequence[Series], frequency: Frequency) -> tuple[int, str]:
    """The most likely season length, and a note on it."""
    usual = calendar_season(frequency)
    curve = mean_autocorrelation(series)  # (lags,) from lag 0 on
    if len(curve) < 3:
        return usual, f"a season has {usual} rows, by their frequency" if usual > 1 else "no season is known"
    peak = highest_peak(curve)
    best = snap_to_calendar(peak, curve, frequency)
    found = curve[best] if best and repeats_at_double_lag(curve, best) else 0.0
    suggested = curve[usual] if 1 < usual < len(curve) and curve[usual] > curve[usual // 2] else 0.0
    if best > 1 and found >= CLEAR and found > suggested + BETTER:
        how = "best" if best == peak else "as the calendar does"
        return best, f"a season has {best} rows: they repeat {how} (correlation {found:.2f})"
    if usual > 1 and (usual >= len(curve) or suggested >= CLEAR):
        return usual, f"a season has {usual} rows, by their frequency"
    if usual > 1 and frequency.unit:
        return usual, f"a season has {usual} rows, by their frequency; they repeat little (correlation {suggested:.2f})"
    return 1, "rows repeat in no season"


def snap_to_calendar(lag: int, curve: Numbers, frequency: Frequency) -> int:
    """The rows of a week or a year where a lag is near them and their correlation is nearly as high: the maximum of a
    wide peak is not exact.
    """
    size = frequency.count * MICROSECONDS.get(frequency.unit, 0)
    whole = [round(each / size) for each in (WEEK, YEAR) if size and each >= 2 * size]
    near = [each for each in whole if each < len(curve) and abs(each - lag) <= SLACK * each]
    return next((each for each in near if curve[each] >= curve[lag] - BETTER), lag)


def repeats_at_double_lag(curve: Numbers, lag: int) -> bool:
    """Whether rows repeat at twice a lag too, unlike a random walk; where that is too far, whether very clearly."""
    twice = curve[2 * lag - lag // 8 : 2 * lag + lag // 8 + 1]
    return bool(twice.max() >= DOUBLE_LAG * curve[lag]) if len(twice) else bool(curve[lag] >= VERY_CLEAR)


def mean_autocorrelation(series: Sequence[Series]) -> Numbers:
    """The mean autocorrelation (lags,) over channels and series."""
    curves: list[Numbers] = []
    for one in sorted(series, key=len, reverse=True)[:MOST_SERIES]:
        values = one.values[: int(TRAINING_SHARE * len(one))][-MOST_ROWS:]
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
    """The autocorrelation of detrended values at lags up to a third of their length, by Fourier transform."""
    count = len(values)
    time = np.arange(count) - (count - 1) / 2
    centred = values / np.abs(values).max()  # so that squares do not overflow
    centred = centred - centred.mean()
    centred = centred - time * (centred @ time) / (time @ time)
    power = np.abs(np.fft.rfft(centred, 2 * count)) ** 2
    products = np.fft.irfft(power)[: count // 3 + 1]
    if products[0] <= 0:
        return np.zeros(len(products))
    return products / products[0] * count / (count - np.arange(len(products)))  # unbiased: each lag has fewer pairs


def highest_peak(curve: Numbers) -> int:
    """The first lag after the curve becomes negative whose correlation is nearly the highest; 0: none."""
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
    return int(around[np.argmax(curve[around])])  # the maximum of a ragged peak
