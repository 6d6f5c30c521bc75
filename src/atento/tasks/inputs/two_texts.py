"""Two texts as an input, with a tab between them: one vocabulary for both, and what each has of the other's words.

For labels and numbers a matcher reads them; for a text to be written they are one sequence, with an end token between.
"""

from collections.abc import Sequence
from typing import Self

import torch
from torch import Tensor

from atento.blocks.pooling import AttentionPooling
from atento.data.examples.batches import pad, read_as_unknown
from atento.data.text.encoding import EncodedTexts, encode_two_texts, two_texts
from atento.data.text.levels import learn_target, learn_vocabulary, load_vocabulary, prepare
from atento.data.text.vocabulary import END, Vocabulary
from atento.data.text.words import split_sentences
from atento.models.builders.choices import HeadMaker
from atento.models.builders.encoder_decoder import build_translator
from atento.models.builders.matcher import build_matcher
from atento.models.matcher import OVERLAPS, CoAttentionMatcher, JointMatcher, MatchBatch, Matcher, TwoTowers
from atento.models.protocols import Encoder
from atento.models.translator import Translator
from atento.spec import ModelRecipe, TokensRecipe
from atento.tasks.inputs.input import (
    EncoderDecoderInput,
    HasWords,
    ManyToOneInput,
    PaddedSources,
    SourceView,
    TakesVocabulary,
)
from atento.tasks.inputs.text import adopted_note, load_flag, reading_of, vocabularies_of, vocabulary_note
from atento.tasks.task import Answer, Saved
from atento.tasks.traces import Alignment, TraceMatrix, trace_matrix

# Axes: B batch, T tokens of the first text, N of the second, D size, L layers, H heads.

EVIDENCE_WORDS = 3  # shown where the first text is one sentence


