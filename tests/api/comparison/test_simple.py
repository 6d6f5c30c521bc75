"""Simple baselines beside a trained model: fitted where that takes seconds, judged by the same examination."""

import json

import pytest

import atento
from atento.api.comparison.simple import compare_with, fit_quick, seconds_needed
from atento.api.folders import find_model, list_runs
from atento.baselines import Majority, find_baseline
from atento.errors import InputError
from atento.metrics import ACCURACY
from atento.tasks.catalogue import CLASSIFY
from atento.tasks.task import Dataset, EvaluationExample
from atento.views.wording import beside_baselines

QUICK = {"model.hidden": 8, "train.steps": 2, "train.threads": 1, "train.validations": 1}
TEXTS = [f"{'good' if at % 3 else 'bad'} film {at}" for at in range(90)]
LABELS = ["yes" if at % 3 else "no" for at in range(90)]


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    path = tmp_path_factory.mktemp("simple") / "films.csv"
    rows = [f"{text},{label}" for text, label in zip(TEXTS, LABELS, strict=True)]
    path.write_text("\n".join(["text,label", *rows]) + "\n")
    return path


def questions(count):
    return [EvaluationExample(text, (label,)) for text, label in zip(TEXTS[:count], LABELS[:count], strict=True)]


def reading(train, test):
    return Dataset("films", list(zip(TEXTS[:train], LABELS[:train], strict=True)), [], questions(test), (), (), "f")


@pytest.mark.spec("X04")
@pytest.mark.parametrize(
    "outputs, standing",
    [(LABELS, "tied"), (["yes"] * 90, "better"), ([LABELS[at] if at < 80 else "?" for at in range(90)], "better")],
    ids=["as good", "always yes", "ten wrong"],
)
def test_the_best_baseline_is_judged_by_the_paired_bootstrap(outputs, standing):
    fitted = [find_baseline(name).fit(TEXTS, LABELS) for name in ("majority", "bag-of-words")]
    found = compare_with(fitted, questions(90), outputs, ACCURACY)
    assert found == {
        "scores": {"majority": pytest.approx(60 / 90), "bag-of-words": 1.0},
        "best": "bag-of-words",
        "standing": standing,
    }
    said = beside_baselines(found)
    assert "majority 0.667, bag-of-words 1.000" in said
    assert said.endswith(
        {"tied": "do not differ significantly", "better": "bag-of-words is better than this model"}[standing]
    )
    worse = compare_with(fitted[:1], questions(90), LABELS, ACCURACY)
    assert worse["standing"] == "worse" and beside_baselines(worse).endswith("majority 0.667")
    assert compare_with([], questions(90), LABELS, ACCURACY) == {} and beside_baselines({}) == ""


def test_only_those_that_take_seconds_are_fitted():
    codec = None
    assert [one.name for one in fit_quick(CLASSIFY, codec, reading(90, 9))] == [
        "majority",
        "bag-of-words",
        "bag-of-n-grams",
        "tf-idf",
        "nb-svm",
    ]
    assert fit_quick(CLASSIFY, codec, reading(90, 0)) == []  # without a test part there is nothing to show
    many = reading(90, 9)._replace(train=list(zip(TEXTS, LABELS, strict=True)) * 6)
    assert fit_quick(CLASSIFY, codec, many, seconds=0.0) == []
    assert 0 < seconds_needed(Majority, many.train, 9) < 5


def test_a_training_shows_them_and_the_key_leaves_them_out(films, tmp_path):
    run = atento.fit(films, model="gru", settings=QUICK, out=tmp_path / "run")
    beside = run.metrics["baselines"]
    assert [*beside["scores"]] == ["majority", "bag-of-words", "bag-of-n-grams", "tf-idf", "nb-svm"]
    assert "Simple baselines on the same examples: majority 0." in (tmp_path / "run" / "README.md").read_text()
    other = atento.fit(films, model="gru", settings={**QUICK, "train.baselines": "no"}, out=tmp_path / "other")
    assert other.metrics["baselines"] == {}
    # what is shown is what the baseline's own run finds
    alone = atento.fit(films, model="tf-idf", out=tmp_path / "tf-idf")
    assert alone.metrics["scores"]["accuracy"][0] == beside["scores"]["tf-idf"]


