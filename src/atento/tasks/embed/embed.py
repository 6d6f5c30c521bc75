"""Embed: learn vectors of words from plain text, so that words used alike stand near each other.

The simple model of the embed task: which word followed which, and how often.
Recipes of the embed task, chosen by measurement; how each was chosen stands in docs/defaults/embed.md.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from atento.baselines.fitted import require_fitted, require_pairs
from atento.data.evidence import Evidence
from atento.data.examples.batches import like_lengths, pad
from atento.data.text.vocabulary import UNKNOWN, Words
from atento.data.text.word_space import Neighbour, Term, WordSpace, terms_of
from atento.layers.losses import Loss
from atento.metrics.language_model import PREFERRED
from atento.metrics.metric import Metric
from atento.models.build.language_model import build_embedder, require_embedder
from atento.models.embedder import FLATTEN, MARKS, NextWord, SkipGram, WordsBatch, noise_of
from atento.models.names import ModelName
from atento.spec import DecodeRecipe, ModelRecipe
from atento.tasks.embed.codec import WordCodec, prepare
from atento.tasks.embed.vectors import space_of
from atento.tasks.reading.text import DOCUMENTS, ask_passages, read_passages
from atento.tasks.seq2seq.codec import prepare_text
from atento.tasks.task import Alignment, Answer, Recognition, Task
from atento.tasks.traces import entry


class NextWordCounts:
    """Prefers the word that followed the one before most often, then the more frequent one."""

    name = "bigrams"
    summary = "which word followed which, counted"

    def __init__(self) -> None:
        self.words: dict[str, int] | None = None

    def fit(self, sources: Sequence[str], targets: Sequence[str]) -> "NextWordCounts":
        """Count words and pairs of neighbours."""
        require_pairs(self.name, sources, targets)
        cut = [Words([]).cut(prepare_text(source)) for source in sources]
        counts = Counter(word for words in cut for word in words)
        self.words = {word: number for number, word in enumerate(counts)}
        self.counts = np.array([*counts.values(), 0][: len(counts)], dtype=np.float64)
        self.noise = self.counts**FLATTEN / max((self.counts**FLATTEN).sum(), 1.0)
        self.after: defaultdict[int, Counter[int]] = defaultdict(Counter)
        for words in cut:
            numbers = [self.words[word] for word in words]
            for before, word in pairwise(numbers):
                self.after[before][word] += 1
        return self

    def predict(self, sources: Sequence[str]) -> list[list[float]]:
        """[preferred, asked] of each text: by how much of the drawn words the true ones were preferred."""
        require_fitted(self.name, self.words)
        return [
            self.judge([(self.words or {}).get(word) for word in Words([]).cut(prepare_text(source))])
            for source in sources
        ]

    def judge(self, numbers: Sequence[int | None]) -> list[float]:
        """Words never seen neither count nor help."""
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

Values = dict[str, Any]

SMALL: Values = {"model.hidden": 64, "model.reach": 3, "train.batch_tokens": 768, "train.weight_decay": 0.0}

ANY_DATA: dict[str, Values] = {
    "skip-gram": {**SMALL, "train.lr": 3e-2},
    "next-word": {**SMALL, "train.lr": 2e-2},
}

MEANING: Values = {"train.epochs": 2, "train.batch_tokens": 512, "train.validations": 4}

BUILTIN: dict[str, dict[str, Values]] = {"meaning": {"skip-gram": MEANING, "next-word": MEANING}}


def defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    return {**ANY_DATA.get(model.family, {}), **BUILTIN.get(data, {}).get(model.family, {})}


# Axes: B batch, T time, V vocabulary, D size.

TOKENS_AT_ONCE = 2048
NEIGHBOURS = 5


def only_when_asked(evidence: Evidence) -> Recognition:
    """Any text has words; whoever wants their vectors says so."""
    return Recognition(0.0, "only when asked for: --task embed")


def encode(codec: WordCodec, pair: tuple[str, str]) -> list[int]:
    """A text as token numbers."""
    return codec.read(pair[0])


def batch(rows: Sequence[list[int]]) -> WordsBatch:
    """Token lists -> padded tensors."""
    return WordsBatch(*pad([row or [UNKNOWN] for row in rows]))


def build(recipe: ModelRecipe, codec: WordCodec) -> nn.Module:
    """Sizes that follow from data are filled in here."""
    return build_embedder(recipe, codec.counts)


def loss(module: nn.Module, rows: WordsBatch, smoothing: float) -> Loss:
    """The model's own; there are no labels to smooth."""
    return as_embedder(module).loss(rows)


