"""Whether a file holds series: numbers at equal distances in time, to be forecast."""

from atento.data.columns.column import Column
from atento.data.evidence.evidence import Evidence
from atento.data.evidence.series import SeriesEvidence
from atento.data.records import in_words
from atento.data.tables.column_names import LABEL, is_named
from atento.tasks.recognising.text import CLEAR, FAIR, HARDLY, NO, SURE, VARIED, WEAK
from atento.tasks.task import Recognition

PROSE = 3  # words of a cell from which a column is a text
SMOOTH = 0.6  # correlation of neighbouring rows from which rows without times are a series
FOLLOWING = 0.3  # correlation of neighbouring steps from which a row without times is a series
MOST_CHANNELS = 400  # of a table in which no column says the time
RISING, SURELY_RISING = 0.5, 0.9  # share of rows that come after the one above them
MOST_LABELS = 100
PLAINLY = frozenset({"label", "labels", "class", "classes"})  # of series with dates, kinds and types are facts


def forecast_series(evidence: Evidence) -> Recognition:
    """A time and numbers beside it, or numbers that go on smoothly from row to row: forecast."""
    found = evidence.series
    if found is None:
        return Recognition(NO, "no columns of numbers in the course of time")
    if found.in_rows:
        return series_in_rows(evidence, found)
    named = {*found.time, *found.series}
    prose = next((column for column in evidence.columns if is_prose(column) and column.name not in named), None)
    if prose is not None:
        return Recognition(HARDLY, f"column {prose.name!r} holds texts, not numbers in the course of time")
    if any(column.examples and column.share_sequences > 0.5 for column in evidence.columns):
        return Recognition(NO, "each row is a sequence of its own")
    reason = in_time(found)
    labelled = labels_of_cases(evidence)
    if labelled:
        return Recognition(WEAK, f"{reason}, but {labelled!r} is a label of each series")
    if evidence.kind == "npy":
        return Recognition(SURE, f"{evidence.file} holds an array of numbers, row by row")
    if not found.time:
        return by_smoothness(evidence, found, reason)
    if not found.frequency:
        return Recognition(
            FAIR if found.calendar and found.increasing_share > RISING else WEAK, f"{reason}, but at no equal distances"
        )
    if not found.calendar and found.increasing_share <= RISING:
        return Recognition(WEAK, f"{reason}, but rows do not follow one another")
    return Recognition(SURE if found.increasing_share >= SURELY_RISING else FAIR, reason)


def series_in_rows(evidence: Evidence, found: SeriesEvidence) -> Recognition:
    """Each row is a series where its steps have times, or follow smoothly from one another."""
    reason = f"each row is a series, {found.frequency} apart" + (
        f", named by {quoted(found.series)}" if found.series else ""
    )
    labels = [column for column in evidence.columns if is_named(column.name, LABEL) and is_few(column, evidence.rows)]
    if any(column.distinct > 1 for column in labels):
        return Recognition(WEAK, f"{reason}, but {labels[0].name!r} is named as labels are")
    if found.calendar or evidence.kind == "tsf":
        return Recognition(SURE, reason)
    if found.autocorrelation >= FOLLOWING:
        return Recognition(CLEAR, f"{reason}, each number near the one before it")
    if found.steps_named:
        return Recognition(CLEAR, f"{reason}, its columns named by the time")
    return Recognition(WEAK, f"{reason}, but a number has little to do with the one before it")


def by_smoothness(evidence: Evidence, found: SeriesEvidence, reason: str) -> Recognition:
    """Rows that are only counted are a series where numbers follow from those above them."""
    labels = [column for column in evidence.columns if is_named(column.name, LABEL) and is_few(column, evidence.rows)]
    if labels and len(evidence.columns) > 1:
        return Recognition(HARDLY, f"{reason}, but {labels[0].name!r} is named as labels are")
    if len(found.channels) > MOST_CHANNELS or found.unused:
        return Recognition(HARDLY, f"{reason}, but there are other columns, and none says the time")
    if found.autocorrelation >= SMOOTH:
        return Recognition(SURE if found.autocorrelation >= CLEAR else CLEAR, f"{reason}, each near the one above it")
    if len(evidence.columns) == 1:
        return Recognition(FAIR, f"{reason}, and nothing else")
    return Recognition(HARDLY, f"{reason}, but a row has little to do with the one above it")


def is_few(column: Column, rows: int) -> bool:
    """Whether a column holds one of few values in each cell."""
    return column.distinct <= min(MOST_LABELS, rows / 2)


def in_time(found: SeriesEvidence) -> str:
    """What columns hold what, in words."""
    several = len(found.channels) > 1
    numbers = f"column{'s' * several} {quoted(found.channels)} hold{'s' * (not several)} numbers"
    beside = f" at the times in {quoted(found.time)}, {found.frequency or '?'} apart" if found.time else ", row by row"
    parted = f", series told apart by {quoted(found.series)}" if found.series else ""
    return f"{numbers}{beside}{parted}"


def quoted(names: tuple[str, ...]) -> str:
    """`'a', 'b' and 'c'`, the first few."""
    return in_words([repr(name) for name in names], limit=8)


def is_prose(column: Column) -> bool:
    """Whether a column holds varied texts of several words."""
    return not column.is_not_text and column.mean_words >= PROSE and column.share_distinct > VARIED


def labels_of_cases(evidence: Evidence) -> str:
    """The name of a column that labels whole series, by its name and its cells; empty: there is none."""
    if evidence.long is None or evidence.long.label < 0 or evidence.series is None:
        return ""
    name = evidence.columns[evidence.long.label].name
    return name if is_named(name, PLAINLY if evidence.series.calendar else LABEL) else ""
