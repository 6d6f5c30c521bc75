"""atento look."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from atento.cli.look_series import show_forecast, show_phase
from atento.cli.look_words import show_context, show_embeddings, show_tokens
from atento.cli.options import DeviceOption, JsonOption, OutOption, RunArgument
from atento.cli.say import emit, say
from atento.cli.use import terminal_width

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
    from atento.api import use
    from atento.api.folders import require_place
    from atento.looking.regions import of_a_picture, shade_regions
    from atento.looking.terminal import shade

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
    from atento.api.gradients import look_at_gradients, save_flow
    from atento.looking.flow import flow_text

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
