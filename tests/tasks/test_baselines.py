"""Every baseline of every task as a model of its own: fitted, saved as plain values and arrays, loaded, asked again."""

import json

import numpy as np
import pytest
import torch
from safetensors.numpy import load, save
from tests.tasks.hand_series import series

from atento.baselines.state import BaselineState, restore, state_of
from atento.data.series import Frequency, Past
from atento.errors import InputError
from atento.spec import DecodeRecipe, ModelRecipe, TokensRecipe
from atento.tasks.baselines import baseline_makers, no_network, require_model, with_baseline
from atento.tasks.catalogue import AUTOENCODE, CLASSIFY, FORECAST, GENERATE, TASKS
from atento.tasks.forecast.windows import WindowSpec

SOURCES = {  # by the kind of a task
    "text": ["one", "two one", "three two\none", "four five six seven", "six five four three two"],
    "two texts": ["one\ttwo", "two one\tone", "a b c\td e", "four\tfive six seven", "six five\tfour three two one"],
    "words": ["one", "two\tone", "three\ttwo\tone", "four\tfive\tsix\tseven", "six\tfive\tfour\tthree\ttwo"],
    "numbers": ["1,2", "2,1 3,4", "0,0 1,1 2,2", "5,4 3,2 1,0 9,9", "1,0 0,1 1,0 0,1 1,0"],
    "image": [f"drawn:16 {name} star {at} 8 3" for at, name in enumerate(("red", "blue", "red", "green", "blue"), 5)],
    "image and question": [f"drawn:16 red star {at} 8 3\tis it {'big ' * at}?" for at in range(1, 6)],
    "documents": ["the cat sat", "the dog sat", "a cat ran", "the cat ran", "a dog and a cat"],
}
LABELS, SETS = ["x", "y", "x", "z", "y"], ["x\ty", "", "z", "x", "y\tz"]
TAGS = ["A", "B\tA", "C\tB\tA", "A\tA\tB\tC", "C\tC\tB\tA\tA"]
NUMBERS, TEXTS = ["1.5", "-2", "0.25", "7", "3"], ["uno", "dos uno", "tres", "cuatro uno", "cinco dos tres"]
WALK = np.cumsum(np.random.default_rng(0).normal(size=(40, 2)), axis=0)


def targets_of(task):
    """Five targets of a task's kind."""
    labels = task.judging.labels
    if labels is not None:
        return TAGS if labels.of_words else SETS if labels.several else LABELS
    return NUMBERS if task.name.startswith("estimate") else [""] * 5 if task.reading.kind == "documents" else TEXTS


def examples_of(task):
    """Training pairs, and what to ask."""
    if task.reading.kind != "series":
        sources = SOURCES[task.reading.kind]
        return list(zip(sources, targets_of(task), strict=True)), sources
    rows = 1 if task is FORECAST else 4
    frame = WindowSpec(rows, 3 if task is FORECAST else 0, ("x", "y"), (), Frequency(1, "h"), 1)
    pasts = [Past("s", str(at), WALK[at : at + rows], np.zeros((rows + 3, 0))) for at in (0, 7, 21)]
    return [(series(WALK, "s"), frame)], pasts


def fitted(task, name):
    """The task with that baseline, its codec, its fitted module, and what to ask."""
    own = with_baseline(task, name)
    pairs, asked = examples_of(task)
    codec = own.learning.learn(TokensRecipe(), pairs)
    module = own.learning.build(ModelRecipe(name=name), codec)
    module.fit(pairs)
    return own, codec, module, asked


def through_files(state):
    """What a folder would give back."""
    arrays = load(save(state.arrays)) if state.arrays else {}
    return BaselineState(json.loads(json.dumps(state.values)), arrays)


def plain(answer):
    value = answer.judged
    return (answer.text, answer.score, value.tolist() if isinstance(value, np.ndarray) else value, answer.probabilities)


EVERY = [(task, name) for task in TASKS.values() for name in baseline_makers(task)]


@pytest.mark.parametrize("task, name", EVERY, ids=[f"{task.name} {name}" for task, name in EVERY])
def test_saved_and_loaded_it_answers_as_before(task, name):
    own, codec, module, asked = fitted(task, name)
    answers = [plain(one) for one in own.answering.answer(module, codec, asked, DecodeRecipe(max_tokens=9))]
    assert len(answers) == len(asked) and all(isinstance(text, str) for text, *_ in answers)
    again = own.learning.build(ModelRecipe(name=name), codec)
    restore(again.baseline, through_files(state_of(module.baseline)))
    assert [plain(one) for one in own.answering.answer(again, codec, asked, DecodeRecipe(max_tokens=9))] == answers
    if own.answering.score is not None:
        scored = [own.answering.score(one, codec, asked, DecodeRecipe()) for one in (module, again)]
        assert scored[0] == scored[1]
    assert again.baseline.name == name and again.baseline.summary == module.baseline.summary
    shown = own.answering.look(again, codec, asked[0], DecodeRecipe(max_tokens=9))
    assert shown.text == answers[0][0] and shown.explanation and not shown.weights.numel()


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_no_baseline_has_the_name_of_a_model_that_is_compared(task):
    assert baseline_makers(task) and not {*baseline_makers(task)} & {*task.defaults.models, task.defaults.model}
    for name in baseline_makers(task):
        require_model(task, name)


