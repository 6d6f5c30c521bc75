"""Two texts and how they stand to each other: one vocabulary for both, what each has of the other, the labels."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from atento.data.levels import learn_vocabulary, load_vocabulary
from atento.data.lists import BETWEEN
from atento.data.vocabulary import UNKNOWN, Vocabulary
from atento.errors import InputError
from atento.models.matcher import ECHOES
from atento.spec import TokensRecipe
from atento.tasks.label_codec import LEVEL_WORDS, choose_level, load_lower, prepare
from atento.tasks.labelling import KnownLabels, labels_of, load_labels

TYPED = "|||"  # between two texts where a tab cannot be typed
ONLY_HERE, ALIKE, SAME = (ECHOES.index(echo) for echo in ("only here", "alike there", "the same there"))
BEGINNING = 4  # letters in which words that are alike agree: walk, walks, walking


class EncodedMatch(NamedTuple):
    """Token numbers of both texts, the echo of each token, and the label's number."""

    first: list[int]
    first_echo: list[int]
    second: list[int]
    second_echo: list[int]
    label: int


class MatchCodec(KnownLabels):
    """Pairs of texts and labels <-> numbers."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        labels: Sequence[str],
        counts: Sequence[int],
        *,
        lower: bool,
        notes: tuple[str, ...] = (),
    ) -> None:
        super().__init__(labels, counts, notes=notes)
        self.vocabulary, self.lower = vocabulary, lower

    @classmethod
    def learn(cls, recipe: TokensRecipe, pairs: Sequence[tuple[str, str]]) -> "MatchCodec":
        """Level, vocabulary and labels from the training part alone."""
        texts = [text for source, _ in pairs for text in two_texts(source)]
        level, reason = (recipe.source, "as asked") if recipe.source != "auto" else choose_level(texts)
        lower = recipe.lower and (level != "char" or recipe.source != "auto")
        cut = [prepare(text, lower=lower) for text in texts]
        vocabulary = learn_vocabulary(level, cut, size=recipe.size, least_count=recipe.least_count)
        labels, counts, common = labels_of([label for _, label in pairs])
        small = ", capital letters read as small ones" * lower
        notes = (f"both texts: {len(vocabulary)} {LEVEL_WORDS[level]} ({reason}){small}", common)
        return cls(vocabulary, labels, counts, lower=lower, notes=notes)

    @classmethod
    def load(cls, saved: Mapping[str, Any]) -> "MatchCodec":
        """What `to_json` wrote."""
        labels, counts = load_labels(saved)
        return cls(load_vocabulary(saved.get("vocabulary")), labels, counts, lower=load_lower(saved))

    def to_json(self) -> dict[str, Any]:
        """The vocabulary, and every label with how often it was true."""
        return {
            "vocabulary": self.vocabulary.to_json(),
            "labels": list(self.labels),
            "counts": list(self.counts),
            "lower": self.lower,
        }

    def encode(self, pair: tuple[str, str]) -> EncodedMatch:
        """A training example; a label that training never met counts as the first."""
        return self.read(pair[0])._replace(label=self.numbers.get(pair[1], 0))

    def read(self, source: str) -> EncodedMatch:
        """Both texts of a source, and what each has of the other's words; never no token at all."""
        first, second = (prepare(text, lower=self.lower) for text in two_texts(source))
        here, there = self.surfaces(first), self.surfaces(second)
        return EncodedMatch(
            self.vocabulary.encode(first) or [UNKNOWN],
            echoes(here, there) or [ONLY_HERE],
            self.vocabulary.encode(second) or [UNKNOWN],
            echoes(there, here) or [ONLY_HERE],
            0,
        )

    def surfaces(self, text: str) -> list[str]:
        """Each token as it stands in the text, in small letters: known to the vocabulary or not."""
        return [text[start:end].lower() for start, end in self.vocabulary.offsets(text)]

    def pieces(self, source: str) -> tuple[list[str], list[str]]:
        """The tokens of both texts as a person reads them."""
        first, second = (prepare(text, lower=False) for text in two_texts(source))
        cut = ([text[start:end] for start, end in self.vocabulary.offsets(text)] for text in (first, second))
        here, there = (pieces or ["<unknown>"] for pieces in cut)
        return here, there


def two_texts(source: str) -> tuple[str, str]:
    """The two texts of a source."""
    for sign in (BETWEEN, TYPED):
        first, found, second = source.partition(sign)
        if found:
            return first.strip(), second.strip()
    raise InputError(
        "a match needs two texts, with a tab between them.",
        found=repr(source[:80]),
        fix=f"write both with a tab, or {TYPED}, between them",
    )


def echoes(own: Sequence[str], other: Sequence[str]) -> list[int]:
    """What the other text has of each token: the very same, one that begins alike, or nothing."""
    words, beginnings = set(other), {start for word in other for start in beginnings_of(word)}
    return [
        SAME if word in words else ALIKE if beginnings.intersection(beginnings_of(word)) else ONLY_HERE for word in own
    ]


def beginnings_of(word: str) -> set[str]:
    """What a word must share with one that is alike: its first letters, of a short word one letter fewer as well."""
    if len(word) < BEGINNING - 1 or not word[:1].isalpha():
        return set()
    return {word[:BEGINNING]} | ({word[: BEGINNING - 1]} if len(word) <= BEGINNING else set())
