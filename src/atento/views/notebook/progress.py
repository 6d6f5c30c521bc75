"""The progress of training as a notebook shows it: a bar and a line of facts for each model, and the loss curves."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from atento.data.records import counted
from atento.views.html import Markup, tag
from atento.views.notebook.pictures import line_chart
from atento.views.report.charts import Point
from atento.views.wording import is_number

MOST_POINTS = 300  # of a curve


@dataclass
class TrainingProgress:
    """What is known of a model while it is trained."""

    model: str
    share: float = 0.0  # of the run that is done
    facts: str = ""  # loss, metrics, speed and time left, in words
    losses: list[Point] = field(default_factory=list)  # the loss against seconds of training

    def add_loss(self, elapsed: float, loss: float) -> None:
        """Add a point; of a long curve every second one is left out, so that it never holds more than MOST_POINTS."""
        self.losses.append(Point(elapsed, loss))
        if len(self.losses) > MOST_POINTS:
            self.losses[:] = [*self.losses[:-1:2], self.losses[-1]]


def progress_body(models: Sequence[TrainingProgress], notes: Sequence[str] = ()) -> Markup:
    """A row for each model, the loss curves, and what there is to note."""
    rows = [
        tag(
            "tr",
            tag("th", tag("bdi", one.model), scope="row"),
            tag("td", tag("progress", max=1, value=f"{one.share:.3f}", aria_label=f"progress of {one.model}")),
            tag("td", f"{one.share:.0%}".replace("%", " %"), class_="number"),
            tag("td", one.facts, class_="facts-line"),
        )
        for one in models
    ]
    folded = [tag("li", note, dir="auto") for note in notes]
    return tag(
        "main",
        tag("table", tag("tbody", *rows), class_="training") if rows else "",
        loss_chart(models),
        tag("details", tag("summary", counted(len(folded), "note")), tag("ul", *folded)) if folded else "",
    )


def loss_chart(models: Sequence[TrainingProgress]) -> Markup:
    """The loss of every model against seconds of training; nothing before there are two points."""
    shown = [(one.model, [point for point in one.losses if all(map(is_number, point))]) for one in models]
    curves = [(name, points) for name, points in shown if len(points) > 1]
    if not curves:
        return Markup()
    spoken = "; ".join(f"{name} {points[-1].y:.3g}" for name, points in curves)
    chart = line_chart(curves, across="loss against seconds of training", label=f"Loss: {spoken}.", errors=True)
    return tag("figure", chart)
