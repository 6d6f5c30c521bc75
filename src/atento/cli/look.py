"""atento look."""

from typing import Annotated, Any, Literal

from typer import Argument, Option

from atento.cli.options import DeviceOption, JsonOption, OutOption, RunArgument
from atento.cli.say import emit, say
from atento.cli.use import terminal_width

WIDEST = 12  # named columns of a matrix shown side by side


def look(
    run: RunArgument,
    text: Annotated[str, Argument(metavar="TEXT", help="what to read; one of the test sources when not given")] = "",
    what: Annotated[
        Literal["attention", "steps"],
        Option("--what", help="attention: where it looked; steps: one pass, matrix by matrix"),
    ] = "attention",
    device: DeviceOption = "auto",
    out: OutOption = None,
    json: JsonOption = False,
) -> None:
    """See where a model looked (--out page.html or picture.png), or follow one pass step by step."""
    from atento import api
    from atento.api import use
    from atento.api.folders import require_place
    from atento.looking.terminal import shade

    if out is not None:
        require_place(out, use.LOOKS[what])
    trained = api.load(run, device=device)
    text = text or use.sample_text(trained)
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
        say(shade(alignment, width=terminal_width()))
    else:
        say(f"{trained.recipe.model.name} has no attention to look at; --what steps shows its states")
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
