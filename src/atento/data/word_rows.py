"""Tables of one word a row with a column that counts sentences, folded to one sentence a row."""

from collections.abc import Sequence
from itertools import pairwise

from atento.data.lists import join
from atento.data.records import Place, Records, Refusal, counted, excerpt
from atento.data.role_names import is_named

SENTENCE = frozenset(
    {"sentence", "sent", "satz", "frase", "oración", "oracion", "phrase", "zin", "предложение", "句子"}
)
WORD = frozenset({"word", "token", "form", "palabra", "wort", "mot", "parola", "слово", "词"})
SAMPLE = 1000


def fold_words(records: Records) -> Records | None:
    """A row for each sentence, its cells lists; None where the table is not of that kind."""
    words, sentences = word_column(records), sentence_column(records)
    if words < 0 or sentences < 0 or words == sentences:
        return None
    kept = [words, *(at for at in range(len(records.columns)) if at not in (words, sentences))]
    rows: list[tuple[str, ...]] = []
    starts: list[int] = []
    refused = list(records.refused)
    for block in blocks_of(records, sentences):
        empty = next((at for at in block if not records.rows[at][words].strip()), -1)
        if empty >= 0:
            where, fix = records.locate(records.lines[empty], words), "write the word, or delete the row"
            refused.append(Refusal(*where, "there is no word here.", found=excerpt(str(records.rows[empty])), fix=fix))
            continue
        rows.append(tuple(join(records.rows[at][column].strip() or "_" for at in block) for column in kept))
        starts.append(records.lines[block[0]])
    names = tuple(records.columns[at] for at in kept)
    note = f"each row is a word; column {records.columns[sentences]!r} parts {counted(len(rows), 'sentence')}"

    def locate(line: int, number: int) -> Place:
        return records.locate(line, kept[number] if number < len(kept) else len(records.columns))

    return Records(names, rows, starts, refused, locate, (*records.notes, note))


def word_column(records: Records) -> int:
    """A column named as words are, whose cells are single words."""
    for at, name in enumerate(records.columns):
        cells = [row[at].strip() for row in records.rows[:SAMPLE]]
        if is_named(name, WORD) and sum(" " in cell for cell in cells) <= 0.02 * len(cells):
            return at
    return -1


def sentence_column(records: Records) -> int:
    """A column named as sentences are that says which one a word is in: at each word of it, or at its first."""
    for at, name in enumerate(records.columns):
        cells = [row[at].strip() for row in records.rows[:SAMPLE]]
        if is_named(name, SENTENCE) and cells and cells[0] and repeats(cells):
            return at
    return -1


def repeats(cells: Sequence[str]) -> bool:
    """Whether most cells say what the one before said, or nothing."""
    same = sum(not after or after == before for before, after in pairwise(cells))
    return len(cells) > 1 and 2 * same >= len(cells) - 1


def blocks_of(records: Records, column: int) -> list[list[int]]:
    """The rows of each sentence, by number from 0."""
    blocks: list[list[int]] = []
    current = ""
    for at, row in enumerate(records.rows):
        key = row[column].strip()
        if not blocks or (key and key != current):
            blocks.append([])
        current = key or current
        blocks[-1].append(at)
    return blocks
