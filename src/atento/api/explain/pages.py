"""The views of `atento look` as pages of HTML, and which of them a trained model has.

Every function takes the `Predictor` of a run; a text that is empty stands for one of the test sources.
"""

from collections.abc import Callable

from atento.api.explain.answers import (
    look_at_context,
    look_at_embeddings,
    look_at_gradients,
    look_at_tokens,
    sample_source,
)
from atento.api.explain.maps import attribute, explained, look_at_states, walk
from atento.api.explain.model import look_at_histograms, look_at_model, look_at_positions, look_at_schedule
from atento.api.explain.series import is_autoencoder, look_at_forecast, look_at_latents, look_at_phase, source_of
from atento.blocks.transformer_stack import TransformerStack
from atento.bundle import EVENTS
from atento.errors import InputError, unknown_name
from atento.predictor import Predictor
from atento.recurrent.stack import Stack
from atento.tasks.baselines import is_baseline
from atento.tasks.embed.vectors import table_of, vocabulary_of, words_read
from atento.training.events import read_events
from atento.views.attention.attribution import attribution_page
from atento.views.attention.page import render_views
from atento.views.context import context_text
from atento.views.embeddings import render_map
from atento.views.forecast_page import render_forecast
from atento.views.gradients import render_gradient_flow
from atento.views.html import page, tag
from atento.views.latents import render_latents
from atento.views.model.graph import graph_page
from atento.views.model.histograms import histograms_page
from atento.views.model.positions import positions_page
from atento.views.model.schedules import schedules_page
from atento.views.phase_page import render_phase
from atento.views.states import states_page
from atento.views.steps import steps_page
from atento.views.tokens import tokens_text

WIDTH = 100  # characters of a line, where a view is words


def asked_of(predictor: Predictor, text: str) -> str:
    """The text, or a source of the test part where none is given."""
    return text if text.strip() else sample_source(predictor)


def attention(predictor: Predictor, text: str) -> str:
    """Every attention map of one answer."""
    source = source_of(predictor, asked_of(predictor, text))
    return render_views([explained(predictor, source).attributed_view.to_json()])


def attribution(predictor: Predictor, text: str) -> str:
    """Integrated gradients of one answer."""
    return attribution_page(attribute(predictor, source_of(predictor, asked_of(predictor, text))))


def steps(predictor: Predictor, text: str) -> str:
    """One forward pass, matrix by matrix."""
    return steps_page(walk(predictor, source_of(predictor, asked_of(predictor, text))))


def phase(predictor: Predictor, text: str) -> str:
    """A free run; of an autoencoder the path of its latents."""
    if is_autoencoder(predictor):
        return render_latents(look_at_latents(predictor))
    return render_phase(look_at_phase(predictor))


def in_words(title: str, words: str, *, model: str) -> str:
    """A page of a view that is words."""
    return page(f"{title} of {model}", title, [tag("h1", tag("bdi", model))], tag("pre", words), groups=[])


def tokens(predictor: Predictor, text: str) -> str:
    """The tokens of a text at every level."""
    view = look_at_tokens(predictor, asked_of(predictor, text))
    return in_words("tokens", tokens_text(view, width=WIDTH), model=view.model)


def context(predictor: Predictor, text: str) -> str:
    """A word in two sentences, before and after each layer."""
    view = look_at_context(predictor, text)
    return in_words("words in context", context_text(view, width=WIDTH), model=view.model)


PAGES: dict[str, Callable[[Predictor, str], str]] = {
    "attention": attention,
    "attribution": attribution,
    "steps": steps,
    "states": lambda predictor, text: states_page(look_at_states(predictor, asked_of(predictor, text))),
    "model": lambda predictor, text: graph_page(look_at_model(predictor, text)),
    "positions": lambda predictor, text: positions_page(look_at_positions(predictor)),
    "schedule": lambda predictor, text: schedules_page(look_at_schedule(predictor)),
    "histograms": lambda predictor, text: histograms_page(look_at_histograms(predictor)),
    "gradients": lambda predictor, text: render_gradient_flow(look_at_gradients(predictor, text)),
    "embeddings": lambda predictor, text: render_map(look_at_embeddings(predictor, text)),
    "context": context,
    "tokens": tokens,
    "forecast": lambda predictor, text: render_forecast(look_at_forecast(predictor, text)),
    "phase": phase,
}


def page_of(predictor: Predictor, what: str, text: str = "") -> str:
    """The page of one view."""
    if what not in PAGES:
        raise unknown_name("choice", what, PAGES, where="--what")
    return PAGES[what](predictor, text)


def views_of(predictor: Predictor) -> list[str]:
    """The views that a trained model has, those of its task first."""
    answering, codec, module = predictor.bundle.task.answering, predictor.bundle.codec, predictor.module
    reads_text = vocabulary_of(codec) is not None or words_read(codec) is not None
    is_series = predictor.bundle.task.reading.kind == "series"
    if is_baseline(module):
        return [*(("forecast",) if "forecast" in answering.views else ()), *(("tokens",) if reads_text else ())]
    has_pass = answering.forward_pass is not None
    is_recurrent = any(isinstance(part, Stack) for part in module.modules())
    is_transformer = any(isinstance(part, TransformerStack) for part in module.modules())
    events = [event for event in read_events(predictor.bundle.folder / EVENTS) if event.get("event") == "step"]
    fits = {
        **dict.fromkeys(answering.views, True),
        "attention": has_pass,
        "attribution": has_pass,
        "steps": True,
        "states": has_pass and not is_series and is_recurrent,
        "model": True,
        "positions": succeeds(lambda: look_at_positions(predictor)),
        "gradients": has_pass and (is_recurrent or is_transformer),
        "tokens": reads_text,
        "embeddings": reads_text and succeeds(lambda: table_of(module, codec)),
        "schedule": bool(events),
        "histograms": any(event.get("histograms") for event in events),
    }
    return [what for what, fit in fits.items() if fit]


def succeeds(look: Callable[[], object]) -> bool:
    """Whether the model has what is looked at."""
    try:
        look()
    except InputError:
        return False
    return True
