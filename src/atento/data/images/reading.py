"""Pictures with captions, with labels, or with questions and answers, from a folder or a table.

Which columns of a table of pictures hold captions, and which questions.
"""

from collections.abc import Iterable
from pathlib import Path

from atento.data.columns.roles import Look, is_repeated, label_column, look_at
from atento.data.examples.labelled import names_beside, no_label, open_table, with_names
from atento.data.examples.pairs import Pair, Pairs, collect, empty_cell, find_column
from atento.data.files.archives import is_zip, part
from atento.data.images.folders import picture_column
from atento.data.images.gallery import Gallery, notes_on
from atento.data.images.loading import Faulty
from atento.data.records import Refusal, counted, in_words, join
from atento.data.tables.names import is_named
from atento.data.tables.table import Table
from atento.errors import InputError
from atento.spec import DataRecipe

CAPTION_NAMES = """
    caption captions description text sentence comment title alt leyenda descripción pie legende légende
    beschreibung bildunterschrift подпись 描述 説明
"""
QUESTION_NAMES = "question questions query pregunta preguntas frage fragen domanda вопрос 问题 質問"

CAPTION = frozenset(CAPTION_NAMES.split())
QUESTION = frozenset(QUESTION_NAMES.split())
MARKS = ("?", "؟", "？")
WORDY = 1.5  # words of a cell on average


def caption_column(table: Table, taken: Iterable[int]) -> int:
    """The column named as captions are, else the one with most words; -1: none."""
    free = free_columns(table, taken)
    named = [look for look in free if is_named(look.name, CAPTION)]
    wordy = [look for look in free if look.words >= WORDY]
    best = named or wordy or [look for look in free if not is_repeated(look)]
    return max(best, key=lambda look: look.words).at if best else -1


def question_column(table: Table, taken: Iterable[int]) -> int:
    """The column whose cells end with a question mark, else one named as questions are; -1: none."""
    free = free_columns(table, taken)
    asking = [look for look in free if 2 * sum(map(is_asked, look.cells)) > len(look.cells)]
    named = [look for look in free if is_named(look.name, QUESTION)]
    best = asking or named
    return best[0].at if best else -1


def free_columns(table: Table, taken: Iterable[int]) -> list[Look]:
    """The columns of text that are not taken."""
    known = set(taken)
    return [look for look in look_at(table) if look.at not in known and look.cells and not look.numeric]


def is_asked(cell: str) -> bool:
    """Whether a text ends with a question mark."""
    return cell.rstrip().endswith(MARKS)


SHOWN = 5  # names that a note holds

Roles = dict[str, tuple[int, str]]  # a key of the recipe -> its column, and what that holds


def read_captions(recipe: DataRecipe, file: str) -> Pairs:
    """Every picture with a caption; one of several captions stands in several rows."""
    table = open_table(recipe, file, (recipe.source, recipe.target))
    picture = picture_at(table, recipe)
    caption = find_column(table, recipe.target, "data.target")
    caption = caption if caption >= 0 else caption_column(table, {picture})
    if caption < 0:
        raise nothing_said(table, "captions", "target")
    return pairs_of(recipe, file, table, {"source": (picture, "pictures"), "target": (caption, "captions")})


def read_picture_labels(recipe: DataRecipe, file: str) -> Pairs:
    """Every picture with its label."""
    table = open_table(recipe, file, (recipe.source, recipe.label))
    picture = picture_at(table, recipe)
    label = label_at(table, recipe, {picture})
    pairs = pairs_of(recipe, file, table, {"source": (picture, "pictures"), "label": (label, "labels")})
    return with_names(pairs, names_beside(recipe, file, (target for _, target in pairs.pairs)))


def read_picture_questions(recipe: DataRecipe, file: str) -> Pairs:
    """Every picture and question, a tab between them, with the answer."""
    table = open_table(recipe, file, (recipe.source, recipe.target, recipe.label))
    picture = picture_at(table, recipe)
    question = question_at(table, recipe, picture)
    answer = label_at(table, recipe, {picture, question})
    roles = {"source": (picture, "pictures"), "target": (question, "questions"), "label": (answer, "answers")}
    return pairs_of(recipe, file, table, roles)


