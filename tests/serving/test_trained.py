"""A run as a served model: every task takes rows of its form and gives the predictor's own answers as typed JSON."""

import base64
import io
import math

import numpy as np
import pytest
import torch
from PIL import Image as PillowImage

from atento.api.prepare import assemble, gather_values, prepare, read_data
from atento.bundle import Bundle
from atento.data.images.loading import load_image
from atento.data.series import Past
from atento.predictor import Predictor
from atento.serving.limits import Limits
from atento.serving.rows import TextFollower
from atento.serving.schema import forms_of
from atento.serving.served import INPUTS, OUTPUTS, ModelCard, RowAnswer, RowFailure
from atento.serving.trained import TrainedModel
from atento.spec import ModelRecipe, Recipe, TokensRecipe
from atento.tasks.catalogue import TASKS

SOURCES = {  # by kind of input: three sources as training has them
    "text": ["one", "two one", "three two one"],
    "two texts": ["one\ttwo", "two one\tone", "a b c\td e"],
    "words": ["one", "two\tone", "three\ttwo\tone"],
    "numbers": ["1,2", "2,1 3,4", "0,0 1,1 2,2"],
    "image": [f"drawn:16 {colour} star {at} 8 3" for at, colour in enumerate(("red", "blue", "green"), 5)],
    "image and question": [f"drawn:16 red star {at} 8 3\tis it {'big ' * at}?" for at in range(1, 4)],
}
TARGETS = {
    "label": ["x", "y", "x"],
    "labels": ["x\ty", "", "x"],
    "number": ["1.5", "-2", "0.25"],
    "text": ["uno", "dos uno", "tres"],
    "tags": ["A", "B\tA", "C\tB\tA"],
}
OUTPUT_OF = {  # by task; the others are made from built-in data below
    "label": "classify classify-series classify-images classify-windows match match-images",
    "labels": "label label-series label-images label-pairs",
    "number": "estimate estimate-text estimate-images",
    "text": "translate rewrite transcribe caption",
    "tags": "tag",
}
MODELS = {"image": "conv", "image and question": "conv/gru+dot+co"}
WRITERS = {"image": "conv/gru+dot"}
BUILT_IN = {  # task: data, model, settings
    "generate": ("stories", "gru", {"decode.max_tokens": 9}),
    "embed": ("meaning", "skip-gram", {}),
    "forecast": ("lorenz", "linear", {"data.length": 400, "data.look_back": 8, "data.horizon": 3}),
    "autoencode": ("film", "linear", {}),
}


def pair_predictor(task, output, folder):
    kind = task.reading.kind
    name = WRITERS.get(kind, "gru+dot") if output == "text" else MODELS.get(kind, "gru")
    model = ModelRecipe(name=name, hidden=6, heads=2, layers=1, dropout=0.0)
    codec = task.learning.learn(TokensRecipe(), list(zip(SOURCES[kind], TARGETS[output], strict=True)))
    torch.manual_seed(0)
    recipe = Recipe(task=task.name, model=model, decode={"max_tokens": 5})
    return Predictor(Bundle(folder, task, recipe, codec, task.learning.build(model, codec).eval(), {}))


def built_in_predictor(name, folder):
    data, model, settings = BUILT_IN[name]
    written = {key: str(value) for key, value in settings.items()}
    values = gather_values(data, task=name, model=model, settings=written, seed=0, budget=None)
    ready = prepare(read_data(assemble(values), values))
    return Predictor(Bundle(folder, ready.task, ready.recipe, ready.codec, ready.module.eval(), {})), ready


def image_row(source, side=32):
    """A row with the PNG of a drawn scene, as large as the model reads it."""
    scene, _, question = source.partition("\t")
    file = io.BytesIO()
    PillowImage.fromarray(load_image(scene, side=side)).save(file, format="PNG")
    row = {"image": base64.b64encode(file.getvalue()).decode()}
    return row | ({"question": question} if question else {})


def row_of(kind, source, side=32):
    if kind == "text":
        return {"text": source}
    if kind == "two texts":
        return dict(zip(("first", "second"), source.split("\t"), strict=True))
    if kind == "words":
        return {"words": source.split("\t")}
    if kind == "numbers":
        return {"values": [[float(number) for number in step.split(",")] for step in source.split()]}
    return image_row(source, side)


def require_form(model, rows, results):
    """Rows and answers are of the types that the schema shows."""
    forms = forms_of(model.card, Limits())
    for row, result in zip(rows, results, strict=True):
        checked = forms.read_row(row)
        assert not isinstance(checked, RowFailure), checked
        assert isinstance(result, RowAnswer), result
        forms.answer.model_validate(result.answer)


CASES = [(task, output) for output, tasks in OUTPUT_OF.items() for task in tasks.split()]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "manifest.json").write_text("{}")
    return tmp_path


