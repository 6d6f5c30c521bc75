"""A trained run in Python: predict, evaluate, check, explain and report."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from numpy.typing import ArrayLike
from torch import nn

from atento.api import explain, explain_series
from atento.api.advice import in_python
from atento.api.folders import find_model
from atento.api.given import as_source, texts_given
from atento.api.predict import Evaluation, evaluate, predict_file, with_settings
from atento.api.report import write_report
from atento.bundle import Json
from atento.checks import Checked
from atento.checks.runs import check_run
from atento.data.files.memory import find_held
from atento.data.series.series import Numbers
from atento.errors import InputError
from atento.models.diagnostics.gradients import GradientFlow
from atento.models.diagnostics.gradients import gradient_flow as flow_of_module
from atento.predictor import Predictor, find_device
from atento.spec.recipe import Settings
from atento.tasks.task import Answer
from atento.tasks.traces import Alignment, TraceMatrix
from atento.views.embeddings import Embeddings
from atento.views.forecast import ForecastView
from atento.views.phase import PhaseView
from atento.views.wording import score


class Run:
    """A trained model, its recipe and its metrics, ready to use."""

    def __init__(self, predictor: Predictor) -> None:
        self.predictor = predictor
        self.folder: Path = predictor.bundle.folder
        self.metrics: Json = predictor.bundle.metrics
        self.recipe = predictor.bundle.recipe
        self.module: torch.nn.Module = predictor.module
        data = self.recipe.data
        self.held = [find_held(name) for name in (data.train, data.valid, data.test)]  # data that is in memory

    def predict(self, sources: Any, *, settings: Settings = ()) -> list[str]:
        """The answer to each source, as a text.

        sources: a text, a list or column of texts, the rows of a file given as a Path, or rows with the columns that
            the model was trained on, in a data frame or a list of dicts.
        settings: data and decode keys of the recipe, e.g. {"decode.beam": 4}.
        """
        return [answer.text for answer in self.answers(sources, settings)]

    def predict_proba(self, sources: Any, *, settings: Settings = ()) -> list[dict[str, float]]:
        """The probability of each label, for each source; of a model with labels.

        sources: as `predict` takes them.
        settings: data and decode keys of the recipe.
        """
        found = [answer.probabilities for answer in self.answers(sources, settings)]
        if self.predictor.bundle.task.judging.labels is None or None in found:
            task = self.predictor.bundle.task.name
            raise InputError("only a model with labels gives their probabilities.", found=task, fix="use predict")
        return [dict(probabilities or {}) for probabilities in found]

    def answers(self, sources: Any, settings: Settings) -> list[Answer]:
        """The answer to each source, with its score; a row without a source is an error.

        sources: as `predict` takes them.
        settings: data and decode keys of the recipe.
        """
        texts = None if isinstance(sources, Path) else texts_given(sources, self.predictor.bundle.task.reading.kind)
        if texts is not None:
            return self.predictor.answer(texts, decode=with_settings(self.predictor, settings).decode)
        with as_source(sources) as name:
            return predict_file(self.predictor, name, settings=settings, bad_rows="stop").answers

    def predict_file(
        self, file: str | Path, *, out: str | Path | None = None, settings: Settings = ()
    ) -> dict[str, list[Any]]:
        """What `atento predict` writes: the columns of the file, then the predictions.

        file: a path, or rows as `fit` takes them.
        out: a file to write them to.
        settings: data and decode keys of the recipe.
        """
        with as_source(file) as name:
            return predict_file(self.predictor, name, out=Path(out) if out else None, settings=settings).columns

    def evaluate(self, file: Any, *, settings: Settings = ()) -> Evaluation:
        """Every metric with its interval.

        file: a path, or rows with their right answers as `fit` takes them; of a built-in set its test part is taken.
        settings: data and decode keys of the recipe.
        """
        with as_source(file) as name:
            found = evaluate(self.predictor, name, settings=settings)
        return replace(found, file=in_python(name), notes=[in_python(note) for note in found.notes])

    def check(self) -> Checked:
        """Every contract that a trained model keeps: true when none is broken, printed as a table."""
        return check_run(self.predictor.bundle)

    def explain(self, source: str) -> Alignment:
        """The answer to one source, and what the model attended to.

        source: a text; of a forecaster, the name of a past in the test part.
        """
        return self.predictor.look(explain_series.source_of(self.predictor, source))

    def trace(self, source: str) -> list[TraceMatrix]:
        """One forward pass, matrix by matrix.

        source: as for `explain`.
        """
        bundle = self.predictor.bundle
        asked = explain_series.source_of(self.predictor, source)
        return bundle.task.answering.trace(self.module, bundle.codec, asked, self.recipe.decode)

    def report(self, out: str | Path | None = None) -> Path:
        """Write the report as one HTML file.

        out: the file; None: report.html in the folder of the run.
        """
        return write_report(self.folder, out=Path(out) if out else None)

    def embeddings(self, *, outputs: bool = False) -> Embeddings:
        """The vectors of words.

        outputs: those of its output layer, instead of those it reads with.
        """
        return explain.embeddings_of(self.predictor, outputs=outputs)

    def gradient_flow(self, text: str = "") -> GradientFlow:
        """How far back gradients reach.

        text: a source to follow; empty: the longest sources of the test part.
        """
        return flow_of_module(self.module, explain.batches_of(self.predictor, text))

    def free_runs(self, pasts: ArrayLike, steps: int, *, series: str = "") -> Numbers:
        """Of a forecaster: how it goes on from its own output, (R, steps, C).

        pasts: the values it starts from, (R, ≥ L, C).
        steps: how many steps.
        series: the name of the series whose scale is used.
        """
        return explain_series.free_runs(self.predictor, pasts, steps, series=series)

    def phase(self, *, steps: int = 0) -> PhaseView:
        """Of a forecaster: a free run from the start of the test part, beside the truth.

        steps: how many; 0: as many as the test part has.
        """
        return explain_series.look_at_phase(self.predictor, steps=steps)

    def forecast(self, asked: str = "") -> ForecastView:
        """Of a forecaster: one forecast of the test part, beside the actual values.

        asked: the name of a series, or a time; empty: the first.
        """
        return explain_series.look_at_forecast(self.predictor, asked)

    def __repr__(self) -> str:
        name = self.metrics.get("metric", "")
        value = self.metrics.get("scores", {}).get(name, [float("nan")])[0]
        return f"Run({str(self.folder)!r}, {self.recipe.model.name}, {name} {score(value)})"


def load(folder: str | Path, *, device: str = "auto") -> Run:
    """A trained model from its folder; of a comparison its best model. Every file is checked first."""
    return Run(Predictor.load(find_model(Path(folder)).folder, device=find_device(device)))


def gradient_flow(model: nn.Module | Run, batch: Any = None) -> GradientFlow:
    """Norms of ∂s_t/∂s_k against lag, singular values, gates, a verdict in words and a remedy.

    model: a run, or any module with a `Stack`, a cell or layers of attention.
    batch: what the module reads, or a list of several; None: a run reads some of its own test sources.
    """
    if isinstance(model, Run):
        return model.gradient_flow() if batch is None else flow_of_module(model.module, batch)
    if batch is None:
        raise InputError("gradient_flow needs a batch.", found=f"a {type(model).__name__} alone", fix="give one")
    return flow_of_module(model, batch)
