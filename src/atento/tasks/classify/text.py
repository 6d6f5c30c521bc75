"""Classify: give one label to each text, of words or of symbols with no words.

What one label and several have in common: texts through a classifier, where it looked, and one pass in steps.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from atento.baselines.catalogue import BASELINES
from atento.blocks.pooling import AttentionPooling
from atento.data.examples.batches import like_lengths, pad, read_as_unknown
from atento.layers.losses import Loss
from atento.metrics.labels import ACCURACY
from atento.models.backbones.hierarchical import HierarchicalEncoder
from atento.models.backbones.transformer import TransformerEncoder
from atento.models.build.classifier import build_classifier
from atento.models.classifier import Classifier, LabelledBatch, OneEach
from atento.models.heads import LabelHead
from atento.spec import DecodeRecipe, ModelRecipe
from atento.tasks.classify.defaults import TEXT_MODELS, text_defaults
from atento.tasks.classify.labels import metrics, weigh
from atento.tasks.classify.text_codec import EncodedText, LabelCodec
from atento.tasks.pretrained import adopt_label
from atento.tasks.reading.text import LABELLED
from atento.tasks.recognising.text import label_texts
from atento.tasks.task import Alignment, Answer, Task
from atento.tasks.traces import entry

# Axes: B batch, N tokens, C labels, L layers, H heads.

TOKENS_AT_ONCE = 32_768


def length(example: EncodedText) -> int:
    """How many tokens."""
    return len(example.tokens)


def blur(batch: LabelledBatch, share: float) -> LabelledBatch:
    """Some of the tokens unknown."""
    return batch._replace(source=read_as_unknown(batch.source, share))


def loss(module: nn.Module, batch: LabelledBatch, smoothing: float) -> Loss:
    """How wrong the head is on each text."""
    return as_classifier(module).loss(batch, smoothing=smoothing)


@torch.no_grad()
def outputs_of(module: nn.Module, codec: LabelCodec, sources: Sequence[str]) -> Tensor:
    """The head's outputs (texts, C), on the processor; texts of like length are read together."""
    classifier, device = as_classifier(module), next(module.parameters()).device
    rows = [codec.read(source) for source in sources]
    found = torch.zeros(len(rows), len(codec.labels))
    for indices in like_lengths([len(row) for row in rows], batch_tokens=TOKENS_AT_ONCE):
        found[indices] = classifier(one_batch([rows[index] for index in indices], device)).float().cpu()
    return found


def one_batch(rows: Sequence[Sequence[int]], device: torch.device) -> LabelledBatch:
    """Texts whose labels nobody knows."""
    tokens, valid = (part.to(device) for part in pad(rows))
    return LabelledBatch(tokens, valid, valid)


@torch.no_grad()
def attention_over(module: nn.Module, tokens: Sequence[int]) -> Tensor:
    """Where a classifier looked, (L, H, outputs, N): a pooling at each token, a hierarchical one at each token in its
    sentence and then at its sentence; a Transformer that pools by no attention, every token at every other. Nothing
    where nothing attends.
    """
    batch = one_batch([tokens], next(module.parameters()).device)
    if isinstance(module, Classifier) and isinstance(module.encoder, HierarchicalEncoder):
        return module.encoder.weights(batch.source, batch.valid)[0][:, None, None].float().cpu()  # (2, 1, 1, N)
    if isinstance(module, Classifier) and isinstance(module.pooling, AttentionPooling):
        return module.weights(batch)[None, None].float().cpu()  # (1, 1, 1, N)
    if isinstance(module, Classifier) and isinstance(module.encoder, TransformerEncoder):
        return module.encoder.weights(batch.source, batch.valid)[0].float().cpu()  # (L, H, N, N)
    return torch.zeros(0, 0, 1, len(tokens))


def align(module: nn.Module, codec: LabelCodec, source: str, said: Answer) -> Alignment:
    """What was said, and which tokens it was taken from."""
    tokens = codec.read(source)
    weights, pieces = attention_over(module, tokens), codec.pieces(tokens)
    return Alignment(pieces, [said.text] if weights.size(2) == 1 else pieces, weights, said.text, said.score)


