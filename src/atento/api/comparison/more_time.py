"""What more time would bring to the models of a comparison, in numbers and in words.

A learning curve is made of validations and the board shows the test part: an error of the test part is taken to shrink
by the same factor as that of the validation part.
"""

from collections.abc import Sequence

from atento.bundle import Json
from atento.metrics.learning_curves import Extrapolation, LearningCurve, extrapolate, passing
from atento.metrics.metric import Metric
from atento.views.report.board import Row
from atento.views.wording import duration, quality

FACTORS = (2, 10)  # times the time that a model had
OUT_OF_TIME = "time budget"  # how the end of a run that its time ended is told
LIKELY = 0.6  # probability from which on a change of order is told
UNLIKELY = 0.2  # probability up to which it is said not to come
TIMES = {2: "twice", 10: "ten times"}


def project(rows: Sequence[Row], metric: Metric) -> dict[str, Extrapolation]:
    """How the curves of the trained models go on, on the test part; each row is given its values at later times. A
    model that stopped by itself had all the time it could use: it stays where it is.
    """
    found = {}
    for number, row in enumerate(rows):
        if row.baseline or row.failed or row.same_as or not row.seconds or row.value is None:
            continue
        error = row.value if metric.smaller_is_better else 1.0 - row.value
        if not str(row.other.get("ended", "")).startswith(OUT_OF_TIME):
            found[row.model] = Extrapolation.level(error, row.seconds)
            continue
        times, values = [point["elapsed"] for point in row.curve], [point["value"] for point in row.curve]
        curve = LearningCurve.of(times, values, smaller_is_better=metric.smaller_is_better)
        ahead = extrapolate(curve, seed=number)  # the draws of two models are independent
        if ahead is not None and error > 0:
            found[row.model] = ahead._replace(error=error, seconds=max(ahead.seconds, row.seconds))
            row.more_time = [at_later_time(found[row.model], factor, metric) for factor in FACTORS]
    return found


def at_later_time(ahead: Extrapolation, factor: int, metric: Metric) -> Json:
    """The value after so many times the time, and the ends of its interval."""
    value, low, high = ahead.interval(factor * ahead.seconds)
    if not metric.smaller_is_better:
        value, low, high = 1 - value, 1 - high, 1 - low
    return {"times": factor, "seconds": factor * ahead.seconds, "value": value, "low": low, "high": high}


def more_time(ran: Sequence[Row], metric: Metric) -> list[str]:
    """What twice and ten times the budget would give the best network, and whether the order would change."""
    curves = project(ran, metric)
    ranked = sorted(ran, key=lambda row: -metric.to_maximize(row.interval.value))
    best = next((row for row in ranked if row.more_time), None)
    if best is None:
        return []
    ends = [f"{quality(one['value'], one['low'], one['high'])} with {TIMES[one['times']]}" for one in best.more_time]
    gain = f"More time: by its learning curve, {best.model} would reach about {' and '.join(ends)} the time."
    return [gain, *overtaking(ranked, curves, metric)]


def overtaking(ranked: Sequence[Row], curves: dict[str, Extrapolation], metric: Metric) -> list[str]:
    """Which networks would probably pass the best model, network or baseline, and when."""
    best, others = ranked[0], [row for row in ranked[1:] if row.more_time and not row.tied]
    seconds = max(curve.seconds for curve in curves.values())
    error = best.interval.value if metric.smaller_is_better else 1.0 - best.interval.value
    ahead = curves.get(best.model, Extrapolation.level(error, seconds))
    found = {row.model: passing(curves[row.model], ahead, until=FACTORS[-1] * seconds) for row in others}
    sentences = [
        f"{model} would probably pass {best.model} after about {duration(when)} of training "
        f"({100 * probability:.0f} % likely)."
        for model, (probability, when) in found.items()
        if probability >= LIKELY
    ]
    if found and not sentences:
        if max(probability for probability, _ in found.values()) <= UNLIKELY:
            return [f"No other network is likely to pass {best.model} within ten times the time."]
        return [f"Whether another network would pass {best.model} cannot be told from the curves."]
    return sentences