@torch.no_grad()
def foreseen(module: nn.Module, codec: WordCodec, sources: Sequence[str], recipe: DecodeRecipe) -> list[list[float]]:
    """[preferred, asked] of each text: by what share of drawn words the true next ones were preferred, ties by half."""
    model, device = as_embedder(module), next(module.parameters()).device
    noise = noise_of(codec.counts).to(device)
    rows = [codec.read(source) or [UNKNOWN] for source in sources]
    lengths = [len(row) for row in rows]
    found: dict[int, list[float]] = {}
    for indices in like_lengths(lengths, batch_tokens=TOKENS_AT_ONCE):
        tokens, valid = (part.to(device) for part in pad([rows[index] for index in indices]))
        asked = valid & (tokens >= MARKS)
        asked[:, 0] = False  # nothing stands before it
        preferred = told_apart(model.foresee(tokens), tokens, noise).masked_fill(~asked, 0.0)
        sums = torch.stack([preferred.sum(-1), asked.sum(-1).to(preferred)], dim=-1)  # (B, 2)
        found.update(zip(indices, sums.tolist(), strict=True))
    return [found[index] for index in range(len(rows))]


def told_apart(scores: Tensor, tokens: Tensor, noise: Tensor) -> Tensor:
    """Scores (B, T, V), true words (B, T), noise (V,) -> the noise scored below each true word (B, T)."""
    true = scores.gather(-1, tokens.unsqueeze(-1))
    return ((true > scores).to(noise) + 0.5 * (true == scores).to(noise)) @ noise


@torch.no_grad()
def neighbours(module: nn.Module, codec: WordCodec, sources: Sequence[str], recipe: DecodeRecipe) -> list[Answer]:
    """The words nearest to each source: a word, a sum of words, or the words of a text together."""
    space = space_of(module, codec)
    return [Answer(", ".join(one.word for one in near(space, codec, source)), None) for source in sources]


def near(space: WordSpace, codec: WordCodec, source: str) -> list[Neighbour]:
    """None at all where no word is known."""
    text = prepare(source, lower=codec.lower)
    words = terms_of(text, space) if text.strip() else []
    known = [term for term in words if term.word in space]
    if not known:
        pieces = codec.source.pieces([number for number in codec.read(source) if number >= MARKS])
        known = [Term(1.0, piece) for piece in dict.fromkeys(pieces) if piece in space]
    return space.around(known, NEIGHBOURS) if known else []


def look_at(module: nn.Module, codec: WordCodec, source: str, recipe: DecodeRecipe) -> Alignment:
    """Its answer; vectors of words look at nothing."""
    (answer,) = neighbours(module, codec, [source], recipe)
    pieces = codec.source.pieces(codec.read(source))
    return Alignment(pieces, [answer.text], torch.zeros(0, 0, 1, len(pieces)), answer.text, None)


@torch.no_grad()
def trace(module: nn.Module, codec: WordCodec, source: str, recipe: DecodeRecipe) -> list[dict[str, Any]]:
    """One pass, matrix by matrix."""
    model, device = as_embedder(module), next(module.parameters()).device
    row = codec.read(source) or [UNKNOWN]
    tokens = torch.tensor([row], device=device)
    pieces = codec.source.pieces(row)
    scores = model.foresee(tokens)[0]  # (T, V)
    likely = (scores[-1, MARKS:].topk(min(NEIGHBOURS, scores.size(-1) - MARKS)).indices + MARKS).tolist()
    formula = "tanh(d + H x) U + b" if isinstance(model, NextWord) else "Σ v(word before) · v'(word)"
    return [
        entry("vectors", "one for each word", pieces, model.embedding(tokens)[0]),
        entry("next word", formula, pieces, scores[:, likely], columns=codec.source.pieces(likely)),
    ]


def never_wrong(codec: WordCodec, output: Any, references: Sequence[str]) -> float:
    """A text is foreseen more or less well, not right or wrong."""
    return 0.0


def as_embedder(module: nn.Module) -> SkipGram | NextWord:
    """The module, typed."""
    if not isinstance(module, SkipGram | NextWord):
        raise TypeError(f"embed works with SkipGram or NextWord, not {type(module).__name__}")
    return module


def metrics(codec: WordCodec) -> tuple[Metric, ...]:
    """The one question both models can be asked."""
    return (PREFERRED,)


EMBED = Task(
    name="embed",
    summary="Learn vectors of words from plain text.",
    recognise=only_when_asked,
    names=require_embedder,
    read=read_passages,
    ask=ask_passages,
    open=DOCUMENTS.open_file,
    learn=WordCodec.learn,
    load=WordCodec.load,
    encode=encode,
    length=len,
    batch=batch,
    build=build,
    loss=loss,
    answer=neighbours,
    judge=foreseen,
    look=look_at,
    steps=trace,
    wrong=never_wrong,
    selects=PREFERRED,
    metrics=metrics,
    baselines=(NextWordCounts,),
    models=MODELS,
    default_model="skip-gram",
    defaults=defaults,
)