@pytest.mark.parametrize("name, output", CASES)
def test_rows_of_a_task_get_the_answers_of_its_predictor(name, output, folder):
    predictor = pair_predictor(TASKS[name], output, folder)
    model = TrainedModel(predictor)
    kind = TASKS[name].reading.kind
    assert (model.card.task, model.card.input, model.card.output) == (name, kind, output)
    images = getattr(predictor.bundle.codec.input, "images", None)
    rows = [row_of(kind, source, images and images.side) for source in SOURCES[kind]]
    results = model.answer(rows, attention=[False, True, False])
    require_form(model, rows, results)
    expected = predictor.answer(SOURCES[kind])
    for result, answer in zip(results, expected, strict=True):
        if output == "label":
            assert result.answer["label"] == answer.text
            assert result.answer["probability"] == pytest.approx(math.exp(answer.score), rel=1e-4)
            assert sum(result.answer["probabilities"].values()) == pytest.approx(1, abs=1e-5)
        elif output == "labels":
            assert result.answer["labels"] == answer.value[0]
        elif output == "tags":
            assert result.answer["tags"] == answer.value
        elif output == "number":
            assert result.answer["number"] == pytest.approx(float(answer.text), rel=1e-4)
        else:
            assert result.answer["text"] == answer.text
    assert [one.attention is not None for one in results] == [False, True, False]


@pytest.mark.parametrize("name", BUILT_IN)
def test_what_is_no_product_is_served_too(name, folder):
    predictor, ready = built_in_predictor(name, folder)
    model = TrainedModel(predictor)
    if name in ("generate", "embed"):
        rows = [{"text": "the cat"}, {"text": "a dog"}]
        expected = [answer.text for answer in predictor.answer(["the cat", "a dog"])]
        results = model.answer(rows, attention=[False, False])
        found = [one.answer["text"] if name == "generate" else ", ".join(one.answer["words"]) for one in results]
        assert found == expected
    else:
        past = ready.reading.valid[0].source
        rows = [{"values": past.values.tolist()}]
        results = model.answer(rows, attention=[False])
        (answer,) = predictor.answer([Past("", "now", past.values, np.zeros((0, 0)))])
        key = "forecast" if name == "forecast" else "window"
        given = np.array(results[0].answer[key]).ravel()
        assert np.allclose(given, np.ravel(answer.value)[: given.size], rtol=1e-4, atol=1e-3)
        assert len(results[0].answer[key]) == (3 if name == "forecast" else model.card.look_back)
    require_form(model, rows, results)


def test_every_input_and_output_is_served():
    inputs = {TASKS[name].reading.kind for name, _ in CASES} | {"series"}
    outputs = {output for _, output in CASES} | {"forecast", "window", "completion", "neighbours"}
    assert inputs == set(INPUTS) and outputs == set(OUTPUTS)
    assert {name for name, _ in CASES} | set(BUILT_IN) == set(TASKS)


def test_a_bad_row_does_not_spoil_the_others(folder):
    model = TrainedModel(pair_predictor(TASKS["classify-images"], "label", folder))
    good = image_row(SOURCES["image"][0])
    text = base64.b64encode(b"no image at all").decode()
    results = model.answer([good, {"image": text}, {"image": "/etc/passwd"}, good], attention=[False] * 4)
    assert isinstance(results[0], RowAnswer) and results[0] == results[3]
    assert all(isinstance(one, RowFailure) and "/" not in one.problem for one in results[1:3])
    assert "not an image" in results[1].problem and "base64" in results[2].problem


def test_an_error_inside_the_model_is_that_row_alone(folder):
    model = TrainedModel(pair_predictor(TASKS["classify-series"], "label", folder))
    good, narrow = {"values": [[1.0, 2.0]]}, {"values": [[1.0]]}
    first, second, third = model.answer([good, narrow, good], attention=[False] * 3)
    assert first == third and isinstance(first, RowAnswer)
    assert isinstance(second, RowFailure) and "channels" in second.problem


def test_words_that_are_several_words_are_refused(folder):
    model = TrainedModel(pair_predictor(TASKS["tag"], "tags", folder))
    one, two, three = model.answer(
        [{"words": w} for w in (["New York"], ["a", " "], ["New York", "a"])], attention=[0] * 3
    )
    assert isinstance(one, RowFailure) and isinstance(two, RowFailure) and len(three.answer["tags"]) == 2


def test_a_streamed_text_is_the_answer_and_pieces_are_never_taken_back(folder):
    model = TrainedModel(pair_predictor(TASKS["translate"], "text", folder))
    pieces = []
    found = model.stream({"text": "two one"}, pieces.append)
    assert "".join(pieces) == found.answer["text"] and len(pieces) > 1
    (whole,) = model.answer([{"text": "two one"}], attention=[False])
    assert whole.answer == found.answer


def test_a_character_of_several_tokens_is_told_when_it_is_whole():
    decoded, told = ["a", "a\ufffd", "aé"], []
    follower = TextFollower(lambda tokens: decoded[len(tokens) - 1], told.append)
    for count in range(1, 4):
        follower.take([7] * count)
    follower.finish("aé!")
    assert told == ["a", "é", "!"]


def test_a_card_travels_as_json():
    card = ModelCard("0123", "classify", "gru", "…", "text", "label", labels=("a", "b"), attends=True)
    assert ModelCard.from_json(card.to_json() | {"later": 1}) == card
    assert ModelCard.from_json({**card.to_json(), "labels": ["a"]}).form == card.form
