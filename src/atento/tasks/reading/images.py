"""Pictures with captions, with a label each, or with a question and its answer; split by what a picture looks like.

The same bytes under two names are one picture: they never stand in two parts."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from atento.data.examples.pairs import Pair, Pairs, empty_cell
from atento.data.examples.splitting import parse_shares, split_by_key
from atento.data.files.image_names import is_drawn
from atento.data.images.gallery import look_over
from atento.data.images.loading import Faulty
from atento.data.images.reading import (
    gallery_of,
    picture_at,
    question_at,
    read_captions,
    read_picture_labels,
    read_picture_questions,
    source_of,
)
from atento.data.records import Refusal, counted, join, split
from atento.spec import DataRecipe
from atento.tasks.reading.reader import Reader, by_source, one_each, open_rows, read_to_answer
from atento.tasks.task import Asked, Opened, Question, Reading


@dataclass(frozen=True)
class PictureFiles:
    """How a task of pictures reads: a `Reader` whose parts share no picture, and whose fingerprint is of pictures."""

    reader: Reader

    def read(self, recipe: DataRecipe, seed: int) -> Reading:
        """The three parts; training rows of a picture that is also held out are left out, and counted."""
        reading = self.reader.read(recipe, seed)
        held = {digest_of(question.source, recipe) for question in (*reading.valid, *reading.test)}
        kept = tuple(pair for pair in reading.train if digest_of(pair[0], recipe) not in held)
        copies = len(reading.train) - len(kept)
        note = f"{counted(copies, 'training row')} left out: the same picture is in validation or test"
        sources = [*(source for source, _ in kept), *(question.source for question in (*reading.valid, *reading.test))]
        digest = hashlib.sha256(reading.fingerprint.encode())
        for source in sources:
            digest.update(digest_of(source, recipe).encode())
        return reading._replace(
            train=kept, notes=(*reading.notes, note) if copies else reading.notes, fingerprint=digest.hexdigest()
        )

    def ask(self, recipe: DataRecipe, file: str, seed: int) -> Asked:
        """All rows of a file as questions; of a built-in set, its test part."""
        return self.reader.ask(recipe, file, seed)

    def open_file(self, recipe: DataRecipe, file: str, seed: int) -> Opened:
        """All columns of a file, and the pictures in it; of a built-in set, its test part."""
        return self.reader.open_file(recipe, file, seed)


def digest_of(source: str, recipe: DataRecipe) -> str:
    """What tells pictures apart, whatever their names: their bytes; a drawn scene is its own."""
    picture = split(source)[0]
    if is_drawn(picture):
        return picture
    try:
        return look_over(picture, largest=recipe.largest).digest
    except (Faulty, OSError):
        return picture


def share_pictures(
    recipe: DataRecipe, pairs: Sequence[Pair], own_valid: Pairs | None, own_test: Pairs | None, seed: int
) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Train, validation and test rows by distinct pictures; a part with a file of its own takes no share."""
    shares = parse_shares(recipe.split)
    wanted = (shares[0], 0.0 if own_valid else shares[1], 0.0 if own_test else shares[2])
    if own_valid is not None and own_test is not None:
        return list(pairs), list(own_valid.pairs), list(own_test.pairs)
    keys = [digest_of(source, recipe) for source, _ in pairs]
    total = sum(wanted)
    parts = split_by_key(keys, shares=(wanted[0] / total, wanted[1] / total, wanted[2] / total), seed=seed)
    train, valid, test = ([pairs[index] for index in part] for part in parts)
    return train, list(own_valid.pairs) if own_valid else valid, list(own_test.pairs) if own_test else test


def open_pictures(recipe: DataRecipe, file: str) -> Opened:
    """The pictures of a folder, of a table that may say nothing of them, or one picture by itself."""
    table = read_to_answer(recipe, file, (recipe.source,))
    picture, gallery = picture_at(table, only(recipe, table.columns)), gallery_of(recipe, file)

    def found(row: int) -> str | Refusal:
        filled = table.rows[row][picture].strip()
        return source_of(table, row, picture, gallery) if filled else empty_cell(table, row, picture)

    return open_rows(recipe, table, found)


def open_questions(recipe: DataRecipe, file: str) -> Opened:
    """The pictures of a table and what is asked of each."""
    table = read_to_answer(recipe, file, (recipe.source, recipe.target))
    picture, gallery = picture_at(table, recipe), gallery_of(recipe, file)
    question = question_at(table, recipe, picture)

    def found(row: int) -> str | Refusal:
        empty = next((column for column in (picture, question) if not table.rows[row][column].strip()), -1)
        if empty >= 0:
            return empty_cell(table, row, empty)
        source = source_of(table, row, picture, gallery)
        return source if isinstance(source, Refusal) else join((source, table.rows[row][question].strip()))

    return open_rows(recipe, table, found)


def only(recipe: DataRecipe, columns: Sequence[str]) -> DataRecipe:
    """The recipe, without the name of a column that a plain folder of pictures does not have."""
    return recipe if recipe.source in columns else recipe.model_copy(update={"source": ""})


Questions = Callable[[Iterable[Pair]], tuple[Question, ...]]


def files_of(
    rows: Callable[[DataRecipe, str], Pairs],
    sources: Callable[[DataRecipe, str], Opened],
    column: str,
    questions: Questions = one_each,
) -> PictureFiles:
    """How one of the tasks reads."""
    return PictureFiles(
        Reader(rows=rows, sources=sources, questions=questions, share=share_pictures, columns=("picture", column))
    )


CAPTIONED = files_of(read_captions, open_pictures, "caption", by_source)
LABELLED_PICTURES = files_of(read_picture_labels, open_pictures, "label")
PICTURE_QUESTIONS = files_of(read_picture_questions, open_questions, "answer")
