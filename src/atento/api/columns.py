"""The columns of another file, for a trained model: those it was trained on, never a guess that nobody is told of."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from atento.bundle import Bundle
from atento.data.builtin.catalogue import is_builtin
from atento.data.examples.pairs import COMMA, MADE
from atento.data.records import in_words, pass_setting
from atento.data.sources.reading import read_source
from atento.data.tables.table import Table
from atento.errors import InputError
from atento.spec import Recipe
from atento.tasks.task import Task

COLUMN_KEYS = ("source", "target", "label")
LIKENESS = 0.4  # of two names, from which on one may be meant by the other
TWO_SOURCES = ("two texts", "image and question")  # kinds of sources that data.target names the second part of


class FileColumns(NamedTuple):
    """The recipe by which another file is read, and what was taken for what, in words."""

    recipe: Recipe
    notes: tuple[str, ...] = ()


def find_columns(bundle: Bundle, recipe: Recipe, file: str, *, given: Sequence[str], labelled: bool) -> FileColumns:
    """The columns that the run was trained on, except where the user names others (`given`).

    A file without them is refused, unless there is only one way to read it; then a note says which. Targets matter
    only where the file is `labelled`.
    """
    trained = trained_columns(bundle)
    if bundle.task.reading.kind == "series":
        return FileColumns(with_columns(recipe, trained, given))
    if is_builtin(file) or not trained:
        keep = is_builtin(file) and is_builtin(bundle.recipe.data.train)
        dropped = {} if keep or trained else {key: "" for key in COLUMN_KEYS}
        return FileColumns(with_columns(recipe, dropped, given))
    targets = target_keys(bundle.task)
    wanted = {key: name for key, name in trained.items() if labelled or key not in targets}
    names = [part for name in wanted.values() for part in dict.fromkeys([name, *parts_of(name)])]
    table = read_source(file, header=recipe.data.header, names=names, sheet=recipe.data.sheet)
    open_keys = [key for key in COLUMN_KEYS if key in wanted and f"data.{key}" not in given]
    lacking = [key for key in open_keys if missing(wanted[key], table)]
    found = {key: name for key, name in wanted.items() if key not in lacking}
    found |= {key: "" for key in trained if key in targets and not labelled}
    if not lacking or table.kind in MADE:  # names that no user gave
        return FileColumns(with_columns(recipe, found | dict.fromkeys(lacking, ""), given))
    taken = only_way(table, wanted, lacking, header=trained_header(bundle))
    if taken is None:
        raise no_such_column(bundle, table, wanted, lacking[0])
    notes = tuple(said(table, wanted[key], name) for key, name in taken.items())
    return FileColumns(with_columns(recipe, found | taken, given), notes)


def trained_columns(bundle: Bundle) -> dict[str, str]:
    """The keys of data.* with the columns that the training read, as its folder says; else as its recipe says."""
    saved = bundle.metrics.get("data", {}).get("columns")
    if isinstance(saved, Mapping) and saved:
        return {str(key): str(name) for key, name in saved.items()}
    data = bundle.recipe.data
    return {key: getattr(data, key) for key in COLUMN_KEYS if getattr(data, key)}


def trained_header(bundle: Bundle) -> list[str]:
    """All columns of the training file, in their order; none where the folder does not say."""
    saved = bundle.metrics.get("data", {}).get("header")
    return [str(name) for name in saved] if isinstance(saved, list) else []


def target_keys(task: Task) -> tuple[str, ...]:
    """The keys that name columns of targets rather than of sources."""
    return ("label",) if task.reading.kind in TWO_SOURCES else ("target", "label")


def with_columns(recipe: Recipe, columns: Mapping[str, str], given: Sequence[str]) -> Recipe:
    """The recipe with these data.* keys, except those that the user gave."""
    return recipe.with_values({f"data.{key}": name for key, name in columns.items() if f"data.{key}" not in given})


def parts_of(name: str) -> list[str]:
    """The columns that one key names."""
    return [part.strip() for part in name.split(COMMA) if part.strip()]


def missing(name: str, table: Table) -> list[str]:
    """The columns of a key that a table does not have."""
    return [] if name in table.columns else [part for part in parts_of(name) if part not in table.columns]


def only_way(
    table: Table, wanted: Mapping[str, str], lacking: Sequence[str], *, header: Sequence[str]
) -> dict[str, str] | None:
    """The columns for the keys that lack theirs where there is no choice: a file of one column; a file without a header
    that has as many columns as the training file. None where there is a choice.
    """
    parts = {key: parts_of(wanted[key]) for key in lacking}
    if len(table.columns) == 1 and list(wanted) == list(lacking) == ["source"] and len(parts["source"]) == 1:
        return {"source": table.columns[0]}
    known = all(part in header for some in parts.values() for part in some)
    if table.header or not known or len(header) != len(table.columns):
        return None
    return {key: COMMA.join(table.columns[header.index(part)] for part in some) for key, some in parts.items()}


def said(table: Table, wanted: str, taken: str) -> str:
    """A note on a column that stands for another."""
    why = "its only column" if len(table.columns) == 1 else "by position, as it has no header: column"
    return f"{table.file} has no column {wanted!r}, which the model was trained on; {why} {taken!r} is read for it"


def no_such_column(bundle: Bundle, table: Table, wanted: Mapping[str, str], key: str) -> InputError:
    """The refusal of a file without a column that the model was trained on."""
    gone = missing(wanted[key], table)
    taken = {part for other in wanted if other != key for part in parts_of(wanted[other])}
    free = [name for name in table.columns if name not in taken]
    likely = likely_column(bundle, table, gone[0], key, free)
    value = COMMA.join(likely if part == gone[0] else part for part in parts_of(wanted[key]))
    fix = f"add the column {gone[0]!r}; without it, atento predict answers the file"
    return InputError(
        f"{table.file}:1: there is no column {gone[0]!r}, which the model was trained on.",
        found=f"the columns {in_words(table.columns)}" + ("" if table.header else ", as the file has no header"),
        fix=f"if another column holds it, {pass_setting(f'data.{key}', value)}" if likely else fix,
        settings={f"data.{key}": value} if likely else {},
    )


def likely_column(bundle: Bundle, table: Table, wanted: str, key: str, free: Sequence[str]) -> str:
    """The column that may hold what is missing: of labels one that holds labels of the training, else one whose name is
    like it, else that of the longest texts; empty where there is none.
    """
    places = {name: table.columns.index(name) for name in free}
    known = set(known_labels(bundle)) if key == "label" else set()
    for name, at in places.items():
        cells = [row[at].strip() for row in table.rows]
        if known and 2 * sum(cell in known for cell in cells) > len(cells):
            return name
    lower = {name.lower(): name for name in free}
    close = get_close_matches(wanted.lower(), lower, n=1, cutoff=LIKENESS)
    if close or key in target_keys(bundle.task) or not free:
        return lower[close[0]] if close else ""
    return max(free, key=lambda name: sum(len(row[places[name]]) for row in table.rows))


def known_labels(bundle: Bundle) -> Sequence[str]:
    """The labels that the training met; none where targets are no labels."""
    return list(getattr(getattr(bundle.codec, "output", None), "labels", ()))
