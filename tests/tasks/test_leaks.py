"""A vocabulary that knows held-out rows is caught, whatever the task; an honest one never is."""

import random
import re
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from tests.tasks.shapes import SHAPES

from atento import api
from atento.data import Series
from atento.data.series import Frequency
from atento.errors import RunError
from atento.spec import DataRecipe, TokensRecipe
from atento.tasks import leaks
from atento.tasks.autoencode.codec import WindowCodec
from atento.tasks.catalogue import TASKS
from atento.tasks.encoding import learn_codec
from atento.tasks.filling import fill_defaults
from atento.tasks.forecast.windows import WindowSpec
from atento.tasks.leaks import foreign_tokens, require_training_scale, units
from atento.tasks.task import Dataset, EvaluationExample, Task

TEXT_TASKS = ("translate", "tag", "classify", "label", "match", "generate", "embed")
NUMBER_TASKS = {"estimate": "1.5", "classify-series": "b", "transcribe": "ab ba"}  # and a target of each
STRANGE = ("ŷŵŷŷ\tŵŷŵ", "ŵŵŷ\tŷŷŵ")  # letters and words that no training row has


@pytest.fixture(scope="module")
def readings(tmp_path_factory) -> dict[str, Dataset]:
    """A small set of every task, its test part with rows of strange words."""
    found = {}
    for name in TEXT_TASKS:
        task = TASKS[name]
        make = next(iter(SHAPES.get(name, SHAPES["generate"]).values()))
        source = make(tmp_path_factory.mktemp(name))
        reading = task.reading.read(DataRecipe(train=source), 0)
        references = tuple(STRANGE[1].split("\t")) if name == "label" else (STRANGE[1],)
        found[name] = reading._replace(test=(*reading.test, *[EvaluationExample(STRANGE[0], references)] * 9))
    return found


def everything(reading: Dataset) -> list[tuple[str, str]]:
    """All three parts."""
    held_out = (*reading.valid, *reading.test)
    return [*reading.train, *((question.source, "\t".join(question.references)) for question in held_out)]


def greedy(task: Task, reading: Dataset) -> Task:
    """A task whose vocabulary is learned from everything, whatever it is given."""
    learn = lambda recipe, pairs: task.learning.learn(recipe, everything(reading))  # noqa: E731
    return replace(task, learning=replace(task.learning, learn=learn))


@pytest.mark.spec("X04")
@pytest.mark.parametrize("name", TEXT_TASKS)
def test_every_task_learns_from_the_training_part_alone(name, readings):
    task, reading = TASKS[name], readings[name]
    codec = learn_codec(task, fill_defaults(task, {}, data="x"), reading.train)
    task.learning.require_no_leak(codec, reading._replace(valid=(), test=()))  # no held-out row is looked at


@pytest.mark.spec("X04")
@pytest.mark.parametrize("name", TEXT_TASKS)
def test_a_vocabulary_learned_from_everything_is_caught(name, readings):
    task, reading = TASKS[name], readings[name]
    codec = learn_codec(greedy(task, reading), fill_defaults(task, {}, data="x"), reading.train)
    with pytest.raises(RunError, match=r"holds \d+ tokens that no training row holds, e.g. ") as caught:
        task.learning.require_no_leak(codec, reading._replace(valid=(), test=()))
    assert int(re.findall(r"\d+", str(caught.value))[0]) > 1


def numbers_reading(target: str, *, held_out: float) -> Dataset:
    """Sequences of numbers near 0 to train on, and others to test on."""
    train = [(f"{n / 7},1 {n / 11},0", target) for n in range(13)] + [("0.5,1 0.25,2", target.replace("b", "a"))]
    test = tuple(EvaluationExample(f"{held_out},1 0,0", (target,)) for _ in range(5))
    return Dataset("x", train, (), test, (), (), "")


@pytest.mark.spec("X04")
@pytest.mark.parametrize("name", NUMBER_TASKS)
def test_a_scale_learned_from_everything_is_caught(name):
    task, reading = TASKS[name], numbers_reading(NUMBER_TASKS[name], held_out=97.0)
    recipe = fill_defaults(task, {}, data="x")
    task.learning.require_no_leak(learn_codec(task, recipe, reading.train), reading)
    with pytest.raises(RunError, match="the scale of channel 1 is not that of the training rows"):
        task.learning.require_no_leak(learn_codec(greedy(task, reading), recipe, reading.train), reading)


@pytest.mark.parametrize("change", [(0.01, 1.0), (0.0, 1.01)])
def test_a_mean_or_a_std_alone_that_is_wrong_is_caught(change):
    values = np.random.default_rng(2).normal(size=(101, 3))
    mean, std = values.mean(axis=0), values.std(axis=0)
    require_training_scale("abc", mean, std, [values[:17], values[17:]])
    with pytest.raises(RunError, match="the scale of b"):
        require_training_scale("abc", mean + np.array([0, change[0], 0]), std * np.array([1, change[1], 1]), [values])


