"""Views: what a person looks at, as plain data, and as a page, a figure or text for a terminal.

    report       the report of a comparison; `report.board` is the comparison itself
    attention    attention weights: matrices, regions of an image, weight patterns of every part
    model        the model as a graph, its positions, learning rate, gradients over training
    forecast     a forecast beside the actual values
    phase        the trajectory of a rollout beside the true one
    latents      the path of an autoencoder's latents, and reconstructions
    gradients    gradient flow through time
    embeddings   word vectors: neighbours and a map (`word_map`)
    context      what context does to the vector of a word
    tokens       the tokenization of a text at every level
    notebook     what a notebook shows of views, results and modules; the viewer as a widget; progress
    saving, figures, html, wording    what all of them share

A view is a frozen dataclass with `to_json`. The names below are imported on first use, since some of them need torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from atento.views.attention.alignment import AlignmentView
    from atento.views.attention.figures import alignment_figure, positions_figure
    from atento.views.attention.page import render_alignment
    from atento.views.attention.patterns import patterns_figure
    from atento.views.attention.regions import regions_figure
    from atento.views.context import ContextView
    from atento.views.embeddings import Embeddings
    from atento.views.forecast import ForecastView
    from atento.views.forecast_page import save_forecast
    from atento.views.gradients import GradientFlowView, save_gradient_flow
    from atento.views.latents import LatentView, save_latents
    from atento.views.model.graph import ModelGraphView
    from atento.views.model.histograms import HistogramsView
    from atento.views.model.positions import PositionsView
    from atento.views.model.schedules import SchedulesView
    from atento.views.phase import PhaseView
    from atento.views.phase_page import save_phase
    from atento.views.report.board import Comparison, Row
    from atento.views.report.report import render_report
    from atento.views.saving import ModelView
    from atento.views.tokens import TokensView
    from atento.views.word_map import EmbeddingsView

MODULES = {
    "AlignmentView": "attention.alignment",
    "Comparison": "report.board",
    "ContextView": "context",
    "Embeddings": "embeddings",
    "EmbeddingsView": "word_map",
    "ForecastView": "forecast",
    "GradientFlowView": "gradients",
    "HistogramsView": "model.histograms",
    "LatentView": "latents",
    "ModelGraphView": "model.graph",
    "ModelView": "saving",
    "PhaseView": "phase",
    "PositionsView": "model.positions",
    "Row": "report.board",
    "SchedulesView": "model.schedules",
    "TokensView": "tokens",
    "alignment_figure": "attention.figures",
    "patterns_figure": "attention.patterns",
    "positions_figure": "attention.figures",
    "regions_figure": "attention.regions",
    "render_alignment": "attention.page",
    "render_report": "report.report",
    "save_forecast": "forecast_page",
    "save_gradient_flow": "gradients",
    "save_latents": "latents",
    "save_phase": "phase_page",
}

__all__ = [
    "AlignmentView",
    "Comparison",
    "ContextView",
    "Embeddings",
    "EmbeddingsView",
    "ForecastView",
    "GradientFlowView",
    "HistogramsView",
    "LatentView",
    "ModelGraphView",
    "ModelView",
    "PhaseView",
    "PositionsView",
    "Row",
    "SchedulesView",
    "TokensView",
    "alignment_figure",
    "patterns_figure",
    "positions_figure",
    "regions_figure",
    "render_alignment",
    "render_report",
    "save_forecast",
    "save_gradient_flow",
    "save_latents",
    "save_phase",
]


def __getattr__(name: str) -> Any:
    """A public name, imported on first use."""
    if name in MODULES:
        return getattr(import_module(f"{__name__}.{MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names."""
    return list(__all__)
