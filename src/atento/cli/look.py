"""atento look: what a trained model attended to, how far its gradients reach, its vectors of words, its forecasts."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from atento.cli.options import DeviceOption, JsonOption, OutOption, RunArgument
from atento.cli.output import emit, load_run, say
from atento.cli.predict import terminal_width
from atento.errors import InputError, unknown_name

if TYPE_CHECKING:
    from atento.api import Run
    from atento.views.saving import ModelView

VIEWS = {
    "attention": "what it attended to",
    "attribution": "how much each token moved the answer",
    "steps": "one forward pass, matrix by matrix",
    "states": "hidden states of a recurrent model, and units that follow a pattern",
    "model": "its parts as a graph, with shapes",
    "positions": "how order is encoded",
    "schedule": "the learning rate over training",
    "histograms": "gradients and updates over training",
    "gradients": "how far back in time gradients reach",
    "embeddings": "words near TEXT, a word or `king - man + woman`",
    "context": "a word in two sentences, `one sentence | another`, layer by layer",
    "tokens": "how TEXT is cut",
    "forecast": "a forecast beside the actual values; TEXT names a series or a time",
    "phase": "phase portrait of a forecaster's free run, or the latent path of an autoencoder",
}

OF_BASELINES = ("attention", "tokens", "forecast")  # views that simple baselines have too


def look(
    run: RunArgument,
    text: Annotated[str, Argument(metavar="TEXT", help="what to read; one of the test sources when not given")] = "",
    what: Annotated[
        str,
        Option(
            "--what",
            metavar="VIEW",
            help="; ".join(f"{name}: {meaning}" for name, meaning in VIEWS.items()),
        ),
    ] = "attention",
    beside: Annotated[
        Path | None, Option("--with", metavar="RUN", help="another run on the same TEXT, its attention side by side")
    ] = None,
    device: DeviceOption = "auto",
    out: OutOption = None,
    json: JsonOption = False,
) -> None:
    """Look inside a trained model: its attention, gradients, hidden states, word vectors and more (--what).

    --out page.html or image.png writes the view to a file.
    """
    from atento.api.explain.answers import FILES
    from atento.api.folders import require_place

    if what not in VIEWS:
        raise unknown_name("choice", what, VIEWS, where="--what")
    if beside is not None and what != "attention":
        raise InputError(
            "--with sets the attention of two runs side by side.", found=f"--what {what}", fix="leave --what out"
        )
    if out is not None:
        require_place(out, FILES[what])
    trained = load_run(run, device, network=what not in OF_BASELINES)
    if beside is not None:
        show_both(trained, load_run(beside, device), text, out, json)
    else:
        SHOW[what](trained, text, out, json)


def show_both(one: "Run", other: "Run", text: str, out: Path | None, json: bool) -> None:
    """The attention of two runs on the same text."""
    from atento.api.explain.answers import sample_source
    from atento.views.attention.maps import save_maps

    text = text or sample_source(one.predictor)
    views = [run.explain(text).attributed_view for run in (one, other)]
    if out is not None:
        save_maps(views, out)
    if json:
        emit({"runs": [str(one.folder), str(other.folder)], "views": [view.to_json() for view in views]})
        return
    for view in views:
        maps = ", ".join(f"{shown.name} ({' × '.join(map(str, shown.weights.shape))})" for shown in view.maps)
        say(f"{view.model}: {text} → {view.output}\n  {maps or 'no attention'}")
    say("--out both.html shows them side by side" if out is None else f"written to {out}")


def show_attention(trained: "Run", text: str, out: Path | None, json: bool) -> None:
    """One answer, and what the model attended to."""
    from atento.api.explain.answers import sample_source
    from atento.views.attention.alignment import AlignmentView, has_weights
    from atento.views.attention.regions import shade_regions
    from atento.views.attention.terminal import shade

    text = text or sample_source(trained.predictor)
    explained = trained.explain(text)
    alignment = AlignmentView(**explained.to_json(), model=trained.recipe.model.name)
    if out is not None:
        explained.save(out)
    if json:
        emit({"run": str(trained.folder), **alignment.to_json()})
        return
    say(f"{text} → {alignment.text}")
    if has_weights(alignment):
        say((shade_regions if alignment.image else shade)(alignment, width=terminal_width()))
    if alignment.explanation:
        say(alignment.explanation)
    elif not has_weights(alignment):
        say(f"{trained.recipe.model.name} has no attention to look at; --what steps shows its states")
    if out is not None:
        say(f"written to {out}")


def show_steps(trained: "Run", text: str, out: Path | None, json: bool) -> None:
    """One forward pass, matrix by matrix."""
    from atento.api.explain.answers import sample_source
    from atento.views.steps import save_steps, steps_text

    text = text or sample_source(trained.predictor)
    view = trained.steps(text)
    if out is not None:
        save_steps(view, out)
    if json:
        emit({"run": str(trained.folder), "text": text, "steps": [step.to_json() for step in view.steps]})
        return
    say(steps_text(view, width=terminal_width()))
    if out is not None:
        say(f"written to {out}")


def show_attribution(trained: "Run", text: str, out: Path | None, json: bool) -> None:
    """How much each token moved the answer, by integrated gradients."""
    from atento.api.explain.answers import sample_source
    from atento.views.attention.attribution import attribution_text, save_attribution

    view = trained.attribution(text or sample_source(trained.predictor))
    tell(trained, view, attribution_text, save_attribution, out, json)


def show_states(trained: "Run", text: str, out: Path | None, json: bool) -> None:
    """The hidden states of a recurrent model, and units that follow a pattern."""
    from atento.api.explain.answers import sample_source
    from atento.views.states import save_states, states_text

    tell(trained, trained.states(text or sample_source(trained.predictor)), states_text, save_states, out, json)


def show_gradients(trained: "Run", text: str, out: Path | None, json: bool) -> None:
    """Norms against lag, a verdict and a remedy; of the longest test sources unless a text is given."""
    from atento.api.explain.answers import look_at_gradients
    from atento.views.gradients import gradient_flow_text, save_gradient_flow

    tell(trained, look_at_gradients(trained.predictor, text), gradient_flow_text, save_gradient_flow, out, json)


def show_model(trained: "Run", text: str, out: Path | None, json: bool) -> None:
    """The parts of the model with the shapes of one input."""
    from atento.views.model.graph import graph_text, save_graph

    tell(trained, trained.model_graph(text), graph_text, save_graph, out, json)


def show_positions(trained: "Run", text: str, out: Path | None, json: bool) -> None:
    """The position encodings of the model."""
    from atento.views.model.positions import positions_text, save_positions

    tell(trained, trained.positions(), positions_text, save_positions, out, json)


def show_schedule(trained: "Run", text: str, out: Path | None, json: bool) -> None:
    """The learning rate at each recorded step."""
    from atento.views.model.schedules import save_schedules, schedules_text

    tell(trained, trained.schedule(), schedules_text, save_schedules, out, json)


def show_histograms(trained: "Run", text: str, out: Path | None, json: bool) -> None:
    """Histograms of gradients and updates over training."""
    from atento.views.model.histograms import histograms_text, save_histograms

    tell(trained, trained.histograms(), histograms_text, save_histograms, out, json)


def show_embeddings(trained: "Run", text: str, out: Path | None, json: bool) -> None:
    """The words nearest to one, or to a sum of some; of the commonest words when none is asked for."""
    from atento.api.explain.answers import look_at_embeddings, save_embeddings
    from atento.views.embeddings import embeddings_text

    def save(view: object, path: Path) -> None:
        save_embeddings(trained.predictor, text, path)

    tell(trained, look_at_embeddings(trained.predictor, text), embeddings_text, save, out, json)


def show_context(trained: "Run", text: str, out: Path | None, json: bool) -> None:
    """A word in two sentences, before and after each layer."""
    from atento.api.explain.answers import look_at_context
    from atento.views.context import context_text

    tell(trained, look_at_context(trained.predictor, text), context_text, save_json, out, json)


def show_tokens(trained: "Run", text: str, out: Path | None, json: bool) -> None:
    """The tokens of a text at every level, with their places."""
    from atento.api.explain.answers import look_at_tokens, sample_source
    from atento.views.tokens import tokens_text

    view = look_at_tokens(trained.predictor, text or sample_source(trained.predictor))
    tell(trained, view, tokens_text, save_json, out, json)


def show_forecast(trained: "Run", text: str, out: Path | None, json: bool) -> None:
    """One forecast of the test part: the one that a series or a time names, else the one in the middle."""
    from atento.views.forecast import forecast_text
    from atento.views.forecast_page import save_forecast

    tell(trained, trained.forecast(text), forecast_text, save_forecast, out, json)


def show_phase(trained: "Run", text: str, out: Path | None, json: bool) -> None:
    """Where a free run goes, beside the actual values; of an autoencoder the path of its latents."""
    from atento.api.explain.series import is_autoencoder, look_at_latents
    from atento.views.latents import latent_text, save_latents
    from atento.views.phase import phase_text
    from atento.views.phase_page import save_phase

    if is_autoencoder(trained.predictor):
        tell(trained, look_at_latents(trained.predictor), latent_text, save_latents, out, json)
    else:
        tell(trained, trained.phase(), phase_text, save_phase, out, json)


SHOW: dict[str, Callable[["Run", str, Path | None, bool], None]] = {
    "attention": show_attention,
    "attribution": show_attribution,
    "steps": show_steps,
    "states": show_states,
    "model": show_model,
    "positions": show_positions,
    "schedule": show_schedule,
    "histograms": show_histograms,
    "gradients": show_gradients,
    "embeddings": show_embeddings,
    "context": show_context,
    "tokens": show_tokens,
    "forecast": show_forecast,
    "phase": show_phase,
}


def tell(
    trained: "Run",
    view: "ModelView",
    in_words: Callable[..., str],
    save: Callable[..., object],
    out: Path | None,
    json: bool,
) -> None:
    """Save the view where a file is named; then one JSON document, or words for a terminal."""
    if out is not None:
        save(view, out)
    if json:
        emit({"run": str(trained.folder), **view.to_json()})
        return
    say(in_words(view, width=terminal_width()))
    if out is not None:
        say(f"written to {out}")


def save_json(view: "ModelView", path: Path) -> None:
    """Write the numbers of a view."""
    from atento.bundle import write_json

    write_json(path, view.to_json())
