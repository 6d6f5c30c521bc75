"""Simple models of lists, where examples are texts with tabs between their items."""

from collections.abc import Callable, Sequence
from typing import Any

from atento.data.lists import split
from atento.data.sentence_words import words_of


class OnLists:
    """A simple model that learns lists of tags from lists of words, asked with texts."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.model = make()
        self.name: str = self.model.name
        self.summary: str = self.model.summary

    def fit(self, sources: Sequence[str], targets: Sequence[str]) -> "OnLists":
        """Learn from the training part."""
        self.model.fit([words_of(source) for source in sources], [split(target) for target in targets])
        return self

    def predict(self, sources: Sequence[str]) -> list[list[str]]:
        """The tags of each source, as a list."""
        answers: list[list[str]] = self.model.predict([words_of(source) for source in sources])
        return answers
