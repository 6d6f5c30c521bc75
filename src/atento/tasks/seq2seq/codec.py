"""Two vocabularies, one for each side of a pair."""

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from atento.data.text.levels import learn_source, learn_target, load_vocabulary
from atento.data.text.vocabulary import END, START, Vocabulary
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
    """Pairs of texts <-> pairs of token lists; `lower`: capital letters of a source are read as small ones."""

    def __init__(
        self,
        source: Vocabulary,
        target: Vocabulary,
        *,
        limits: Limits,
        lower: bool = False,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.source, self.target, self.limits, self.lower, self.notes = source, target, limits, lower, notes

    @classmethod
    def learn(cls, recipe: TokensRecipe, pairs: Sequence[tuple[str, str]]) -> "PairCodec":
        """Levels and vocabularies from the training part alone."""
        vocabularies, notes = [], []
        if recipe.lower:
            pairs = [(source.lower(), target) for source, target in pairs]
            notes.append("source: capital letters are read as small ones")
        for side, asked, learn, texts in (
            ("source", recipe.source, learn_source, [source for source, _ in pairs]),
            ("target", recipe.target, learn_target, [target for _, target in pairs]),
        ):
            vocabulary, level, reason = learn(asked, texts, size=recipe.size, least_count=recipe.least_count)
            vocabularies.append(vocabulary)
            notes.append(f"{side}: {len(vocabulary)} {LEVEL_WORDS[level]} ({reason})")
        sample = pairs[:: 1 + len(pairs) // SAMPLE]
        limits = Limits.of(
            [vocabularies[0].encode(source) for source, _ in sample],
            [vocabularies[1].encode(target) for _, target in sample],
        )
        return cls(vocabularies[0], vocabularies[1], limits=limits, lower=recipe.lower, notes=tuple(notes))

    @classmethod
    def load(cls, saved: Mapping[str, Any]) -> "PairCodec":
        """What `to_json` wrote."""
        longest, growth = saved.get("longest"), saved.get("growth")
        if not isinstance(longest, int) or not 1 <= longest <= MOST_TOKENS or not isinstance(growth, float):
            raise InputError("the vocabulary file names no longest output.", found=repr(longest), fix="train again")
        source, target = load_vocabulary(saved.get("source")), load_vocabulary(saved.get("target"))
        return cls(source, target, limits=Limits(longest, growth), lower=saved.get("lower") is True)

    def to_json(self) -> dict[str, Any]:
        """Both vocabularies, how a source is read, and how long an output may become."""
        sides = {"source": self.source.to_json(), "target": self.target.to_json()}
        return {**sides, "lower": self.lower, **self.limits._asdict()}

    def read(self, source: str) -> list[int]:
        """The tokens of a source, as training read it."""
        text = prepare_text(source)
        return self.source.encode(text.lower() if self.lower else text)

    def encode(self, pair: tuple[str, str]) -> EncodedPair:
        """A training pair."""
        target = self.target.encode(pair[1])
        source = pair[0].lower() if self.lower else pair[0]
        return EncodedPair(self.source.encode(source), [START, *target], [*target, END])
