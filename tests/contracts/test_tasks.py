"""What every task that is an input × an output promises, whether or not the catalogue names it.

A law is a test for each input × output, and goes through the models that may stand between them.
"""

import json
import math
from dataclasses import replace
from functools import cached_property

import pytest
import torch

from atento.spec import DecodeRecipe, ModelRecipe, TokensRecipe
from atento.tasks.catalogue import CLASSIFY, TASKS
from atento.tasks.inputs.image import Image
from atento.tasks.inputs.image_question import ImageQuestion
from atento.tasks.inputs.numbers import Numbers
from atento.tasks.inputs.text import Text
from atento.tasks.inputs.two_texts import TwoTexts
from atento.tasks.inputs.words import WordList
from atento.tasks.outputs.number import Number
from atento.tasks.outputs.one_label import OneLabel
from atento.tasks.outputs.output import UNSEEN
from atento.tasks.outputs.several_labels import SeveralLabels
from atento.tasks.outputs.tags import Tags
from atento.tasks.outputs.written_text import WrittenText
from atento.tasks.pairs import PairCodec, pair
from atento.tasks.task import EvaluationExample
from cases import asked_of

SOURCES = {  # five of each kind, no two of one length
    Text: ["one", "two one", "three two\none", "four five six seven", "six five four three two"],
    TwoTexts: ["one\ttwo", "two one\tone", "a b c\td e", "four\tfive six seven", "six five\tfour three two one"],
    WordList: ["one", "two\tone", "three\ttwo\tone", "four\tfive\tsix\tseven", "six\tfive\tfour\tthree\ttwo"],
    Numbers: ["1,2", "2,1 3,4", "0,0 1,1 2,2", "5,4 3,2 1,0 9,9", "1,0 0,1 1,0 0,1 1,0"],
    Image: [f"drawn:16 {colour} star {at} 8 3" for at, colour in enumerate(("red", "blue", "red", "green", "blue"), 5)],
    ImageQuestion: [f"drawn:16 red star {at} 8 3\tis it {'big ' * at}?" for at in range(1, 6)],
}
TARGETS = {
    OneLabel: ["x", "y", "x", "z", "y"],
    SeveralLabels: ["x\ty", "", "z", "x", "y\tz"],
    Number: ["1.5", "-2", "0.25", "7", "3"],
    WrittenText: ["uno", "dos uno", "tres", "cuatro uno", "cinco dos tres"],
    Tags: ["A", "B\tA", "C\tB\tA", "A\tA\tB\tC", "C\tC\tB\tA\tA"],
}
UNMET = {OneLabel: "never", SeveralLabels: "x\tnever", Tags: "never"}
JUDGED = {
    Text: ("gru+additive", "transformer"),
    TwoTexts: ("gru", "gru+dot+co", "transformer+co"),
    Numbers: ("gru", "transformer"),
    Image: ("conv", "conv+additive"),
    ImageQuestion: ("conv/gru", "conv/gru+dot+co"),
}
WRITING = {Text: ("gru+dot", "transformer"), TwoTexts: ("gru+dot",), Numbers: ("gru+dot",), Image: ("conv/gru+dot",)}
DECODE = DecodeRecipe(max_tokens=5)


class Case:
    """A task with a learned codec and a small untrained model."""

    def __init__(self, input, output, name):
        self.input, self.output, self.name = input, output, name
        self.sources, self.pairs = SOURCES[input], list(zip(SOURCES[input], TARGETS[output], strict=True))
        self.task = pair("some", input, output, summary="", reading=CLASSIFY.reading, defaults=CLASSIFY.defaults)

    def __str__(self):
        return self.name

    @cached_property
    def codec(self):
        return self.task.learning.learn(TokensRecipe(), self.pairs)

    @cached_property
    def module(self):
        torch.manual_seed(0)
        recipe = ModelRecipe(name=self.name, hidden=6, heads=2, layers=1, dropout=0.0)
        return self.task.learning.build(recipe, self.codec).double().eval()

    def batch(self, pairs):
        return self.task.learning.batch(self.codec, [self.task.learning.encode(self.codec, pair) for pair in pairs])

    def loss(self, pairs):
        return self.task.learning.loss(self.module, self.batch(pairs), 0.0)

    def answers(self, sources, codec=None):
        return self.task.answering.answer(self.module, codec or self.codec, sources, DECODE)


NAMES = {
    **{(input, OneLabel): names for input, names in JUDGED.items()},
    **{(input, Number): names[-1:] for input, names in JUDGED.items()},
    **{(input, SeveralLabels): (names[0], f"{names[-1]}+one-each") for input, names in JUDGED.items()},
    **{(input, WrittenText): names for input, names in WRITING.items()},
    (WordList, Tags): ("gru", "gru+crf", "transformer+crf"),
}
every_task = asked_of(
    {
        f"{input.__name__} × {output.__name__}": [Case(input, output, name) for name in names]
        for (input, output), names in NAMES.items()
    }
)


def alike(one, other):
    """The same answer, numbers but for rounding."""
    if one.text != other.text:
        return float(one.text) == pytest.approx(float(other.text), rel=1e-3, abs=1e-4)
    return one.score == pytest.approx(other.score, abs=1e-4) and one.evidence == other.evidence


@every_task
def test_a_batch_has_a_finite_loss_and_a_gradient_for_the_whole_model(case):
    case.module.zero_grad()
    loss = case.loss(case.pairs)
    assert loss.items > 0 and math.isfinite(loss.mean.item())
    loss.mean.backward()
    gradients = [parameter.grad for parameter in case.module.parameters() if parameter.grad is not None]
    assert gradients and all(gradient.isfinite().all() for gradient in gradients)
    case.module.zero_grad()


