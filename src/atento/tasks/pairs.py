"""The product of an input and an output: `pair(name, Text, OneLabel, …)` is a whole task, from a file to an answer.

Every function here hands its work to one half or the other; what a task does is written in `inputs/` and `outputs/`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from torch import nn

from atento.data.text.vocabulary import Vocabulary
from atento.layers.losses import Loss
from atento.metrics.bootstrap import Band, Runs
from atento.metrics.metric import Metric
from atento.models.names import ModelName
from atento.spec import DecodeRecipe, ModelRecipe, Recipe, TokensRecipe
from atento.tasks.inputs.input import Input
from atento.tasks.leaks import require_training_tokens, without_sources
from atento.tasks.outputs.exposure import measure_exposure
from atento.tasks.outputs.output import Example, Output
from atento.tasks.outputs.sequence_loss import mix_own_tokens
from atento.tasks.task import (
    Alignment,
    Answer,
    Answering,
    Dataset,
    Defaults,
    EvaluationExample,
    Judging,
    Learning,
    Pair,
    Reading,
    Saved,
    Task,
)
from atento.tasks.traces import TraceMatrix

AnyInput = Input[Any]
AnyOutput = Output[Any]
AnyExample = Example[Any, Any]


@dataclass(frozen=True)
class PairCodec:
    """Examples <-> tensors: the two halves of a task, learned from the training part alone."""

    input: AnyInput
    output: AnyOutput

    @property
    def notes(self) -> tuple[str, ...]:
        """What both halves learned, in words."""
        return (*self.input.notes, *self.output.notes)

    @property
    def vocabulary(self) -> Vocabulary | None:
        """What texts are read with; None where sources are no texts."""
        return self.input.vocabulary

    @property
    def lower(self) -> bool:
        """Whether sources are read in lower case."""
        return self.input.lower

    def to_json(self) -> dict[str, Any]:
        """Both halves."""
        return {"input": self.input.to_json(), "output": self.output.to_json()}


def require_no_leak(codec: PairCodec, reading: Dataset) -> None:
    """Refuse scales or tokens that are learned from held-out rows."""
    codec.input.require_training_scale([source for source, _ in reading.train])
    require_training_tokens(codec, reading if codec.input.has_tokens else without_sources(reading))


def encode(codec: PairCodec, pair: Pair) -> AnyExample:
    """A training example."""
    return Example(codec.input.encode(pair[0]), codec.output.encode(pair[1]))


def batch(codec: PairCodec, examples: Sequence[AnyExample]) -> Any:
    """Padded tensors."""
    return codec.output.batch(codec.input, examples)


def length(codec: PairCodec, example: AnyExample) -> int:
    """How many tokens an example counts as in a batch."""
    return codec.output.length(codec.input, example)


def build(recipe: ModelRecipe, codec: PairCodec) -> nn.Module:
    """A network whose sizes follow from both halves."""
    return codec.output.build(recipe, codec.input)


def bind(codec: PairCodec, recipe: Recipe) -> PairCodec:
    """The codec, as a recipe wants its sources read."""
    return replace(codec, input=codec.input.bind(recipe.data))


def answer(module: nn.Module, codec: PairCodec, sources: Sequence[str], recipe: DecodeRecipe) -> list[Answer]:
    """An answer for each source."""
    return codec.output.answer(module, codec.input, sources, recipe)


def look(module: nn.Module, codec: PairCodec, source: str, recipe: DecodeRecipe) -> Alignment:
    """An answer, and what the network attended to."""
    return codec.output.look(module, codec.input, source, recipe)


def trace(module: nn.Module, codec: PairCodec, source: str, recipe: DecodeRecipe) -> list[TraceMatrix]:
    """One forward pass, matrix by matrix."""
    return codec.output.trace(module, codec.input, source, recipe)


def metrics(codec: PairCodec) -> tuple[Metric, ...]:
    """What is reported, the headline first."""
    return codec.output.metrics(codec.input)


def error(codec: PairCodec, output: Any, references: Sequence[Any]) -> float:
    """1 and more: a mistake."""
    return codec.output.error(output, references)


def unseen(codec: PairCodec, questions: Sequence[EvaluationExample]) -> list[str]:
    """Every reference label that training never met, as often as it occurs."""
    return [label for question in questions for label in codec.output.unseen(question.references)]


def class_weights(module: nn.Module, codec: PairCodec, power: float) -> None:
    """Let rare classes weigh more while training."""
    codec.output.weigh(module, power)


def calibrate(module: nn.Module, codec: PairCodec, questions: Sequence[EvaluationExample]) -> None:
    """Choose thresholds by the validation part."""
    codec.output.calibrate(module, codec.input, questions)


def exposure(
    module: Any, codec: PairCodec, questions: Sequence[EvaluationExample], answers: Sequence[Answer]
) -> dict[str, dict[str, float]]:
    """Accuracy after true tokens against accuracy after the model's own."""
    halves: tuple[Any, Any] = (codec.input, codec.output)
    return measure_exposure(module, *halves, questions, answers)


