"""A vocabulary that knows held-out rows is caught, whatever the task; an honest one never is."""

from dataclasses import replace

import pytest
from tests.tasks.shapes import SHAPES

from atento import api
from atento.checking.leaks import leaked_tokens, require_no_leak, tokens_in, units
from atento.errors import RunError
from atento.spec import DataRecipe
from atento.tasks.catalogue import TASKS
from atento.tasks.task import Question, Reading, Task, fill_defaults, learn_codec

TEXT_TASKS = [name for name in TASKS if name != "estimate"]  # which knows numbers, and no tokens
STRANGE = ("ŷŵŷŷ\tŵŷŵ", "ŵŵŷ\tŷŷŵ")  # letters and words that no training row has


@pytest.fixture(scope="module")
def readings(tmp_path_factory) -> dict[str, Reading]:
    """A small set of every task, its test part with rows of strange words."""
    found = {}
    for name, task in TASKS.items():
        make = next(iter(SHAPES.get(name, SHAPES["generate"]).values()))
        source = make(tmp_path_factory.mktemp(name))
        reading = task.read(DataRecipe(train=source), 0)
        references = tuple(STRANGE[1].split("\t")) if name == "label" else (STRANGE[1],)
        found[name] = reading._replace(test=(*reading.test, *[Question(STRANGE[0], references)] * 9))
    return found


def everything(reading: Reading) -> list[tuple[str, str]]:
    """All three parts."""
    held_out = (*reading.valid, *reading.test)
    return [*reading.train, *((question.source, "\t".join(question.references)) for question in held_out)]


def greedy(task: Task, reading: Reading) -> Task:
    """A task whose vocabulary is learned from everything, whatever it is given."""
    return replace(task, learn=lambda recipe, pairs: task.learn(recipe, everything(reading)))


@pytest.mark.spec("X04")
@pytest.mark.parametrize("name", TASKS)
def test_every_task_learns_from_the_training_part_alone(name, readings):
    task, reading = TASKS[name], readings[name]
    codec = learn_codec(task, fill_defaults(task, {}, data="x"), reading.train)
    assert leaked_tokens(codec, reading) == []
    require_no_leak(codec, reading)


@pytest.mark.spec("X04")
@pytest.mark.parametrize("name", TEXT_TASKS)
def test_a_vocabulary_learned_from_everything_is_caught(name, readings):
    task, reading = TASKS[name], readings[name]
    codec = learn_codec(greedy(task, reading), fill_defaults(task, {}, data="x"), reading.train)
    leaked = leaked_tokens(codec, reading)
    assert any(set(token) <= set("ŷŵ\t") for token in leaked)
    with pytest.raises(RunError, match=f"holds {len(leaked)} tokens that only validation or test rows hold"):
        require_no_leak(codec, reading)


@pytest.mark.spec("X04")
@pytest.mark.parametrize("command", [api.fit, api.compare])
def test_neither_training_nor_comparing_goes_on_with_it(command, readings, tmp_path, monkeypatch):
    task, reading = TASKS["classify"], readings["classify"]
    planted = replace(greedy(task, reading), read=lambda recipe, seed: reading)
    monkeypatch.setitem(TASKS, "classify", planted)
    file = SHAPES["classify"]["few rows"](tmp_path)
    with pytest.raises(RunError, match="only validation or test rows hold"):
        command(file, task="classify", settings={"train.steps": 1}, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_piece_of_a_training_word_is_no_leak():
    reading = Reading("x", [("walking on", "a")], (), (Question("walk Walk", ("a",)),), (), (), "")
    assert leaked_tokens(Known(["walk", "Walk", "▁on"]), reading) == ["Walk"]
    small = reading._replace(train=[("WALKING", "a")], test=(Question("walk", ("a",)),))
    assert leaked_tokens(Known(["walk"]), small) == [], "a vocabulary may read capital letters as small ones"


def test_words_of_the_file_itself_are_no_tokens():
    saved = {"level": "word", "tokens": ["a"], "tokenizer": '{"model": {"type": "BPE", "vocab": {"b": 0, "c": 1}}}'}
    assert sorted(tokens_in(saved)) == ["a", "b", "c"]
    assert units("It's\tso") >= {"It's", "so", "It", "s", "I", "it's", "it"}


class Known:
    """A codec of these tokens."""

    notes = ()

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens

    def to_json(self) -> dict[str, list[str]]:
        return {"tokens": self.tokens}
