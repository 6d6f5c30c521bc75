"""The test part is opened once, by the final examination alone; whatever else touches it is named."""

import ast
import copy
import pickle
import random
from pathlib import Path

import pytest

import atento
from atento.tasks.sealed import SealBroken, final_examination, seal
from atento.tasks.task import Dataset, EvaluationExample

EXAMPLES = tuple(EvaluationExample(f"source {n}", (f"target {n}",)) for n in range(7))
READING = Dataset("made", [("a", "b")], EXAMPLES[:3], EXAMPLES, (), (), "f1ng3r")
SOURCES = Path(atento.__file__).parent
OPENS = {"fit.complete", "fit.fit_simple", "compare.compare", "tune.outcome", "backtest.examine"}  # functions of api/
READS_OPENLY = {"prepare.read_data", "inspect.read_mended"}  # the first seals it, the second shows a user the file

TOUCHES = {
    "index": lambda test: test[0],
    "slice": lambda test: test[::2],
    "iteration": lambda test: [question.source for question in test],
    "unpacking": lambda test: (*READING.valid, *test),
    "membership": lambda test: EXAMPLES[0] in test,
    "reversal": lambda test: list(reversed(test)),
    "place": lambda test: test.index(EXAMPLES[1]),
    "sample": lambda test: random.Random(0).sample(test, 2),
    "copy": copy.copy,
    "deep copy": copy.deepcopy,
    "pickle": pickle.dumps,
}


@pytest.mark.spec("X04")
def test_it_is_opened_once_and_says_who_did():
    reading = seal(READING)
    assert len(reading.test) == 7 and reading.test and reading.test.fingerprint == "f1ng3r"
    assert not seal(READING._replace(test=())).test
    assert "closed" in repr(reading.test)
    assert final_examination(reading) == EXAMPLES

    def peep():
        return final_examination(reading)

    with pytest.raises(SealBroken, match=r"<locals>\.peep opens the test part, which .*who_did opened before"):
        peep()
    assert "opened by" in repr(reading.test) and len(reading.test) == 7


@pytest.mark.spec("X04")
@pytest.mark.parametrize("opened", [False, True], ids=["closed", "opened"])
@pytest.mark.parametrize("touch", TOUCHES.values(), ids=TOUCHES)
def test_whatever_touches_it_is_named(touch, opened):
    reading = seal(READING)
    if opened:
        final_examination(reading)
    with pytest.raises(SealBroken, match=r"test_sealed.*reads the test part, which only the final examination"):
        touch(reading.test)


def test_a_part_that_was_never_sealed_is_no_examination():
    with pytest.raises(SealBroken, match="never sealed"):
        final_examination(READING)


def callers(name: str) -> set[str]:
    """The functions of the package that call one, as file.function."""
    found = set()
    for file in SOURCES.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        for function in ast.walk(ast.parse(text)) if f"{name}(" in text else ():
            if isinstance(function, ast.FunctionDef):
                calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
                names = {call.id if isinstance(call, ast.Name) else getattr(call, "attr", "") for call in calls}
                found |= {f"{file.stem}.{function.name}"} if name in names else set()
    return found


@pytest.mark.spec("X04")
def test_few_functions_open_it_and_one_reads_the_parts_openly():
    assert callers("final_examination") == OPENS
    assert callers("read_parts") - {"reader.read"} == READS_OPENLY, "a reader of texts has a step of that name"
