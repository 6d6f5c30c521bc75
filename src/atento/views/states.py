"""Hidden states of a recurrent network over the tokens of a text: as a page that shades the text by one unit, as a heat
map of all units, or in a terminal.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from atento.bundle import Json
from atento.models.diagnostics.recurrent_states import TokenStates, UnitPattern
from atento.views.attention.alignment import are_characters, printable
from atento.views.attention.maps import as_base64
from atento.views.attention.terminal import fitted
from atento.views.figures import saved_figure
from atento.views.html import embed, joined, page, table, tag
from atento.views.saving import ModelView, save_view
from atento.views.wording import shortened

# Axes: T tokens, U units.

LABELLED = 60  # tokens of a figure that are all named; of more some
CLEAR = 0.5  # a correlation on other texts from which on a unit is said to follow a pattern
SHOWN = 8  # patterns in a terminal


@dataclass(frozen=True, kw_only=True)
class StatesView(ModelView):
    """The states of one text, and the units that follow a pattern in texts of the test part."""

    source: str
    states: TokenStates
    patterns: Sequence[UnitPattern]

    def to_json(self) -> Json:
        """The numbers, unit by unit."""
        return {
            "model": self.model,
            "source": self.source,
            "part": self.states.part,
            "tokens": list(self.states.tokens),
            "units": self.states.states.T.tolist(),
            "patterns": [one._asdict() for one in self.patterns],
        }


def r_of(correlation: float) -> str:
    """A correlation with its sign."""
    return f"{correlation:+.2f}".replace("-", "−")


def pattern_sentence(patterns: Sequence[UnitPattern]) -> str:
    """What the search found, in words."""
    clear = [one for one in patterns if abs(one.held_out) >= CLEAR]
    if not patterns:
        return "There is too little text in the test part to search for patterns."
    if not clear:
        return "No unit clearly follows one of the patterns; each pattern is spread over several units."
    names = ", ".join(f"{one.pattern} (unit {one.unit + 1}, r = {r_of(one.held_out)})" for one in clear[:3])
    return f"Clearest: {names}; correlations on texts that the units were not chosen by."


def states_text(view: StatesView, *, width: int = 80) -> str:
    """For a terminal: each pattern with its unit."""
    states = view.states
    lines = [f"{view.model}: {states.states.shape[1]} units of {states.part}, {len(states.tokens)} tokens"]
    lines += [
        f"{fitted(one.pattern, 24)} unit {one.unit + 1:>4}  r {r_of(one.held_out)} on other texts"
        for one in view.patterns[:SHOWN]
    ]
    return "\n".join([*lines, pattern_sentence(view.patterns)])


def states_figure(view: StatesView, path: Path) -> Path:
    """Save a heat map: a row for each unit, a column for each token; units that follow a pattern are named."""
    states, tokens = view.states.states.T.numpy(), view.states.tokens
    largest = float(np.abs(states).max(initial=0.0)) or 1.0
    width, height = min(max(0.16 * len(tokens), 4.0), 16.0) + 2.6, min(max(0.09 * len(states), 2.4), 9.0) + 0.9
    with saved_figure(path, size=(width, height)) as figure:
        axes = figure.subplots()
        image = axes.imshow(states, aspect="auto", interpolation="nearest", cmap="RdBu", vmin=-largest, vmax=largest)
        every = -(-len(tokens) // LABELLED)
        places = range(0, len(tokens), every)
        names = [tick(tokens, at, every) for at in places]
        turned = {} if are_characters(tokens) else {"rotation": 90}
        axes.set_xticks(list(places), names, parse_math=False, family="DejaVu Sans", **turned)
        axes.xaxis.tick_top()
        named: dict[int, str] = {}
        for one in view.patterns:
            if abs(one.held_out) >= CLEAR and all(abs(one.unit - unit) * height / len(states) > 0.16 for unit in named):
                named[one.unit] = f"{one.pattern}  {one.unit + 1}"
        axes.set_yticks(list(named), list(named.values()), fontsize=8)
        axes.tick_params(length=0)
        axes.set_xlabel(f"{view.model}: {states.shape[0]} units of {view.states.part}", color="0.35")
        figure.colorbar(image, ax=axes, fraction=0.03, pad=0.01, label="state")
    return path


def tick(tokens: Sequence[str], at: int, every: int) -> str:
    """The label of a token; where characters are left out, its number, as the rest would read like other words."""
    return str(at + 1) if every > 1 and are_characters(tokens) else shortened(printable(tokens[at]), 14)


def states_page(view: StatesView) -> str:
    """A single HTML file: the text shaded by a unit that is chosen from the patterns or by its number."""
    rows = [[one.pattern, f"{one.unit + 1}", r_of(one.held_out), r_of(one.correlation)] for one in view.patterns]
    found = joined(
        tag("p", pattern_sentence(view.patterns)),
        table(["pattern", "unit", "r on other texts", "r where chosen"], rows, class_="number") if rows else "",
    )
    body = tag(
        "section",
        tag("h2", "Hidden states"),
        tag("p", "The text, shaded by one unit: blue where its state is positive, orange where it is negative."),
        tag("div", id="states"),
        tag("noscript", tag("p", "The shaded text needs JavaScript.")),
        embed(packed(view), name="states-data"),
        class_="states",
    )
    patterns = tag("section", tag("h2", "Units that follow a pattern"), found)
    heading = tag("h1", "Hidden states of ", tag("bdi", view.model), class_="pair")
    return page(f"Hidden states: {shortened(view.source, 80)}", "hidden states", [heading], body, patterns)


def packed(view: StatesView) -> Json:
    """What the script of the page reads: the states (U, T) as float32 in base64."""
    states = view.states.states.T
    return {
        "tokens": list(view.states.tokens),
        "part": view.states.part,
        "shape": list(states.shape),
        "numbers": as_base64(states),
        "patterns": [one._asdict() for one in view.patterns],
        "characters": are_characters(view.states.tokens),
    }


def save_states(view: StatesView, path: Path) -> Path:
    """A page, an image or the numbers, by the name given."""
    return save_view(view, path, page=states_page, figure=states_figure)
