"""What a task is. A task is a value, not a subclass: functions in groups, typed by what flows between them.

A bare `Task` is a task of any kind.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn
from typing_extensions import TypeVar

from atento.data.evidence.evidence import Evidence
from atento.data.examples.batches import Order
from atento.data.examples.pairs import UnlabelledFile
from atento.data.records import Refusal
from atento.data.series.series import Numbers
from atento.data.text.vocabulary import Vocabulary
from atento.layers.losses import Loss
from atento.metrics.bootstrap import Band, Interval, Runs
from atento.metrics.metric import Metric
from atento.models.names import ModelName, require_known
from atento.spec import DataRecipe, DecodeRecipe, ModelRecipe, Recipe, TokensRecipe, TrainRecipe
from atento.tasks.traces import Alignment, ForwardPass, TraceMatrix

P = TypeVar("P", default=Any)  # training pair: (text, text); of series (series, "")
S = TypeVar("S", default=Any)  # source that is answered: a text; of a forecast an `atento.data.series.Past`
R = TypeVar("R", default=Any)  # reference, a right answer: a text; of a forecast an array of the true values
C = TypeVar("C", bound="Codec", default=Any)  # codec
X = TypeVar("X", default=Any)  # encoded example
W = TypeVar("W", default=Any)  # example or window, as a batch is made of them
B = TypeVar("B", bound=tuple[Tensor, ...], default=Any)  # batch
M = TypeVar("M", bound=nn.Module, default=Any)  # module
State = TypeVar("State", default=Any)  # what a recurrent model carries from chunk to chunk

Prediction = Any  # an answer as the metrics of its task take it: a text, a list of tags or labels, an array
Indices = Sequence[int] | NDArray[np.integer]  # numbers of examples
Pair = tuple[str, str]  # (source, target)
Saved = Mapping[str, object]  # what a codec wrote as JSON
Values = dict[str, object]  # keys of a recipe and their values
Details = dict[str, object]  # further facts of an examination, for metrics.json


class Recognition(NamedTuple):
    """How likely a file is meant for a task, from 0 to 1, and why."""

    likelihood: float
    reason: str


class EvaluationExample(NamedTuple, Generic[S, R]):
    """A source and its references, every target that is right; of a set of labels, all that are true.

    A source is a text; one that is a list (words, two texts) is one text with tabs between (`atento.data.records`);
    an image is named by its path. Only a forecast differs: its source is an `atento.data.series.Past`, its reference
    an array of the true values.
    """

    source: S
    references: tuple[R, ...]


TextExample = EvaluationExample[str, str]


class Dataset(NamedTuple, Generic[P, S, R]):
    """A data set, split before anything is fitted."""

    name: str
    train: Sequence[P]  # in memory or on disk
    valid: Sequence[EvaluationExample[S, R]]
    test: Sequence[EvaluationExample[S, R]]
    refused: tuple[Refusal, ...]
    notes: tuple[str, ...]  # what was guessed, in words
    fingerprint: str  # SHA-256 of all three parts
    roles: tuple[tuple[str, str], ...] = ()  # (column of the file, what it holds)
    columns: tuple[tuple[str, str], ...] = ()  # (key of data.*, the column it names), with which other files are read
    header: tuple[str, ...] = ()  # all columns of the training file


class LabelledFile(NamedTuple, Generic[S, R]):
    """The examples of a file with their references, to measure a trained model on."""

    questions: Sequence[EvaluationExample[S, R]]
    notes: tuple[str, ...]
    refused: tuple[Refusal, ...]


class Codec(Protocol):
    """Examples <-> tensors; learned from the training part alone."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on what was learned."""

    def to_json(self) -> dict[str, object]:
        """All that the task's `load` needs."""

    def answer_facts(self) -> dict[str, object]:
        """What its answers are, for other programs: `output`, its labels, channels, look-back, horizon …"""


class Baseline(Protocol):
    """A simple model of the same shape as the trained ones."""

    name: str
    summary: str

    def fit(self, sources: Sequence[Any], targets: Sequence[Any]) -> object:
        """Learn from the training part."""

    def predict(self, sources: Sequence[Any]) -> Sequence[Prediction]:
        """Answer, in the form that the task's metrics judge."""


class ExtraBaseline(NamedTuple, Generic[C]):
    """A baseline that is compared where the data is of its kind."""

    make: Callable[[], Baseline]
    suits: Callable[[C], bool]


class Answer(NamedTuple):
    """The answer of a model, with its score."""

    text: str  # as a person reads it
    score: float | None  # log-probability; None: the model cannot say
    value: Prediction = None  # as metrics and programs take it, where that is not the text: a list of tags, of labels
    probabilities: Mapping[str, float] | None = None  # the probability of each label, where there are labels
    evidence: str | None = None  # what of the source it rests on, where the model can say

    @property
    def judged(self) -> Prediction:
        """The form of the answer that metrics take."""
        return self.text if self.value is None else self.value


