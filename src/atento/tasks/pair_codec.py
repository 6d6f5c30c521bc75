"""Two vocabularies, one for each side of a pair."""

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from atento.data.levels import choose_level, learn_vocabulary, load_vocabulary
from atento.data.vocabulary import END, START, Vocabulary
from atento.errors import InputError
from atento.spec import TokensRecipe

SAMPLE = 20_000  # pairs whose lengths are looked at
MOST_TOKENS = 1_000_000
LEVEL_WORDS = {"char": "characters", "word": "words", "subword": "subwords"}


class EncodedPair(NamedTuple):
    """Token numbers of both sides."""

    source: list[int]
    previous: list[int]  # start mark, then the target
    target: list[int]  # the target, then the end mark


class Limits(NamedTuple):
    """How long an output may become, from what the training part had."""

    longest: int  # for any source
    growth: float  # output tokens for each source token

    @classmethod
    def of(cls, sources: Sequence[list[int]], targets: Sequence[list[int]]) -> "Limits":
        """Half as long again as the longest; twice the growth that 999 in 1000 keep."""
        longest = max(map(len, targets))
        growths = sorted(len(target) / max(1, len(source)) for source, target in zip(sources, targets, strict=True))
        return cls(longest + longest // 2 + 5, 2 * growths[int(0.999 * (len(growths) - 1))])

    def tokens(self, source_tokens: int) -> int:
        """The most tokens for a source of that length."""
        return min(self.longest, int(self.growth * source_tokens) + 10)


def prepare_text(text: str) -> str:
    """As training text was: composed characters, no outer white space."""
    return unicodedata.normalize("NFC", text).strip()


class PairCodec:
    """Pairs of texts <-> pairs of token lists."""

    def __init__(self, source: Vocabulary, target: Vocabulary, *, limits: Limits, notes: tuple[str, ...] = ()) -> None:
        self.source, self.target, self.limits, self.notes = source, target, limits, notes

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
        sample = pairs[:: 1 + len(pairs) // SAMPLE]
        limits = Limits.of(
            [vocabularies[0].encode(source) for source, _ in sample],
            [vocabularies[1].encode(target) for _, target in sample],
        )
        return cls(vocabularies[0], vocabularies[1], limits=limits, notes=tuple(notes))

    @classmethod
    def load(cls, saved: Mapping[str, Any]) -> "PairCodec":
        """What `to_json` wrote."""
        longest, growth = saved.get("longest"), saved.get("growth")
        if not isinstance(longest, int) or not 1 <= longest <= MOST_TOKENS or not isinstance(growth, float):
            raise InputError("the vocabulary file names no longest output.", found=repr(longest), fix="train again")
        limits = Limits(longest, growth)
        return cls(load_vocabulary(saved.get("source")), load_vocabulary(saved.get("target")), limits=limits)

    def to_json(self) -> dict[str, Any]:
        """Both vocabularies, and how long an output may become."""
        return {"source": self.source.to_json(), "target": self.target.to_json(), **self.limits._asdict()}

    def encode(self, pair: tuple[str, str]) -> EncodedPair:
        """A training pair."""
        target = self.target.encode(pair[1])
        return EncodedPair(self.source.encode(pair[0]), [START, *target], [*target, END])
