"""Which columns of a table of pictures hold captions, and which questions."""

from collections.abc import Iterable

from atento.data.role_names import is_named
from atento.data.roles import Look, is_repeated, look_at
from atento.data.tables import Table

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
