"""A trained run in Python: predict, evaluate, check, explain and report."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from numpy.typing import ArrayLike
from torch import nn

from atento.api.advice import in_python
from atento.api.explain import answers, maps, model
from atento.api.explain import series as of_series
from atento.api.folders import find_model
from atento.api.given import as_source, texts_given
from atento.api.predict import Evaluation, evaluate, predict_file, with_settings
from atento.api.report import run_html, write_report
from atento.bundle import Json
from atento.checks import Checked
from atento.checks.runs import check_run
from atento.data.files.memory import find_held
from atento.data.series.series import Numbers
from atento.errors import InputError
from atento.exporting.export import ExportReport, export_bundle, nothing
from atento.models.diagnostics.gradients import GradientFlow
from atento.models.diagnostics.gradients import gradient_flow as flow_of_module
from atento.models.diagnostics.model_graph import trace_model
from atento.predictor import Predictor, find_device
from atento.spec.recipe import Settings
from atento.tasks.task import Answer
from atento.tasks.traces import TraceMatrix
from atento.views.attention.maps import AttributionView, ExplainedAlignment
from atento.views.embeddings import Embeddings
from atento.views.forecast import ForecastView
from atento.views.model.graph import ModelGraphView
from atento.views.model.histograms import HistogramsView
from atento.views.model.positions import PositionsView
from atento.views.model.schedules import SchedulesView
from atento.views.phase import PhaseView
from atento.views.states import StatesView
from atento.views.steps import StepsView
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

    def explain(self, source: str) -> ExplainedAlignment:
        """The answer to one source, and what the model attended to; `maps` are all its attention maps, and
        `save("x.html")` writes them as a page.

        source: a text; of a forecaster, the name of a past in the test part.
        """
        return maps.explained(self.predictor, of_series.source_of(self.predictor, source))

    def attribution(self, source: str) -> AttributionView:
        """How much each token of one source moved the answer, by integrated gradients.

        source: as for `explain`.
        """
        return maps.attribute(self.predictor, of_series.source_of(self.predictor, source))

    def steps(self, source: str) -> StepsView:
        """One forward pass, matrix by matrix, with queries, keys and values of every head.

        source: as for `explain`.
        """
        return maps.walk(self.predictor, of_series.source_of(self.predictor, source))

    def states(self, source: str) -> StatesView:
        """The hidden states of a recurrent network at each token of one source, and units that follow a pattern.

        source: a text.
        """
        return maps.look_at_states(self.predictor, source)

    def trace(self, source: str) -> list[TraceMatrix]:
        """One forward pass, matrix by matrix.

        source: as for `explain`.
        """
        bundle = self.predictor.bundle
        asked = of_series.source_of(self.predictor, source)
        return bundle.task.answering.trace(self.module, bundle.codec, asked, self.recipe.decode)

    def report(self, out: str | Path | None = None) -> Path:
        """Write the report as one HTML file.

        out: the file; None: report.html in the folder of the run.
        """
        return write_report(self.folder, out=Path(out) if out else None)

    def export(
        self,
        to: str = "onnx",
        *,
        out: str | Path | None = None,
        int8: bool = False,
        tell: Callable[[str], None] = nothing,
    ) -> ExportReport:
        """Write the model for other programs, as a new folder whose graphs were checked against torch.

        to: onnx, torch-export or ct2.
        out: the folder; None: beside that of the run, with the format behind its name.
        int8: smaller, with int8 weights; the report says what that costs.
        tell: receives lines of progress.
        """
        return export_bundle(self.predictor.bundle, to=to, out=Path(out) if out else None, int8=int8, tell=tell)

    def embeddings(self, *, outputs: bool = False) -> Embeddings:
        """The vectors of words.

        outputs: those of its output layer, instead of those it reads with.
        """
        return answers.embeddings_of(self.predictor, outputs=outputs)

    def model_graph(self, text: str = "") -> ModelGraphView:
        """The model as a graph with the shapes of one real input; `save("x.html")` draws it.

        text: a source to follow; empty: the longest source of the test part.
        """
        return model.look_at_model(self.predictor, text)

    def positions(self) -> PositionsView:
        """The position encodings of the model, with similarity or bias against distance."""
        return model.look_at_positions(self.predictor)

    def schedule(self) -> SchedulesView:
        """The learning rate over training, as it was recorded."""
        return model.look_at_schedule(self.predictor)

    def histograms(self) -> HistogramsView:
        """Histograms of gradients and updates over training, of a run with `train.histograms`."""
        return model.look_at_histograms(self.predictor)

    def gradient_flow(self, text: str = "") -> GradientFlow:
        """How far back gradients reach.

        text: a source to follow; empty: the longest sources of the test part.
        """
        return flow_of_module(self.module, answers.batches_of(self.predictor, text))

    def free_runs(self, pasts: ArrayLike, steps: int, *, series: str = "") -> Numbers:
        """Of a forecaster: how it goes on from its own output, (R, steps, C).

        pasts: the values it starts from, (R, ≥ L, C).
        steps: how many steps.
        series: the name of the series whose scale is used.
        """
        return of_series.free_runs(self.predictor, pasts, steps, series=series)

    def phase(self, *, steps: int = 0) -> PhaseView:
        """Of a forecaster: a free run from the start of the test part, beside the truth.

        steps: how many; 0: as many as the test part has.
        """
        return of_series.look_at_phase(self.predictor, steps=steps)

    def forecast(self, asked: str = "") -> ForecastView:
        """Of a forecaster: one forecast of the test part, beside the actual values.

        asked: the name of a series, or a time; empty: the first.
        """
        return of_series.look_at_forecast(self.predictor, asked)

    def _repr_html_(self) -> str:
        """Its scores and its learning curve, for notebooks."""
        return run_html(self.folder)

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


def model_graph(model: nn.Module | Run, batch: Any = None) -> ModelGraphView:
    """The parts of a model with the shapes of what flows between them, parameters and shared weights.

    model: a run, or any module.
    batch: what the module reads: one object, a tuple of arguments or a dict of them; None: a run reads a test source.
    """
    if isinstance(model, Run):
        return model.model_graph()
    if batch is None:
        raise InputError("model_graph needs a batch.", found=f"a {type(model).__name__} alone", fix="give one")
    return ModelGraphView(model=type(model).__name__, graph=trace_model(model, batch))
