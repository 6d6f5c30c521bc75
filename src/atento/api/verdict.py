"""Who won, who tied, and what that means in words."""

from collections.abc import Mapping, Sequence
from typing import Any

from atento.looking.wording import score as number
from atento.metrics.intervals import Runs, tied_over
from atento.metrics.metric import Metric
from atento.models.build import CELLS
from atento.models.names import ModelName

Row = dict[str, Any]


def judge(
    rows: Sequence[Row], outputs: Mapping[str, Runs], references: Any, metric: Metric, *, writes: bool = True
) -> dict[str, Any]:
    """The winner, those whose paired difference from it may be zero, and a few plain sentences; where models write
    what they read anew, also what attention buys on long sources.
    """
    ran = [row for row in rows if not row["failed"]]
    if not ran:
        return {"winner": None, "ties": [], "verdict": ["Every model failed; the reasons stand in the table."]}
    best = max(ran, key=lambda row: (metric.merit(row["value"]), row["baseline"], -row["parameters"]))
    for row in ran:
        row["tied"] = row is best or tied_over(metric, outputs[best["model"]], outputs[row["model"]], references)
    ties = [row["model"] for row in ran if row["tied"] and row is not best]
    if best["value"] <= 0 and not metric.smaller_is_better:  # nothing to rank
        nobody = f"No model gets above 0 in {metric.name}. Try a larger --budget, or more rows to learn from."
        return {"winner": best["model"], "ties": ties, "verdict": [nobody]}
    sentences = [headline(best, ties, metric), *simplest(best, ran), *against_baseline(best, ran, metric)]
    sentences += [*unmoved(ran), *(memory(ran, metric) if writes else [])]
    return {"winner": best["model"], "ties": ties, "verdict": sentences}


def score(row: Row) -> str:
    """0.987 (0.981–0.992)."""
    return f"{number(row['value'])} ({number(row['low'])}–{number(row['high'])})"


def headline(best: Row, ties: Sequence[str], metric: Metric) -> str:
    """The result in one line."""
    text = f"{best['model']} is best: {metric.name} {score(best)}"
    return f"{text}, tied with {', '.join(ties)}." if ties else f"{text}; no other comes within its reach."


def simplest(best: Row, ran: Sequence[Row]) -> list[str]:
    """Among equals the smallest is worth naming."""
    equals = [row for row in ran if row["tied"] and not row["baseline"]]
    if len(equals) < 2:
        return []
    small = min(equals, key=lambda row: row["parameters"])
    quick = max(equals, key=lambda row: row["predictions_per_second"])
    text = f"Of these equals {small['model']} is the smallest ({small['parameters']:,} parameters)"
    same = small is quick
    rate = f"{quick['predictions_per_second']:,.0f} answers a second"
    return [f"{text} and answers fastest ({rate})." if same else f"{text}, {quick['model']} answers fastest ({rate})."]


def against_baseline(best: Row, ran: Sequence[Row], metric: Metric) -> list[str]:
    """A simple model that wins is named the winner."""
    if best["baseline"] and best["value"] >= 1 and not metric.smaller_is_better:  # nothing is left to learn
        return ["The simple baseline wins: it makes no mistake on the test part."]
    if best["baseline"]:
        return ["The simple baseline wins: no trained model is worth its cost here yet. Try a larger --budget."]
    simple = sorted((row for row in ran if row["baseline"]), key=lambda row: -metric.merit(row["value"]))
    rest = ", ".join(f"{row['model']} {number(row['value'])}" for row in simple[1:])
    return (
        [f"The simple baseline {simple[0]['model']} reaches {score(simple[0])}{rest and f'; {rest}'}."]
        if simple
        else []
    )


def unmoved(ran: Sequence[Row]) -> list[str]:
    """Models that began as a simple one in closed form, and ended as it."""
    names = [row["model"] for row in ran if row.get("curve") and not row["curve"][0]["step"] and not row["best_step"]]
    where = "in closed form: no step of training was better by more than chance."
    return [f"{', '.join(names)} stayed where {'it' if len(names) == 1 else 'they'} began, {where}"] if names else []


def memory(ran: Sequence[Row], metric: Metric) -> list[str]:
    """What attention buys over one fixed vector, on the longest third of the sources."""
    found = []
    by_name = {row["model"]: row for row in ran if row["lengths"]}
    for name, fixed in by_name.items():
        rivals = [row for other, row in by_name.items() if other != name and str(ModelName.parse(other).bare) == name]
        if name not in CELLS or not rivals:
            continue
        best = max(rivals, key=lambda row: metric.merit(row["lengths"][-1]["value"]))
        with_, without = best["lengths"][-1], fixed["lengths"][-1]
        where = f"On the longest third of the sources ({with_['label']} characters)"
        kept, lost = number(with_["value"]), number(without["value"])
        figures = f"{best['model']} keeps {kept}, {name} with one fixed vector {lost}"
        lower, higher = sorted((with_, without), key=lambda band: float(band["value"]))
        apart = higher["low"] > lower["high"]
        found.append(f"{where} {figures}{': the intervals do not meet.' if apart else ': a tie, the intervals meet.'}")
    return found
