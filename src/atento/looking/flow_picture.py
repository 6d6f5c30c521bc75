"""The gradient's way through time as a picture file."""

from math import nan
from pathlib import Path
from textwrap import wrap
from typing import Any

from atento.looking.flow import Flow, Part, title_of
from atento.looking.pictures import KINDS, SETTINGS, kind_of

LETTERS_A_LINE = 112  # of the words over the picture
SHADE = 0.15
LEAST = 1e-12  # lines end there


def flow_picture(flow: Flow, path: str | Path) -> Path:
    """Save the norm against lag, a line a part with its quartiles shaded; the suffix says which kind of file."""
    path = Path(path)
    kind = kind_of(path)

    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(8.0, 4.8), layout="constrained")
        FigureCanvasAgg(figure)
        said = [*wrap(flow["words"], LETTERS_A_LINE), *wrap(flow["remedy"], LETTERS_A_LINE)]
        axes = figure.subplots()
        axes.set_title("\n".join(said), fontsize=8.5, loc="left", color="0.3", parse_math=False)
        figure.suptitle(
            f"how the gradient travels in {flow.get('model') or 'the model'}", fontsize=11, parse_math=False
        )
        for place, part in enumerate(flow["parts"]):
            draw_part(axes, part, f"C{place}", bold=part["part"] == flow["part"])
        finish_axes(axes)
        figure.savefig(path, format=kind[1:], **KINDS[kind])
    return path


def draw_part(axes: Any, part: Part, colour: str, *, bold: bool) -> None:
    """The median as a line, the quartiles as a band."""
    curve = part["curve"]
    low, median, high = ([norm if norm >= LEAST else nan for norm in curve[name]] for name in ("low", "median", "high"))
    label = f"{title_of(part)}: {part['verdict']}"
    axes.plot(curve["lags"], median, color=colour, linewidth=2.4 if bold else 1.2, label=label)
    axes.fill_between(curve["lags"], low, high, color=colour, alpha=SHADE, linewidth=0)


def finish_axes(axes: Any) -> None:
    """Logarithmic upwards, with a line where nothing is lost."""
    axes.set_yscale("log")
    bottom, top = axes.get_ylim()
    axes.set_ylim(max(min(bottom, 0.1), LEAST), max(top, 3.0))
    axes.axhline(1.0, color="0.5", linewidth=0.8, linestyle=(0, (5, 4)))
    axes.set_xlim(left=0)
    axes.set_xlabel("lag: steps back in time")
    axes.set_ylabel("norm of ∂(now) / ∂(so many steps ago)")
    axes.grid(color="0.92")
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(frameon=False)