def test_a_baseline_is_a_run_like_any_other(films, tmp_path):
    run = atento.fit(films, model="tf-idf", out=tmp_path / "run")
    assert (run.metrics["parameters"], run.metrics["model"], run.metrics["steps"]) == (0, "tf-idf", 0)
    assert run.predict(["good film", "bad film"]) == ["yes", "no"]
    assert run.evaluate(films).value == 1.0 and run.check()
    assert "good" in run.explain("good film").explanation
    assert run.report(tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    again = atento.fit(films, model="tf-idf", out=tmp_path / "run", resume=True)
    assert again.metrics == run.metrics
    for ask, what in (
        (run.gradient_flow, "gradients"),
        (run.embeddings, "vectors of words"),
        (lambda: run.trace("good film"), "forward pass"),
        (lambda: atento.fit(films, start_from=run.folder, out=tmp_path / "from"), "no weights to start from"),
    ):
        with pytest.raises(InputError, match=what):
            ask()
    (entry,) = [one for one in list_runs(tmp_path) if one["folder"].endswith("run")]
    assert (entry["kind"], entry["model"], entry["state"]) == ("run", "tf-idf", "finished")


def test_baselines_are_in_every_comparison_and_need_not_be_named(films, tmp_path):
    with pytest.raises(InputError, match="only simple baselines are named") as caught:
        atento.compare(films, models=["tf-idf", "majority"], out=tmp_path / "board")
    assert "gru" in caught.value.fix


@pytest.mark.parametrize("closed_form", ["yes", "no"])
def test_a_forecaster_starts_from_ridge_or_from_random_weights(tmp_path, closed_form):
    rows = [f"2024-01-{at % 28 + 1:02}T{at // 28:02}:00,{at % 7}" for at in range(28 * 9)]
    (tmp_path / "s.csv").write_text("\n".join(["date,y", *sorted(rows)]) + "\n")
    settings = {**QUICK, "train.closed_form": closed_form, "data.horizon": 3, "data.look_back": 9}
    settings |= {"data.gaps": "linear", "train.baselines": "no"}
    run = atento.fit(tmp_path / "s.csv", task="forecast", model="linear", settings=settings, out=tmp_path / "run")
    said = any("begin as ridge regression" in note for note in run.metrics["data"]["notes"])
    assert said == (closed_form == "yes")


BOARD = {"winner": "gru", "ties": [], "rows": [{"model": "gru", "failed": "", "folder": "gru"}]}


@pytest.mark.parametrize(
    "board, problem",
    [
        (None, "this comparison has not ended"),
        ({**BOARD, "rows": []}, "no model of this comparison"),
        ({**BOARD, "rows": [{"model": "gru", "failed": "", "folder": "../gru"}]}, "no model of this comparison"),
        ({**BOARD, "rows": [{"model": "gru"}]}, "board.json is damaged"),
        ({}, "board.json is damaged"),
    ],
)
def test_a_comparison_without_a_best_model_says_so(tmp_path, board, problem):
    (tmp_path / "recipes").mkdir()
    if board is not None:
        (tmp_path / "board.json").write_text(json.dumps(board))
    with pytest.raises(InputError, match=problem):
        find_model(tmp_path)


def test_a_comparison_and_a_search_stand_for_their_best(tmp_path):
    rows = [{"model": "nearest", "failed": "", "folder": "nearest"}, *BOARD["rows"]]
    (tmp_path / "board.json").write_text(json.dumps({**BOARD, "rows": rows, "ties": ["rnn", "lstm"]}))
    found = find_model(tmp_path)
    assert found.folder == tmp_path / "gru" and found.note.endswith("its best model; it ties with rnn, lstm")
    search = tmp_path / "search"
    (search / "best").mkdir(parents=True)
    (search / "trials.log").touch()
    with pytest.raises(InputError, match="this search has not ended"):
        find_model(search)
    (search / "best" / "manifest.json").touch()
    assert find_model(search).folder == search / "best"
