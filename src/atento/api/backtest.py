"""Backtest: forecasts from several origins in the last part of the data, each from the rows before it alone."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

from atento.api.comparison.contest import bound, share_of
from atento.api.fit import fit
from atento.api.folders import folder_name, new_folder, require_free
from atento.api.prepare import Assembled, Data, assemble, gather_values, learn, read_data, tell
from atento.bundle import Json, write_json
from atento.data.records import counted
from atento.data.tables.table import parsed_once
from atento.errors import InputError
from atento.metrics.metric import Metric
from atento.spec import Recipe
from atento.spec.recipe import Settings, Values
from atento.tasks.forecast.forecast import FORECAST
from atento.tasks.forecast.split import parse_sharing
from atento.tasks.sealed import final_examination
from atento.tasks.task import Baseline, EvaluationExample, baselines_of
from atento.training.events import EventCallback, no_callback
from atento.views.notebook.results import ResultsView
from atento.views.wording import score

BACKTEST = "backtest.json"
ORIGINS = 5
MOST_ORIGINS = 1000


@dataclass(frozen=True)
class OriginRow:
    """One model at one origin."""

    model: str
    baseline: bool
    origin: int  # from 1
    forecasts: int  # how many were scored
    value: float  # the headline metric
    scores: dict[str, float]


@dataclass(frozen=True)
class MeanRow:
    """One model over all origins: the mean of every metric, and how much the headline varies."""

    model: str
    baseline: bool
    value: float
    std: float
    scores: dict[str, float]
    values: list[float]  # the headline at each origin
    best: int  # at how many origins no model was better


@dataclass(frozen=True, kw_only=True)
class Backtest:
    """The outcome: a row for each model and origin, and the mean of each model, the best first."""

    folder: Path
    data: str
    metric: str
    metrics: dict[str, str]
    origins: list[Json]
    refit: bool
    horizon: int
    rows: list[OriginRow]
    means: list[MeanRow]
    took: float  # seconds

    @property
    def winner(self) -> str:
        """The model that is best on average."""
        return self.means[0].model

    def to_json(self) -> Json:
        """The same in dicts and lists, as backtest.json holds it."""
        return {**{key: value for key, value in asdict(self).items() if key != "folder"}, "winner": self.winner}

    def _repr_html_(self) -> str:
        """The mean of each model and how much it varies, for notebooks."""
        view = ResultsView(
            kind=f"backtest from {counted(len(self.origins), 'origin')}, {counted(self.horizon, 'step')} ahead",
            title=f"{self.winner} has the best mean {self.metric} on {self.data}",
            headings=("model", f"mean {self.metric}", "standard deviation", "best at"),
            rows=[
                (row.model, score(row.value), score(row.std), f"{row.best} of {len(row.values)}") for row in self.means
            ],
        )
        return view._repr_html_()

    def __repr__(self) -> str:
        return f"Backtest({str(self.folder)!r}, winner={self.winner!r})"


class Fold(NamedTuple):
    """One origin: what may be learned from, and what is asked after it."""

    number: int  # from 1
    values: Values  # what the recipe says of it
    data: Data


Answer = Callable[[list[Any]], Iterable[Any]]  # sources -> forecasts


class FittedFolds(NamedTuple):
    """A model before the sections are opened."""

    name: str
    baseline: bool
    answers: list[Answer]  # one an origin


@parsed_once()
def backtest(
    data: str | Path,
    *,
    models: Sequence[str] = (),
    origins: int = ORIGINS,
    refit: bool = False,
    settings: Settings = (),
    seed: int | None = None,
    budget: str | float | None = None,
    device: str = "auto",
    out: str | Path | None = None,
    on_event: EventCallback = no_callback,
) -> Backtest:
    """Cut the last part of the data into `origins` sections and forecast each; with `refit` every section by models
    trained on all rows before it, else all by models trained on the rows before the first.
    """
    if not 1 <= origins <= MOST_ORIGINS:
        raise InputError("--origins: there is one at least.", found=str(origins), fix=f"--origins {ORIGINS}")
    values = bound(
        gather_values(str(data), task=FORECAST.name, model="auto", settings=settings, seed=seed, budget=budget)
    )
    chosen = assemble(values)
    refuse_own_parts(chosen.recipe)
    names = list(models) or [chosen.task.defaults.model]
    folder = Path(out) if out else new_folder(chosen.recipe.data.train, "backtest")
    require_free(folder, "run", resume=False)
    started = time.perf_counter()
    folds = cut_folds(chosen, values, origins)
    tell(folds[0].data.reading.notes, on_event)
    codec = learn(folds[0].data)
    metrics = chosen.task.judging.metrics(codec)  # on the scales of the first origin, so that origins can be compared
    if values["train.budget"]:
        values["train.budget"] = share_of(values["train.budget"], len(names) * (origins if refit else 1))
    train = partial(fit_model, values, folder=folder, device=device, on_event=on_event)
    fitted = [
        fit_folds(make().name, folds, partial(fit_baseline, make), refit=refit, baseline=True)
        for make in baselines_of(chosen.task, codec)
    ]
    fitted += [fit_folds(name, folds, partial(train, name), refit=refit, baseline=False) for name in names]
    found = examine(folder, folds, fitted, metrics, refit=refit, started=started)
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / BACKTEST, found.to_json())
    return found


def examine(
    folder: Path,
    folds: Sequence[Fold],
    fitted: Sequence[FittedFolds],
    metrics: Sequence[Metric],
    *,
    refit: bool,
    started: float,
) -> Backtest:
    """Open the sections once everything is fitted, and say what was forecast and how well."""
    first = folds[0].data.reading
    sections = [final_examination(fold.data.reading) for fold in folds]
    rows = [row for model in fitted for row in rows_of(model, sections, metrics)]
    return Backtest(
        folder=folder,
        data=first.name,
        metric=metrics[0].name,
        metrics={metric.name: metric.summary for metric in metrics},
        origins=[{"origin": at, "from": str(section[0].source)} for at, section in enumerate(sections, start=1)],
        refit=refit,
        horizon=first.train[0][1].horizon,
        rows=rows,
        means=sorted(means_of(rows), key=lambda row: row.value),
        took=time.perf_counter() - started,
    )


def refuse_own_parts(recipe: Recipe) -> None:
    """A backtest cuts one file."""
    for key in ("valid", "test"):
        if getattr(recipe.data, key):
            raise InputError(
                "a backtest cuts the training file into parts of its own.",
                found=f"data.{key}={getattr(recipe.data, key)}",
                fix=f"leave data.{key} out (data.siblings=no ignores files beside it)",
            )


def cut_folds(chosen: Assembled, values: Values, origins: int) -> list[Fold]:
    """The test part in so many sections; before each, the rows up to it, the last of them to validate."""
    recipe = chosen.recipe
    sharing = parse_sharing(recipe.data.split, own_valid=False, own_test=False)
    if not sharing.test:
        raise InputError(
            "a backtest needs a test part to cut.", found=f"data.split={recipe.data.split}", fix="data.split=70/10/20"
        )
    frame = read_data(chosen, values).reading.train[0][1]
    folds = []
    for number in range(origins):
        section = sharing.test / origins
        sizes = (sharing.train + number * section, sharing.valid, section)
        if sharing.counted:
            split = "/".join(str(round(size)) for size in sizes)
        else:
            split = "/".join(f"{100 * size:.9f}%" for size in sizes)
        fold = {"data.split": split, "data.horizon": frame.horizon, "data.look_back": frame.look_back}
        data = read_data(chosen._replace(recipe=recipe.with_values(fold)), values)
        if not len(data.reading.test):
            raise InputError(
                "a section of the backtest holds no forecast.",
                found=f"{origins} origins, a horizon of {frame.horizon} steps",
                fix="--origins fewer, --set data.horizon= fewer steps, or a larger test part, e.g. data.split=50/10/40",
            )
        folds.append(Fold(number + 1, fold, data))
    return folds


def fit_baseline(make: Callable[[], Baseline], fold: Fold) -> Answer:
    """A simple model, fitted on the rows before an origin."""
    baseline, train = make(), fold.data.reading.train
    baseline.fit([series for series, _ in train], [frame for _, frame in train])
    return baseline.predict


def fit_model(values: Values, name: str, fold: Fold, *, folder: Path, device: str, on_event: EventCallback) -> Answer:
    """A model of that name, fitted on the rows before an origin."""
    run = fit(
        fold.data.recipe.data.train,
        task=FORECAST.name,
        model=name,
        settings={**values, **fold.values},
        device=device,
        out=folder / f"origin-{fold.number}" / folder_name(name),
        on_event=on_event,
    )
    return lambda sources: [one.judged for one in run.predictor.answer(sources)]


def fit_folds(
    name: str, folds: Sequence[Fold], learn: Callable[[Fold], Answer], *, refit: bool, baseline: bool
) -> FittedFolds:
    """A model as it is learned anew at each origin, or at the first for all of them."""
    first = learn(folds[0])
    return FittedFolds(name, baseline, [first, *(learn(fold) if refit else first for fold in folds[1:])])


def rows_of(
    model: FittedFolds, sections: Sequence[Sequence[EvaluationExample]], metrics: Sequence[Metric]
) -> list[OriginRow]:
    """One row per origin."""
    rows = []
    for number, (section, answer) in enumerate(zip(sections, model.answers, strict=True), start=1):
        sources, references = [one.source for one in section], [one.references for one in section]
        outputs = list(answer(sources))
        scores = {metric.name: metric.for_sources(sources).value(outputs, references) for metric in metrics}
        rows.append(OriginRow(model.name, model.baseline, number, len(sources), scores[metrics[0].name], scores))
    return rows


def means_of(rows: Sequence[OriginRow]) -> list[MeanRow]:
    """Of each model: the mean over origins of every metric, how much the headline varies, and how often it was best."""
    found = []
    for name in dict.fromkeys(row.model for row in rows):
        own = [row for row in rows if row.model == name]
        values = [row.value for row in own]
        best = sum(row.value <= min(one.value for one in rows if one.origin == row.origin) for row in own)
        scores = {key: mean(row.scores[key] for row in own) for key in own[0].scores}
        std = stdev(values) if len(values) > 1 else 0.0
        found.append(MeanRow(name, own[0].baseline, mean(values), std, scores, values, best))
    return found