def not_among(codec: object, output: object, references: Sequence[object]) -> float:
    """The error of an output: 0 where it is one of the references, else 1."""
    return float(output not in references)


def first_reference(references: Sequence[R]) -> R:
    """The first of the references, each of which is right."""
    return references[0]


class TargetLabels(NamedTuple):
    """The labels of a target."""

    split: Callable[[str], list[str]]  # target -> its labels
    several: bool = False  # whether a source may have any number of them
    of_words: bool = False  # whether each word of a source has one


class TruncatedBPTT(NamedTuple, Generic[M, B, State]):
    """The functions of truncated back-propagation through time: a batch is learned in chunks of time steps."""

    items: Callable[[B], int]  # what the loss of a batch is the mean over
    start: Callable[[M, B], State]  # the state before the first step
    cut: Callable[[B, int], list[B]]  # batch, steps -> contiguous chunks of it
    loss: Callable[[M, B, State, float], tuple[Loss, State]]  # module, chunk, state, smoothing -> state after


class RolloutMetric(NamedTuple, Generic[C, S, R]):
    """A metric of rollouts on data whose true system is known; it stands beside the headline."""

    name: str
    summary: str
    measure: Callable[
        [str, C, Sequence[EvaluationExample[S, R]], Callable[[Sequence[S]], Sequence[Prediction]]], Interval | None
    ]  # data set, codec, questions, sources -> predictions; None: the system is not known


class Windows(NamedTuple, Generic[W, B]):
    """Training windows of texts or series that are too long to be one example."""

    examples: Sequence[W]  # as `batch` takes them
    order: Order  # of the batches
    carried: bool  # whether a batch goes on where the one before it ended, with the state it left
    gather: Callable[[Indices], B] | None = None  # numbers of examples -> their batch; None: by `batch`


@dataclass(frozen=True, kw_only=True)
class Reading(Generic[P, S, R]):
    """How files are recognized and read."""

    kind: str = "text"  # of the sources: text, two texts, words, numbers, image, documents, series
    texts: Mapping[str, Callable[[P], str]] = field(default_factory=dict)  # training pair -> each of its texts
    # whose length is worth a look, by what it is called
    recognise: Callable[[Evidence], Recognition]
    keys: tuple[str, ...] = ("source", "target")  # of the recipe, that name columns of sources and targets
    read: Callable[[DataRecipe, int], Dataset[P, S, R]]  # recipe, seed -> the three parts
    read_labelled: Callable[[DataRecipe, str, int], LabelledFile[S, R]]  # recipe, another file, seed -> its examples
    read_unlabelled: Callable[[DataRecipe, str, int], UnlabelledFile]  # recipe, another file, seed -> sources to answer


@dataclass(frozen=True, kw_only=True)
class Learning(Generic[C, X, B, M, P, W]):
    """How training pairs become examples, examples batches, and batches a loss."""

    check_name: Callable[[ModelName], None] = require_known  # refuses a wrong model name before a large file is read
    learn: Callable[[TokensRecipe, Sequence[P]], C]  # from the training part alone
    bind: Callable[[C, Recipe], C] | None = None  # the codec with what the recipe decides
    with_vocabulary: Callable[[TokensRecipe, Sequence[Pair], Vocabulary], C] | None = None  # as `learn`, with the
    # vocabulary of another task's model
    load: Callable[[Saved], C]  # from what the codec's to_json wrote
    require_no_leak: Callable[[C, Dataset[P]], None]  # refuses what is learned from held-out rows
    encode: Callable[[C, P], X]
    length: Callable[[C, X], int]  # tokens
    windows: Callable[[Sequence[X], TrainRecipe, C], Windows[W, B]] | None = None  # of what is too long to be learned
    # whole
    batch: Callable[[C, Sequence[W]], B]  # of examples, or of the windows cut from them
    build: Callable[[ModelRecipe, C], M]  # one network
    ensemble: Callable[[Sequence[M]], M] | None = None  # networks of one recipe -> their mean; None: answers have none
    closed_form: Callable[[M, C, Sequence[P]], str] | None = None  # solve first weights from that part; a note
    count: Callable[[M, C, Sequence[P]], str] | None = None  # counts of the training part beside weights; a note
    class_weights: Callable[[M, C, float], None] | None = None  # weight rare labels more while training
    word_dropout: Callable[[B, float], B] | None = None  # a share of source tokens becomes unknown
    scheduled_sampling: Callable[[M, B, float, str], B] | None = None  # share of true inputs, which own tokens instead
    loss: Callable[[M, B, float], Loss]  # module, batch, label smoothing
    pair: Callable[[EvaluationExample], P | None] | None = None  # validation example -> pair; None: no loss is watched
    truncated_bptt: TruncatedBPTT | None = None  # the same loss, chunk by chunk in time
    calibrate: Callable[[M, C, Sequence[EvaluationExample]], None] | None = None  # thresholds, by the validation part
    conformalize: Callable[[M, C, Dataset[P]], str] | None = None  # intervals, when training has ended; a note


