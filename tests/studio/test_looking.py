"""What the studio shows of a trained model, as data: answers with their reasons, views as pages, mistakes."""

import base64
import json
import random

import numpy as np
import pytest
from PIL import Image

import atento
from atento.api.explain.answers import FILES
from atento.api.explain.occlusion import occlusions, words_in
from atento.api.explain.pages import PAGES, page_of
from atento.cli.look import VIEWS
from atento.errors import InputError
from atento.studio import looking
from atento.studio.mistakes import mistakes_of

WORDS = {"good": ["great", "lovely", "superb"], "bad": ["awful", "poor", "dreadful"], "<script>": ["plain", "usual"]}
THINGS = ["film", "meal", "book", "hotel", "story"]


def reviews(path, rows=211):
    draw = random.Random(7)
    lines = ["text,label"]
    for number in range(rows):
        label = list(WORDS)[number % 3]
        told = "bad" if number % 7 == 0 else label  # some rows are labelled wrongly, so there are mistakes
        lines.append(f"the {draw.choice(THINGS)} was {draw.choice(WORDS[label])} on day {number},{told}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("looking")
    file = reviews(folder / "reviews.csv")
    settings = {"train.steps": 61, "model.hidden": 14, "train.lr": 0.01, "data.split": "60/10/30"}
    return atento.fit(file, task="classify", model="gru+additive", settings=settings, out=folder / "run")


@pytest.fixture(scope="module")
def baseline(tmp_path_factory):
    folder = tmp_path_factory.mktemp("baseline")
    return atento.fit(reviews(folder / "reviews.csv"), task="classify", model="bag-of-words", out=folder / "run")


def test_an_explanation_holds_the_answer_its_maps_and_what_moved_it(run):
    source = looking.examples(run)["sources"][0]

    found = looking.explain(run, source)

    assert found["answer"]["text"] == run.predict([source])[0]
    assert found["answer"]["probabilities"] == pytest.approx(run.predict_proba([source])[0])
    stored = found["view"]["maps"][0]
    weights = np.frombuffer(base64.b64decode(stored["weights"]), dtype="<f4").reshape(stored["shape"])
    assert weights == pytest.approx(run.explain(source).maps[0].weights.numpy(), abs=1e-6)
    assert found["attribution"]["tokens"] == list(run.attribution(source).tokens)
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_a_word_that_is_left_out_changes_the_answer_as_the_model_says_it(run):
    source = "the meal was awful on day 3"

    found = {one["word"]: one for one in looking.explain(run, source)["occlusion"]}

    assert list(found) == source.split()
    assert found["awful"]["probabilities"] == pytest.approx(run.predict_proba(["the meal was on day 3"])[0])
    assert found["day"]["text"] == run.predict(["the meal was awful on 3"])[0]


def test_words_of_two_texts_are_left_out_unless_one_is_all_there_is():
    assert [word for start, end in words_in("one two\tthree") if (word := "one two\tthree"[start:end])] == [
        "one",
        "two",
    ]
    assert words_in("a b\tc d") == [(0, 1), (2, 3), (4, 5), (6, 7)]


def test_a_long_text_and_a_single_word_have_no_occlusions(run):
    assert occlusions(run.predictor, "awful") == []
    assert occlusions(run.predictor, "very " * 67) == []
    assert len(occlusions(run.predictor, "very " * 5)) == 5


def test_a_word_that_training_never_met_is_named_once(run):
    assert looking.explain(run, "the xylophone was a xylophone")["unknown"] == ["xylophone", "a"]


def test_an_empty_source_is_refused(run):
    with pytest.raises(InputError, match="nothing to read"):
        looking.explain(run, " \t ")


def test_a_baseline_answers_without_a_view(baseline):
    found = looking.explain(baseline, "the book was lovely")

    assert found["view"] is None
    assert found["note"]
    assert sum(found["answer"]["probabilities"].values()) == pytest.approx(1)
    assert [view["what"] for view in looking.views(baseline)] == ["tokens"]


def test_examples_are_test_sources_with_what_was_expected_and_the_files_of_the_run(run):
    lines = [json.loads(line) for line in (run.folder / "predictions.jsonl").read_text().split("\n") if line]
    truth = {line["source"]: line["references"] for line in lines}

    found = looking.examples(run)

    assert found["typed"] and found["kind"] == "text"
    assert len(set(found["sources"])) == min(12, len(truth)) and set(found["sources"]) <= set(truth)
    assert all(found["expected"][source] == truth[source] for source in found["sources"])
    assert {file["name"]: file["bytes"] for file in found["files"]}["recipe.toml"] == (
        run.folder / "recipe.toml"
    ).stat().st_size


def test_every_view_that_is_offered_is_a_page(run):
    source = looking.examples(run)["sources"][0]
    offered = [view["what"] for view in looking.views(run)]

    pages = {what: looking.page(run, what, "" if what == "embeddings" else source) for what in offered}

    assert offered == [
        "attention", "attribution", "steps", "states", "model", "gradients", "tokens", "embeddings", "schedule"
    ]  # fmt: skip
    assert all(page.startswith("<!doctype html>") for page in pages.values())
    assert "awful" not in pages["tokens"] or "awful" in source


def test_pages_exist_for_exactly_the_views_of_the_command_line():
    assert set(PAGES) == set(VIEWS) == set(FILES) == set(looking.TITLES)


def test_an_unknown_view_is_refused_by_name(run):
    with pytest.raises(InputError, match="atention"):
        page_of(run.predictor, "atention")


def test_mistakes_come_first_and_surest_first(run):
    found = mistakes_of(run.folder, 1000)

    rows = found["rows"]
    wrong = [row for row in rows if not row["right"]]
    assert len(wrong) == found["mistakes"] > 0 and len(rows) == found["examples"] > len(wrong)
    assert rows[: len(wrong)] == wrong
    assert all(row["expected"] != row["predicted"] for row in wrong)
    assert [row["score"] for row in wrong] == sorted((row["score"] for row in wrong), reverse=True)
    assert found["kind"] == "classes"
    assert sum(map(sum, found["confusion"]["counts"])) == found["examples"]


def test_one_cell_of_the_matrix_is_its_rows(run):
    labels, counts = mistakes_of(run.folder)["confusion"].values()
    at, to = next((i, j) for i in range(3) for j in range(3) if i != j and counts[i][j])

    found = mistakes_of(run.folder, 1, expected=labels[at], predicted=labels[to])

    assert found["chosen"] == counts[at][to]
    assert [(row["expected"], row["predicted"]) for row in found["rows"]] == [(labels[at], labels[to])]


def test_a_row_belongs_to_the_slice_of_its_length(run):
    found = mistakes_of(run.folder, 1000)

    limits = {band["label"]: (band["from"], band["to"]) for band in found["slices"]}
    assert len(limits) > 1
    assert all(limits[row["slice"]][0] <= len(row["source"]) <= limits[row["slice"]][1] for row in found["rows"])


def test_an_image_outside_the_workspace_is_never_read(tmp_path, monkeypatch):
    workspace = tmp_path / "workspace"
    for label, colour in (("red", (211, 0, 0)), ("blue", (0, 0, 211))):
        (workspace / "shades" / label).mkdir(parents=True)
        for number in range(13):
            shade = tuple(max(0, part - 5 * number) for part in colour)
            Image.new("RGB", (11, 11), shade).save(workspace / "shades" / label / f"{number}.png")
    Image.new("RGB", (11, 11), (211, 0, 0)).save(tmp_path / "secret.png")
    Image.new("RGB", (11, 11), (211, 0, 0)).save(workspace / "new.png")
    monkeypatch.chdir(workspace)
    (workspace / "link.png").symlink_to(tmp_path / "secret.png")
    run = atento.fit("shades", settings={"train.steps": 2, "model.hidden": 14}, out="runs/shades")

    for name in (str(tmp_path / "secret.png"), "../secret.png", "link.png"):
        with pytest.raises(InputError, match="only images of this workspace"):
            looking.explain(run, name)
    for name in ("new.png", looking.examples(run)["sources"][0]):
        assert looking.explain(run, name)["view"]["image"].startswith("data:image/")
