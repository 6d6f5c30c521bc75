"""Texts as sources and targets: one text, two texts, and a text that is written."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from atento.data.columns.roles import is_text, label_column, sample_columns, text_column, two_texts
from atento.data.examples.pairs import (
    COMMA,
    ExampleSource,
    ExampleTarget,
    Guess,
    Half,
    find_column,
    no_column,
    one_column,
    text_cell,
)
from atento.data.records import Refusal, in_words, join_items
from atento.data.tables.table import Table
from atento.errors import InputError
from atento.spec import DataRecipe


class TextSource(ExampleSource):
    """One text of each row."""

    def find(self, table: Table, recipe: DataRecipe, file: str, taken: Sequence[int]) -> Half:
        """By name, else the longest column that is neither numbers, labels nor addresses."""
        return one_column(table, text_at(table, recipe, taken), recipe, key="source", role="text")


def text_at(table: Table, recipe: DataRecipe, taken: Sequence[int] = ()) -> int:
    """The column of the texts, as named or as found."""
    named = find_column(table, recipe.source, "data.source")
    at = named if named >= 0 else text_column(sample_columns(table), taken)
    if at < 0:
        raise no_column(table, "texts", "source")
    return at


class TwoTextSource(ExampleSource):
    """Two texts of each row, with a tab between; data.source names the first and data.target the second."""

    keys = ("source", "target")

    def find(self, table: Table, recipe: DataRecipe, file: str, taken: Sequence[int]) -> Half:
        """By name, else by well-known names or as the two longest columns of text."""
        first, second = (
            find_column(table, recipe.source, "data.source"),
            find_column(table, recipe.target, "data.target"),
        )
        looks = sample_columns(table)
        if not taken and len(table.columns) > 2:  # texts are easier to tell once a label is set aside
            taken = [label_column(looks, taken={first, second, *two_texts(looks)})]
        guess = two_texts(looks, taken)
        rest = [look.index for look in looks if look.index not in taken and not look.is_numeric]
        if min(guess) < 0 and len(rest) == 2:
            guess = (rest[0], rest[1])
        if first < 0 <= second:
            first = next((at for at in guess if at != second), -1)
        elif second < 0 <= first:
            second = next((at for at in guess if at != first), -1)
        elif first < 0:
            first, second = guess
        if min(first, second) < 0:
            raise two_needed(table, "--set data.source=... --set data.target=...")
        names = table.columns[first], table.columns[second]
        guesses = [
            Guess(name, f"the {which} text", key)
            for name, which, key in zip(names, ("first", "second"), self.keys, strict=True)
            if not getattr(recipe, key)
        ]
        keys = dict(zip(self.keys, names, strict=True))
        return both(table, first, second, keys)._replace(guesses=tuple(guesses))


class TwoTextsInOneKey(ExampleSource):
    """Two texts of each row, with a tab between; data.source names both, with a comma between."""

    def find(self, table: Table, recipe: DataRecipe, file: str, taken: Sequence[int]) -> Half:
        """By name, else the first two columns of text."""
        named = [find_column(table, name.strip(), "data.source") for name in recipe.source.split(COMMA) if name.strip()]
        found = named or [look.index for look in sample_columns(table) if look.index not in taken and is_text(look)][:2]
        if len(found) != 2:
            raise two_needed(table, "--set data.source=FIRST,SECOND --set data.target=...")
        names = f"{table.columns[found[0]]}{COMMA}{table.columns[found[1]]}"
        half = both(table, found[0], found[1], {"source": names})
        guesses = [Guess(name, f"the {role}", "source") for name, role in half.roles.items()]
        return half if named else half._replace(guesses=tuple(guesses))


def both(table: Table, first: int, second: int, keys: dict[str, str]) -> Half:
    """The texts of two columns."""

    def value(row: int) -> str | Refusal:
        one, other = text_cell(table, row, first), text_cell(table, row, second)
        if isinstance(one, Refusal) or isinstance(other, Refusal):
            return one if isinstance(one, Refusal) else other
        return join_items((one, other))

    roles = {table.columns[first]: "first text", table.columns[second]: "second text"}
    return Half(table, (first, second), value, keys, roles)


def two_needed(table: Table, settings: str) -> InputError:
    """The error for a table with fewer than two columns of text."""
    return InputError(
        f"{table.file}:1: two columns of text are needed.",
        found=f"the columns {in_words(table.columns)}",
        fix=f"name them: {settings}",
    )


@dataclass(frozen=True)
class TextTarget(ExampleTarget):
    """A text that is written of each source."""

    guess: Callable[[Table, Sequence[int]], int]  # table, columns of the source -> the column of the texts; -1: none
    role: str = "target"
    what: str = "the target"
    keys = ("target",)

    def find(self, table: Table, recipe: DataRecipe, source: Half) -> Half:
        """By name, else by the guess."""
        at = next(iter(self.named(table, recipe)), -1)
        at = at if at >= 0 else self.guess(table, source.columns)
        if at < 0:
            raise no_column(table, "texts" if self.role == "target" else f"{self.role}s", "target")
        return one_column(table, at, recipe, key="target", role=self.role, what=self.what)


def most_varied_text(table: Table, taken: Sequence[int]) -> int:
    """The column of text with most different cells; -1: there is none."""
    free = [look for look in sample_columns(table) if look.index not in taken and look.cells]
    texts = [look for look in free if not look.is_numeric] or free
    return max(texts, key=lambda look: look.distinct).index if texts else -1
