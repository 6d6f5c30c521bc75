"""The product of an input and an output: `pair(name, Text, OneLabel, …)` is a whole task, from a file to an answer.

Every function here hands its work to one half or the other; what a task does is written in `inputs/` and `outputs/`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic

from atento.data.examples.batches import sample_of
from atento.data.records import counted
from atento.data.text.vocabulary import Vocabulary
from atento.metrics.bootstrap import Band, Runs
from atento.metrics.metric import Metric
from atento.models.names import ModelName
from atento.spec import DecodeRecipe, ModelRecipe, Recipe, TokensRecipe
from atento.tasks.inputs.input import E, HasWords, Input, TakesDataRecipe, TakesVocabulary
from atento.tasks.leaks import require_training_tokens
from atento.tasks.outputs.fitted import HasCalibration, HasClosedForm
from atento.tasks.outputs.forward_pass import forward_pass
from atento.tasks.outputs.output import Autoregressive, Example, HasClasses, In, Output, T
from atento.tasks.task import (
    Answer,
    Answering,
    B,
    Baseline,
    Dataset,
    Defaults,
    Details,
    Judging,
    Learning,
    M,
    Pair,
    Prediction,
    Reading,
    Saved,
    Task,
    TextExample,
)
from atento.tasks.traces import Alignment, ForwardPass, TraceMatrix


@dataclass(frozen=True)
class PairCodec(Generic[In, E, T, B, M]):
    """Examples <-> tensors: the two halves of a task, learned from the training part alone."""

    input: In
    output: Output[In, E, T, B, M]
    max_length: int | None = None  # most tokens of a text; None: any
    cut: int = 0  # training examples that have more

    def __post_init__(self) -> None:
        self.input.max_length = self.output.max_length = self.max_length

    def answer_facts(self) -> dict[str, object]:
        """The kind of its answers, the labels that they may be, and the channels that are read."""
        facts: dict[str, object] = {"output": self.output.kind}
        if self.output.target_labels is not None:
            facts["labels"] = list(self.output.learned_tokens)
        if self.input.kind == "numbers":
            facts["channels"] = [f"channel {number + 1}" for number in range(len(vars(self.input)["channels"]))]
        return facts

    @property
    def notes(self) -> tuple[str, ...]:
        """What both halves learned, in words."""
        if not self.cut:
            return (*self.input.notes, *self.output.notes)
        cut = (
            f"{counted(self.cut, 'example')} with a text of more than {self.max_length:,} tokens: what follows them is "
            "left out; --set tokens.max_length=... keeps more"
        )
        return (*self.input.notes, *self.output.notes, cut)

    @property
    def vocabulary(self) -> Vocabulary | None:
        """What texts are read with; None where sources are no texts."""
        return self.input.vocabulary

    @property
    def lower(self) -> bool:
        """Whether sources are read in lower case."""
        return self.input.lower

    def to_json(self) -> dict[str, object]:
        """Both halves."""
        return {"input": self.input.to_json(), "output": self.output.to_json(), "max_length": self.max_length}

    def bind(self, recipe: Recipe) -> "PairCodec[In, E, T, B, M]":
        """The same, with its sources read as the recipe says."""
        return replace(self, input=self.input.bind(recipe.data)) if isinstance(self.input, TakesDataRecipe) else self

    def require_no_leak(self, reading: Dataset[Pair]) -> None:
        """Refuse scales or tokens that are learned from held-out rows."""
        self.input.require_training_scale([source for source, _ in reading.train])
        rows = reading.train if self.input.has_tokens else [(target,) for _, target in reading.train]
        require_training_tokens([*self.input.learned_tokens, *self.output.learned_tokens], rows)

    def encode(self, pair: Pair) -> Example[E, T]:
        """A training example."""
        return Example(self.input.encode(pair[0]), self.output.encode(pair[1]))

    def batch(self, examples: Sequence[Example[E, T]]) -> B:
        """Padded tensors."""
        return self.output.batch(self.input, examples)

    def length(self, example: Example[E, T]) -> int:
        """How many tokens an example counts as in a batch."""
        return self.output.length(self.input, example)

    def metrics(self) -> tuple[Metric, ...]:
        """What is reported, the headline first."""
        return self.output.metrics(self.input)

    def error(self, output: Prediction, references: Sequence[str]) -> float:
        """1 and more: a mistake."""
        return self.output.error(output, references)

    def details(
        self, questions: Sequence[TextExample], predictions: Sequence[Prediction], answers: Sequence[Answer] | None
    ) -> Details:
        """What the scores hide."""
        return self.output.details(predictions, [question.references for question in questions], answers)

    def unseen(self, questions: Sequence[TextExample]) -> list[str]:
        """Every reference label that training never met, as often as it occurs."""
        return [label for question in questions for label in self.output.unseen(question.references)]

    def baseline_answers(self, baseline: Baseline, sources: Sequence[str], recipe: DecodeRecipe) -> list[Answer]:
        """What a baseline answers."""
        return self.output.baseline_answers(baseline, sources)

    def no_bands(
        self, metric: Metric, sources: Sequence[str], runs: Runs, references: Sequence[Sequence[str]]
    ) -> list[Band]:
        """Sources that have no length."""
        return []


def build(recipe: ModelRecipe, codec: PairCodec[In, E, T, B, M]) -> M:
    """A network whose sizes follow from both halves."""
    return codec.output.build(recipe, codec.input)


def answer(module: M, codec: PairCodec[In, E, T, B, M], sources: Sequence[str], recipe: DecodeRecipe) -> list[Answer]:
    """An answer for each source."""
    return codec.output.answer(module, codec.input, sources, recipe)


def look(module: M, codec: PairCodec[In, E, T, B, M], source: str, recipe: DecodeRecipe) -> Alignment:
    """An answer, and what the network attended to."""
    return codec.output.look(module, codec.input, source, recipe)


def trace(module: M, codec: PairCodec[In, E, T, B, M], source: str, recipe: DecodeRecipe) -> list[TraceMatrix]:
    """One forward pass, matrix by matrix."""
    return codec.output.trace(module, codec.input, source, recipe)


def pass_of(module: M, codec: PairCodec[In, E, T, B, M], source: str, recipe: DecodeRecipe) -> ForwardPass:
    """One forward pass, ready to be looked into."""
    return forward_pass(codec.output, module, codec.input, source, recipe)


def class_weights(module: M, codec: PairCodec[In, E, T, B, M], power: float) -> None:
    """Let rare classes weigh more while training, where there are classes."""
    output = codec.output
    if isinstance(output, HasClasses):
        output.weigh(module, power)


def calibrate(module: M, codec: PairCodec[In, E, T, B, M], questions: Sequence[TextExample]) -> None:
    """Choose by the validation part what an output leaves to it."""
    output = codec.output
    if isinstance(output, HasCalibration):
        output.calibrate(module, codec.input, questions)


def closed_form(module: M, codec: PairCodec[In, E, T, B, M], pairs: Sequence[Pair]) -> str:
    """Solve the simple model that a module begins with, where it has one; of very many pairs, from a sample."""
    output = codec.output
    return output.closed_form(module, codec.input, sample_of(pairs)) if isinstance(output, HasClosedForm) else ""


def exposure(
    module: M, codec: PairCodec[In, E, T, B, M], questions: Sequence[TextExample], answers: Sequence[Answer]
) -> dict[str, dict[str, float]]:
    """Accuracy after true tokens against accuracy after the model's own, where a text is written."""
    output = codec.output
    return output.exposure(module, codec.input, questions, answers) if isinstance(output, Autoregressive) else {}


