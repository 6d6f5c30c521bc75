"""A sequence of numbers in one cell as a source, and a number as a target: what is none is refused at its place."""

from collections.abc import Sequence
from math import isfinite

from atento.data.columns.numbers import column_numbers
from atento.data.columns.roles import sample_columns
from atento.data.examples.pairs import ExampleSource, ExampleTarget, Half, empty_cell, no_column, one_column, text_cell
from atento.data.examples.translations import TranslationTarget, source_columns
from atento.data.numbers.cells import LARGEST_NUMBER
from atento.data.numbers.reading import suggest_fix, tell_decided, write_plain
from atento.data.records import Refusal, excerpt
from atento.data.tables.number_lists import ParseProblem, read_steps, too_large
from atento.data.tables.table import Table
from atento.spec import DataRecipe


class NumberListSource(ExampleSource):
    """A sequence of numbers in a cell, as many channels in each as in the first."""

    def find(self, table: Table, recipe: DataRecipe, file: str, taken: Sequence[int]) -> Half:
        """By name, else by the names of source and target, else the first column of text."""
        channels = 0

        def value(table: Table, row: int, column: int) -> str | Refusal:
            nonlocal channels
            text = text_cell(table, row, column)
            if isinstance(text, Refusal):
                return text
            steps = read_steps(text, channels=channels)
            if isinstance(steps, ParseProblem):
                return refusal(table, row, column, steps)
            channels = channels or len(steps[0])
            return text

        at, _ = source_columns(table, recipe, taken)
        return one_column(table, at, recipe, key="source", role="sequence", cell=value)._replace(guesses=())


class NumberTarget(ExampleTarget):
    """A number of each source."""

    keys = ("target",)

    def find(self, table: Table, recipe: DataRecipe, source: Half) -> Half:
        """By name, else the column of numbers with most different values."""
        at = next(iter(self.named(table, recipe)), -1)
        if at < 0:
            looks = [look for look in sample_columns(table) if look.index not in source.columns]
            free = [look for look in looks if look.cells and look.is_numeric]
            if not free:
                raise no_column(table, "numbers", "target")
            at = max(free, key=lambda look: look.distinct).index
        return with_numbers(one_column(table, at, recipe, key="target", role="target", what="the number"), recipe)


class PairedNumberTarget(TranslationTarget):
    """A number in the second of two columns."""

    def find(self, table: Table, recipe: DataRecipe, source: Half) -> Half:
        """As the target of a translation."""
        return with_numbers(super().find(table, recipe, source), recipe)


def with_numbers(half: Half, recipe: DataRecipe) -> Half:
    """A half whose column holds numbers, with its cells as Python writes numbers; a cell that is none is refused."""
    table, at = half.table, half.columns[0]
    numbers = column_numbers(table, at, recipe.decimal)
    written = write_plain([row[at] for row in table.rows], numbers)

    def value(row: int) -> str | Refusal:
        text = table.rows[row][at].strip()
        if numbers.empty[row]:
            return empty_cell(table, row, at)
        if numbers.invalid[row] or not isfinite(numbers.values[row]):
            return refusal(table, row, at, ParseProblem(0, "this is not a number.", excerpt(text), suggest_fix(text)))
        if abs(numbers.values[row]) > LARGEST_NUMBER:
            return refusal(table, row, at, too_large(0, text))
        return text if numbers.is_plain else written[row]

    notes = (*half.notes, *tell_decided([(table.columns[at], numbers)]))
    return half._replace(value=value, notes=notes)


def refusal(table: Table, row: int, column: int, problem: ParseProblem) -> Refusal:
    """What is wrong in a cell, at its place in the file."""
    cell = table.rows[row][column]
    return problem.refusal(table.place_inside(row, column, len(cell) - len(cell.lstrip()) + problem.at))
