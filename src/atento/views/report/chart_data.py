"""The numbers of a chart as a script of the page reads them: columns for each series, and the axes one can choose.

The same chart stands in the page as an SVG drawn by Python, for paper and for readers without JavaScript.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from atento.bundle import Json
from atento.views.html import Markup, embed, joined, tag
from atento.views.wording import is_number

MOST_POINTS = 400  # of a curve in a page

Column = Sequence[float | None]


@dataclass(frozen=True, kw_only=True)
class ChartAxis:
    """One quantity that an axis can show: the column that holds it, and how its numbers are written."""

    key: str
    name: str
    table: str = "points"
    kind: str = "number"  # number, duration, share, rate, memory, date
    smaller_is_better: bool | None = None
    log: bool = False  # whether the axis begins as a logarithmic one
    beside: str = ""  # the key of what is drawn dashed beside it, in the table of validations
    limits: tuple[float, float] | None = None  # with which it begins; None: those of the numbers


@dataclass(frozen=True, kw_only=True)
class ChartSeries:
    """One line, or one point of a scatter plot, with the number of its colour and marker."""

    name: str
    colour: int
    tables: Mapping[str, Mapping[str, Column]]  # columns by table and by the key of an axis; of intervals also key low
    levels: Mapping[str, float] = field(default_factory=dict)  # a level line for an axis, as of a baseline
    style: str = ""  # plain, thin or baseline


@dataclass(frozen=True, kw_only=True)
class ChartData:
    """A chart: what can stand on its axes, and the series."""

    name: str
    label: str
    x: Sequence[ChartAxis]
    y: Sequence[ChartAxis]
    series: Sequence[ChartSeries]
    kind: str = "lines"  # or scatter
    smoothing: bool = False  # whether curves can be smoothed
    begins: float | None = None  # where a vertical line stands
    height: int = 420

    def to_json(self) -> Json:
        """The chart in dicts and lists; numbers that JSON lacks become null."""
        found = asdict(self)
        for series in found["series"]:
            series["tables"] = {
                name: {key: [short(value) for value in column] for key, column in columns.items()}
                for name, columns in series["tables"].items()
            }
        return found


def short(value: float | None) -> float | int | None:
    """A number with the seven digits of a float32; nothing for what is no finite number."""
    if value is None or not is_number(value):
        return None
    return value if isinstance(value, int) or value == round(value) else float(f"{value:.7g}")


def live_chart(data: ChartData, *drawings: object) -> Markup:
    """A figure with the static drawings, which the script of the page replaces by one that can be worked with."""
    return joined(
        tag("figure", tag("div", *drawings, class_="static"), data_chart=data.name, class_="live"),
        embed(data.to_json(), name=f"chart-{data.name}"),
    )


def thinned(columns: Mapping[str, Column], by: str, most: int = MOST_POINTS) -> dict[str, list[float | None]]:
    """At most so many rows of a table: the first, the last, and of equal stretches the least and greatest of a column,
    so that no peak is lost.
    """
    count = len(columns[by])
    if count <= most:
        return {key: list(column) for key, column in columns.items()}
    buckets = (most - 2) // 2
    kept = {0, count - 1}
    for at in range(buckets):
        some = range(at * count // buckets, (at + 1) * count // buckets)
        values = {place: value for place in some if (value := columns[by][place]) is not None and is_number(value)}
        if values:
            kept |= {min(values, key=values.__getitem__), max(values, key=values.__getitem__)}
    return {key: [column[place] for place in sorted(kept)] for key, column in columns.items()}