class TwoTexts(
    ManyToOneInput[EncodedTexts, MatchBatch, Matcher],
    EncoderDecoderInput[EncodedTexts],
    HasWords[MatchBatch],
    TakesVocabulary,
):
    """Pairs of texts <-> token numbers."""

    kind = "two texts"
    texts = "both texts"
    vocabulary: Vocabulary

    def __init__(self, vocabulary: Vocabulary, *, lower: bool, notes: tuple[str, ...] = ()) -> None:
        self.vocabulary, self.lower, self.notes = vocabulary, lower, notes

    @classmethod
    def learn(cls, recipe: TokensRecipe, sources: Sequence[str], *, writes: bool) -> Self:
        """Level and vocabulary from the training part alone."""
        texts = [text for source in sources for text in two_texts(source)]
        level, reason, lower = (recipe.source, "", recipe.lowercase) if writes else reading_of(recipe, texts)
        cut = [prepare(text, lower=lower) for text in texts]
        if writes:
            vocabulary, level, reason = learn_target(level, cut, size=recipe.vocab_size, least_count=recipe.min_count)
        else:
            vocabulary = learn_vocabulary(level, cut, size=recipe.vocab_size, least_count=recipe.min_count)
        note = f"both texts: {vocabulary_note(vocabulary, level, reason, lower=lower)}"
        return cls(vocabulary, lower=lower, notes=(note,))

    @classmethod
    def load(cls, saved: Saved) -> Self:
        """What `to_json` wrote."""
        return cls(load_vocabulary(saved.get("vocabulary")), lower=load_flag(saved, "lower"))

    def to_json(self) -> dict[str, object]:
        """The vocabulary and how texts are read with it."""
        return {"vocabulary": self.vocabulary.to_json(), "lower": self.lower}

    def with_vocabulary(self, vocabulary: Vocabulary) -> Self:
        """The vocabulary of another run, which knows capital letters."""
        return type(self)(vocabulary, lower=False, notes=(adopted_note(vocabulary),))

    def encode(self, source: str) -> EncodedTexts:
        """Both texts, and what each has of the other's words; never no token at all."""
        return encode_two_texts(self.vocabulary, source, lower=self.lower, max_length=self.max_length)

    def length(self, encoded: EncodedTexts) -> int:
        """Tokens of both texts."""
        return len(encoded.first) + len(encoded.second)

    def batch(self, encoded: Sequence[EncodedTexts], truth: Tensor) -> MatchBatch:
        """Padded tensors of both texts, with what is true of each pair."""
        first, first_valid = pad([one.first for one in encoded])
        second, second_valid = pad([one.second for one in encoded])
        first_overlap, _ = pad([one.first_overlap for one in encoded])
        second_overlap, _ = pad([one.second_overlap for one in encoded])
        return MatchBatch(first, first_valid, first_overlap, second, second_valid, second_overlap, truth)

    @staticmethod
    def drop_words(batch: MatchBatch, share: float) -> MatchBatch:
        """Some of the tokens unknown; what the other text has of them stays known."""
        first, second = (read_as_unknown(tokens, share) for tokens in (batch.first, batch.second))
        return batch._replace(first=first, second=second)

    def tensors(self, encoded: Sequence[EncodedTexts]) -> PaddedSources:
        """Both texts as one sequence (B, T + 1 + N), an end token between, and valid."""
        return PaddedSources(*pad([[*one.first, END, *one.second] for one in encoded]))

    def build(self, recipe: ModelRecipe, head: HeadMaker, width: int) -> Matcher:
        """A matcher of two texts."""
        return build_matcher(recipe, len(self.vocabulary), head, width)

    def build_translator(self, recipe: ModelRecipe, target: Vocabulary) -> Translator:
        """An encoder–decoder of both texts in one sequence."""
        return build_translator(recipe, vocabularies_of(recipe, self.vocabulary, target))

    def tokens(self, source: str) -> tuple[list[str], list[str]]:
        """The tokens of both texts as they are written."""
        texts = (prepare(text, lower=False) for text in two_texts(source))
        cut = ([text[start:end] for start, end in self.vocabulary.offsets(text)[: self.max_length]] for text in texts)
        first, second = (tokens or ["<unknown>"] for tokens in cut)
        return first, second

    def view(self, encoder: Encoder, source: str) -> SourceView:
        """The tokens of both, in one line."""
        first, second = self.tokens(source)
        return SourceView([*first, "¶", *second])

    def trace_source(self, encoder: Encoder, source: str, view: SourceView) -> list[TraceMatrix]:
        """The number of each token."""
        numbers = self.tensors([self.encode(source)])[0].mT.float()
        return [trace_matrix("tokens", "each token is a number", view.labels, numbers, columns=["number"])]

    @torch.no_grad()
    def evidence(self, networks: Sequence[Matcher], batch: MatchBatch, sources: Sequence[str]) -> list[str | None]:
        """What of the first text the second attended to most, as it is written."""
        if not all(network.attends for network in networks):
            return [None] * len(sources)
        every = torch.cat([network.weights(batch) for network in networks], dim=1).float().cpu()
        found = list[str | None]()
        for weights, first, second, source in zip(
            every, batch.first_valid.sum(dim=1).tolist(), batch.second_valid.sum(dim=1).tolist(), sources, strict=True
        ):
            found.append(self.quote(source, weights[..., :second, :first]))
        return found

    def quote(self, source: str, weights: Tensor) -> str:
        """The sentence of the first text with most attention; of a single sentence, its words with most.

        weights (L, H, N, T) are squared, so that attention to one place counts for more than attention to many.
        """
        text = prepare(two_texts(source)[0], lower=False)
        mass = weights.square().mean(dim=(0, 1, 2)).tolist()  # (T,)
        places = self.vocabulary.offsets(text)[: len(mass)]
        spans = sentence_spans(text)
        if len(spans) < 2:
            words = [at for at, (start, end) in enumerate(places) if any(map(str.isalnum, text[start:end]))]
            best = sorted(sorted(words, key=lambda at: -mass[at])[:EVIDENCE_WORDS])
            return " … ".join(text[slice(*places[at])] for at in best)
        sums = [
            sum(weight for weight, (at, _) in zip(mass, places, strict=False) if start <= at < end)
            for start, end in spans
        ]
        start, end = spans[max(range(len(spans)), key=lambda at: sums[at])]
        return text[start:end]

    @torch.no_grad()
    def align(self, network: Matcher, source: str, answer: Answer) -> Alignment:
        """Where each token of the second text attended in the first; of two towers, what attention pooled of both."""
        batch, (first, second) = self.asked(network, [self.encode(source)]), self.tokens(source)
        if isinstance(network, TwoTowers) and isinstance(network.pooling, AttentionPooling):
            both = [network.pooling_weights(*batch[0:2]), network.pooling_weights(*batch[3:5])]
            weights = torch.cat(both, dim=-1)[None, None].float().cpu()  # (1, 1, 1, T + N)
            return Alignment([*first, *second], [answer.text], weights, answer.text, answer.score)
        return Alignment(first, second, network.weights(batch)[0].float().cpu(), answer.text, answer.score)

    @torch.no_grad()
    def trace(self, network: Matcher, source: str) -> list[TraceMatrix]:
        """Tokens, overlaps and states of both texts, the attention between them, and both in one vector."""
        batch, (first, second) = self.asked(network, [self.encode(source)]), self.tokens(source)
        matrices = [matrix for heads in network.weights(batch)[0] for matrix in heads]
        states = ["first states", "second states", "states"]
        return [
            *trace_texts(network, batch, first, second),
            *(
                trace_matrix(
                    "weights", "what each token of the second text took", second, matrix, columns=first, made_of=states
                )
                for matrix in matrices
            ),
            trace_matrix(
                "summaries",
                "each text in one vector: u, v",
                ["first", "second"],
                torch.cat(network.pair_vectors(batch)),
                made_of=["weights", *states],
            ),
        ]


def trace_texts(network: Matcher, batch: MatchBatch, first: list[str], second: list[str]) -> list[TraceMatrix]:
    """Each text's token numbers and overlaps, and its states; of a joint matcher the states of both together."""
    names = ", ".join(f"{number} {word}" for number, word in enumerate(OVERLAPS) if number)
    found = []
    for text, labels, tokens, valid, overlap in (("first", first, *batch[0:3]), ("second", second, *batch[3:6])):
        numbers, read = torch.stack([tokens[0], overlap[0]], dim=1).float(), [f"{text} text"]
        found.append(
            trace_matrix(
                f"{text} text",
                f"each token is a number; overlap: {names}",
                labels,
                numbers,
                columns=["number", "overlap"],
            )
        )
        if isinstance(network, TwoTowers):
            states = network.encoder.encode(tokens, valid).states[0]
            found.append(trace_matrix(f"{text} states", "one vector per token", labels, states, made_of=read))
        elif isinstance(network, CoAttentionMatcher):
            states = network.read(tokens, valid, overlap)[0]
            found.append(trace_matrix(f"{text} states", "one vector per token", labels, states, made_of=read))
    if isinstance(network, JointMatcher):
        joined = network.join(batch)
        states = network.stack(joined.values, valid=joined.valid)[0]
        found.append(
            trace_matrix(
                "states", "both texts as one sequence", [*first, *second], states, made_of=["first text", "second text"]
            )
        )
    return found


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where each sentence of a text begins and ends."""
    spans, at = [], 0
    for sentence in split_sentences(text):
        start = text.index(sentence, at)
        at = start + len(sentence)
        spans.append((start, at))
    return spans
