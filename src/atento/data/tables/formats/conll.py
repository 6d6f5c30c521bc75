"""Files with one word per line to one row per sentence: CoNLL, CoNLL-U, and CSV tables with a column for the sentence.

Each cell is a list. A sentence with a line that cannot be read is refused at that line.
"""

import re
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from atento.data.records import LIST_SEPARATOR, Place, Records, Refusal, counted, excerpt, in_words, join_items
from atento.data.tables.column_names import SENTENCE, WORD_OF_ROW, is_named
from atento.data.tables.sniffing import DOCUMENT_START, WORD_ID, is_blank

CONLLU_COLUMNS = ("form", "lemma", "upos", "xpos", "feats", "deprel")
CONLLU_FIELDS = (1, 2, 3, 4, 5, 7)  # their indices among the ten fields
CONLLU_WIDTH = 10
COMMENT = re.compile(r"#\s+[\w.:-]+(?:\s*=|\s+\S+\s*$)|#\s*$")
NO_TAG = frozenset({"O", "_", "-"})
SAMPLE = 1000
BY_BLANK_LINES = "sentence by blank lines"  # the name of a column that numbers sentences
LONGEST_SENTENCE = 50  # words, on average


class ConllLine(NamedTuple):
    """A line of a sentence: its number from 1, its text and its fields."""

    number: int
    text: str
    fields: list[str]


def read_conll(text: str, file: str) -> Records:
    """The sentences of a CoNLL file, with columns words, 2, 3 …, tags; a first column of word ids is left out."""
    lines = text.split("\n")
    tabbed = 2 * sum("\t" in line for line in lines) >= sum(not is_blank(line) for line in lines)
    blocks = list(sentence_blocks(lines, tabbed))
    width = Counter(len(line.fields) for block in blocks for line in block).most_common(1)[0][0] if blocks else 1
    blocks = [words for block in blocks if (words := without_comments(block, width))]
    refused = [problem for block in blocks if (problem := first_problem(block, width, file, tabbed)) is not None]
    broken = {refusal.line for refusal in refused}
    whole = [block for block in blocks if not broken & {line.number for line in block}]
    numbered = whole and all(line.fields[0] == str(at) for block in whole for at, line in enumerate(block, start=1))
    skip = int(width > 2 and bool(numbered))
    names = column_names(whole, width, skip)
    rows = [
        tuple(map(LIST_SEPARATOR.join, zip(*(line.fields[skip:] for line in block), strict=True))) for block in whole
    ]
    notes = (f"{file}: one word per line, sentences separated by blank lines, columns {in_words(names)}",)
    starts = [block[0].number for block in whole]

    def locate(line: int, number: int) -> Place:
        return Place(file, line, field_column(lines[line - 1], number + skip, tabbed))

    return Records(names, rows, starts, refused, locate, notes)


def column_names(blocks: Sequence[Sequence[ConllLine]], width: int, skip: int) -> tuple[str, ...]:
    """words, 2, 3 … and tags; where the last column holds nothing but O and the one before entities, or entities inside
    those of the one before, that is tags.
    """
    if width - skip < 2:
        return ("words",)
    values = [{line.fields[at] for block in blocks for line in block} for at in range(skip, width)]
    tags = len(values) - 1
    empty = tags > 1 and values[tags] <= NO_TAG and any(tag.startswith("B-") for tag in values[tags - 1])
    if empty or (tags > 1 and are_inside(blocks, skip + tags - 1)):
        tags -= 1
    if len(values) == 2 and 3 * len(values[0]) < len(values[1]) and all(tag == tag.upper() for tag in values[0]):
        return ("tags", "words")  # the tag stands before its word
    return ("words", *("tags" if at == tags else str(at + 1) for at in range(1, len(values))))


def are_inside(blocks: Sequence[Sequence[ConllLine]], outer: int) -> bool:
    """Whether a column of entities is followed by one of fewer entities of the same types, which stand inside them."""
    pairs = [line.fields[outer : outer + 2] for block in blocks for line in block]
    entities = [[tag for tag in column if tag[:2] in ("B-", "I-")] for column in zip(*pairs, strict=True)]
    types = [{tag[2:] for tag in column} for column in entities]
    return bool(entities) and len(entities[1]) < len(entities[0]) and 2 * len(types[0] & types[1]) > len(types[1]) > 0


