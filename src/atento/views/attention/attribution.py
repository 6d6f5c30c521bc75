"""Attributions of one answer: a shaded text in a page, bars in a figure, and a list in a terminal."""

from pathlib import Path

from atento.views.attention.alignment import are_characters, printable
from atento.views.attention.maps import CAUTION, AttributionView
from atento.views.attention.terminal import bar, fitted
from atento.views.figures import light_grid, saved_figure
from atento.views.html import joined, page, table, tag
from atento.views.saving import save_view
from atento.views.wording import shortened

MOST = 40  # tokens of a figure or a terminal: of more, those with the largest values
SHADES = 10  # of either sign
BAR = 24  # columns of a terminal
GOOD = 0.01  # a remainder above which it is said that the values do not add up


def strongest(view: AttributionView) -> list[int]:
    """The places of the tokens that are shown, in their order."""
    order = sorted(range(len(view.values)), key=lambda at: -abs(view.values[at]))
    return sorted(order[:MOST])


def signed(value: float) -> str:
    """A contribution with its sign."""
    return f"{value:+.4f}".replace("-", "−")


def completeness(view: AttributionView) -> str:
    """What the values add up to, in words."""
    change = f"from {view.baseline:.4g} with an empty input to {view.score:.4g}".replace("-", "−")
    if view.remainder <= GOOD:
        return f"The values add up to the change of {view.target}, {change}."
    return f"The values miss {view.remainder:.0%} of the change of {view.target}, {change}: read them with care."


def attribution_text(view: AttributionView, *, width: int = 80) -> str:
    """A line for each token, with a bar for its size."""
    largest = max((abs(value) for value in view.values), default=0.0) or 1.0
    shown = strongest(view)
    label = min(20, max((len(printable(view.tokens[at])) for at in shown), default=1))
    lines = [f"{view.source} → {view.output}", f"integrated gradients of {view.target}"]
    for at in shown:
        token, value = fitted(printable(view.tokens[at]), label), view.values[at]
        lines.append(f"{token} {signed(value):>9} {bar(abs(value) / largest, width=BAR)}")
    if len(shown) < len(view.values):
        lines.append(f"… and {len(view.values) - len(shown)} more with smaller values")
    return "\n".join([*lines, completeness(view), CAUTION])


def attribution_figure(view: AttributionView, path: Path) -> Path:
    """Save a bar for each token: blue speaks for the answer, orange against it."""
    shown = strongest(view)
    values = [view.values[at] for at in shown]
    with saved_figure(path, size=(6.4, 0.22 * len(shown) + 1.3)) as figure:
        axes = figure.subplots()
        light_grid(axes)
        axes.barh(range(len(shown)), values, color=["#2166ac" if value > 0 else "#c9651b" for value in values])
        names = [shortened(printable(view.tokens[at]), 24) for at in shown]
        axes.set_yticks(range(len(shown)), names, parse_math=False, family="DejaVu Sans")
        axes.invert_yaxis()
        axes.axvline(0, color="0.6", linewidth=0.8)
        axes.tick_params(length=0)
        axes.set_xlabel(f"contribution to {view.target}", parse_math=False)
        title = f"{shortened(printable(view.source), 60)} → {shortened(printable(view.output), 30)}"
        axes.set_title(title, fontsize=10, parse_math=False, loc="left")
    return path


def attribution_page(view: AttributionView) -> str:
    """A single HTML file without scripts of its own: the source shaded by its values, and the largest of them."""
    largest = max((abs(value) for value in view.values), default=0.0) or 1.0
    apart = "" if are_characters(view.tokens) else " "
    shaded = [
        tag("span", printable(token), class_=shade_of(value / largest), title=signed(value))
        for token, value in zip(view.tokens, view.values, strict=True)
    ]
    text = joined(*(part for span in shaded for part in (apart, span)))
    order = sorted(strongest(view), key=lambda at: -abs(view.values[at]))
    rows = [[tag("bdi", printable(view.tokens[at])), at + 1, signed(view.values[at])] for at in order]
    body = [
        tag("section", tag("p", tag("bdi", shortened(view.source, 300)), " → ", tag("bdi", view.output))),
        tag(
            "section",
            tag("h2", "What moved the answer"),
            tag("p", text, class_="shaded states-text", dir="auto"),
            tag("p", "Blue speaks for the answer, orange against it. ", completeness(view)),
            tag("p", CAUTION, class_="note"),
        ),
        tag("section", tag("h2", "The largest"), table(["token", "place", "contribution"], rows, class_="number")),
    ]
    heading = tag("h1", "Integrated gradients of ", tag("bdi", view.model), class_="pair")
    return page(f"Attribution: {shortened(view.source, 80)}", "attribution", [heading], *body)


def shade_of(share: float) -> str | None:
    """The class of a share of the largest value, from −1 to 1."""
    level = min(SHADES, round(SHADES * abs(share)))
    return f"{'for' if share > 0 else 'against'}-{level}" if level else None


def save_attribution(view: AttributionView, path: Path) -> Path:
    """A page, an image or the numbers, by the name given."""
    return save_view(view, path, page=attribution_page, figure=attribution_figure)