@pytest.mark.parametrize(
    "task, name, nearest", [(CLASSIFY, "tfidf", "tf-idf"), (FORECAST, "rigde", "ridge"), (CLASSIFY, "lstn", "lstm")]
)
def test_an_unknown_name_is_answered_with_models_and_baselines(task, name, nearest):
    with pytest.raises(InputError, match=f"did you mean '{nearest}'") as caught:
        require_model(task, name)
    assert "gru" in caught.value.fix and next(iter(baseline_makers(task))) in caught.value.fix


DAMAGES = {
    "an attribute is missing": lambda values, arrays: values.pop("majority"),
    "one too many": lambda values, arrays: values.update(more=1),
    "a list where a text was": lambda values, arrays: values.update(summary=["x"]),
    "a number that is not finite": lambda values, arrays: values.update(inverse_penalty=float("nan")),
    "a type of another class": lambda values, arrays: values["model"].update(type="NGramCounts"),
    "a part that nobody makes": lambda values, arrays: values.update(majority={"part": {}}),
    "an array too many": lambda values, arrays: arrays.update(more=np.zeros(2)),
    "an array too few": lambda values, arrays: arrays.pop("model.1"),
    "another dtype": lambda values, arrays: arrays.update({"model.1": arrays["model.1"].astype(np.float32)}),
    "another shape": lambda values, arrays: arrays.update({"model.1": arrays["model.1"][:, :-1].copy()}),
    "weights that are not finite": lambda values, arrays: arrays["model.2"].fill(np.nan),
    "no object": lambda values, arrays: values.update(bag=[]),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_state_that_does_not_fit_is_refused(damage):
    own, codec, module, _ = fitted(CLASSIFY, "tf-idf")
    state = through_files(state_of(module.baseline))
    damage(state.values, state.arrays)
    with pytest.raises(InputError, match="does not fit the baseline") as caught:
        restore(own.learning.build(ModelRecipe(name="tf-idf"), codec).baseline, state)
    assert caught.value.found and caught.value.fix


def test_terms_and_neighbours_explain_an_answer():
    """great adds to x and dull takes away, by the weights of a model that was fitted on exactly these words."""
    own = with_baseline(CLASSIFY, "bag-of-words")
    pairs = [("great film", "x"), ("great plot", "x"), ("dull film", "y"), ("dull plot", "y")]
    codec = own.learning.learn(TokensRecipe(), pairs)
    module = own.learning.build(ModelRecipe(name="bag-of-words"), codec)
    module.fit(pairs)
    shown, terms = module.baseline.explain("great film"), module.baseline.bag.terms
    numbers = dict(shown.items)
    assert "the score of x" in shown.heading and numbers["great"] > 0.1 > abs(numbers.get("film", 0.0))
    scores = module.baseline.model.weights @ np.array([float(term in ("great", "film")) for term in terms])
    assert sum(numbers.values()) == pytest.approx(scores.max() - scores.mean(), abs=1e-6)
    assert dict(module.baseline.explain("dull film").items)["dull"] > 0.1  # for y
    near = with_baseline(TASKS["translate"], "nearest")
    codec = near.learning.learn(TokensRecipe(), [("abcd", "1"), ("abce", "2"), ("xyz", "3")])
    module = near.learning.build(ModelRecipe(name="nearest"), codec)
    module.fit([("abcd", "1"), ("abce", "2"), ("xyz", "3")])
    assert module.baseline.explain("abcx").items == [("abcd → 1", 1.0), ("abce → 2", 1.0), ("xyz → 3", 4.0)]


def test_an_n_gram_model_continues_a_text_with_its_own_probabilities():
    own, codec, module, _ = fitted(GENERATE, "5-gram")
    model, text = module.baseline, "the c"
    probabilities = model.next_probabilities(text)
    assert probabilities.sum() == pytest.approx(1.0 + probabilities[0] * (not model.predicts_end), abs=1e-9)
    for letter, number in model.characters.items():
        (*_, last) = model.log_probabilities(text + letter)
        assert np.log(probabilities[number]) == pytest.approx(last, abs=1e-9)
    (answer,) = own.answering.answer(module, codec, [text], DecodeRecipe(max_tokens=3))
    assert answer.text.startswith("the cat") and answer.score == pytest.approx(
        model.log_probabilities(answer.text)[len(text) :].sum()
    )
    drawn = [
        own.answering.answer(module, codec, [text], DecodeRecipe(max_tokens=8, temperature=2.0, seed=seed))[0].text
        for seed in (0, 0, 1, 2, 3)
    ]
    assert drawn[0] == drawn[1] and len({*drawn}) > 1


def test_what_only_a_network_has_is_refused_and_forecasts_end_where_learned():
    own, codec, module, asked = fitted(FORECAST, "ridge")
    with pytest.raises(InputError, match="ridge is a simple baseline and has no forward pass"):
        own.answering.trace(module, codec, asked[0], DecodeRecipe())
    assert "no gradients" in no_network(module, "gradients").problem
    (short, *_) = own.answering.answer(module, codec, asked, DecodeRecipe(horizon=2))
    assert short.value.shape == (2, 2, 1)
    with pytest.raises(InputError, match="ridge forecasts 3 steps"):
        own.answering.answer(module, codec, asked, DecodeRecipe(horizon=9))
    assert with_baseline(AUTOENCODE, "mlp") is AUTOENCODE and isinstance(module, torch.nn.Module)
