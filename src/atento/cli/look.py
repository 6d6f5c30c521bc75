"""atento look: what a trained model attended to, how far its gradients reach, its vectors of words, its forecasts."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from atento.cli.options import DeviceOption, JsonOption, OutOption, RunArgument
from atento.cli.output import emit, load_run, say
from atento.cli.predict import terminal_width
from atento.errors import unknown_name

if TYPE_CHECKING:
    from atento.api import Run
    from atento.bundle import Json
    from atento.views.saving import ModelView

WIDEST = 12  # named columns of a matrix shown side by side
NUMBER = 9  # columns of a terminal that a number takes
VIEWS = {
    "attention": "what it attended to",
    "steps": "one forward pass, matrix by matrix",
    "gradients": "how far back they reach",
    "embeddings": "words near TEXT, a word or `king - man + woman`",
    "context": "what `one sentence | another` does to a word",
    "tokens": "how TEXT is cut",
    "forecast": "beside the actual values, of a series or time that TEXT names",
    "phase": "where a forecaster goes on its own output, or the path of an autoencoder's latents",
}


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
    device: DeviceOption = "auto",
    out: OutOption = None,
    json: JsonOption = False,
) -> None:
    """See what a model attended to, how far its gradients reach, or which words it takes to be alike (--out page.html
    or image.png); follow one forward pass; see how a text is cut.
    """
    from atento.api.explain import FILES
    from atento.api.folders import require_place

    if what not in VIEWS:
        raise unknown_name("choice", what, VIEWS, where="--what")
    if out is not None:
        require_place(out, FILES[what])
    SHOW[what](load_run(run, device), text, out, json)


def show_attention(trained: "Run", text: str, out: Path | None, json: bool) -> None:
    """One answer, and what the model attended to."""
    from atento.api.explain import sample_source, save_alignment
    from atento.views.attention.alignment import AlignmentView, has_weights
    from atento.views.attention.regions import shade_regions
    from atento.views.attention.terminal import shade

    text = text or sample_source(trained.predictor)
    alignment = AlignmentView(**trained.explain(text).to_json(), model=trained.recipe.model.name)
    if out is not None:
        save_alignment(alignment, out)
    if json:
        emit({"run": str(trained.folder), **alignment.to_json()})
        return
    say(f"{text} → {alignment.text}")
    if has_weights(alignment):
        say((shade_regions if alignment.image else shade)(alignment, width=terminal_width()))
    elif alignment.explanation:
        say(alignment.explanation)
    else:
        say(f"{trained.recipe.model.name} has no attention to look at; --what steps shows its states")
    if out is not None:
        say(f"written to {out}")


def show_steps(trained: "Run", text: str, out: Path | None, json: bool) -> None:
    """One forward pass, matrix by matrix."""
    from atento.api.explain import sample_source
    from atento.bundle import write_json

    text = text or sample_source(trained.predictor)
    traces = [matrix.to_json() for matrix in trained.trace(text)]
    if out is not None:
        write_json(out, traces)
    if json:
        emit({"run": str(trained.folder), "text": text, "steps": traces})
        return
    for trace in traces:
        say(matrix_text(trace, width=terminal_width()))


def show_gradients(trained: "Run", text: str, out: Path | None, json: bool) -> None:
    """Norms against lag, a verdict and a remedy; of the longest test sources unless a text is given."""
    from atento.api.explain import look_at_gradients
    from atento.views.gradients import gradient_flow_text, save_gradient_flow

    tell(trained, look_at_gradients(trained.predictor, text), gradient_flow_text, save_gradient_flow, out, json)


def show_embeddings(trained: "Run", text: str, out: Path | None, json: bool) -> None:
    """The words nearest to one, or to a sum of some; of the commonest words when none is asked for."""
    from atento.api.explain import look_at_embeddings, save_embeddings
    from atento.views.embeddings import embeddings_text

    def save(view: object, path: Path) -> None:
        save_embeddings(trained.predictor, text, path)

    tell(trained, look_at_embeddings(trained.predictor, text), embeddings_text, save, out, json)


def show_context(trained: "Run", text: str, out: Path | None, json: bool) -> None:
    """A word in two sentences, before and after each layer."""
    from atento.api.explain import look_at_context
    from atento.views.context import context_text

    tell(trained, look_at_context(trained.predictor, text), context_text, save_json, out, json)


def show_tokens(trained: "Run", text: str, out: Path | None, json: bool) -> None:
    """The tokens of a text at every level, with their places."""
    from atento.api.explain import look_at_tokens, sample_source
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
    from atento.api.explain_series import is_autoencoder, look_at_latents
    from atento.views.latents import latent_text, save_latents
    from atento.views.phase import phase_text
    from atento.views.phase_page import save_phase

    if is_autoencoder(trained.predictor):
        tell(trained, look_at_latents(trained.predictor), latent_text, save_latents, out, json)
    else:
        tell(trained, trained.phase(), phase_text, save_phase, out, json)


SHOW: dict[str, Callable[["Run", str, Path | None, bool], None]] = {
    "attention": show_attention,
    "steps": show_steps,
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


def matrix_text(trace: "Json", *, width: int) -> str:
    """A title, a formula, and the numbers; wide matrices are folded."""
    shape = " × ".join(map(str, trace["shape"]))
    lines = [f"\n{trace['title']}  ({shape})   {trace['formula']}"]
    label = max((len(name) for name in trace["rows"]), default=0)
    across = max(1, min(WIDEST, (width - label) // NUMBER))
    for first in range(0, len(trace["columns"]), across):
        names = trace["columns"][first : first + across]
        lines.append(" " * label + "".join(f"{name[:8]:>9}" for name in names))
        for name, numbers in zip(trace["rows"], trace["matrix"], strict=True):
            cells = "".join(f"{number:9.3f}" for number in numbers[first : first + across])
            lines.append(f"{name:<{label}}{cells}")
    more = trace["shape"][-1] - len(trace["columns"])
    if more > 0:
        lines.append(f"{'':<{label}} … {more} more columns")
    return "\n".join(lines)
