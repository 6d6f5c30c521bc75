"""A list of texts as one text: tabs stand between its items, for no item of a table's cell holds one.

The words and tags of a sentence, the labels of a text and the two texts of a pair all travel so, through tables,
examples, predictions and reports.
"""

from collections.abc import Iterable

BETWEEN = "\t"


def join(items: Iterable[str]) -> str:
    """One text; a tab inside an item becomes a space."""
    return BETWEEN.join(item.replace(BETWEEN, " ") for item in items)


def split(text: str) -> list[str]:
    """The items again; an empty text is an empty list."""
    return text.split(BETWEEN) if text else []