@torch.no_grad()
def trace(module: nn.Module, codec: LabelCodec, source: str, recipe: DecodeRecipe) -> list[dict[str, Any]]:
    """One pass, matrix by matrix; of one network a label, the first."""
    classifier = as_classifier(module)
    network = classifier if isinstance(classifier, Classifier) else classifier.each()[0]
    tokens = codec.read(source)
    pieces = codec.pieces(tokens)
    batch = one_batch([tokens], next(module.parameters()).device)
    encoded = network.encoder.encode(batch.source, batch.valid)
    summary, outputs = network.sum_up(encoded), network.head(network.sum_up(encoded))
    weights = attention_over(network, tokens)
    deep = isinstance(network.encoder, HierarchicalEncoder)
    rows = [f"sentence {number + 1}" for number in range(encoded.states.size(1))] if deep else pieces
    labels = codec.labels if network is classifier else codec.labels[:1]
    steps = [entry("states", f"{type(network.encoder).__name__}: one vector each", rows, encoded.states[0].cpu())]
    if weights.size(2) == 1 and weights.numel():
        levels = ["within its sentence", "of its sentence"] if deep else ["of each token"]
        steps.append(entry("weights", "how much was taken", pieces, weights[:, 0, 0].mT, columns=levels))
    steps.append(entry("summary", "the whole text in one vector", ["summary"], summary.cpu()))
    steps.append(entry("outputs", "W · summary + b", ["output"], outputs.cpu(), columns=labels))
    return steps


def as_classifier(module: nn.Module) -> Classifier | OneEach:
    """The module, typed."""
    if not isinstance(module, Classifier | OneEach):
        raise TypeError(f"labels come from a classifier, not {type(module).__name__}")
    return module


def encode(codec: LabelCodec, pair: tuple[str, str]) -> EncodedText:
    """A training example as numbers."""
    return codec.encode(pair[0], [pair[1]])


def batch(examples: Sequence[EncodedText]) -> LabelledBatch:
    """Padded tokens, and the number of each text's label."""
    tokens, valid = pad([example.tokens for example in examples])
    return LabelledBatch(tokens, valid, torch.tensor([example.labels[0] for example in examples]))


def build(recipe: ModelRecipe, codec: LabelCodec) -> Classifier:
    """Sizes that follow from data are filled in here."""
    return build_classifier(recipe, len(codec.source), LabelHead, len(codec.labels))


def answer(module: nn.Module, codec: LabelCodec, sources: Sequence[str], recipe: DecodeRecipe) -> list[Answer]:
    """Validation, evaluation, prediction and serving all answer through here: the likeliest label."""
    return [codec.likeliest(scores) for scores in outputs_of(module, codec, sources).log_softmax(dim=-1)]


def look_at(module: nn.Module, codec: LabelCodec, source: str, recipe: DecodeRecipe) -> Alignment:
    """The label, and which tokens it was taken from."""
    return align(module, codec, source, *answer(module, codec, [source], recipe))


CLASSIFY = Task(
    name="classify",
    summary="Give one label to each text.",
    recognise=label_texts,
    read=LABELLED.read,
    ask=LABELLED.ask,
    open=LABELLED.open_file,
    learn=partial(LabelCodec.learn, several=False),
    adopt=adopt_label,
    load=LabelCodec.load,
    encode=encode,
    length=length,
    batch=batch,
    build=build,
    blur=blur,
    weigh=weigh,
    loss=loss,
    answer=answer,
    look=look_at,
    steps=trace,
    selects=ACCURACY,
    metrics=metrics,
    baselines=tuple(BASELINES[name].make for name in ("majority", "bag-of-words", "bag-of-n-grams", "tf-idf")),
    models=TEXT_MODELS,
    default_model="gru+additive",
    defaults=text_defaults,
)
