"""Two texts and how they stand to each other: one vocabulary for both, what each has of the other, the labels.

One pass of a matcher, part by part, with its matrices: for teaching.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from atento.data.records import BETWEEN
from atento.data.text.levels import learn_vocabulary, load_vocabulary
from atento.data.text.vocabulary import UNKNOWN, Vocabulary
from atento.errors import InputError
from atento.models.matcher import ECHOES, CoMatcher, JointMatcher, MatchBatch, Matcher, TwoTowers
from atento.spec import TokensRecipe
from atento.tasks.classify.labels import KnownLabels, labels_of, load_labels
from atento.tasks.classify.text_codec import LEVEL_WORDS, choose_level, load_lower, prepare
from atento.tasks.traces import Trace, entry

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


# Axes: T items of the first text, N of the second, D size, C labels.


def trace_match(
    matcher: Matcher, codec: MatchCodec, rows: MatchBatch, pieces: tuple[Sequence[str], Sequence[str]]
) -> list[Trace]:
    """From the tokens of both texts to the label: each entry has a title, a formula, labels and a matrix."""
    first, second = pieces
    both = matcher.sum_up(rows)
    chances = matcher.verdict(both).softmax(dim=-1)
    return [
        *read_traces(matcher, rows, first, second),
        *weight_traces(matcher, rows, first, second),
        entry("summaries", "each text in one vector: u, v", ["first", "second"], torch.cat(list(both))),
        entry(
            "label",
            "softmax(W₂ ReLU(W₁ [u; v; |u − v|; u ∗ v]))",
            ["p"],
            chances,
            columns=[str(x) for x in codec.labels],
        ),
    ]


def read_traces(matcher: Matcher, rows: MatchBatch, first: Sequence[str], second: Sequence[str]) -> list[Trace]:
    """What was read of each text: the numbers of its tokens, and its states."""
    traces = []
    for text, pieces, tokens, valid, echo in (("first", first, *rows[0:3]), ("second", second, *rows[3:6])):
        numbers = torch.stack([tokens[0], echo[0]], dim=1).float()
        said = ", ".join(f"{number} {word}" for number, word in enumerate(ECHOES) if number)
        traces.append(
            entry(f"{text} text", f"each piece is a number; echo: {said}", pieces, numbers, columns=["number", "echo"])
        )
        states = states_of(matcher, tokens, valid, echo)
        if states is not None:
            traces.append(entry(f"{text} states", "one vector a piece", pieces, states[0]))
    if isinstance(matcher, JointMatcher):
        joined = matcher.join(rows)
        states = matcher.stack(joined.values, valid=joined.valid)
        traces.append(entry("states", "both texts as one sequence", [*first, *second], states[0]))
    return traces


def states_of(matcher: Matcher, tokens: Tensor, valid: Tensor, echo: Tensor) -> Tensor | None:
    """States (B, T, D) of one text by itself; None where both are read as one."""
    if isinstance(matcher, TwoTowers):
        return matcher.encoder.encode(tokens, valid).states
    return matcher.read(tokens, valid, echo) if isinstance(matcher, CoMatcher) else None


def weight_traces(matcher: Matcher, rows: MatchBatch, first: Sequence[str], second: Sequence[str]) -> list[Trace]:
    """Where the second text looked in the first."""
    weights: Any = matcher.weights(rows)[0]
    return [
        entry(
            f"weights, layer {layer + 1}, head {head + 1}",
            "how much each piece of the second text took of each of the first",
            second,
            matrix,
            columns=first,
        )
        for layer, heads in enumerate(weights)
        for head, matrix in enumerate(heads)
    ]