def pair(
    name: str,
    input: type[In],
    output: type[Output[In, E, T, B, M]],
    summary: str,
    reading: Reading[Pair, str, str],
    defaults: Defaults[Pair],
) -> Task[PairCodec[In, E, T, B, M], Example[E, T], B, M]:
    """The task that gives outputs of one kind for inputs of one kind."""
    writes = issubclass(output, Autoregressive)

    def learn(recipe: TokensRecipe, pairs: Sequence[Pair]) -> PairCodec[In, E, T, B, M]:
        sources = input.learn(recipe, [source for source, _ in pairs], writes=writes)
        return with_limit(PairCodec(sources, output.learn(recipe, sources, pairs)), pairs, recipe.max_length)

    def with_vocabulary(
        recipe: TokensRecipe, pairs: Sequence[Pair], vocabulary: Vocabulary
    ) -> PairCodec[In, E, T, B, M]:
        codec = learn(recipe, pairs)
        own = codec.input
        return replace(codec, input=own.with_vocabulary(vocabulary)) if isinstance(own, TakesVocabulary) else codec

    def load(saved: Saved) -> PairCodec[In, E, T, B, M]:
        most = saved.get("max_length")
        return PairCodec(
            input.load(half(saved, "input")),
            output.load(half(saved, "output")),
            most if isinstance(most, int) else None,
        )

    def pair_of(example: TextExample) -> Pair | None:
        several = output.target_labels is not None and output.target_labels.several  # none of them may be true
        return (example.source, output.target(example.references)) if several or example.references else None

    def check_name(model: ModelName) -> None:
        output.check_name(input, model)

    def drop_words(batch: B, share: float) -> B:
        return output.drop_words(input, batch, share)

    return Task(
        name=name,
        summary=summary,
        reading=replace(reading, kind=input.kind, texts=texts_of(input, writes=writes)),
        learning=Learning(
            check_name=check_name,
            learn=learn,
            bind=PairCodec.bind if issubclass(input, TakesDataRecipe) else None,
            with_vocabulary=with_vocabulary if issubclass(input, TakesVocabulary) and not writes else None,
            load=load,
            require_no_leak=PairCodec.require_no_leak,
            encode=PairCodec.encode,
            length=PairCodec.length,
            batch=PairCodec.batch,
            build=build,
            ensemble=output.ensemble,
            closed_form=closed_form if issubclass(output, HasClosedForm) else None,
            class_weights=class_weights if issubclass(output, HasClasses) else None,
            word_dropout=drop_words if issubclass(input, HasWords) else None,
            scheduled_sampling=output.mix_own_tokens if issubclass(output, Autoregressive) else None,
            loss=output.loss,
            pair=pair_of,
            truncated_bptt=output.truncated_bptt,
            calibrate=calibrate if issubclass(output, HasCalibration) else None,
        ),
        answering=Answering(answer=answer, look=look, trace=trace, forward_pass=pass_of),
        judging=Judging(
            labels=output.target_labels,
            metrics=PairCodec.metrics,
            selects=output.selects,
            error=PairCodec.error,
            target=output.target,
            bands=None if input.has_length else PairCodec.no_bands,
            exposure=exposure if writes else None,
            details=PairCodec.details,
            unseen=PairCodec.unseen,
            baselines=output.baselines(input.kind),
            baseline_answers=PairCodec.baseline_answers,
        ),
        defaults=defaults,
    )


def texts_of(input: type[Input[E]], *, writes: bool) -> dict[str, Callable[[Pair], str]]:
    """The texts of an example whose lengths are worth a look, by what they are called."""
    found: dict[str, Callable[[Pair], str]] = {}
    if input.texts:
        name = "source" if writes and input.texts == "text" else input.texts
        found[name] = lambda example: input.text_of(example[0])
    if writes:
        found["target"] = lambda example: example[1]
    return found


def with_limit(codec: PairCodec[In, E, T, B, M], pairs: Sequence[Pair], max_length: int) -> PairCodec[In, E, T, B, M]:
    """The codec that keeps so many tokens of a text, and counts the examples that have more."""
    long = [pair for pair in pairs if max(map(len, pair)) > max_length]  # a token is a character at least
    whole = [codec.length(codec.encode(pair)) for pair in long]
    limited = replace(codec, max_length=max_length)
    cut = sum(limited.length(limited.encode(pair)) < length for pair, length in zip(long, whole, strict=True))
    return replace(limited, cut=cut)


def half(saved: Saved, key: str) -> Saved:
    """One half of what a codec wrote."""
    found = saved.get(key)
    return found if isinstance(found, Mapping) else {}
