"""Sentences with a tag for each word, from CoNLL files or any table with a column of words and one of tags.

Number sequences, each with a number, from any table: what cannot be read is refused by file, line and column.
"""

from collections.abc import Sequence

from atento.data.columns.roles import items, look_at, text_column, words_and_tags
from atento.data.examples.labelled import open_table, require_text_column, said
from atento.data.examples.pairs import Pair, Pairs, collect, empty_cell, find_column, nothing_left
from atento.data.records import BadRows, Refusal, counted, excerpt, in_words, join, stop_or_skip
from atento.data.tables.number_lists import Problem, as_number, read_steps
from atento.data.tables.table import Table
from atento.errors import InputError
from atento.spec import DataRecipe


def read_tagged(recipe: DataRecipe, file: str) -> Pairs:
    """Every sentence, its words and its tags each with tabs between."""
    table = open_table(recipe, file, (recipe.source, recipe.label))
    words, tags = word_and_tag_columns(table, recipe)

    def pair_of(at: int) -> Pair | Refusal:
        row = table.rows[at]
        source, target = items(row[words]), items(row[tags])
        if not source:
            return empty_cell(table, at, words)
        if len(source) != len(target):
            return Refusal(
                *table.place(at, tags),
                f"there are {counted(len(source), 'word')} and {counted(len(target), 'tag')}.",
                found=f"{excerpt(' '.join(source))} and {excerpt(' '.join(target))}",
                fix="give every word one tag",
            )
        return join(source), join(target)

    notes = said(table, (words, "the words", recipe.source), (tags, "the tags", recipe.label))
    keys = {"source": words, "label": tags}
    return collect(table, pair_of, recipe.bad_rows, columns=(words, tags), notes=notes, keys=keys)


def word_and_tag_columns(table: Table, recipe: DataRecipe) -> tuple[int, int]:
    """The columns of the words and of their tags."""
    asked = find_column(table, recipe.source, "data.source"), find_column(table, recipe.label, "data.label")
    words, tags = asked if min(asked) >= 0 else words_and_tags(look_at(table), *asked)
    if min(words, tags) < 0:
        raise InputError(
            f"{table.file}:1: no column of words has one of tags beside it, as many in each cell.",
            found=f"the columns {in_words(table.columns)}",
            fix="name them: --set data.source=... --set data.label=...",
        )
    return words, tags


def words_at(table: Table, recipe: DataRecipe) -> int:
    """The column of the words, whether or not there are tags."""
    asked = find_column(table, recipe.source, "data.source")
    looks = look_at(table)
    words, tags = words_and_tags(looks, asked)
    return words if words >= 0 else require_text_column(table, text_column(looks, taken={tags}))


def only_numbers(pairs: Pairs, bad_rows: BadRows) -> Pairs:
    """The pairs whose source is a sequence of numbers, as wide as the first one's, and whose target is a number."""
    table, kept, lines, refused = pairs.table, [], [], list(pairs.refused)
    rows = {line: row for row, line in enumerate(table.lines)}
    source, target = (table.columns.index(name) for name in (pairs.source_column, pairs.target_column))
    channels = 0
    for pair, line in zip(pairs.pairs, pairs.lines, strict=True):
        steps = read_steps(pair[0], channels=channels)
        if isinstance(steps, Problem):
            refused.append(refusal(table, rows[line], source, steps))
        elif as_number(pair[1]) is None:
            fix = "write one number there"
            refused.append(
                refusal(table, rows[line], target, Problem(0, "this is not a number.", excerpt(pair[1]), fix))
            )
        else:
            channels = channels or len(steps[0])
            kept.append(pair)
            lines.append(line)
    ordered = stop_or_skip(refused, bad_rows)
    if not kept:
        raise nothing_left(pairs.file, ordered)
    return pairs._replace(pairs=tuple(kept), lines=tuple(lines), refused=ordered)


def refuse_sources(table: Table, column: int, rows: Sequence[int]) -> dict[int, Refusal]:
    """The refusals of those rows whose cell is no sequence, or not as wide as the first one."""
    refused: dict[int, Refusal] = {}
    channels = 0
    for row in rows:
        steps = read_steps(table.rows[row][column], channels=channels)
        if isinstance(steps, Problem):
            refused[row] = refusal(table, row, column, steps)
        else:
            channels = channels or len(steps[0])
    return refused


def refusal(table: Table, row: int, column: int, problem: Problem) -> Refusal:
    """What is wrong in a cell, at its place in the file."""
    file, line, begins = table.place(row, column)
    cell, after = table.rows[row][column], table.place(row, column + 1)
    quote = after.line == line and after.column - begins - len(cell) >= 2  # a delimiter alone takes one
    begins += quote + len(cell) - len(cell.lstrip())
    return Refusal(file, line, begins + problem.at, problem.problem, found=problem.found, fix=problem.fix)
