"""A trained run in Python: predict, evaluate, check, explain and report."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from numpy.typing import ArrayLike
from torch import nn

from atento.api import explain, explain_series
from atento.api.predict import Evaluation, evaluate, predict_file, with_settings
from atento.api.report import write_report
from atento.bundle import Json
from atento.checks import Checked
from atento.checks.runs import check_run
from atento.data.series.series import Numbers
from atento.errors import InputError
from atento.models.diagnostics.gradients import GradientFlow
from atento.models.diagnostics.gradients import gradient_flow as flow_of_module
from atento.predictor import Predictor, find_device
from atento.spec.recipe import Settings
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

    def predict(self, sources: str | Path | Sequence[str], *, settings: Settings = ()) -> list[str]:
        """The answer to each source: a text, a list of texts, or the rows of a file given as a Path."""
        decode = with_settings(self.predictor, settings).decode
        if isinstance(sources, Path):
            return [answer.text for answer in predict_file(self.predictor, str(sources), settings=settings).answers]
        texts = [sources] if isinstance(sources, str) else list(sources)
        return [answer.text for answer in self.predictor.answer(texts, decode=decode)]

    def predict_file(
        self, file: str | Path, *, out: str | Path | None = None, settings: Settings = ()
    ) -> dict[str, list[Any]]:
        """What `atento predict` writes: the columns of the file, then `prediction` and `score`."""
        return predict_file(self.predictor, str(file), out=Path(out) if out else None, settings=settings).columns

    def evaluate(self, file: str | Path, *, settings: Settings = ()) -> Evaluation:
        """Every metric with its interval on the examples of a file; of a built-in set, on its test part."""
        return evaluate(self.predictor, str(file), settings=settings)

    def check(self) -> Checked:
        """Every contract that a trained model keeps: true when none is broken, printed as a table."""
        return check_run(self.predictor.bundle)

    def explain(self, source: str) -> Alignment:
        """The answer, and what the model attended to; of a forecaster, for the past of that name in the test part."""
        return self.predictor.look(explain_series.source_of(self.predictor, source))

    def trace(self, source: str) -> list[TraceMatrix]:
        """One forward pass, matrix by matrix."""
        bundle = self.predictor.bundle
        asked = explain_series.source_of(self.predictor, source)
        return bundle.task.answering.trace(self.module, bundle.codec, asked, self.recipe.decode)

    def report(self, out: str | Path | None = None) -> Path:
        """Write the report as one HTML file, into the folder of the run unless told otherwise."""
        return write_report(self.folder, out=Path(out) if out else None)

    def embeddings(self, *, outputs: bool = False) -> Embeddings:
        """The vectors of the words it reads; with `outputs` those of its output layer."""
        return explain.embeddings_of(self.predictor, outputs=outputs)

    def gradient_flow(self, text: str = "") -> GradientFlow:
        """How far back gradients reach: on a text, or on the longest sources of the test part."""
        return flow_of_module(self.module, explain.batches_of(self.predictor, text))

    def free_runs(self, pasts: ArrayLike, steps: int, *, series: str = "") -> Numbers:
        """Of a forecaster: what it goes on with after pasts (R, ≥ L, C), each from its own output: (R, steps, C)."""
        return explain_series.free_runs(self.predictor, pasts, steps, series=series)

    def phase(self, *, steps: int = 0) -> PhaseView:
        """Of a forecaster: a free run from the start of the test part, beside the truth."""
        return explain_series.look_at_phase(self.predictor, steps=steps)

    def forecast(self, asked: str = "") -> ForecastView:
        """Of a forecaster: the forecast of the test part that a series or a time names, beside the actual values."""
        return explain_series.look_at_forecast(self.predictor, asked)

    def __repr__(self) -> str:
        name = self.metrics.get("metric", "")
        value = self.metrics.get("scores", {}).get(name, [float("nan")])[0]
        return f"Run({str(self.folder)!r}, {self.recipe.model.name}, {name} {score(value)})"


def load(folder: str | Path, *, device: str = "auto") -> Run:
    """A trained model from its folder; every file is checked first."""
    return Run(Predictor.load(Path(folder), device=find_device(device)))


def gradient_flow(model: nn.Module | Run, batch: Any = None) -> GradientFlow:
    """Norms of ∂s_t/∂s_k against lag, singular values, gates, a verdict in words and a remedy.

    Of any module with a `Stack`, a cell or layers of attention, on what it reads (several batches: a list); a run
    reads some of its own test sources when no batch is given.
    """
    if isinstance(model, Run):
        return model.gradient_flow() if batch is None else flow_of_module(model.module, batch)
    if batch is None:
        raise InputError("gradient_flow needs a batch.", found=f"a {type(model).__name__} alone", fix="give one")
    return flow_of_module(model, batch)
