"""The embed task: word vectors learned from plain text, with a bigram baseline.

The default recipes are chosen by measurement; docs/defaults/embed.md says how.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from atento.baselines.validation import require_fitted, require_pairs
from atento.data.examples.batches import like_lengths, pad
from atento.data.text.levels import prepare
from atento.data.text.vocabulary import UNKNOWN, Words
from atento.data.text.word_space import Neighbour, Term, WordSpace, parse_terms
from atento.metrics.language_model import PREFERENCE
from atento.models.builders.language_model import build_embedder, require_embedder
from atento.models.embedder import NOISE_POWER, SPECIAL_TOKENS, NextWord, SkipGram, WordsBatch, noise_distribution
from atento.models.names import ModelName
from atento.spec import DecodeRecipe
from atento.tasks.embed.codec import WordCodec
from atento.tasks.embed.vectors import space_of
from atento.tasks.leaks import require_training_tokens
from atento.tasks.reading.text import DOCUMENTS, ask_passages, read_passages
from atento.tasks.task import (
    Answer,
    Answering,
    Baseline,
    Dataset,
    Defaults,
    Judging,
    Learning,
    Reading,
    Recognition,
    Task,
    Values,
)
from atento.tasks.traces import Alignment, TraceMatrix, trace_matrix

# Axes: B batch, T time, V vocabulary, D size.

TOKENS_AT_ONCE = 2048
NEIGHBOURS = 5


class NextWordCounts:
    """Prefers the word that followed the one before most often, then the more frequent one."""

    name = "bigrams"
    summary = "which word followed which, counted"

    def __init__(self) -> None:
        self.words: dict[str, int] | None = None
        self.counts = np.zeros(0)  # of each word
        self.noise = np.zeros(0)  # the distribution that other words are drawn from
        self.after: dict[int, dict[int, int]] = {}  # how often each word followed another

    def fit(self, sources: Sequence[str], targets: Sequence[str]) -> "NextWordCounts":
        """Count words and pairs of neighbours."""
        require_pairs(self.name, sources, targets)
        cut = [Words([]).tokenize(prepare(source, lower=False)) for source in sources]
        counts = Counter(word for words in cut for word in words)
        self.words = {word: number for number, word in enumerate(counts)}
        self.counts = np.array([*counts.values(), 0][: len(counts)], dtype=np.float64)
        self.noise = self.counts**NOISE_POWER / max((self.counts**NOISE_POWER).sum(), 1.0)
        after: defaultdict[int, Counter[int]] = defaultdict(Counter)
        for words in cut:
            numbers = [self.words[word] for word in words]
            for before, word in pairwise(numbers):
                after[before][word] += 1
        self.after = {before: dict(words) for before, words in after.items()}
        return self

    def followers(self, source: str) -> list[str]:
        """The words that most often followed the last word of a text."""
        words = require_fitted(self.name, self.words)
        cut, names = Words([]).tokenize(prepare(source, lower=False)), list(words)
        counts = self.after.get(words.get(cut[-1], -1), {}) if cut else {}
        return [names[number] for number in sorted(counts, key=lambda one: (-counts[one], one))[:NEIGHBOURS]]

    def predict(self, sources: Sequence[str]) -> list[list[float]]:
        """[preferred, asked] of each text: by how much of the drawn words the true ones were preferred."""
        words = require_fitted(self.name, self.words)
        return [
            self.judge([words.get(word) for word in Words([]).tokenize(prepare(source, lower=False))])
            for source in sources
        ]

    def judge(self, numbers: Sequence[int | None]) -> list[float]:
        """[preferred, asked] of the words of a text; unseen words are skipped."""
        preferred, asked = 0.0, 0.0
        for before, word in pairwise(numbers):
            if word is None:
                continue
            scores = self.counts / (self.counts.sum() + 1)
            for follower, count in self.after.get(before, {}).items() if before is not None else ():
                scores[follower] += count
            preferred += float(self.noise @ ((scores[word] > scores) + 0.5 * (scores == scores[word])))
            asked += 1.0
        return [preferred, asked]


MODELS = ("skip-gram", "next-word")

SMALL: Values = {"model.hidden": 64, "model.window": 3, "train.batch_tokens": 768, "train.weight_decay": 0.0}

ANY_DATA: dict[str, Values] = {
    "skip-gram": {**SMALL, "train.lr": 3e-2},
    "next-word": {**SMALL, "train.lr": 2e-2},
}

MEANING: Values = {"train.epochs": 2, "train.batch_tokens": 512, "train.validations": 4}

BUILTIN: dict[str, dict[str, Values]] = {"meaning": {"skip-gram": MEANING, "next-word": MEANING}}


def defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    return {**ANY_DATA.get(model.family, {}), **BUILTIN.get(data, {}).get(model.family, {})}


def batch(codec: WordCodec, rows: Sequence[list[int]]) -> WordsBatch:
    """Token lists -> padded tensors."""
    return WordsBatch(*pad([row or [UNKNOWN] for row in rows]))


@torch.no_grad()
def next_word_preference(
    model: SkipGram | NextWord, codec: WordCodec, sources: Sequence[str], recipe: DecodeRecipe
) -> list[list[float]]:
    """[preferred, asked] of each text: by what share of drawn words the true next ones were preferred, ties by half."""
    device = next(model.parameters()).device
    noise = noise_distribution(codec.counts).to(device)
    rows = [codec.read(source) or [UNKNOWN] for source in sources]
    lengths = [len(row) for row in rows]
    found: dict[int, list[float]] = {}
    for indices in like_lengths(lengths, batch_tokens=TOKENS_AT_ONCE):
        tokens, valid = (part.to(device) for part in pad([rows[index] for index in indices]))
        asked = valid & (tokens >= SPECIAL_TOKENS)
        asked[:, 0] = False  # nothing stands before it
        preferred = preferred_share(model.predict(tokens), tokens, noise).masked_fill(~asked, 0.0)
        sums = torch.stack([preferred.sum(-1), asked.sum(-1).to(preferred)], dim=-1)  # (B, 2)
        found.update(zip(indices, sums.tolist(), strict=True))
    return [found[index] for index in range(len(rows))]


def preferred_share(scores: Tensor, tokens: Tensor, noise: Tensor) -> Tensor:
    """Scores (B, T, V), true words (B, T), noise (V,) -> the noise scored below each true word (B, T)."""
    true = scores.gather(-1, tokens.unsqueeze(-1))
    return ((true > scores).to(noise) + 0.5 * (true == scores).to(noise)) @ noise


@torch.no_grad()
def neighbours(module: nn.Module, codec: WordCodec, sources: Sequence[str], recipe: DecodeRecipe) -> list[Answer]:
    """The words nearest to each source: a word, a sum of words, or the words of a text together."""
    space = space_of(module, codec)
    return [Answer(", ".join(one.word for one in near(space, codec, source)), None) for source in sources]


def require_no_leak(codec: WordCodec, reading: Dataset) -> None:
    """Refuse words that no training text holds."""
    require_training_tokens(codec.vocabulary.learned(), [(source,) for source, _ in reading.train])


def near(space: WordSpace, codec: WordCodec, source: str) -> list[Neighbour]:
    """The nearest words of a source; none where no word is known."""
    text = prepare(source, lower=codec.lower)
    words = parse_terms(text, space) if text.strip() else []
    known = [term for term in words if term.word in space]
    if not known:
        names = codec.vocabulary.tokens([number for number in codec.read(source) if number >= SPECIAL_TOKENS])
        known = [Term(1.0, name) for name in dict.fromkeys(names) if name in space]
    return space.nearest_to(known, NEIGHBOURS) if known else []


def baseline_answers(
    codec: WordCodec, baseline: Baseline, sources: Sequence[str], recipe: DecodeRecipe
) -> list[Answer]:
    """The words that most often followed the last word of each source."""
    if not isinstance(baseline, NextWordCounts):
        raise TypeError(f"only counts of next words answer a text, not {type(baseline).__name__}")
    return [Answer(", ".join(baseline.followers(source)), None) for source in sources]


def look_at(module: nn.Module, codec: WordCodec, source: str, recipe: DecodeRecipe) -> Alignment:
    """An alignment with the answer and no attention weights."""
    (answer,) = neighbours(module, codec, [source], recipe)
    names = codec.vocabulary.tokens(codec.read(source))
    return Alignment(names, [answer.text], torch.zeros(0, 0, 1, len(names)), answer.text, None)


@torch.no_grad()
def trace(model: SkipGram | NextWord, codec: WordCodec, source: str, recipe: DecodeRecipe) -> list[TraceMatrix]:
    """The matrices of one forward pass."""
    device = next(model.parameters()).device
    row = codec.read(source) or [UNKNOWN]
    tokens = torch.tensor([row], device=device)
    names = codec.vocabulary.tokens(row)
    scores = model.predict(tokens)[0]  # (T, V)
    likely = (
        scores[-1, SPECIAL_TOKENS:].topk(min(NEIGHBOURS, scores.size(-1) - SPECIAL_TOKENS)).indices + SPECIAL_TOKENS
    ).tolist()
    formula = "tanh(d + H x) U + b" if isinstance(model, NextWord) else "Σ v(word before) · v'(word)"
    return [
        trace_matrix("vectors", "one for each word", names, model.embedding(tokens)[0]),
        trace_matrix("next word", formula, names, scores[:, likely], columns=codec.vocabulary.tokens(likely)),
    ]


EMBED: Task[WordCodec, list[int], WordsBatch, SkipGram | NextWord] = Task(
    name="embed",
    summary="Learn vectors of words from plain text.",
    reading=Reading(
        kind="documents",
        texts={"text": lambda example: example[0]},
        recognise=lambda evidence: Recognition(0.0, "only when asked for: --task embed"),  # any text has words
        keys=DOCUMENTS.keys,
        read=read_passages,
        read_labelled=ask_passages,
        read_unlabelled=DOCUMENTS.read_unlabelled,
    ),
    learning=Learning(
        check_name=require_embedder,
        learn=WordCodec.learn,
        load=WordCodec.load,
        require_no_leak=require_no_leak,
        encode=lambda codec, pair: codec.read(pair[0]),
        length=lambda codec, row: len(row),
        batch=batch,
        build=lambda recipe, codec: build_embedder(recipe, codec.counts),
        loss=lambda module, rows, smoothing: module.loss(rows),  # there are no labels to smooth
    ),
    answering=Answering(answer=neighbours, score=next_word_preference, look=look_at, trace=trace),
    judging=Judging(
        error=lambda codec, output, references: 0.0,  # a text is scored, not right or wrong
        selects=PREFERENCE,
        metrics=lambda codec: (PREFERENCE,),
        baselines=(NextWordCounts,),
        baseline_answers=baseline_answers,
    ),
    defaults=Defaults(models=MODELS, model="skip-gram", values=defaults),
)