def sentence_blocks(lines: Sequence[str], tabbed: bool) -> Iterator[list[ConllLine]]:
    """The lines of each sentence, without starts of documents."""
    block: list[ConllLine] = []
    for number, line in enumerate(lines, start=1):
        if is_blank(line):
            if block:
                yield block
            block = []
        elif not line.startswith(DOCUMENT_START):
            block.append(ConllLine(number, line, line.split("\t") if tabbed else line.split()))
    if block:
        yield block


def without_comments(block: list[ConllLine], width: int) -> list[ConllLine]:
    """A sentence without the comments before it; a word may begin with # as well."""
    for at, line in enumerate(block):
        if not line.text.startswith("#") or (len(line.fields) == width and not COMMENT.match(line.text)):
            return block[at:]
    return []


def first_problem(block: list[ConllLine], width: int, file: str, tabbed: bool) -> Refusal | None:
    """The refusal of a sentence at its first line with too many, too few or empty fields."""
    for line in block:
        if len(line.fields) != width:
            return wrong_width(line, width, file, tabbed)
        if not all(map(str.strip, line.fields)):
            return empty_field(line, file, tabbed, "write what is missing between the tabs")
    return None


def empty_field(line: ConllLine, file: str, tabbed: bool, fix: str) -> Refusal:
    """The refusal of a line at its first empty field."""
    at = next(at for at, field in enumerate(line.fields) if not field.strip())
    return problem_at(file, line, field_column(line.text, at, tabbed), f"field {at + 1} is empty.", fix)


def wrong_width(line: ConllLine, width: int, file: str, tabbed: bool) -> Refusal:
    """The refusal of a line with too few fields, at its end, or too many, at the first surplus one."""
    few, name = len(line.fields) < width, "tab" if tabbed else "space"
    column = len(line.text.rstrip()) + 1 if few else field_column(line.text, width, tabbed)
    problem = (
        f"the line has {counted(len(line.fields), 'field')} where {width} {'is' if width == 1 else 'are'} expected."
    )
    fix = f"add what is missing after a {name}" if few else f"remove the surplus {name}"
    return problem_at(file, line, column, problem, f"{fix}; a sentence ends at a blank line")


def problem_at(file: str, line: ConllLine, column: int, problem: str, fix: str) -> Refusal:
    """The refusal of a sentence at one of its lines."""
    return Refusal(file, line.number, column, problem, found=excerpt(line.text), fix=fix)


def field_column(line: str, at: int, tabbed: bool) -> int:
    """The column, from 1, of a field; one past the end of the line where there is no such field."""
    starts = [found.start() for found in re.finditer(r"(?:^|(?<=\t))" if tabbed else r"\S+", line)]
    return starts[at] + 1 if at < len(starts) else len(line) + 1


def read_conllu(text: str, file: str) -> Records:
    """The sentences of a CoNLL-U file; multiword tokens (3-4) and empty nodes (3.1) are left out, and counted."""
    lines = text.split("\n")
    rows: list[tuple[str, ...]] = []
    starts: list[int] = []
    refused: list[Refusal] = []
    left_out = 0
    for block in sentence_blocks(lines, True):
        words = [line for line in block if not line.text.startswith("#")]
        if not words:
            continue
        problem = first_conllu_problem(words, file)
        if problem is not None:
            refused.append(problem)
            continue
        syntax = [line for line in words if line.fields[0].isdigit()]
        left_out += len(words) - len(syntax)
        columns = list(zip(*(line.fields for line in syntax), strict=True))
        rows.append(tuple(LIST_SEPARATOR.join(columns[at]) for at in CONLLU_FIELDS))
        starts.append(syntax[0].number)
    notes = [f"{file} is CoNLL-U, columns {in_words(CONLLU_COLUMNS)}"]
    if left_out:
        notes.append(
            f"{counted(left_out, 'line')} with ids such as 3-4 or 3.1 left out: the words they stand for are read"
        )

    def locate(line: int, number: int) -> Place:
        at = CONLLU_FIELDS[number] if number < len(CONLLU_FIELDS) else CONLLU_WIDTH
        return Place(file, line, field_column(lines[line - 1], at, True))

    return Records(CONLLU_COLUMNS, rows, starts, refused, locate, tuple(notes))