@pytest.mark.spec("X04")
def test_each_of_channels_with_the_same_std_is_judged_by_its_own_rows():
    turns = np.tile([1.0, -1.0], 7)
    require_training_scale("ab", np.array([5.0, 0.0]), np.full(2, 2.0), [np.stack([5 + 2 * turns, -2 * turns], axis=1)])
    require_training_scale("ab", np.array([5.0, 0.0]), np.ones(2), [np.stack([np.full(14, 5.0), turns], axis=1)])
    with pytest.raises(RunError, match=r"the scale of a.*\n.*std 2 where training rows have 0 and 1"):
        require_training_scale("ab", np.zeros(2), np.full(2, 2.0), [np.stack([turns, 7**0.5 * turns], axis=1)])


@pytest.mark.spec("X04")
def test_an_autoencoder_that_knows_later_rows_is_caught():
    values = np.random.default_rng(2).normal(size=(101, 2)).cumsum(axis=0)
    frame = WindowSpec(3, 0, ("x", "y"), (), Frequency(1, ""), 1)
    reading = Dataset("x", [(Series("", values[:71], np.zeros((71, 0))), frame)], (), (), (), (), "")
    everything = [(Series("", values, np.zeros((101, 0))), frame)]
    TASKS["autoencode"].learning.require_no_leak(WindowCodec.learn(TokensRecipe(), reading.train), reading)
    with pytest.raises(RunError, match="is not that of the training rows"):
        TASKS["autoencode"].learning.require_no_leak(WindowCodec.learn(TokensRecipe(), everything), reading)


@pytest.mark.spec("X04")
@pytest.mark.parametrize("command", [api.fit, api.compare])
def test_neither_training_nor_comparing_goes_on_with_it(command, readings, tmp_path, monkeypatch):
    task, reading = TASKS["classify"], readings["classify"]._replace(valid=readings["classify"].test)
    planted = replace(greedy(task, reading), reading=replace(task.reading, read=lambda recipe, seed: reading))
    monkeypatch.setitem(TASKS, "classify", planted)
    file = SHAPES["classify"]["few rows"](tmp_path)
    with pytest.raises(RunError, match="that no training row holds"):
        command(file, task="classify", settings={"train.steps": 1}, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_piece_of_a_training_word_is_no_leak():
    assert foreign_tokens(["walk", "Walk", "on"], [("walking on", "a")]) == ["Walk"]
    assert foreign_tokens(["walk"], [("WALKING", "a")]) == [], "a vocabulary may read capital letters as small ones"
    assert foreign_tokens(["é"], [("cafe\u0301",)]) == [], "tokens are of composed characters"
    assert set(chain(*units("It's\tso"))) >= {"It's", "so", "It", "s", "I", "it's", "it"}


@pytest.mark.parametrize("few", [0, 5, 10**6])
def test_what_is_found_depends_on_nothing_but_the_rows(few, monkeypatch):
    """Neither on how the tokens are looked for, nor on how many rows are split together."""
    monkeypatch.setattr(leaks, "FEW", few)
    monkeypatch.setattr(leaks, "CHUNK", 100)
    chance = random.Random(0)
    rows = [(" ".join(chance.choices(("walking", "Talk", "on", "a-b", "é"), k=3)), "x y") for _ in range(97)]
    tokens = ["walking", "alkin", "Tal", "tal", "a-b", "-", "é", "x y", "y x", "wolk", "TALK", "Walking"]
    texts = [text for row in rows for text in row]
    expected = [one for one in tokens if not any(one in text or one in text.lower() for text in texts)]
    assert foreign_tokens(tokens, rows) == sorted(expected)


WORDS = ("texts", "tokens", "lower", "level", "ΟΔΟΣ", "İstanbul", "▁", "￭", "_￭_", "ﬁn", "<end>", "{}", "a\u0301")


@pytest.mark.spec("X04")
@pytest.mark.parametrize("level", ["char", "word", "subword"])
@pytest.mark.parametrize("lower", [True, False])
def test_an_honest_vocabulary_is_never_refused(level, lower):
    """Not for words of its own file, for signs that tokens are written with, or for letters that change in case."""
    chance = random.Random(3)
    rows = [(" ".join(chance.choices(WORDS, k=5)), chance.choice(("a b", "ΣΑΣ"))) for _ in range(60)]
    reading = Dataset("x", rows, (), (), (), (), "")
    for name, target in (("classify", "auto"), ("translate", level)):
        settings = {"tokens.source": level, "tokens.target": target, "tokens.lowercase": lower}
        task = TASKS[name]
        recipe = fill_defaults(task, settings, data="x")
        task.learning.require_no_leak(learn_codec(task, recipe, reading.train), reading)
