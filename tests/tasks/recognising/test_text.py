"""Files of many shapes get the task that they are meant for, with no option."""

import pytest
from tests.tasks.shapes import SHAPES

from atento.data.evidence.evidence import gather
from atento.spec import DataRecipe
from atento.tasks.catalogue import TASKS
from atento.tasks.finding import LIKELY, recognise
from atento.tasks.recognising import sequences, text
from atento.tasks.recognising.text import ORDER, ranked, rule_out
from atento.tasks.task import Recognition

RECOGNISERS = {
    "classify": text.label_texts,
    "label": text.label_sets,
    "tag": text.tag_words,
    "translate": text.translate_texts,
    "match": text.match_texts,
    "generate": text.plain_text,
    "estimate": sequences.estimate_sequences,
}
KEYS = {name: task.reading.keys for name, task in TASKS.items()}


def guess(source: str, **named: str) -> dict[str, Recognition]:
    evidence = gather(source, **named)
    return recognise(evidence)


def files(task, folder):
    """Each shape of a file for the task, with its place."""
    for number, (shape, make) in enumerate(SHAPES[task].items()):
        place = folder / str(number)
        place.mkdir()
        yield shape, make(place)


@pytest.mark.parametrize("task", [task for task in SHAPES if task])
def test_every_shape_gets_its_task(task, tmp_path):
    for shape, path in files(task, tmp_path):
        guesses = guess(path)
        best, runner_up = list(guesses)[:2]
        assert best == task, (shape, guesses)
        assert guesses[best].likelihood >= LIKELY, shape
        assert guesses[best].likelihood - guesses[runner_up].likelihood >= 0.1, f"{shape}: a close call"
        assert all(guess.reason and 0 <= guess.likelihood <= 1 for guess in guesses.values()), shape


def test_a_shape_of_no_task_gets_none(tmp_path):
    for shape, path in files("", tmp_path):
        assert all(guess.likelihood < LIKELY for guess in guess(path).values()), shape


@pytest.mark.parametrize("task", [task for task in SHAPES if task])
def test_every_shape_is_read_whole(task, tmp_path):
    """As the task reads it, with no option: nothing is refused, and no header is taken for a row."""
    for shape, path in files(task, tmp_path):
        read = TASKS[task].reading.read(DataRecipe(train=path), 0)
        texts = {text for pair in read.train for text in pair if isinstance(text, str)}
        assert read.refused == (), shape
        assert read.test, shape
        assert not texts & {"text", "label", "source", "name", "título", "Quality", "words", "frase", "avis"}, shape


def test_of_two_as_likely_the_one_that_asks_more_goes_first():
    even = {name: Recognition(0.9, "why") for name in reversed(ORDER)}
    assert list(ranked(even)) == list(ORDER)
    assert list(ranked({**even, "generate": Recognition(0.91, "surer"), "embed": Recognition(0.9, "new")})) == [
        "generate",
        *ORDER[:-1],
        "embed",
    ]


def test_a_column_that_is_named_rules_tasks_out(tmp_path):
    source = SHAPES["match"]["entailment"](tmp_path)
    data = DataRecipe(label="entailment_judgment")
    left = rule_out(guess(source), data, KEYS)
    ruled_out = {name for name, one in left.items() if "data.label" in one.reason}
    assert ruled_out >= {"translate", "generate", "estimate", "forecast", "caption"}
    assert not ruled_out & {"classify", "label", "tag", "match", "classify-series", "classify-images"}
    left = rule_out(guess(source), DataRecipe(target="sentence_B"), KEYS)
    ruled_out = {name for name, one in left.items() if "data.target" in one.reason}
    assert ruled_out >= {"tag", "label", "classify", "generate", "classify-series", "classify-images"}
    assert not ruled_out & {"translate", "match", "forecast", "caption", "transcribe"}
    assert rule_out(guess(source), DataRecipe(), KEYS) == guess(source)


def test_named_columns_are_what_is_judged(tmp_path):
    """Two columns could be the label: without a name the last one is, by name the one that was named."""
    path = tmp_path / "r.csv"
    lines = [f"some words {n} here,{'ab'[n % 2]},{','.join('xyz'[: n % 3 + 1])}" for n in range(60)]
    rows = [line.split(",", 2) for line in lines]
    path.write_text("text,kind,topics\n" + "".join(f'{one},{two},"{three}"\n' for one, two, three in rows))
    assert next(iter(guess(str(path)))) == "label"
    assert next(iter(guess(str(path), label="kind"))) == "classify"
    assert next(iter(guess(str(path), label="topics"))) == "label"
    assert gather(str(path), source="kind").roles.text == 1


def test_a_task_that_is_not_registered_is_no_obstacle(tmp_path, monkeypatch):
    evidence = gather(SHAPES["classify"]["few rows"](tmp_path))
    assert next(iter(recognise(evidence))) == "classify"
    monkeypatch.delitem(TASKS, "classify")
    left = recognise(evidence)
    assert "classify" not in left
    assert max(one.likelihood for one in left.values()) < LIKELY