@every_task
def test_losses_of_single_examples_add_up(case):
    whole = case.loss(case.pairs)
    single = [case.loss([one]) for one in case.pairs]
    assert sum(loss.items for loss in single) == whole.items
    assert sum(loss.total.item() for loss in single) == pytest.approx(whole.total.item(), rel=1e-4)


@every_task
def test_lengths_are_positive_and_follow_the_example(case):
    lengths = [case.task.learning.length(case.codec, case.task.learning.encode(case.codec, one)) for one in case.pairs]
    assert all(length > 0 for length in lengths)
    if case.input.has_length and case.input is not ImageQuestion:
        assert lengths[-1] > lengths[0]


@every_task
def test_order_and_neighbours_change_no_answer(case):
    together = case.answers(case.sources)
    backwards = case.answers(case.sources[::-1])[::-1]
    alone = [case.answers([source])[0] for source in case.sources]
    assert all(map(alike, together, backwards)) and all(map(alike, together, alone))
    assert case.answers([]) == []


@every_task
def test_answers_are_measured(case):
    answers = case.answers(case.sources)
    references = [tuple(target.split("\t")) if case.output is SeveralLabels else (target,) for _, target in case.pairs]
    references = [tuple(label for label in some if label or case.output is not SeveralLabels) for some in references]
    for metric in case.task.judging.metrics(case.codec):
        value = metric.for_sources(case.sources).value([answer.judged for answer in answers], references)
        assert math.isfinite(value) or metric.name == "unseen_accuracy", metric.name  # no word here is unseen
    for answer, some in zip(answers, references, strict=True):
        assert case.task.judging.error(case.codec, answer.judged, some) >= 0
        assert case.task.judging.target(some) == (case.pairs[references.index(some)][1])


@every_task
def test_what_is_saved_answers_the_same(case):
    saved = json.loads(json.dumps(case.codec.to_json()))
    again = case.task.learning.load(saved)
    assert isinstance(again, PairCodec) and again.to_json() == case.codec.to_json()
    assert all(map(alike, case.answers(case.sources), case.answers(case.sources, again)))


@every_task
def test_a_look_has_a_row_an_output_and_a_column_a_source(case):
    look = case.task.answering.look(case.module, case.codec, case.sources[3], DECODE)
    layers, heads, rows, columns = look.weights.shape
    assert columns == len(look.source)
    assert rows == len(look.output) or not look.weights.numel()
    assert (layers > 0) == (heads > 0)
    assert look.text == case.answers([case.sources[3]])[0].text


@every_task
def test_a_trace_is_of_labelled_matrices(case):
    for matrix in case.task.answering.trace(case.module, case.codec, case.sources[3], DECODE):
        assert matrix.title and matrix.formula
        assert len(matrix.rows) == len(matrix.matrix), matrix.title
        assert all(len(matrix.columns) == len(row) for row in matrix.matrix), matrix.title
        assert json.loads(json.dumps(matrix.to_json()))["title"] == matrix.title


@every_task
def test_word_dropout_leaves_the_truth(case):
    batch = case.batch(case.pairs)
    if case.task.learning.word_dropout is None:
        assert case.input in (Numbers, Image)
        return
    dropped = case.task.learning.word_dropout(batch, 0.9)
    assert any(not torch.equal(one, other) for one, other in zip(batch, dropped, strict=True))
    field = "target" if case.output is WrittenText else "truth"
    assert torch.equal(getattr(batch, field), getattr(dropped, field))


@every_task
def test_baselines_answer_in_the_form_that_is_measured(case):
    references = [(target,) for _, target in case.pairs]
    for make in case.task.judging.baselines:
        baseline = make().fit([source for source, _ in case.pairs], [target for _, target in case.pairs])
        said = baseline.predict(case.sources)
        assert len(said) == 5
        if case.output is not SeveralLabels:
            assert math.isfinite(
                case.task.judging.metrics(case.codec)[0].for_sources(case.sources).value(said, references)
            )


@every_task
def test_a_label_that_training_never_met_costs_nothing_and_is_never_the_answer(case):
    if case.output not in UNMET:
        assert case.task.judging.unseen(case.codec, [EvaluationExample(case.sources[0], ("9",))]) == []
        return
    target = UNMET[case.output]
    example = case.task.learning.encode(case.codec, (case.sources[0], target))
    references = tuple(target.split("\t"))
    question = EvaluationExample(case.sources[0], references)
    assert case.task.judging.unseen(case.codec, [question, question]) == ["never", "never"]
    (answer,) = case.answers([case.sources[0]])
    assert "never" not in str(answer.judged)
    assert case.task.judging.error(case.codec, answer.judged, references) > 0
    loss = case.task.learning.loss(case.module, case.task.learning.batch(case.codec, [example]), 0.0)
    if case.output is SeveralLabels:
        assert loss.total.item() == pytest.approx(case.loss([(case.sources[0], "x")]).total.item())
    else:
        assert loss.total.item() == pytest.approx(0, abs=1e-4)
        assert UNSEEN in torch.as_tensor(example.target).flatten().tolist()


def test_every_named_pair_is_of_the_catalogue():
    named = {task.name for task in TASKS.values() if task.learning.encode is CLASSIFY.learning.encode}
    assert {"classify", "label-images", "label-series", "rewrite", "estimate-text", "label-pairs"} <= named
    for name in named:
        assert replace(TASKS[name], name="other").learning.load is TASKS[name].learning.load
