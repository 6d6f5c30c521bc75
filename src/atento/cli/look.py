"""atento look.

What `atento look` shows of series: a forecast beside what came, the phase portrait of a free run.
What `atento look` shows of words: their neighbours, what context does to them, and how a text is cut.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from atento.cli.options import DeviceOption, JsonOption, OutOption, RunArgument
from atento.cli.output import emit, say
from atento.cli.predict import terminal_width

if TYPE_CHECKING:
    from atento.api.run import Run


def show_embeddings(trained: "Run", asked: str, *, out: Path | None, json: bool) -> None:
    """The words nearest to one, or to a sum of some; of the commonest words when none is asked for."""
    from atento.api.explain import look_at_embeddings, save_embeddings
    from atento.views.embeddings import embeddings_text

    view = look_at_embeddings(trained, asked)
    if out is not None:
        save_embeddings(trained, asked, out)
    tell(trained, view, embeddings_text, out=out, json=json)


def show_context(trained: "Run", asked: str, *, out: Path | None, json: bool) -> None:
    """A word in two sentences, before and after each layer."""
    from atento.api.explain import look_at_context
    from atento.bundle import write_json
    from atento.views.context import context_text

    found = look_at_context(trained, asked)
    if out is not None:
        write_json(out, found)
    tell(trained, found, lambda shown, width: context_text(shown["words"]), out=out, json=json)


def show_tokens(trained: "Run", text: str, *, out: Path | None, json: bool) -> None:
    """The pieces of a text at every level, with their places."""
    from atento.api.explain import look_at_pieces
    from atento.bundle import write_json
    from atento.views.tokens import tokens_text

    found = look_at_pieces(trained, text)
    if out is not None:
        write_json(out, found)
    tell(trained, found, tokens_text, out=out, json=json)


def tell(trained: "Run", found: dict[str, Any], in_words: Callable[..., str], *, out: Path | None, json: bool) -> None:
    """One JSON document, or words for a terminal."""
    if json:
        emit({"run": str(trained.folder), **found})
        return
    say(in_words(found, width=terminal_width()))
    if out is not None:
        say(f"written to {out}")


if TYPE_CHECKING:
    from atento.api.run import Run


def show_forecast(trained: "Run", asked: str, *, out: Path | None, json: bool) -> None:
    """One forecast of the test part: the one that a series or a time names, else the one in the middle."""
    from atento.api.explain_series import look_at_forecast
    from atento.views.forecast import forecast_text, save_forecast

    view = look_at_forecast(trained, asked)
    if out is not None:
        save_forecast(view, out)
    tell(trained, view, forecast_text, out=out, json=json)


def show_phase(trained: "Run", *, out: Path | None, json: bool) -> None:
    """Where a free run goes, beside where the truth went; of an autoencoder the path of its latents."""
    from atento.api.explain_series import look_at_latents, presses
    from atento.views.latents import latent_text, save_latents

    if presses(trained):
        latents = look_at_latents(trained)
        if out is not None:
            save_latents(latents, out)
        tell(trained, latents, latent_text, out=out, json=json)
        return
    from atento.api.explain_series import look_at_phase
    from atento.views.phase import phase_text, save_phase

    view = look_at_phase(trained)
    if out is not None:
        save_phase(view, out)
    tell(trained, view, phase_text, out=out, json=json)


if TYPE_CHECKING:
    from atento.api.run import Run

WIDEST = 12  # named columns of a matrix shown side by side


def look(
    run: RunArgument,
    text: Annotated[str, Argument(metavar="TEXT", help="what to read; one of the test sources when not given")] = "",
    what: Annotated[
        Literal["attention", "steps", "gradients", "embeddings", "context", "tokens", "forecast", "phase"],
        Option(
            "--what",
            help="attention: where it looked; steps: one pass, matrix by matrix; gradients: how far back they reach; "
            "embeddings: words near TEXT, a word or `king - man + woman`; context: what `one sentence | another` does "
            "to a word; tokens: how TEXT is cut; forecast: beside what came, of a series or time that TEXT names; "
            "phase: where a forecaster goes on its own output",
        ),
    ] = "attention",
    device: DeviceOption = "auto",
    out: OutOption = None,
    json: JsonOption = False,
) -> None:
    """See where a model looked, how far its gradients reach, or which words it takes for alike (--out page.html or
    picture.png); follow one pass; see how a text is cut.
    """
    from atento import api
    from atento.api import predict as use
    from atento.api.folders import require_place
    from atento.views.attention.regions import of_a_picture, shade_regions
    from atento.views.attention.terminal import shade

    if out is not None:
        require_place(out, use.LOOKS[what])
    trained = api.load(run, device=device)
    if what == "gradients":
        show_gradients(trained, text, out=out, json=json)
        return
    if what == "embeddings":
        show_embeddings(trained, text, out=out, json=json)
        return
    if what == "context":
        show_context(trained, text, out=out, json=json)
        return
    if what == "forecast":
        show_forecast(trained, text, out=out, json=json)
        return
    if what == "phase":
        show_phase(trained, out=out, json=json)
        return
    text = text or use.sample_text(trained)
    if what == "tokens":
        show_tokens(trained, text, out=out, json=json)
        return
    if what == "steps":
        traces = use.look_step_by_step(trained, text)
        if out is not None:
            from atento.bundle import write_json

            write_json(out, traces)
        if json:
            emit({"run": str(run), "text": text, "steps": traces})
        else:
            for trace in traces:
                say(matrix_text(trace))
        return
    alignment = use.look(trained, text)
    if out is not None:
        use.save_look(alignment, out)
    if json:
        emit({"run": str(run), **alignment})
        return
    say(f"{text} → {alignment['text']}")
    if alignment["weights"]:
        say((shade_regions if of_a_picture(alignment) else shade)(alignment, width=terminal_width()))
    else:
        say(f"{trained.recipe.model.name} has no attention to look at; --what steps shows its states")
    if out is not None:
        say(f"written to {out}")


def show_gradients(trained: "Run", text: str, *, out: Path | None, json: bool) -> None:
    """Norms against lag, a verdict and a remedy; of the longest test sources unless a text is given."""
    from atento.api.explain import look_at_gradients, save_flow
    from atento.views.gradients import flow_text

    flow = look_at_gradients(trained, text)
    if out is not None:
        save_flow(flow, out)
    if json:
        emit({"run": str(trained.folder), **flow})
        return
    say(flow_text(flow, width=terminal_width()))
    if out is not None:
        say(f"written to {out}")


def matrix_text(trace: dict[str, Any]) -> str:
    """A title, a formula, and the numbers; wide matrices are folded."""
    shape = " × ".join(map(str, trace["shape"]))
    lines = [f"\n{trace['title']}  ({shape})   {trace['formula']}"]
    label = max((len(name) for name in trace["rows"]), default=0)
    for first in range(0, len(trace["columns"]), WIDEST):
        names = trace["columns"][first : first + WIDEST]
        lines.append(" " * label + "".join(f"{name[:8]:>9}" for name in names))
        for name, numbers in zip(trace["rows"], trace["matrix"], strict=True):
            cells = "".join(f"{number:9.3f}" for number in numbers[first : first + WIDEST])
            lines.append(f"{name:<{label}}{cells}")
    more = trace["shape"][-1] - len(trace["columns"])
    if more > 0:
        lines.append(f"{'':<{label}} … {more} more columns")
    return "\n".join(lines)
