"""What a task is. A task is a value, not a subclass.

Training examples as token numbers: all at once, or one at a time where the pairs are on disk.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, overload

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from atento.data.builtin.catalogue import BUILTIN
from atento.data.evidence import Evidence
from atento.data.examples.batches import Order, StoredPairs, sample_of
from atento.data.records import Refusal
from atento.data.text.vocabulary import Vocabulary
from atento.layers.losses import Loss
from atento.metrics.bootstrap import Bands, Runs, length_bands
from atento.metrics.metric import Metric
from atento.models.names import ModelName, require_known
from atento.spec import DataRecipe, DecodeRecipe, ModelRecipe, Recipe, TokensRecipe, TrainRecipe

TOLD_IN_FULL = ("data.known",)  # `weekday` becomes `weekday=Fr,weekday=Mo`, also for a file with no Friday


class Recognition(NamedTuple):
    """How likely a file is meant for a task, from 0 to 1, and why."""

    likelihood: float
    reason: str


class Question(NamedTuple):
    """One thing to answer and every answer that is right; of a set of labels, all that are true.

    A source is a text; one that is a list (words, two texts) is one text with tabs between (`atento.data.records`);
    a picture is named by its path. Only a forecast differs: its source is an `atento.data.series.Past`, its reference
    an array of what came.
    """

    source: Any
    references: tuple[Any, ...]


class Reading(NamedTuple):
    """A data set, split before anything is fitted."""

    name: str
    train: Sequence[tuple[Any, Any]]  # (source, target), in memory or on disk; of series (series, "")
    valid: Sequence[Question]
    test: Sequence[Question]
    refused: tuple[Refusal, ...]
    notes: tuple[str, ...]  # what was guessed, in words
    fingerprint: str  # SHA-256 of all three parts


class Asked(NamedTuple):
    """A file's questions with their answers, to measure a trained model on."""

    questions: Sequence[Question]
    notes: tuple[str, ...]
    refused: tuple[Refusal, ...]


class Opened(NamedTuple):
    """A file as it is, and what a trained model should answer in it."""

    columns: dict[str, list[str]]
    sources: list[Any]
    refused: tuple[Refusal, ...]


class Codec(Protocol):
    """Examples <-> tensors; learned from the training part alone."""

    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """All that the task's `load` needs."""


class Alignment(NamedTuple):
    """Where a model looked while it wrote."""

    source: list[str]
    output: list[str]
    weights: Tensor  # (layers, heads, outputs, sources)
    text: str  # the output as a person reads it
    score: float | None  # log-probability of the output
    picture: str = ""  # of a picture that was read: its pixels as a data URI
    grid: tuple[int, int] = (0, 0)  # of a picture: rows and columns of regions, which are the sources, row by row


class Baseline(Protocol):
    """A simple model of the same shape as the trained ones."""

    name: str
    summary: str

    def fit(self, sources: Sequence[Any], targets: Sequence[Any]) -> Any:
        """Learn from the training part."""

    def predict(self, sources: Sequence[Any]) -> Sequence[Any]:
        """Answer, in the form that the task's metrics judge."""


class Answer(NamedTuple):
    """What a model says, and how sure it is."""

    text: str  # as a person reads it
    score: float | None  # log-probability; None: the model cannot say
    value: Any = None  # as metrics and programs take it, where that is not the text: a list of tags, of labels
    chances: Mapping[str, float] | None = None  # the probability of each label, where there are labels
    evidence: str | None = None  # what of the source it rests on, where the model can say

    @property
    def judged(self) -> Any:
        """What metrics judge."""
        return self.text if self.value is None else self.value


def not_among(codec: Any, output: Any, references: Sequence[str]) -> float:
    """Right or wrong: 0 or 1."""
    return float(output not in references)


def first_reference(references: Sequence[str]) -> str:
    """Any right answer will do."""
    return references[0]


class InStretches(NamedTuple):
    """How a batch is learned stretch by stretch, for truncated back-propagation through time."""

    items: Callable[[Any], int]  # batch -> what its loss is the mean over
    start: Callable[[nn.Module, Any], Any]  # module, batch -> the state before the first step
    cut: Callable[[Any, int], list[Any]]  # batch, steps -> contiguous stretches of it
    loss: Callable[[nn.Module, Any, Any, float], tuple[Loss, Any]]  # module, stretch, state, smoothing -> state after


