"""Number sequences, each with a number, from any table: what cannot be read is refused by file, line and column."""

from collections.abc import Sequence

from atento.data.number_sequences import Problem, as_number, read_steps
from atento.data.pairs import Pairs, nothing_left
from atento.data.records import BadRows, Refusal, excerpt, stop_or_skip
from atento.data.tables import Table


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