def no_bands(
    codec: PairCodec, metric: Metric, sources: Sequence[str], runs: Runs, references: Sequence[Any]
) -> list[Band]:
    """Sources that have no length."""
    return []


def pair(
    name: str, input: type[AnyInput], output: type[AnyOutput], *, summary: str, reading: Reading, defaults: Defaults
) -> Task[PairCodec, AnyExample]:
    """The task that gives outputs of one kind for inputs of one kind."""

    def learn(recipe: TokensRecipe, pairs: Sequence[Pair]) -> PairCodec:
        sources = input.learn(recipe, [source for source, _ in pairs], writes=output.writes)
        return PairCodec(sources, output.learn(recipe, sources, pairs))

    def with_vocabulary(recipe: TokensRecipe, pairs: Sequence[Pair], vocabulary: Vocabulary) -> PairCodec:
        learned = learn(recipe, pairs)
        return replace(learned, input=learned.input.with_vocabulary(vocabulary))

    def load(saved: Saved) -> PairCodec:
        return PairCodec(input.load(half(saved, "input")), output.load(half(saved, "output")))

    def check_name(model: ModelName) -> None:
        output.check_name(input, model)

    def drop_words(batch: Any, share: float) -> Any:
        return output.drop_words(input, batch, share)

    def loss(module: nn.Module, batch: Any, smoothing: float) -> Loss:
        return output.loss(module, batch, smoothing)

    return Task(
        name=name,
        summary=summary,
        reading=replace(reading, kind=input.kind, texts=texts_of(input, output)),
        learning=Learning(
            check_name=check_name,
            learn=learn,
            bind=bind if input.bind is not Input.bind else None,
            with_vocabulary=with_vocabulary if input.takes_vocabulary and not output.writes else None,
            load=load,
            require_no_leak=require_no_leak,
            encode=encode,
            length=length,
            batch=batch,
            build=build,
            class_weights=class_weights if output.weighs_classes else None,
            word_dropout=drop_words if input.has_words else None,
            scheduled_sampling=mix_own_tokens if output.writes else None,
            loss=loss,
            truncated_bptt=output.truncated_bptt,
            calibrate=calibrate if output.calibrates else None,
        ),
        answering=Answering(answer=answer, look=look, trace=trace),
        judging=Judging(
            labels=output.target_labels,
            metrics=metrics,
            selects=output.selects,
            error=error,
            target=output.target,
            bands=None if input.has_length else no_bands,
            exposure=exposure if output.writes else None,
            unseen=unseen,
            baselines=output.baselines(input.kind),
        ),
        defaults=defaults,
    )


def texts_of(input: type[AnyInput], output: type[AnyOutput]) -> dict[str, Callable[[Pair], str]]:
    """The texts of an example whose lengths are worth a look, by what they are called."""
    found: dict[str, Callable[[Pair], str]] = {}
    if input.texts:
        name = "source" if output.writes and input.texts == "text" else input.texts
        found[name] = lambda example: input.text_of(example[0])
    if output.writes:
        found["target"] = lambda example: example[1]
    return found


def half(saved: Saved, key: str) -> Saved:
    """One half of what a codec wrote."""
    found: Saved = saved.get(key) or {}
    return found