class Windows(NamedTuple):
    """What is learned of texts that are too long to be learned whole."""

    examples: Sequence[Any]  # as `batch` takes them
    order: Order  # of the batches
    carried: bool  # whether a batch goes on where the one before it ended, with the state it left
    gather: Callable[[Any], Any] | None = None  # numbers of examples -> their batch; None: by `batch`


@dataclass(frozen=True, kw_only=True)
class Task:
    """From a file to an answer."""

    name: str
    summary: str  # the line `atento --help` prints
    recognise: Callable[[Evidence], Recognition]
    names: Callable[[ModelName], None] = require_known  # refuses a wrong model name before a large file is read
    read: Callable[[DataRecipe, int], Reading]  # recipe, seed -> the three parts
    ask: Callable[[DataRecipe, str, int], Asked]  # recipe, another file, seed -> questions with their answers
    open: Callable[[DataRecipe, str, int], Opened]  # recipe, another file, seed -> sources to answer
    learn: Callable[[TokensRecipe, Sequence[tuple[Any, Any]]], Any]  # training part -> codec
    suit: Callable[[Any, Recipe], Any] | None = None  # codec, recipe -> codec that knows how its model is made
    adopt: Callable[[TokensRecipe, Sequence[tuple[str, str]], Vocabulary], Any] | None = None  # as `learn`, with the
    # vocabulary of another task's model
    load: Callable[[Mapping[str, Any]], Any]  # what the codec's to_json wrote -> codec
    encode: Callable[[Any, tuple[Any, Any]], Any]  # codec, example -> token lists
    length: Callable[[Any], int]  # tokens of an encoded example
    windows: Callable[[Sequence[Any], TrainRecipe, Any], Windows] | None = None  # encoded examples, codec -> parts
    batch: Callable[[Sequence[Any]], Any]  # encoded examples -> tensors
    build: Callable[[ModelRecipe, Any], nn.Module]  # recipe, codec -> module
    mix: Callable[[nn.Module, Any, float, str], Any] | None = None  # module, batch, share of true inputs, own tokens
    blur: Callable[[Any, float], Any] | None = None  # batch, share of source tokens to be read as unknown -> batch
    start: Callable[[nn.Module, Any, Sequence[tuple[Any, Any]]], str] | None = None  # module, codec, training part ->
    # first weights that are known without training, and a note of them
    weigh: Callable[[nn.Module, Any, float], None] | None = None  # module, codec, how much more rare labels weigh
    loss: Callable[[nn.Module, Any, float], Loss]  # module, batch, label smoothing
    stretches: InStretches | None = None  # the same loss, piece by piece in time
    answer: Callable[[nn.Module, Any, Sequence[Any], DecodeRecipe], list[Answer]]
    judge: Callable[[nn.Module, Any, Sequence[Any], DecodeRecipe], list[Any]] | None = None  # what metrics take, where
    # it is not the answers: a language model is judged by how it scores a text, not by how it goes on
    settle: Callable[[nn.Module, Any, Sequence[Question]], None] | None = None  # last choices, by the validation part
    look: Callable[[nn.Module, Any, Any, DecodeRecipe], Alignment]
    steps: Callable[[nn.Module, Any, Any, DecodeRecipe], list[dict[str, Any]]]  # one pass, matrix by matrix
    tabulate: Callable[[Opened, Sequence[Answer]], dict[str, list[Any]]] | None = None  # what `predict` writes; None:
    # the file's own columns with an answer beside each row
    bands: Callable[[Any, Metric, Sequence[Any], Runs, Sequence[Any]], list[dict[str, Any]]] | None = None  # codec,
    # headline, sources, runs, references -> quality against what matters; None: against the length of sources
    exposure: Callable[[nn.Module, Any, Sequence[Question], Sequence[Answer]], dict[str, Any]] | None = None
    wrong: Callable[[Any, Any, Sequence[Any]], float] = not_among  # codec, output, references -> 1 and more: a mistake
    target: Callable[[Sequence[Any]], Any] = first_reference  # references -> the target of such an example
    selects: Metric | None = None  # picks the best validation; None: the headline
    metrics: Callable[[Any], tuple[Metric, ...]]  # codec -> what is reported, the headline first
    baselines: tuple[Callable[[], Baseline], ...]  # always in the comparison
    further: Callable[[Any], tuple[Callable[[], Baseline], ...]] | None = None  # codec -> baselines of such data
    models: tuple[str, ...]  # what `compare` trains when none are named
    default_model: str
    defaults: Callable[[str, ModelName], dict[str, Any]]  # data name, model name -> recipe values chosen by measurement
    sized: Callable[[Recipe, Sequence[tuple[Any, Any]], str], dict[str, Any]] | None = None  # recipe, training part ->
    # device -> values that follow from how much there is to learn from


