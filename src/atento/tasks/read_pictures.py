"""Pictures with captions, with a label each, or with a question and its answer."""

from atento.data.pairs import Pairs
from atento.errors import InputError
from atento.spec import DataRecipe
from atento.tasks.reading import Reader, by_source
from atento.tasks.task import Opened


def not_yet(recipe: DataRecipe, file: str) -> Pairs:
    """Files are read soon."""
    raise InputError(f"{file}: pictures are not read yet.", found=file, fix="take a built-in set")


def not_yet_open(recipe: DataRecipe, file: str) -> Opened:
    """Files are read soon."""
    raise InputError(f"{file}: pictures are not read yet.", found=file, fix="take a built-in set")


CAPTIONED = Reader(rows=not_yet, sources=not_yet_open, questions=by_source, columns=("picture", "caption"))
LABELLED_PICTURES = Reader(rows=not_yet, sources=not_yet_open, columns=("picture", "label"))
PICTURE_QUESTIONS = Reader(rows=not_yet, sources=not_yet_open, columns=("picture", "label"))
