"""Two texts and a label that says how they stand to each other, from any table."""

from atento.data.labelled import no_label, open_table, said
from atento.data.lists import join
from atento.data.pairs import Pair, Pairs, collect, empty_cell, find_column
from atento.data.records import Refusal, in_words
from atento.data.roles import label_column, look_at, two_texts
from atento.data.tables import Table
from atento.errors import InputError
from atento.spec import DataRecipe


def read_matches(recipe: DataRecipe, file: str) -> Pairs:
    """Every couple of texts, a tab between them, with its label."""
    table = open_table(recipe, file, (recipe.source, recipe.target, recipe.label))
    first, second, label = two_texts_and_label(table, recipe)

    def pair_of(at: int) -> Pair | Refusal:
        row = table.rows[at]
        empty = next((column for column in (first, second, label) if not row[column].strip()), -1)
        if empty >= 0:
            return empty_cell(table, at, empty)
        return join((row[first].strip(), row[second].strip())), row[label].strip()

    notes = said(
        table,
        (first, "the first text", recipe.source),
        (second, "the second text", recipe.target),
        (label, "the label", recipe.label),
    )
    keys = {"source": first, "target": second, "label": label}
    return collect(table, pair_of, recipe.bad_rows, columns=(first, label), notes=notes, keys=keys)


def two_texts_and_label(table: Table, recipe: DataRecipe) -> tuple[int, int, int]:
    """The columns of both texts and of the label."""
    label = find_column(table, recipe.label, "data.label")
    asked = {find_column(table, recipe.source, "data.source"), find_column(table, recipe.target, "data.target")}
    looks = look_at(table)
    if label < 0:
        label = label_column(looks, taken={*asked, *two_texts(looks)})
    if label < 0:
        raise no_label(table)
    return *two_columns(table, recipe, {label}), label


def two_columns(table: Table, recipe: DataRecipe, taken: set[int]) -> tuple[int, int]:
    """The columns of both texts, as named or as found."""
    first = find_column(table, recipe.source, "data.source")
    second = find_column(table, recipe.target, "data.target")
    looks = look_at(table)
    guess = two_texts(looks, taken)
    if min(guess) < 0:
        rest = [look.at for look in looks if look.at not in taken and not look.numeric]
        guess = (rest[0], rest[1]) if len(rest) == 2 else guess
    if first < 0 <= second:
        first = next((at for at in guess if at != second), -1)
    elif second < 0 <= first:
        second = next((at for at in guess if at != first), -1)
    elif first < 0:
        first, second = guess
    if min(first, second) < 0:
        raise InputError(
            f"{table.file}:1: two columns of text are needed.",
            found=f"the columns {in_words(table.columns)}",
            fix="name them: --set data.source=... --set data.target=...",
        )
    return first, second