def first_conllu_problem(words: list[ConllLine], file: str) -> Refusal | None:
    """The refusal of a sentence at its first line without ten filled fields or with an id out of order."""
    expected = 1
    for line in words:
        if len(line.fields) != CONLLU_WIDTH:
            return wrong_width(line, CONLLU_WIDTH, file, True)
        number = line.fields[0]
        if not WORD_ID.fullmatch(number):
            return problem_at(file, line, 1, "this is no word id.", "write 1, 2, 3 …, 3-4 or 3.1")
        if number.isdigit():
            if int(number) != expected:
                fix = "number the words of a sentence from 1, and separate sentences by a blank line"
                return problem_at(file, line, 1, f"word {expected} is expected here.", fix)
            expected += 1
        if not all(map(str.strip, line.fields)):
            return empty_field(line, file, True, "write _ for nothing")
    if expected == 1:
        return problem_at(file, words[0], 1, "the sentence has no words.", "give it words, or delete it")
    return None


def fold_words(records: Records) -> Records | None:
    """A table with one word per row as one row per sentence; None for any other table."""
    words = column_of(records, WORD_OF_ROW, lambda cells: sum(" " in cell for cell in cells) <= 0.02 * len(cells))
    sentences = column_of(records, SENTENCE, names_sentences)
    if words < 0 or sentences < 0 or words == sentences:
        return None
    kept = [words, *(at for at in range(len(records.columns)) if at not in (words, sentences))]
    rows: list[tuple[str, ...]] = []
    starts: list[int] = []
    refused = list(records.refused)
    for block in sentence_rows(records, sentences):
        empty = next((at for at in block if not records.rows[at][words].strip()), -1)
        if empty >= 0:
            where, fix = records.locate(records.lines[empty], words), "write the word, or delete the row"
            refused.append(Refusal(*where, "there is no word here.", found=excerpt(str(records.rows[empty])), fix=fix))
            continue
        rows.append(tuple(join_items(records.rows[at][column].strip() or "_" for at in block) for column in kept))
        starts.append(records.lines[block[0]])
    names = tuple(records.columns[at] for at in kept)
    name = records.columns[sentences]
    parting = "blank lines separate" if name == BY_BLANK_LINES else f"column {name!r} separates"
    note = f"each row is a word; {parting} {counted(len(rows), 'sentence')}"

    def locate(line: int, number: int) -> Place:
        return records.locate(line, kept[number] if number < len(kept) else len(records.columns))

    return Records(names, rows, starts, refused, locate, (*records.notes, note))


def with_sentences(records: Records) -> Records:
    """A table with one word per row and blank lines between sentences, with a column that numbers the sentences; any
    other table as it is.
    """
    blanks = sorted(refusal.line for refusal in records.refused if refusal.is_blank)
    named = any(is_named(name, WORD_OF_ROW) for name in records.columns)
    if len(records.columns) < 2 or len(blanks) < 2 or not named:
        return records
    tags = {row[-1] for row in records.rows}
    if len(records.rows) > LONGEST_SENTENCE * len(blanks) or 3 * len(tags) > len(records.rows):
        return records
    numbers = [str(bisect(blanks, line)) for line in records.lines]
    return records._replace(
        columns=(*records.columns, BY_BLANK_LINES),
        rows=[(*row, number) for row, number in zip(records.rows, numbers, strict=True)],
        refused=[refusal for refusal in records.refused if not refusal.is_blank],
    )


def column_of(records: Records, names: frozenset[str], fits: Callable[[list[str]], bool]) -> int:
    """The index of the first column with such a name whose cells fit; -1 where there is none."""
    for at, name in enumerate(records.columns):
        if is_named(name, names) and fits([row[at].strip() for row in records.rows[:SAMPLE]]):
            return at
    return -1


def names_sentences(cells: Sequence[str]) -> bool:
    """Whether cells name the sentence of each word, or of its first word: most are empty or equal to the one before."""
    same = sum(not after or after == before for before, after in pairwise(cells))
    return len(cells) > 1 and bool(cells[0]) and 2 * same >= len(cells) - 1


def sentence_rows(records: Records, column: int) -> list[list[int]]:
    """The indices of the rows of each sentence."""
    blocks: list[list[int]] = []
    current = ""
    for at, row in enumerate(records.rows):
        key = row[column].strip()
        if not blocks or (key and key != current):
            blocks.append([])
        current = key or current
        blocks[-1].append(at)
    return blocks
