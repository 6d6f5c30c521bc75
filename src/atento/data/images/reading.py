"""Images as sources, alone or with a question about each, from a folder or a table; and which column holds captions."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from atento.data.columns.roles import ColumnSample, has_repeated_values, sample_columns
from atento.data.examples.pairs import ExampleSource, Half, empty_cell, find_column, no_column, one_column
from atento.data.files.archives import is_zip, split_archive_path
from atento.data.images.finding import ImageFinder, conversion_notes
from atento.data.images.loading import UnusableImage
from atento.data.records import Refusal, counted, in_words, join_items
from atento.data.tables.column_names import is_named
from atento.data.tables.image_folders import image_column
from atento.data.tables.table import Table
from atento.spec import DataRecipe

CAPTION_NAMES = """
    caption captions description text sentence comment title alt leyenda descripción pie legende légende
    beschreibung bildunterschrift подпись 描述 説明
"""
QUESTION_NAMES = "question questions query pregunta preguntas frage fragen domanda вопрос 问题 質問"

CAPTION = frozenset(CAPTION_NAMES.split())
QUESTION = frozenset(QUESTION_NAMES.split())
QUESTION_MARKS = ("?", "؟", "？")
WORDY = 1.5  # words of a cell on average
SHOWN = 5  # names that a note holds


def caption_column(table: Table, taken: Iterable[int]) -> int:
    """The column named as captions are, else the one with most words; -1: none."""
    free = free_columns(table, taken)
    named = [column for column in free if is_named(column.name, CAPTION)]
    wordy = [column for column in free if column.words >= WORDY]
    best = named or wordy or [column for column in free if not has_repeated_values(column)]
    return max(best, key=lambda column: column.words).index if best else -1


def question_column(table: Table, taken: Iterable[int]) -> int:
    """The column whose cells end with a question mark, else one named as questions are; -1: none."""
    free = free_columns(table, taken)
    asking = [column for column in free if 2 * sum(map(is_asked, column.cells)) > len(column.cells)]
    best = asking or [column for column in free if is_named(column.name, QUESTION)]
    return best[0].index if best else -1


def free_columns(table: Table, taken: Iterable[int]) -> list[ColumnSample]:
    """The columns of text that are not taken."""
    free = [column for column in sample_columns(table) if column.index not in set(taken)]
    return [column for column in free if column.cells and not column.is_numeric]


def is_asked(cell: str) -> bool:
    """Whether a text ends with a question mark."""
    return cell.rstrip().endswith(QUESTION_MARKS)


class ImageSource(ExampleSource):
    """An image of each row, by its path."""

    def find(self, table: Table, recipe: DataRecipe, file: str, taken: Sequence[int]) -> Half:
        """By name, else the first column most cells of which name images; a folder of images has one."""
        named = -1 if table.kind == "images" else find_column(table, recipe.source, "data.source")
        at, finder = named if named >= 0 else image_column(table), finder_of(recipe, file)
        if at < 0:
            raise no_column(table, "images", "source")

        def value(table: Table, row: int, column: int) -> str | Refusal:
            return image_of(table, row, column, finder)

        half = one_column(table, at, recipe, key="source", role="image", what="the images", cell=value)
        return half._replace(closing_notes=lambda: finder_notes(finder, recipe))


class ImageQuestionSource(ExampleSource):
    """An image of each row and a question about it, with a tab between; data.target names the questions."""

    keys = ("source", "target")

    def find(self, table: Table, recipe: DataRecipe, file: str, taken: Sequence[int]) -> Half:
        """By name, else the images, and the column whose cells end with a question mark."""
        image = ImageSource().find(table, recipe, file, taken)
        at = find_column(table, recipe.target, "data.target")
        at = at if at >= 0 else question_column(table, (*image.columns, *taken))
        if at < 0:
            raise no_column(table, "questions", "target")
        question = one_column(table, at, recipe, key="target", role="question", what="the questions")

        def value(row: int) -> str | Refusal:
            text = question.value(row)
            if isinstance(text, Refusal):
                return text
            path = image.value(row)
            return path if isinstance(path, Refusal) else join_items((path, text))

        return Half(
            table,
            (*image.columns, at),
            value,
            image.keys | question.keys,
            image.roles | question.roles,
            (*image.guesses, *question.guesses),
            closing_notes=image.closing_notes,
        )


def finder_of(recipe: DataRecipe, file: str) -> ImageFinder:
    """The images that a file may name: those below its folder; of an archive or of a file in one, those in it."""
    place, inside = Path(file), split_archive_path(file)
    if inside is not None:
        return ImageFinder(Path(inside[0]), largest=recipe.max_megapixels)
    return ImageFinder(place if place.is_dir() or is_zip(place) else place.parent, largest=recipe.max_megapixels)


def finder_notes(finder: ImageFinder, recipe: DataRecipe) -> tuple[str, ...]:
    """What was done to images, and which were not used."""
    notes = conversion_notes(finder.infos(), upright=recipe.exif_rotation == "yes")
    unnamed = finder.unnamed()
    if unnamed:
        notes.append(
            f"{counted(len(unnamed), 'image')} named by no usable row, so not read: {in_words(unnamed, limit=SHOWN)}"
        )
    return tuple(notes)


def image_of(table: Table, row: int, column: int, finder: ImageFinder) -> str | Refusal:
    """The path of a row's image, or why it cannot be used."""
    cell = table.rows[row][column]
    if not cell.strip():
        return empty_cell(table, row, column)
    try:
        return finder.find(cell)
    except UnusableImage as fault:
        place = table.place(row, column)
        named = f"{cell.strip()}: " if place.file != cell.strip() and cell.strip() not in fault.problem else ""
        return Refusal(*place, f"{named}{fault.problem}", found=fault.found, fix=fault.fix, settings=fault.settings)
