"""Data in memory through every function: read like a file, named honestly, asked for again where it is needed."""

import json

import numpy as np
import pandas
import pytest

import atento
from atento.api.fit import fit as fit_file
from atento.errors import InputError

QUICK = {"model.hidden": 8, "train.threads": 1, "train.steps": 3, "train.validations": 1, "train.checkpoint_every": 1}
TEXTS = [f"{'sol' if number % 2 else 'mar'} {number} luna" for number in range(53)]
LABELS = ["sí" if number % 2 else "no" for number in range(53)]
FRAME = pandas.DataFrame({"text": TEXTS, "label": LABELS})


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return atento.fit(FRAME, model="rnn", settings=QUICK, out=tmp_path_factory.mktemp("frame") / "run", verbose=False)


def test_the_recipe_says_that_the_data_was_in_memory(run):
    assert run.recipe.data.train.startswith("memory:") and run.recipe.data.train.endswith("/DataFrame.jsonl")
    assert run.metrics["command"].startswith("atento.fit(data")
    with pytest.raises(InputError, match="was in the memory of a Python program") as caught:
        path = run.folder / "elsewhere.toml"
        path.write_text(run.recipe.with_values({"data.train": "memory:0123456789ab/DataFrame.jsonl"}).to_toml())
        fit_file(path)
    assert "give the same data again" in caught.value.fix


def test_a_frame_and_a_file_of_its_rows_are_one_data_set(run, tmp_path):
    FRAME.to_json(tmp_path / "DataFrame.jsonl", orient="records", lines=True, force_ascii=False)
    file = atento.fit(tmp_path / "DataFrame.jsonl", model="rnn", settings=QUICK, out=tmp_path / "run")
    assert file.metrics["data"]["fingerprint"] == run.metrics["data"]["fingerprint"]
    assert file.predict(TEXTS) == run.predict(TEXTS)


def test_predict_and_evaluate_take_what_fit_takes(run):
    answers = run.predict(TEXTS)
    for sources in (FRAME, FRAME[["text"]], FRAME["text"], np.array(TEXTS), tuple(TEXTS), iter(TEXTS)):
        assert run.predict(sources) == answers
    assert run.predict(FRAME.to_dict("records")) == answers
    values = {run.evaluate(data).value for data in (FRAME, FRAME.to_dict("records"), (TEXTS, LABELS))}
    assert len(values) == 1 and run.evaluate(FRAME).file == "DataFrame"
    assert len(run.predict_file(FRAME)["prediction"]) == 53


@pytest.mark.parametrize(
    "sources, problem",
    [
        ([None, "a"], "source 0 is missing"),
        ([""], "source 0 is empty"),
        (["a", 3], "source 1 is no text"),
        ([3], "source 0 is no text"),
    ],
)
def test_sources_that_are_no_texts_are_refused(run, sources, problem):
    with pytest.raises(InputError, match=problem):
        run.predict(sources)


def test_resume_needs_the_same_data(tmp_path):
    def stop(event):
        if event["event"] == "validation":
            raise KeyboardInterrupt

    settings = {**QUICK, "train.validations": 3}
    with pytest.raises(KeyboardInterrupt):
        atento.fit(FRAME, model="rnn", settings=settings, out=tmp_path / "run", on_event=stop)
    with pytest.raises(InputError, match="another recipe") as caught:
        atento.fit(FRAME[:-1], model="rnn", settings=settings, out=tmp_path / "run", resume=True)
    assert "memory:" not in caught.value.fix
    again = atento.fit(FRAME, model="rnn", settings=settings, out=tmp_path / "run", resume=True)
    assert again.metrics["steps"] == 3


def test_refusals_name_the_row_from_zero_and_what_to_write():
    rows = FRAME.copy()
    rows.loc[20:, "label"] = None
    with pytest.raises(InputError, match="DataFrame, row 20: ") as caught:
        atento.fit(rows, model="rnn")
    assert "settings={" in caught.value.fix and "--set" not in caught.value.fix


def test_inspect_and_recipe_and_a_test_part_of_its_own():
    found = atento.inspect((TEXTS, LABELS))
    assert found.task == "classify" and found.next == ["atento.compare(data)", "atento.fit(data)"]
    assert not any("memory:" in text for problem in found.problems for text in problem)
    explained = atento.recipe(FRAME[:40], settings={"data.test": FRAME[40:]})
    assert explained.recipe.data.test.startswith("memory:")


def test_a_comparison_lends_the_rows_to_its_processes_and_takes_them_back(tmp_path):
    settings = {**QUICK, "train.steps": 1}
    board = atento.compare(FRAME, models="rnn", settings=settings, out=tmp_path / "board", verbose=False)
    row = next(row for row in board.rows if row.model == "rnn")
    assert not row.failed
    assert {path.suffix for path in (tmp_path / "board" / "recipes").iterdir()} == {".toml", ".log"}
    written = json.loads((tmp_path / "board" / "board.json").read_text())
    assert (
        written["command"].startswith('atento.compare(data, models="rnn", settings={')
        and written["data"]["fingerprint"]
    )


def test_a_backtest_of_an_array(tmp_path):
    wave = np.sin(np.arange(150) / 5)
    settings = {"train.steps": 1, "train.threads": 1}
    found = atento.backtest(wave, models="linear", origins=2, settings=settings, out=tmp_path / "back")
    assert {row.model for row in found.rows} >= {"linear"}