@dataclass(frozen=True, kw_only=True)
class Answering(Generic[C, M, S]):
    """How a trained model answers, and what it can show of that."""

    answer: Callable[[M, C, Sequence[S], DecodeRecipe], list[Answer]]
    score: Callable[[M, C, Sequence[S], DecodeRecipe], Sequence[Prediction]] | None = None  # what metrics take; None:
    # the answers. A language model is judged by the probability of a text, not by its continuation
    look: Callable[[M, C, S, DecodeRecipe], Alignment]
    trace: Callable[[M, C, S, DecodeRecipe], list[TraceMatrix]]  # one forward pass, matrix by matrix
    forward_pass: Callable[[M, C, S, DecodeRecipe], ForwardPass] | None = None  # for attention maps and attributions
    views: tuple[str, ...] = ()  # what `atento look --what` shows of this task and few others, the most telling first
    tabulate: Callable[[UnlabelledFile, Sequence[Answer]], dict[str, list[object]]] | None = None  # what `predict`
    # writes; None: the file's own columns with an answer beside each row
    source_notes: Callable[[C, Sequence[S]], list[str]] | None = None  # on sources unlike those of training


@dataclass(frozen=True, kw_only=True)
class Judging(Generic[C, M, S, R]):
    """How answers are judged, and which simple models they are compared with."""

    labels: TargetLabels | None = None  # None: targets are no labels
    metrics: Callable[[C], tuple[Metric, ...]]  # what is reported, the headline first
    selects: Metric | None = None  # picks the best validation; None: the headline
    distance: Callable[[C, Numbers, Numbers], float] | None = None  # of two answers that are arrays; None: they are
    # texts or lists
    error: Callable[[C, Prediction, Sequence[R]], float] = not_among  # 1 and more: a mistake
    target: Callable[[Sequence[R]], R] = first_reference  # references -> the target of such an example
    bands: Callable[[C, Metric, Sequence[S], Runs, Sequence[Sequence[R]]], list[Band]] | None = None
    # headline, sources, runs, references -> quality against what matters; None: against the length of sources
    exposure: (
        Callable[[M, C, Sequence[EvaluationExample[S, R]], Sequence[Answer]], dict[str, dict[str, float]]] | None
    ) = None  # teacher-forced against free-running accuracy
    details: (
        Callable[[C, Sequence[EvaluationExample[S, R]], Sequence[Prediction], Sequence[Answer] | None], Details] | None
    ) = None  # what the scores hide, e.g. a confusion matrix, from questions, predictions and, where known, answers
    unseen: Callable[[C, Sequence[EvaluationExample[S, R]]], list[str]] | None = None  # labels of references that
    # training never met
    rollouts: RolloutMetric[C, S, R] | None = None
    baselines: tuple[Callable[[], Baseline], ...]  # always in the comparison
    extra_baselines: tuple[ExtraBaseline[C], ...] = ()
    baseline_answers: Callable[[C, Baseline, Sequence[S], DecodeRecipe], list[Answer]] | None = None  # of a fitted
    # baseline; None: what it predicts are the texts of its answers


@dataclass(frozen=True, kw_only=True)
class Defaults(Generic[P]):
    """The default values of a recipe."""

    models: tuple[str, ...]  # what `compare` trains when none are named
    model: str  # what `train` trains
    values: Callable[[str, ModelName], Values]  # data name, model name -> recipe values chosen by measurement
    data_values: Callable[[Recipe, Sequence[P], str], Values] | None = None  # recipe, training part, device ->
    # values that follow from how much there is to learn from


@dataclass(frozen=True, kw_only=True)
class Task(Generic[C, X, B, M]):
    """All functions of a task: reading, learning, answering, judging and its defaults."""

    name: str
    summary: str  # the line `atento --help` prints
    reading: Reading
    learning: Learning[C, X, B, M]
    answering: Answering[C, M]
    judging: Judging[C, M]
    defaults: Defaults


def baselines_of(task: Task[C, X, B, M], codec: C) -> tuple[Callable[[], Baseline], ...]:
    """The simple models of a comparison."""
    extra = tuple(one.make for one in task.judging.extra_baselines if one.suits(codec))
    return (*task.judging.baselines, *extra)


def judged(
    task: Task[C, X, B, M], module: M, codec: C, sources: Sequence[S], recipe: DecodeRecipe
) -> tuple[Sequence[Prediction], list[Answer] | None]:
    """What the task's metrics take, and the answers where those are what is judged."""
    if task.answering.score is not None:
        return task.answering.score(module, codec, sources, recipe), None
    answers = task.answering.answer(module, codec, sources, recipe)
    return [answer.judged for answer in answers], answers