def baselines_of(task: Task, codec: Any) -> tuple[Callable[[], Baseline], ...]:
    """The simple models of a comparison."""
    return task.baselines if task.further is None else (*task.baselines, *task.further(codec))


def bands_of(task: Task, codec: Any) -> Bands:
    """What the task shows quality against."""
    return length_bands if task.bands is None else partial(task.bands, codec)


def compared(task: Task, data: str) -> tuple[str, ...]:
    """What `compare` trains on a set when none are named."""
    return (BUILTIN[data].models if data in BUILTIN else ()) or task.models


def fill_defaults(task: Task, explicit: Mapping[str, Any], *, data: str, where: str = "") -> Recipe:
    """The recipe of a run: the task's defaults for this model, then what the user said."""
    name = str(explicit.get("model.name", "auto"))
    if name == "auto":
        name = (BUILTIN[data].model if data in BUILTIN else "") or task.default_model
    values = {**task.defaults(data, ModelName.parse(name)), **explicit, "model.name": name, "task": task.name}
    return Recipe().with_values(values, where=where)


def fill_sizes(
    task: Task, recipe: Recipe, explicit: Mapping[str, Any], train: Sequence[tuple[Any, Any]], *, device: str = "cpu"
) -> Recipe:
    """The recipe with what follows from the training part, where the user said nothing of it; columns that the user
    named are told in full, as other files will need them.
    """
    found = {} if task.sized is None else task.sized(recipe, train, device)
    return recipe.with_values(
        {key: value for key, value in found.items() if key not in explicit or key in TOLD_IN_FULL}
    )


def learn_codec(task: Task, recipe: Recipe, pairs: Sequence[tuple[Any, Any]]) -> Any:
    """The codec of the training part, told how its model is to be trained where it asks."""
    return suited(task, task.learn(recipe.tokens, sample_of(pairs)), recipe)


def suited(task: Task, codec: Any, recipe: Recipe) -> Any:
    """The codec, told how its model is to be trained where it asks."""
    return codec if task.suit is None else task.suit(codec, recipe)


def judged(
    task: Task, module: nn.Module, codec: Any, sources: Sequence[Any], recipe: DecodeRecipe
) -> tuple[list[Any], list[Answer] | None]:
    """What the task's metrics take, and the answers where those are what is judged."""
    if task.judge is not None:
        return task.judge(module, codec, sources, recipe), None
    answers = task.answer(module, codec, sources, recipe)
    return [answer.judged for answer in answers], answers


SAMPLE = 1000  # examples whose lengths tell how many tokens a byte is


class EncodedOnDemand(Sequence[Any]):
    """Encodes an example each time it is asked for; its length is estimated from its bytes."""

    def __init__(self, task: Task, codec: Any, pairs: StoredPairs) -> None:
        self.task, self.codec, self.pairs = task, codec, pairs
        some = range(0, len(pairs), max(1, len(pairs) // SAMPLE))
        tokens = sum(task.length(self[at]) for at in some)
        self.tokens_a_byte = tokens / max(1, sum(pairs.bytes_of(at) for at in some))

    def __len__(self) -> int:
        return len(self.pairs)

    @overload
    def __getitem__(self, at: int) -> Any: ...

    @overload
    def __getitem__(self, at: slice) -> list[Any]: ...

    def __getitem__(self, at: int | slice) -> Any:
        """One example, or several."""
        if isinstance(at, slice):
            return [self[index] for index in range(*at.indices(len(self)))]
        return self.task.encode(self.codec, self.pairs[at])

    def lengths(self) -> NDArray[np.int32]:
        """About how many tokens each example has."""
        sizes = np.diff(np.frombuffer(self.pairs.ends, dtype=np.int64)).astype(np.float32)
        return np.maximum(sizes * np.float32(self.tokens_a_byte), 1).astype(np.int32)


def encode_all(task: Task, codec: Any, pairs: Sequence[tuple[str, str]]) -> Sequence[Any]:
    """What a run learns from."""
    if isinstance(pairs, StoredPairs):
        return EncodedOnDemand(task, codec, pairs)
    return [task.encode(codec, pair) for pair in pairs]


def lengths_of(task: Task, examples: Sequence[Any]) -> Sequence[int] | NDArray[np.int32]:
    """Tokens of each example."""
    if isinstance(examples, EncodedOnDemand):
        return examples.lengths()
    return [task.length(example) for example in examples]
