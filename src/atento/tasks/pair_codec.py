"""Two vocabularies, one for each side of a pair."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from atento.data.levels import choose_level, learn_vocabulary, load_vocabulary
from atento.data.vocabulary import END, START, Vocabulary
from atento.errors import InputError
from atento.spec import TokensRecipe

LEVEL_WORDS = {"char": "characters", "word": "words", "subword": "subwords"}


class EncodedPair(NamedTuple):
    """Token numbers of both sides."""

    source: list[int]
    previous: list[int]  # start mark, then the target
    target: list[int]  # the target, then the end mark


class PairCodec:
    """Pairs of texts <-> pairs of token lists."""

    def __init__(self, source: Vocabulary, target: Vocabulary, *, longest: int, notes: tuple[str, ...] = ()) -> None:
        self.source, self.target, self.longest, self.notes = source, target, longest, notes

    @classmethod
    def learn(cls, recipe: TokensRecipe, pairs: Sequence[tuple[str, str]]) -> "PairCodec":
        """Levels and vocabularies from the training part alone."""
        vocabularies, notes = [], []
        for side, asked, texts in (
            ("source", recipe.source, [source for source, _ in pairs]),
            ("target", recipe.target, [target for _, target in pairs]),
        ):
            level, reason = (asked, "as asked") if asked != "auto" else choose_level(texts)
            vocabularies.append(learn_vocabulary(level, texts, size=recipe.size, least_count=recipe.least_count))
            notes.append(f"{side}: {len(vocabularies[-1])} {LEVEL_WORDS[level]} ({reason})")
        longest = max(len(vocabularies[1].encode(target)) for _, target in pairs)
        return cls(vocabularies[0], vocabularies[1], longest=longest + longest // 2 + 5, notes=tuple(notes))

    @classmethod
    def load(cls, saved: Mapping[str, Any]) -> "PairCodec":
        """What `to_json` wrote."""
        longest = saved.get("longest")
        if not isinstance(longest, int) or longest < 1:
            raise InputError("the vocabulary file names no longest output.", found=repr(longest), fix="train again")
        return cls(load_vocabulary(saved.get("source")), load_vocabulary(saved.get("target")), longest=longest)

    def to_json(self) -> dict[str, Any]:
        """Both vocabularies, and how long an output may become."""
        return {"source": self.source.to_json(), "target": self.target.to_json(), "longest": self.longest}

    def encode(self, pair: tuple[str, str]) -> EncodedPair:
        """A training pair."""
        target = self.target.encode(pair[1])
        return EncodedPair(self.source.encode(pair[0]), [START, *target], [*target, END])
