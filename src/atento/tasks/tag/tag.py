"""Tag: give each word of a sequence a tag.

Simple models of lists, where examples are texts with tabs between their items.
One pass of a tagger, matrix by matrix.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from atento.baselines.frequent import MostFrequentTag
from atento.baselines.tagging import Perceptron
from atento.data.examples.batches import like_lengths
from atento.data.records import split
from atento.data.text.vocabulary import UNKNOWN
from atento.data.text.words import words_of
from atento.errors import InputError
from atento.layers.losses import Loss, token_cross_entropy
from atento.layers.masking import valid_from_lengths
from atento.metrics.metric import Metric
from atento.metrics.tags import (
    SENTENCES,
    SPAN_F1,
    SPAN_PRECISION,
    SPAN_RECALL,
    TAG_ACCURACY,
    marks_spans,
    unseen_accuracy,
)
from atento.models.backbones.transformer import TransformerEncoder
from atento.models.build.tagger import build_word_tagger
from atento.models.classifier import LabelledBatch
from atento.models.tagger import Tagger, as_tagger, unknown_words
from atento.spec import DecodeRecipe, ModelRecipe
from atento.tasks.pretrained import adopt_tags
from atento.tasks.reading.text import TAGGED
from atento.tasks.recognising.text import tag_words
from atento.tasks.tag.codec import EncodedSentence, TagCodec
from atento.tasks.tag.defaults import MODELS, defaults
from atento.tasks.task import Alignment, Answer, Task
from atento.tasks.traces import Trace, entry


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


# Axes: N words, L letters, D size, C tags.


def trace_tags(
    tagger: Tagger, tokens: Tensor, valid: Tensor, words: Sequence[str], said: Sequence[str], tags: Sequence[str]
) -> list[Trace]:
    """Words (1, N, 1 + L) to states, scores, what is known of neighbours, and how likely each tag is."""
    labels = list(words) or ["<unknown>"]
    states = tagger.encoder.encode(tokens, valid).states[0]
    found = [
        entry("words", "number of the word, then of its letters", labels, tokens[0]),
        entry("states", f"{type(tagger.encoder).__name__}: one vector a word", labels, states),
        entry("scores", "W state + b", labels, tagger.head(states), columns=tags),
    ]
    if tagger.chain is not None:
        start, between, end = tagger.chain.neighbours()
        found += [
            entry("start", "score of a first tag", ["start"], start.unsqueeze(0), columns=tags),
            entry("transitions", "score of a tag (column) after another (row)", tags, between, columns=tags),
            entry("end", "score of a last tag", ["end"], end.unsqueeze(0), columns=tags),
        ]
    formula = "softmax of the scores" if tagger.chain is None else "share of all sequences with this tag here"
    chances = tagger.chances(tokens, valid)[0]
    spoken = [f"{word} {tag}" for word, tag in zip(words, said, strict=True)] or labels
    return [*found, entry("chances", formula, spoken, chances, columns=tags)]


# Axes: B batch, N words, L letters, C tags.

WORDS_AT_ONCE = 16_384


def pad_words(rows: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """(N, 1 + L) each, L as they are -> (B, N, 1 + L), zeros behind, and valid (B, N)."""
    longest, width = max(map(len, rows)), max(row.size(1) for row in rows)
    words = torch.zeros(len(rows), longest, width, dtype=torch.long)
    for place, row in enumerate(rows):
        words[place, : len(row), : row.size(1)] = row
    return words, valid_from_lengths(torch.tensor([len(row) for row in rows]), longest)


def batch(examples: Sequence[EncodedSentence]) -> LabelledBatch:
    """Numbers of words, letters and tags -> padded tensors."""
    words, valid = pad_words([example.words for example in examples])
    truth = nn.utils.rnn.pad_sequence([example.tags for example in examples], batch_first=True)
    return LabelledBatch(words, valid, truth)


def length(example: EncodedSentence) -> int:
    """How many words."""
    return len(example.words)


def build(recipe: ModelRecipe, codec: TagCodec) -> Tagger:
    """Sizes that follow from data are filled in here."""
    return build_word_tagger(recipe, *codec.sizes, codec.tagset)


def forget_words(rows: LabelledBatch, share: float) -> LabelledBatch:
    """A share of the words becomes unknown, so that the vector of unknown words is learned; their letters stay."""
    return rows._replace(source=unknown_words(rows.source, rows.valid, share, unknown=UNKNOWN))


def tag_loss(module: nn.Module, rows: LabelledBatch, smoothing: float) -> Loss:
    """Minus the log-probability of the tags, a word at a time or, with crf, all together."""
    tagger = as_tagger(module)
    if not smoothing:
        return tagger.loss(rows)
    if tagger.chain is not None:
        raise InputError(
            "train.label_smoothing: crf judges whole sequences, which have no share to spread.",
            found=f"train.label_smoothing={smoothing}",
            fix="leave train.label_smoothing out, or name a model without crf",
        )
    return token_cross_entropy(tagger(rows), rows.truth[rows.valid], smoothing=smoothing)


@torch.no_grad()
def say_tags(module: nn.Module, codec: TagCodec, sources: Sequence[str], recipe: DecodeRecipe) -> list[Answer]:
    """Validation, evaluation, prediction and serving all answer through here."""
    tagger, device = as_tagger(module), next(module.parameters()).device
    sentences = [words_of(source) for source in sources]
    rows = [codec.read(words) for words in sentences]
    lengths = [len(row) for row in rows]
    found: dict[int, Answer] = {}
    for indices in like_lengths(lengths, batch_tokens=WORDS_AT_ONCE):
        words, valid = pad_words([rows[index] for index in indices])
        decided = tagger.decide(words.to(device), valid.to(device))
        for index, labels, score in zip(
            indices, decided.labels.tolist(), decided.log_probability.tolist(), strict=True
        ):
            tags = [codec.tagset.tags[label] for label in labels[: len(sentences[index])]]
            found[index] = Answer(" ".join(tags), score, value=tags)
    return [found[index] for index in range(len(rows))]


@torch.no_grad()
def look_at(module: nn.Module, codec: TagCodec, source: str, recipe: DecodeRecipe) -> Alignment:
    """Where the words of a Transformer looked; nothing for other models."""
    tagger, device = as_tagger(module), next(module.parameters()).device
    (answer,) = say_tags(module, codec, [source], recipe)
    words = words_of(source)
    weights = torch.zeros(0, 0, len(words), len(words))
    if isinstance(tagger.encoder, TransformerEncoder) and words:
        tokens, valid = pad_words([codec.read(words)])
        weights = tagger.encoder.weights(tokens.to(device), valid.to(device))[0]  # (layers, heads, N, N)
    output = [f"{word} {tag}" for word, tag in zip(words, answer.value, strict=True)]
    return Alignment(words, output, weights.float().cpu(), answer.text, answer.score)


@torch.no_grad()
def trace(module: nn.Module, codec: TagCodec, source: str, recipe: DecodeRecipe) -> list[dict[str, Any]]:
    """One pass, matrix by matrix."""
    tagger, device = as_tagger(module), next(module.parameters()).device
    (answer,) = say_tags(module, codec, [source], recipe)
    words = words_of(source)
    tokens, valid = pad_words([codec.read(words)])
    return trace_tags(tagger, tokens.to(device), valid.to(device), words, answer.value, codec.tagset.tags)


def wrong_tags(codec: TagCodec, output: Sequence[str], references: Sequence[Any]) -> float:
    """How many tags are wrong, by the nearest reference: tags with tabs between, or a list of them."""
    return min(float(gaps(output, split(one) if isinstance(one, str) else one)) for one in references)


def gaps(said: Sequence[str], true: Sequence[str]) -> int:
    """Places at which two lists differ; those that one lacks count too."""
    return sum(one != other for one, other in zip(said, true, strict=False)) + abs(len(said) - len(true))


def metrics(codec: TagCodec) -> tuple[Metric, ...]:
    """Spans first where tags mark them, else the share of right tags."""
    of_words = (SENTENCES, unseen_accuracy(codec.seen))
    if marks_spans(codec.tagset.tags):
        return (SPAN_F1, SPAN_PRECISION, SPAN_RECALL, TAG_ACCURACY, *of_words)
    return (TAG_ACCURACY, *of_words)


TAG = Task(
    name="tag",
    summary="Give each word of a sequence a tag.",
    recognise=tag_words,
    read=TAGGED.read,
    ask=TAGGED.ask,
    open=TAGGED.open_file,
    learn=TagCodec.learn,
    adopt=adopt_tags,
    load=TagCodec.load,
    encode=TagCodec.encode,
    length=length,
    batch=batch,
    build=build,
    blur=forget_words,
    loss=tag_loss,
    answer=say_tags,
    look=look_at,
    steps=trace,
    wrong=wrong_tags,
    metrics=metrics,
    baselines=(partial(OnLists, MostFrequentTag), partial(OnLists, Perceptron)),
    models=MODELS,
    default_model="lstm+crf",
    defaults=defaults,
)