def pairs_of(recipe: DataRecipe, file: str, table: Table, roles: Roles) -> Pairs:
    """Every row whose picture can be used and whose cells are not empty; all others are refused."""
    gallery = gallery_of(recipe, file)
    picture, *asked, target = (column for column, _ in roles.values())

    def pair_of(at: int) -> Pair | Refusal:
        row = table.rows[at]
        empty = next((column for column in (picture, *asked, target) if not row[column].strip()), -1)
        if empty >= 0:
            return empty_cell(table, at, empty)
        source = source_of(table, at, picture, gallery)
        if isinstance(source, Refusal):
            return source
        return join((source, *(row[column].strip() for column in asked))), row[target].strip()

    keys: dict[str, int | str] = {key: column for key, (column, _) in roles.items()}
    notes = guessed(table, recipe, roles)
    pairs = collect(table, pair_of, recipe.bad_rows, columns=(picture, target), notes=notes, keys=keys)
    return pairs._replace(notes=(*pairs.notes, *gallery_notes(gallery, recipe)))


def guessed(table: Table, recipe: DataRecipe, roles: Roles) -> tuple[str, ...]:
    """What was guessed of columns that nobody named; nothing of a folder, which has none."""
    free = {key: role for key, role in roles.items() if not getattr(recipe, key)}
    if not free or table.kind == "pictures":
        return ()
    held = in_words([f"column {table.columns[at]!r} holds the {what}" for at, what in free.values()])
    ways = " ".join(f"--set data.{key}=..." for key in free)
    return (f"{held}; {ways} {'choose' if len(free) > 1 else 'chooses'} otherwise",)


def gallery_of(recipe: DataRecipe, file: str) -> Gallery:
    """The pictures that a file may name: those below its folder; of an archive or of a file in one, those in it."""
    place, inside = Path(file), part(file)
    if inside is not None:
        return Gallery(Path(inside[0]), largest=recipe.largest)
    return Gallery(place if place.is_dir() or is_zip(place) else place.parent, largest=recipe.largest)


def gallery_notes(gallery: Gallery, recipe: DataRecipe) -> list[str]:
    """What was done to pictures, and which were not used."""
    notes = notes_on(gallery.looks(), upright=recipe.upright == "yes")
    unnamed = gallery.unnamed()
    if unnamed:
        notes.append(
            f"{counted(len(unnamed), 'picture')} named by no usable row, so not read: {in_words(unnamed, limit=SHOWN)}"
        )
    return notes


def source_of(table: Table, row: int, column: int, gallery: Gallery) -> str | Refusal:
    """The source of a row's picture, or why it cannot be used."""
    cell = table.rows[row][column]
    try:
        return gallery.see(cell)
    except Faulty as fault:
        place = table.place(row, column)
        named = f"{cell.strip()}: " if place.file != cell.strip() and cell.strip() not in fault.said else ""
        return Refusal(*place, f"{named}{fault.said}", found=fault.found, fix=fault.fix, settings=fault.settings)


def picture_at(table: Table, recipe: DataRecipe) -> int:
    """The column of the pictures, as named or as found."""
    asked = find_column(table, recipe.source, "data.source")
    found = asked if asked >= 0 else picture_column(table)
    if found < 0:
        raise nothing_said(table, "pictures", "source")
    return found


def question_at(table: Table, recipe: DataRecipe, picture: int) -> int:
    """The column of the questions, as named or as found."""
    asked = find_column(table, recipe.target, "data.target")
    label = find_column(table, recipe.label, "data.label")
    found = asked if asked >= 0 else question_column(table, {picture, label})
    if found < 0:
        raise nothing_said(table, "questions", "target")
    return found


def label_at(table: Table, recipe: DataRecipe, taken: set[int]) -> int:
    """The column of the labels or answers, as named or as found."""
    asked = find_column(table, recipe.label, "data.label")
    found = asked if asked >= 0 else label_column(look_at(table), taken=taken)
    if found < 0:
        raise no_label(table)
    return found


def nothing_said(table: Table, what: str, key: str) -> InputError:
    """The refusal of a table that has no such column."""
    return InputError(
        f"{table.file}:1: no column holds {what}.",
        found=f"{counted(len(table.columns), 'column')}: {in_words(table.columns)}",
        fix=f"name it: --set data.{key}=...",
    )
