"""Windows of a table in time order: the last `data.look_back` rows of numbers, and the label of the newest of them.

Parts are split by time, and no window crosses the border of a part or of a series.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from atento.data.builtin.catalogue import is_builtin
from atento.data.columns.roles import label_column, sample_columns
from atento.data.examples.labels import no_label
from atento.data.examples.pairs import Pair, UnlabelledFile, find_column, require_rows
from atento.data.series import Series, SeriesSet
from atento.data.series.reading import series_of
from atento.data.sources.reading import read_source
from atento.data.tables.table import Table
from atento.errors import InputError
from atento.spec import DataRecipe
from atento.tasks.forecast.split import divide
from atento.tasks.forecast.windows import WindowSpec, guess_look_back, typical_length
from atento.tasks.reading.reader import TextDataset, TrainFilter, make_dataset, one_each
from atento.tasks.task import LabelledFile

MOST_TRAINED = 100_000  # windows of the training part
MOST_HELD_OUT = 10_000  # windows of validation, and of the test

Span = tuple[int, int]  # first row of a part of a series, and the row after its last


class LabelledSeries(NamedTuple):
    """The series of a file, with a covariate of 0 and 1 for each of the labels of their rows."""

    found: SeriesSet
    labels: list[str]
    recipe: DataRecipe  # by which another file is read alike

    def examples(self, series: Sequence[Series], spans: Sequence[Span], look_back: int) -> list[Pair]:
        """Every window whose rows lie in these spans, with the label of its newest row; a row that was filled between
        two labels has none.
        """
        pairs = []
        for one, (first, last) in zip(series, spans, strict=True):
            for end, window in windows_of(one, (first, last), look_back):
                holds = one.future_covariates[end - 1] == 1
                pairs += [(window, label) for label, held in zip(self.labels, holds, strict=True) if held]
        return pairs


class WindowReader:
    """How windows are read; it is used as a `Reader` is."""

    keys = ("source", "label")  # of the recipe, that name columns

    def read(self, recipe: DataRecipe, seed: int) -> TextDataset:
        """Each series by time: its oldest rows to train, its newest to test."""
        main = read_labelled_series(recipe, recipe.train)
        look_back, notes = look_back_of(main.found, recipe)
        own = [read_labelled_series(main.recipe, file) if file else None for file in (recipe.valid, recipe.test)]
        frame = WindowSpec(look_back, 0, main.found.channels, (), main.found.frequency, main.found.season_length)
        divided = divide(main.found.file, main.found.series, frame, recipe)
        borders = [(0, ends.train, ends.valid, ends.test) for ends in divided.borders]
        parts = []
        for at, file in enumerate((None, *own)):
            spans = [(ends[at], ends[at + 1]) for ends in borders]
            if file is None:
                part = main.examples(divided.series, spans, look_back)
            else:
                part = file.examples(file.found.series, whole(file.found), look_back)
            if not part and (file is not None or any(last > first for first, last in spans)):
                raise no_window(recipe.train if file is None else file.found.file, spans, look_back)
            parts.append(thinned(part, MOST_HELD_OUT if at else MOST_TRAINED, notes))
        train, valid, test = parts
        leak_filter = TrainFilter(recipe, (source for source, _ in (*valid, *test)))
        kept = [pair for pair in train if leak_filter.keeps(pair)]
        files = [main, *(file for file in own if file is not None)]
        all_notes = [
            *(note for file in files for note in file.found.notes),
            *notes,
            *divided.notes,
            *leak_filter.notes(),
        ]
        all_notes.append(f"{len(kept)} windows to train, {len(valid)} to validate, {len(test)} to test")
        refused = [*divided.refused, *(refusal for file in files for refusal in file.found.refused)]
        name = Path(main.found.file).name
        return make_dataset(name, (kept, valid, test), one_each, notes=all_notes, refused=refused)._replace(
            roles=roles_of(main)
        )

    def read_labelled(self, recipe: DataRecipe, file: str, seed: int) -> LabelledFile[str, str]:
        """Every window of another file with its label."""
        other = read_labelled_series(recipe, file)
        look_back, notes = look_back_of(other.found, recipe)
        pairs = other.examples(other.found.series, whole(other.found), look_back)
        if not pairs:
            raise no_window(file, whole(other.found), look_back)
        pairs = thinned(pairs, MOST_HELD_OUT, notes)
        return LabelledFile(one_each(pairs), (*other.found.notes, *notes), other.found.refused)

    def read_unlabelled(self, recipe: DataRecipe, file: str, seed: int) -> UnlabelledFile:
        """Every window of a file that may have no labels, by its series and the time of its newest row."""
        table = read_rows(recipe, file)
        at = table.columns.index(recipe.label) if recipe.label in table.columns else -1
        found = series_of(*with_codes(table, at, dict.fromkeys(column_of(table, at), "0"), recipe))
        look_back, _ = look_back_of(found, recipe)
        windows = [
            (one.name, one.timestamp(end - 1), window)
            for one, span in zip(found.series, whole(found), strict=True)
            for end, window in windows_of(one, span, look_back)
        ]
        if not windows:
            raise no_window(file, whole(found), look_back)
        names, times, sources = (list(column) for column in zip(*windows, strict=True))
        called = {"series": "series", "time": "time", **dict(found.own_names)}
        columns = {**({called["series"]: names} if any(names) else {}), called["time"]: times}
        return UnlabelledFile(columns, sources, found.refused)


LABELLED_WINDOWS = WindowReader()


def read_rows(recipe: DataRecipe, file: str) -> Table:
    """The table of a file."""
    if is_builtin(file):
        raise InputError(
            f"{file} is built in, and its rows have no labels.", found=file, fix="give a table of your own"
        )
    if recipe.future_covariates or recipe.horizon:
        key = "future_covariates" if recipe.future_covariates else "horizon"
        raise InputError(
            f"data.{key} has no meaning where windows are labelled: nothing is forecast.",
            found=f"data.{key}={getattr(recipe, key)}",
            fix="name the columns of numbers by data.source, and leave it out",
        )
    names = [name.strip() for key in ("source", "label", "series", "time") for name in getattr(recipe, key).split(",")]
    table = read_source(file, header=recipe.header, names=[name for name in names if name], sheet=recipe.sheet)
    require_rows(table)
    return table


def read_labelled_series(recipe: DataRecipe, file: str) -> LabelledSeries:
    """The series of a file that has a column of labels, as named or as found."""
    table = read_rows(recipe, file)
    at = find_column(table, recipe.label, "data.label")
    if at < 0:
        taken = [name.strip() for key in ("source", "series", "time") for name in getattr(recipe, key).split(",")]
        at = label_column(sample_columns(table), [table.columns.index(name) for name in taken if name in table.columns])
    if at < 0:
        raise no_label(table)
    labels = sorted({cell for cell in column_of(table, at) if cell})
    codes = {label: str(number) for number, label in enumerate(labels)}
    found = series_of(*with_codes(table, at, codes, recipe), forecast=False)
    name, keys = table.columns[at], dict(found.keys)
    own_note = f"{name!r} holds texts: "  # of the numbers that stand for labels
    notes = [note for note in found.notes if not note.startswith(own_note)]
    if not recipe.label:
        notes.append(f"column {name!r} holds the label; --set data.label=... chooses otherwise")
    alike = {key: value for key, value in found.keys if key in ("time", "series", "frequency")}
    again = recipe.model_copy(update={**alike, "source": keys["target"], "label": name})
    return LabelledSeries(replace(found, notes=tuple(notes)), labels, again)


def with_codes(table: Table, at: int, codes: dict[str, str], recipe: DataRecipe) -> tuple[Table, DataRecipe]:
    """The table with a number in place of each label, and the recipe that reads those as columns of 0 and 1."""
    named = recipe.model_copy(update={"target": recipe.source, "source": "", "label": ""})
    if at < 0:
        return table, named
    rows = [(*row[:at], codes.get(row[at].strip(), ""), *row[at + 1 :]) for row in table.rows]
    known = ",".join(f"{table.columns[at]}={code}" for code in dict.fromkeys(codes.values()))
    return replace(table, rows=tuple(rows)), named.model_copy(update={"future_covariates": known})


def column_of(table: Table, at: int) -> list[str]:
    """The cells of a column; -1: there is none."""
    return [row[at].strip() for row in table.rows] if at >= 0 else []


def look_back_of(found: SeriesSet, recipe: DataRecipe) -> tuple[int, list[str]]:
    """Rows of a window: what the recipe says, else what the season suggests."""
    if recipe.look_back:
        return recipe.look_back, []
    look_back = guess_look_back(typical_length(found), 1, found.season_length)
    return look_back, [f"windows of {look_back} steps (data.look_back= changes it)"]


def whole(found: SeriesSet) -> list[Span]:
    """All rows of each series."""
    return [(0, len(one)) for one in found.series]


def windows_of(series: Series, span: Span, look_back: int) -> list[tuple[int, str]]:
    """The windows that lie in a span as text, each with the row after its newest."""
    first, last = span
    steps = [",".join(f"{number:.9g}" for number in row) for row in series.values[first:last]]
    return [(first + end, " ".join(steps[end - look_back : end])) for end in range(look_back, len(steps) + 1)]


def thinned(pairs: list[Pair], most: int, notes: list[str]) -> list[Pair]:
    """At most so many windows, at equal distances; a note is added where some are left out."""
    stride = max(1, -(-len(pairs) // most))
    if stride > 1:
        notes.append(f"one in {stride} of {len(pairs):,} windows is read, at equal distances (at most {most:,})")
    return pairs[::stride]


def roles_of(main: LabelledSeries) -> tuple[tuple[str, str], ...]:
    """What each column holds."""
    roles = {"source": "channel", "series": "series", "time": "time", "label": "label"}
    named = ((key, getattr(main.recipe, key)) for key in roles)
    return tuple((name, roles[key]) for key, names in named if names for name in names.split(","))


def no_window(file: str, spans: Sequence[Span], look_back: int) -> InputError:
    """The error for parts that are shorter than a window."""
    longest = max((last - first for first, last in spans), default=0)
    return InputError(
        f"{file}: no window of {look_back} rows fits in a part of the series.",
        found=f"parts of at most {longest} rows",
        fix=f"--set data.look_back={max(1, longest // 2)}, or larger shares by data.split",
        settings={"data.look_back": str(max(1, longest // 2))},
    )
