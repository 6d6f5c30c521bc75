"""One preparation for every command: a file is parsed once, and a trial begins with the weights fit begins with."""

import importlib
import random
from collections import Counter
from datetime import date, timedelta

import pytest
import torch

import atento
from atento.api.prepare import assemble, gather_values, prepare, read_data
from atento.data.tables import table
from atento.spec import DataRecipe
from atento.tasks import finding
from atento.tasks.catalogue import TASKS
from atento.tuning.search import Asked

WORDS = ["the", "film", "was", "very", "good", "bad", "story", "and", "plot", "not"]
SMALL = {"model.hidden": 8, "train.threads": 1, "train.steps": 1, "train.validations": 1, "data.split": "60/20/20"}


@pytest.fixture
def texts(tmp_path):
    draw = random.Random(0)
    rows = [f"{' '.join(draw.choices(WORDS, k=6))} {n},{'yn'[n % 2]}" for n in range(60)]
    (tmp_path / "texts.csv").write_text("text,label\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path / "texts.csv"


@pytest.fixture
def looks(monkeypatch):
    """How often each file is parsed, and how often a task is guessed from one."""
    counts, read, gather = Counter(), table.read_records, finding.gather

    def counted_read(text, file, *others):
        counts[file] += 1
        return read(text, file, *others)

    def counted_gather(*arguments, **options):
        counts["guesses"] += 1
        return gather(*arguments, **options)

    monkeypatch.setattr(table, "read_records", counted_read)
    monkeypatch.setattr(finding, "gather", counted_gather)
    return counts


@pytest.mark.parametrize("task", ["auto", "classify"])
def test_fit_parses_a_file_once(task, texts, looks, tmp_path):
    atento.fit(texts, task=task, model="gru", settings=SMALL, out=tmp_path / "run")
    assert looks == {"texts.csv": 1, "guesses": 1}


@pytest.mark.parametrize("task", ["auto", "classify"])
def test_compare_parses_a_file_once_for_all_models(task, texts, looks, tmp_path):
    board = atento.compare(texts, task=task, models=["rnn", "gru"], settings=SMALL, out=tmp_path / "board")
    assert [row.failed for row in board.rows if not row.baseline] == ["", ""]
    assert looks == {"texts.csv": 1, "guesses": 1}


def test_columns_that_are_named_cost_no_second_parse(looks, tmp_path):
    words = sorted({"".join(random.Random(n).choices("abcde", k=5)) for n in range(60)})
    rows = "".join(f"{word},{' '.join(reversed(word))}\n" for word in words)
    (tmp_path / "pairs.csv").write_text(f"word,reversed\n{rows}", encoding="utf-8")
    named = {"data.source": "word", "data.target": "reversed"}
    atento.fit(tmp_path / "pairs.csv", model="gru+dot", settings={**SMALL, **named}, out=tmp_path / "run")
    assert looks == {"pairs.csv": 1, "guesses": 1}


def test_inspect_and_a_backtest_parse_a_file_once(looks, tmp_path):
    rows = [f"{date(2020, 1, 1) + timedelta(day)},{day % 7}" for day in range(140) if day != 9]
    path = tmp_path / "days.csv"
    path.write_text("\n".join(["ds,y", *rows]) + "\n", encoding="utf-8")
    inspect = importlib.import_module("atento.api.inspect").inspect
    assert inspect(str(path)).next[1].endswith("--set data.gaps=linear")  # it is read again with what mends it
    assert looks["days.csv"] == 1
    settings = {**SMALL, "data.gaps": "linear", "data.horizon": 2, "data.look_back": 14}
    atento.api.backtest(path, models=["linear"], origins=2, refit=True, settings=settings, out=tmp_path / "back")
    assert looks["days.csv"] == 2


def test_a_task_is_what_its_name_says_once_the_file_was_looked_at(tmp_path):
    lines = [f"{' '.join(str(step % 5 + n % 2) for step in range(9))},{'ab'[n % 2]}" for n in range(40)]
    (tmp_path / "waves.csv").write_text("\n".join(["x,label", *lines]) + "\n", encoding="utf-8")
    values = gather_values(
        str(tmp_path / "waves.csv"), task="classify", model="auto", settings=(), seed=None, budget=None
    )
    assert assemble(values).task.name == "classify-series"
    assert finding.find_task("classify-series", DataRecipe(train="nowhere.csv")) == (TASKS["classify-series"], "")


def test_a_trial_begins_with_the_weights_that_fit_begins_with(texts, tmp_path, monkeypatch):
    """Words that have vectors in a file begin with them, in a trial, too."""
    fit, trials = (importlib.import_module(f"atento.api.{name}") for name in ("fit", "trials"))
    draw = random.Random(1)
    lines = [f"{word} {' '.join(f'{draw.gauss(0, 1):.3f}' for _ in range(8))}" for word in WORDS]
    (tmp_path / "vectors.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    own = {"tokens.source": "word", "tokens.vectors": str(tmp_path / "vectors.txt")}
    values = gather_values(str(texts), task="classify", model="gru", settings={**SMALL, **own}, seed=None, budget=None)
    begun = []

    def note(plan, learner, log):
        begun.append({name: tensor.clone() for name, tensor in learner.module.state_dict().items()})
        raise KeyboardInterrupt

    for module in (fit, trials):
        monkeypatch.setattr(module, "train", note)
    with pytest.raises(KeyboardInterrupt):
        fit.fit(texts, task="classify", model="gru", settings={**SMALL, **own}, out=tmp_path / "run")
    data = read_data(assemble(values), values)
    with pytest.raises(KeyboardInterrupt):
        trials.attempt_one(data, torch.device("cpu"), Asked(0, {}, lambda *_: False), lambda event: None)
    fitted, tried = begun
    assert fitted.keys() == tried.keys()
    assert all(torch.equal(fitted[name], tried[name]) for name in fitted)
    assert any(note.startswith("vectors.txt: vectors for 10 of") for note in prepare(data).notes)
