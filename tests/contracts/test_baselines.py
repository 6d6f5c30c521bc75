"""Laws of every simple model: it learns once, answers each question by itself, always the same, and refuses kindly.

A law is a test for each kind of answer, and goes through the models that give it.
"""

import copy
import importlib
import inspect
import pkgutil
import random

import numpy as np
import pytest
import torch

from atento import baselines
from atento.baselines import BASELINES, LinearImageQuestions, LinearImages, NearestImage, QuestionOnly, find_baseline
from atento.errors import InputError
from cases import asked_of

WORDS = ["la", "casa", "roja", "no", "me", "gustó"]


def words(chance, least=1):
    return chance.choices(WORDS, k=chance.randint(least, 6))


def some_texts(chance):
    return " ".join(words(chance)), " ".join(words(chance))


def some_labels(chance):
    text = words(chance)
    return " ".join(text), "yes" if "no" in text else "no"


def some_label_sets(chance):
    text = words(chance)
    return " ".join(text), tuple(label for label in ("casa", "no") if label in text)


def some_tags(chance):
    text = words(chance)
    return text, ["short" if len(word) < 3 else "long" for word in text]


def some_numbers(chance):
    steps = [(chance.gauss(0, 1), chance.gauss(0, 1)) for _ in range(chance.randint(1, 5))]
    return " ".join(f"{first:.3f},{second:.3f}" for first, second in steps), f"{steps[-1][0]:.3f}"


def some_series(chance):
    walk = np.cumsum([chance.gauss(0, 1) for _ in range(31)])
    return walk[:24], walk[24:]


def some_labelled_numbers(chance):
    source, target = some_numbers(chance)
    return source, "up" if float(target) > 0 else "down"


EXAMPLES = {
    "label of numbers": some_labelled_numbers,
    "text": some_texts,
    "new text": some_texts,
    "label": some_labels,
    "labels": some_label_sets,
    "tags": some_tags,
    "number": some_numbers,
    "series": some_series,
    "scored text": lambda chance: (" ".join(words(chance)), ""),
}
EMPTY = {"text": "", "label": "", "labels": "", "tags": []}
OF_IMAGES = {
    LinearImages,
    LinearImageQuestions,
    NearestImage,
    QuestionOnly,
}  # their task gives them a loader of images
KINDS = {kind: [name for name, entry in BASELINES.items() if entry.answers == kind] for kind in EXAMPLES}
every_baseline = asked_of(KINDS)


def examples(name, count, seed=0):
    chance = random.Random(seed)
    return map(list, zip(*(EXAMPLES[BASELINES[name].answers](chance) for _ in range(count)), strict=True))


def plain(answers):
    """Answers that can be compared."""
    return [answer.tolist() if isinstance(answer, np.ndarray) else answer for answer in answers]


def test_no_simple_model_escapes():
    """Whatever in the package can be fitted and asked is in the table, but for those that no name alone can make."""
    found = set()
    for module in pkgutil.iter_modules(baselines.__path__, "atento.baselines."):
        parts = vars(importlib.import_module(module.name)).values()
        found |= {
            part for part in parts if isinstance(part, type) and hasattr(part, "fit") and hasattr(part, "predict")
        }
    assert all(KINDS.values()) and sorted(name for names in KINDS.values() for name in names) == sorted(BASELINES)
    named = {type(find_baseline(name)) for name in BASELINES}
    assert {part for part in found if not inspect.isabstract(part)} == named | OF_IMAGES


@every_baseline
def test_it_says_what_it_is(name):
    model = find_baseline(name)
    assert model.name == name
    assert model.summary and not model.summary.endswith(".")
    assert find_baseline(name) is not model


@every_baseline
def test_an_answer_for_each_question_of_the_kind_of_the_targets(name):
    sources, targets = examples(name, 31)
    model = find_baseline(name)
    assert model.fit(sources, targets) is model
    asked, truth = examples(name, 7, seed=1)
    answers = model.predict(asked)
    assert isinstance(answers, list) and len(answers) == 7
    for answer, target, source in zip(answers, truth, asked, strict=True):
        match BASELINES[name].answers:
            case "new text":
                assert isinstance(answer, str)
            case "text" | "label" | "label of numbers":
                assert isinstance(answer, str) and answer in targets
            case "labels":
                assert set(answer) <= {"casa", "no"}
            case "tags":
                assert len(answer) == len(source) and set(answer) <= {"short", "long"}
            case "number":
                assert isinstance(answer, str) and np.isfinite(float(answer))
            case "scored text":
                assert answer[0] < 0 and answer[1] == len(source)
            case "series":
                assert answer.shape == target.shape and np.isfinite(answer).all()


@every_baseline
def test_each_question_is_answered_by_itself(name):
    """Neither the others asked with it nor their order matter."""
    sources, targets = examples(name, 31)
    asked, _ = examples(name, 7, seed=1)
    model = find_baseline(name).fit(sources, targets)
    together = plain(model.predict(asked))
    assert plain(model.predict(asked[::-1])) == together[::-1]
    assert [plain(model.predict([one]))[0] for one in asked] == together


@every_baseline
def test_learning_twice_is_learning_once_and_touches_nobody_s_chance(name):
    sources, targets = examples(name, 31)
    others, wanted = examples(name, 13, seed=2)
    asked, _ = examples(name, 7, seed=1)
    torch.manual_seed(5)
    random.seed(5)
    first = plain(find_baseline(name).fit(sources, targets).predict(asked))
    drawn = torch.rand(3).tolist(), random.random()
    torch.manual_seed(5)
    random.seed(5)
    assert drawn == (torch.rand(3).tolist(), random.random())
    again = find_baseline(name).fit(others, wanted).fit(sources, targets)  # what was learned before is forgotten
    assert plain(again.predict(asked)) == first


@every_baseline
def test_what_is_given_stays_as_it_was(name):
    sources, targets = examples(name, 31)
    asked, _ = examples(name, 7, seed=1)
    given = copy.deepcopy((sources, targets, asked))
    find_baseline(name).fit(sources, targets).predict(asked)
    assert [plain(part) for part in (sources, targets, asked)] == [plain(part) for part in given]


@every_baseline
def test_one_example_is_enough_and_nothing_asked_is_nothing_answered(name):
    sources, targets = examples(name, 1)
    model = find_baseline(name).fit(sources, targets)
    assert model.predict([]) == []
    assert len(model.predict(sources)) == 1


@asked_of({kind: KINDS[kind] for kind in EMPTY})
def test_an_empty_source_is_learned_from_and_answered(name):
    empty = EMPTY[BASELINES[name].answers]
    sources, targets = examples(name, 11)
    _, others = examples(name, 1, seed=3)
    wanted = [] if BASELINES[name].answers == "tags" else others[0]
    (answer,) = find_baseline(name).fit([*sources, empty], [*targets, wanted]).predict([empty])
    assert BASELINES[name].answers != "tags" or answer == []


@every_baseline
def test_what_it_cannot_do_is_refused_kindly(name):
    sources, targets = examples(name, 3)
    for wrong, why in [
        (lambda: find_baseline(name).predict(sources), "has not learned yet"),
        (lambda: find_baseline(name).fit([], []), "0 sources, 0 targets"),
        (lambda: find_baseline(name).fit(sources, targets[:2]), "3 sources, 2 targets"),
    ]:
        with pytest.raises(InputError, match=why) as caught:
            wrong()
        assert caught.value.fix


def test_a_name_that_is_not_there_names_its_neighbour():
    with pytest.raises(InputError, match="did you mean 'majority'"):
        find_baseline("majorty")
