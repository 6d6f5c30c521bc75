"""The outcome of a comparison: `Comparison`, the document that board.json holds, and its rows, one for each model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

from atento.bundle import Json
from atento.data.records import LIST_SEPARATOR
from atento.metrics.bootstrap import Interval
from atento.reprs import repr_html
from atento.views.attention.alignment import AlignmentView
from atento.views.forecast import ForecastView
from atento.views.wording import is_number

NAN = float("nan")


@dataclass(kw_only=True)
class Row:
    """One model or baseline of a comparison: its scores on the test part, and what it cost. A row without a value
    says in `failed` why it has none.
    """

    model: str
    baseline: bool = False
    failed: str = ""
    tied: bool = False  # whether its difference from the winner may be chance
    improving: bool = False  # whether its time ended while it was still improving
    same_as: str = ""  # of a model that ended as it began: the baseline that it is
    value: float | None = None  # the headline metric
    low: float | None = None
    high: float | None = None
    scores: Mapping[str, Sequence[float]] = field(default_factory=dict)  # value, low and high of every metric
    parameters: int = 0
    seconds: float | None = None  # of training
    examples_per_second: float | None = None
    predictions_per_second: float | None = None
    peak_mb: float | None = None
    steps: int = 0
    epochs: float = 0.0
    best_step: int = 0
    lengths: Sequence[Json] = ()  # the headline on sources of several lengths
    curve: Sequence[Json] = ()  # one point for each validation
    more_time: Sequence[Json] = ()  # expected values at several times the time: times, seconds, value, low, high
    training: Sequence[Json] = ()  # of a report: one point for each event of training, with loss and learning rate
    worst: Sequence[Json] = ()  # the worst test examples
    mistakes: int | None = None
    exposure: Json | None = None  # accuracy after true tokens against accuracy after its own
    seeds: Sequence[Json] = ()  # of several: seed, value and folder of each
    lost: Sequence[str] = ()  # seeds that failed, and why
    summary: str = ""  # what a baseline does
    folder: str = ""
    recipe: str = ""
    command: str = ""
    other: Json = field(default_factory=dict)  # what else the metrics.json of its run says

    @property
    def has_value(self) -> bool:
        """Whether the model was trained and scored."""
        return not self.failed and is_number(self.value)

    @property
    def interval(self) -> Interval:
        """The headline with its interval; NaN where there is none."""
        return Interval(*(NAN if end is None else end for end in (self.value, self.low, self.high)))

    def to_json(self) -> Json:
        """The row in dicts and lists."""
        named = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in ("other", "training")}
        return {**self.other, **named}

    @classmethod
    def from_json(cls, saved: Json) -> Self:
        """The row that `to_json` wrote."""
        known = {one.name for one in fields(cls)}
        other = {key: value for key, value in saved.items() if key not in known}
        return cls(**{key: value for key, value in saved.items() if key in known}, other=other)

    @classmethod
    def from_metrics(cls, metrics: Json, **more: Any) -> Self:
        """A row of what the metrics.json of a run says, its worst answers as a person reads them."""
        worst = []
        for line in metrics["worst"]:
            shown = {**line, "output": line.get("text", line["output"]), "reference": ", ".join(line["references"])}
            texts = {key: shown[key] for key in ("source", "output", "reference") if isinstance(shown[key], str)}
            readable = {key: text.replace(LIST_SEPARATOR, " · ") for key, text in texts.items()}
            worst.append({**shown, "asked": line["source"], **readable})  # `asked`: as a model reads it
        return cls.from_json({**metrics, **more, "worst": worst})


@dataclass(kw_only=True)
class Comparison:
    """What was compared, on which data, the rows, and the verdict on them."""

    title: str
    task: str
    metric: str  # the headline
    metrics: Mapping[str, str]  # each metric, and what it is
    rows: list[Row]
    winner: str | None = None
    ties: Sequence[str] = ()
    verdict: Sequence[str] = ()  # plain sentences
    finished: str = ""  # the folder of the model that went on after the comparison; it stands for the comparison
    smaller_is_better: bool = False
    writes: bool = False  # whether the models write a text token by token
    data: Json = field(default_factory=dict)  # name, parts, notes, refused rows, fingerprint
    created: str = ""
    command: str = ""
    seed: int | None = None
    seeds: int = 1
    budget: float | None = None
    share: float | None = None  # seconds of training that each model had
    took: float | None = None
    device: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    forecasts: Sequence[ForecastView] = ()  # a few windows of the best model
    alignments: Sequence[AlignmentView] = ()  # a few examples with attention weights

    _repr_html_ = repr_html

    def ranked(self) -> list[Row]:
        """The rows that have a value, best first; the winner leads its equals."""
        sign = 1 if self.smaller_is_better else -1
        rows = [row for row in self.rows if row.has_value]
        return sorted(rows, key=lambda row: (sign * row.interval.value, row.model != self.winner))

    def trained(self) -> list[Row]:
        """The models among them, best first."""
        return [row for row in self.ranked() if not row.baseline]

    def failed(self) -> list[Row]:
        """The rows that have no value."""
        return [row for row in self.rows if not row.has_value]

    def series(self) -> dict[str, int]:
        """The number of each model's colour and marker in charts; the winner's is 0, the accent."""
        models = [row.model for row in self.ranked()]
        models.sort(key=lambda model: model != self.winner)
        return {model: number for number, model in enumerate(models)}

    def standing(self, row: Row) -> list[str]:
        """Words to put beside a row's name: winner, tied, baseline, and what it is the same as.

        row: one of `rows`.
        """
        words = []
        if row.model in self.ties or (row.model == self.winner and self.ties):
            words.append("tied")
        elif row.model == self.winner and len(self.rows) > 1:
            words.append("winner")
        words += ["baseline"] * row.baseline
        return [*words, f"= {row.same_as}"] if row.same_as else words

    def to_columns(self) -> dict[str, list[Any]]:
        """The table of results, best first, failed rows last: a list for each column."""
        rows = [*self.ranked(), *self.failed()]
        costs = ("parameters", "seconds", "examples_per_second", "predictions_per_second", "peak_mb", "failed")
        others = [name for name in self.metrics if name != self.metric]
        return {
            "model": [row.model for row in rows],
            "baseline": [row.baseline for row in rows],
            self.metric: [row.value for row in rows],
            "low": [row.low for row in rows],
            "high": [row.high for row in rows],
            "tied": [row.tied for row in rows],
            **{name: [row.scores[name][0] if name in row.scores else None for row in rows] for name in others},
            **{name: [getattr(row, name) for row in rows] for name in costs},
        }

    def to_json(self) -> Json:
        """The document in dicts and lists, as board.json holds it."""
        named = {one.name: getattr(self, one.name) for one in fields(Comparison)}
        views = {name: [view.to_json() for view in named[name]] for name in ("forecasts", "alignments")}
        return {**named, **views, "rows": [row.to_json() for row in self.rows]}

    @classmethod
    def from_json(cls, saved: Json) -> Self:
        """The document that `to_json` wrote; keys that it does not know are left out.

        saved: the document in dicts and lists.
        """
        known = {one.name for one in fields(cls)}
        typed = {
            "rows": [Row.from_json(row) for row in saved["rows"]],
            "forecasts": [ForecastView.from_json(view) for view in saved.get("forecasts", ())],
            "alignments": [AlignmentView(**view) for view in saved.get("alignments", ())],
        }
        return cls(**{**{key: value for key, value in saved.items() if key in known}, **typed})
