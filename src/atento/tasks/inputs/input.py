"""What an input is: the half of a task that reads sources, learned from the training part.

`Input` is what every kind of source has. `ManyToOneInput` adds the networks that give outputs (B, width) for whole
sources, `EncoderDecoderInput` those that write a text. Sources that are one sequence share how they are shown.
What only some inputs can do is a base of its own: `HasWords`, `TakesVocabulary`, `TakesDataRecipe`.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, Self, TypeVar

import torch
from torch import Tensor, nn

from atento.blocks.pooling import AttentionPooling
from atento.data.examples.batches import like_lengths
from atento.data.text.vocabulary import Vocabulary
from atento.models.backbones.hierarchical import HierarchicalEncoder
from atento.models.backbones.numbers import PatchedNumberEncoder, TransformerNumberEncoder
from atento.models.backbones.transformer import TransformerEncoder
from atento.models.builders.choices import HeadMaker
from atento.models.classifier import Classifier, LabelledBatch
from atento.models.heads import RegressionHead
from atento.models.names import ModelName, require_known
from atento.models.protocols import Encoder, Judge
from atento.models.translator import Translator
from atento.spec import DataRecipe, ModelRecipe, TokensRecipe
from atento.tasks.task import Answer, B, Saved
from atento.tasks.traces import Alignment, TraceMatrix, trace_matrix

# Axes: B batch, N items of a source, D size, L layers, H heads, O outputs.

READ = ["tokens", "numbers", "features"]  # titles of what an encoder reads

E = TypeVar("E")  # an encoded source
Labelled = TypeVar("Labelled", bound=tuple[Tensor, ...])  # a batch of sources with what is true of each
Network = TypeVar("Network", bound=Judge[Any])  # that reads such batches, many-to-one


class PaddedSources(NamedTuple):
    """A batch of encoded sources."""

    source: Tensor  # (B, N, …)
    valid: Tensor  # (B, N) True: a real item


class SourceView(NamedTuple):
    """How a source is shown beside attention weights: a label for each item an encoder made of it."""

    labels: list[str]
    image: str = ""  # of an image: its pixels as a data URI
    grid: tuple[int, int] = (0, 0)  # of an image: rows and columns of regions


class Input(ABC, Generic[E]):
    """Sources of one kind <-> tensors."""

    kind: ClassVar[str]  # in words; baselines are chosen by it
    at_once: ClassVar[int] = 16_384  # tokens that are read together when a model answers
    texts: ClassVar[str] = "text"  # what the text of a source is called where lengths are counted; empty: none
    has_tokens: ClassVar[bool] = True  # whether a vocabulary may be learned from sources
    has_length: ClassVar[bool] = True  # whether sources differ in length, so that quality can be shown against it
    notes: tuple[str, ...]
    vocabulary: Vocabulary | None = None
    lower: bool = False
    max_length: int | None = None  # most tokens of a text that `encode` keeps; None: all

    @property
    def learned_tokens(self) -> Collection[str]:
        """The tokens that were learned, as they stand in sources."""
        return self.vocabulary.learned() if self.vocabulary is not None else ()

    @classmethod
    @abstractmethod
    def learn(cls, recipe: TokensRecipe, sources: Sequence[str], *, writes: bool) -> Self:
        """From the sources of the training part alone; `writes`: a text is to be written from them."""

    @classmethod
    @abstractmethod
    def load(cls, saved: Saved) -> Self:
        """What `to_json` wrote."""

    @abstractmethod
    def to_json(self) -> dict[str, object]:
        """All that `load` needs."""

    @staticmethod
    def text_of(source: str) -> str:
        """The part of a source whose length is worth a look."""
        return source

    def require_training_scale(self, sources: Sequence[str]) -> None:
        """Refuse scales of numbers that are not those of the training sources; most inputs have none."""
        return

    @staticmethod
    def check_name(name: ModelName, *, writes: bool) -> None:
        """Refuse a model name that cannot read such sources."""
        require_known(name)

    @abstractmethod
    def encode(self, source: str) -> E:
        """One source; never empty."""

    @abstractmethod
    def length(self, encoded: E) -> int:
        """How many tokens it counts as in a batch."""

    def groups(self, sources: Sequence[str], *, beam: int = 1) -> Iterator[tuple[list[int], list[E]]]:
        """All sources, encoded, in groups of like length that fit into memory; with the places of each group."""
        return self.group_encoded([self.encode(source) for source in sources], beam=beam)

    def group_encoded(self, encoded: Sequence[E], *, beam: int = 1) -> Iterator[tuple[list[int], list[E]]]:
        """The same of sources that are already encoded."""
        lengths = [self.length(one) for one in encoded]
        for places in like_lengths(lengths, batch_tokens=max(1, self.at_once // beam)):
            yield places, [encoded[place] for place in places]


class HasWords(ABC, Generic[B]):
    """An input whose tokens word dropout can make unknown."""

    @staticmethod
    @abstractmethod
    def drop_words(batch: B, share: float) -> B:
        """The batch with about this share of its tokens made unknown."""


class TakesVocabulary(ABC):
    """An input that can read with the vocabulary of another run."""

    @abstractmethod
    def with_vocabulary(self, vocabulary: Vocabulary) -> Self:
        """The same input, read with that vocabulary."""


class TakesDataRecipe(ABC):
    """An input whose sources are read as a recipe says."""

    @abstractmethod
    def bind(self, recipe: DataRecipe) -> Self:
        """The same input, as the recipe wants it."""


class ManyToOneInput(Input[E], Generic[E, Labelled, Network]):
    """Sources that a many-to-one network reads in batches."""

    @abstractmethod
    def batch(self, encoded: Sequence[E], truth: Tensor) -> Labelled:
        """Padded tensors, with what is true of each source."""

    @abstractmethod
    def build(self, recipe: ModelRecipe, head: HeadMaker, width: int) -> Network:
        """A network with so many outputs."""

    def build_estimator(self, recipe: ModelRecipe) -> Network:
        """A network that gives one number."""
        return self.build(recipe, RegressionHead, 1)

    def evidence(self, networks: Sequence[Network], batch: Labelled, sources: Sequence[str]) -> list[str | None]:
        """What of each source an answer rests on, in words, by the mean of one or several networks of one kind; None
        where they cannot say.
        """
        return [None] * len(sources)

    @abstractmethod
    def align(self, network: Network, source: str, answer: Answer) -> Alignment:
        """An answer, and which parts of its source the network attended to."""

    @abstractmethod
    def trace(self, network: Network, source: str) -> list[TraceMatrix]:
        """A forward pass up to the vector that the head reads."""

    def asked(self, network: nn.Module, encoded: Sequence[E]) -> Labelled:
        """A batch of sources whose truth is not known, where the network is."""
        return on_device(self.batch(encoded, torch.zeros(len(encoded))), network)


class EncoderDecoderInput(Input[E]):
    """Sources that the encoder of an encoder–decoder reads."""

    @abstractmethod
    def tensors(self, encoded: Sequence[E]) -> PaddedSources:
        """Encoded sources side by side, padded on the right."""

    @abstractmethod
    def build_translator(self, recipe: ModelRecipe, target: Vocabulary) -> Translator:
        """An encoder–decoder that writes tokens of this vocabulary."""

    @abstractmethod
    def view(self, encoder: Encoder, source: str) -> SourceView:
        """What each state of the encoder was made from."""

    @abstractmethod
    def trace_source(self, encoder: Encoder, source: str, view: SourceView) -> list[TraceMatrix]:
        """The source as the encoder takes it."""

    def output_length(self, encoded: E) -> int | None:
        """The length that bounds what may be written of a source; None: it does not depend on the source."""
        return self.length(encoded)

    def seed_key(self, source: str) -> Sequence[object]:
        """What tells sources apart where outputs are sampled."""
        return [source]


class SequenceInput(Protocol[E]):
    """What the three functions below ask of sources that are one sequence each; they are methods of such inputs."""

    def encode(self, source: str) -> E:
        """One source."""

    def tensors(self, encoded: Sequence[E]) -> PaddedSources:
        """Encoded sources side by side."""

    def asked(self, network: nn.Module, encoded: Sequence[E]) -> LabelledBatch:
        """A batch of sources whose truth is not known."""

    def view(self, encoder: Encoder, source: str) -> SourceView:
        """What each state of the encoder was made from."""

    def trace_source(self, encoder: Encoder, source: str, view: SourceView) -> list[TraceMatrix]:
        """The source as the encoder takes it."""


def batch_sequences(self: SequenceInput[E], encoded: Sequence[E], truth: Tensor) -> LabelledBatch:
    """Padded sources, with what is true of each."""
    return LabelledBatch(*self.tensors(encoded), truth)


@torch.no_grad()
def align_sequence(self: SequenceInput[E], network: Classifier, source: str, answer: Answer) -> Alignment:
    """Which items the answer was taken from; of a Transformer without a pooling, where each item attended."""
    batch = self.asked(network, [self.encode(source)])
    view, weights = self.view(network.encoder, source), attention_weights(network, batch)
    if weights is None:
        weights = torch.zeros(0, 0, 1, len(view.labels))
    output = [answer.text] if weights.size(2) == 1 else view.labels
    return Alignment(view.labels, output, weights, answer.text, answer.score, view.image, view.grid)


@torch.no_grad()
def trace_sequence(self: SequenceInput[E], network: Classifier, source: str) -> list[TraceMatrix]:
    """The source, a state for each item, what attention took of each, and the vector that the head reads."""
    encoder, batch = network.encoder, self.asked(network, [self.encode(source)])
    view, encoded = self.view(encoder, source), encoder.encode(batch.source, batch.valid)
    deep = isinstance(encoder, HierarchicalEncoder)
    rows = [f"sentence {number + 1}" for number in range(encoded.states.size(1))] if deep else view.labels
    found = [
        *self.trace_source(encoder, source, view),
        trace_matrix(
            "states", f"{type(encoder).__name__}: one vector each", rows, encoded.states[0].cpu(), made_of=READ
        ),
    ]
    weights = attention_weights(network, batch)
    if weights is not None and weights.size(2) == 1:
        levels = ["within its sentence", "of its sentence"] if deep else ["weight"]
        taken = weights[:, 0, 0].mT
        found.append(
            trace_matrix(
                "weights", "how much attention took of each", view.labels, taken, columns=levels, made_of=["states"]
            )
        )
    summary = network.pool(encoded).cpu()
    made_of = ["weights", "states"]
    return [*found, trace_matrix("summary", "the whole source in one vector", ["summary"], summary, made_of=made_of)]


def attention_weights(network: Classifier, batch: LabelledBatch) -> Tensor | None:
    """The attention of the first source (L, H, O, N): of a pooling over each item, (1, 1, 1, N); of a hierarchical
    encoder over each word within its sentence and over its sentence, (2, 1, 1, N); else the self-attention of a
    Transformer, (L, H, N, N). None where nothing attends.
    """
    encoder, source, valid = network.encoder, batch.source, batch.valid
    if isinstance(encoder, HierarchicalEncoder):
        return encoder.weights(source, valid)[0][:, None, None].float().cpu()
    if isinstance(network.pooling, AttentionPooling):
        return network.weights(batch)[:1, None, None].float().cpu()
    if isinstance(encoder, PatchedNumberEncoder):
        source, valid = encoder.cut(source, valid)
        encoder = encoder.encoder
    if isinstance(encoder, TransformerNumberEncoder):
        return encoder.stack.weights(encoder.place(source, valid), valid=valid)[0].float().cpu()
    if isinstance(encoder, TransformerEncoder):
        return encoder.weights(source, valid)[0].float().cpu()
    return None


def on_device(batch: B, module: nn.Module) -> B:
    """A batch where a module is, its numbers in the module's precision."""
    like = next(module.parameters())
    return type(batch)(*(part.to(like) if part.is_floating_point() else part.to(like.device) for part in batch))
