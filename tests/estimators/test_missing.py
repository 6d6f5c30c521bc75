"""What is missing in X or y is refused by every estimator, as the command line refuses it, and never learned."""

import numpy as np
import pandas
import pytest

from atento.errors import InputError
from atento.estimators import ClassifierEstimator

MISSING = {"None": None, "NaN": float("nan"), "NA": pandas.NA, "blank": " "}
KINDS = ("Classifier", "Matcher", "LabelSet", "Tagger", "Translator")


def spoiled(rows, value, *, inside):
    """The rows with the third and the last one missing, or with something missing inside them."""
    rows = list(rows)
    for at in (2, -1):
        rows[at] = type(rows[at])([value, *rows[at][1:]]) if inside and not isinstance(rows[at], str) else value
    return rows


@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("name", KINDS)
def test_missing_rows_are_counted_and_named(name, missing, made, cases):
    kind = f"{name}Estimator"
    rows, targets = cases[kind]
    value = MISSING[missing]
    for at, (X, y) in enumerate(
        [
            (rows, spoiled(targets, value, inside=name in ("LabelSet", "Tagger"))),
            (spoiled(rows, value, inside=True), targets),
        ]
    ):
        with pytest.raises(InputError) as caught:
            made(kind).fit(X, y)
        what = "X" if at else "y"
        said = str(caught.value)
        assert f"Input {what} contains NaN: 2 of 29 rows are missing, first at index 2." in said or (
            missing == "blank" and f"{what}[2] is empty" in said
        )


@pytest.mark.parametrize(
    "labels, problem",
    [(["a"] * 29, "one class"), (["a", 1] * 14 + ["a"], "texts and other labels"), (["a", "b"], "inconsistent")],
)
def test_labels_that_cannot_be_learned_are_refused(labels, problem, made, cases):
    with pytest.raises(ValueError, match=problem):
        made("ClassifierEstimator").fit(cases["ClassifierEstimator"][0], labels)


def test_blanks_around_labels_are_removed_as_in_files(made, cases):
    texts, _ = cases["ClassifierEstimator"]
    labels = [(" A", "A ", "b")[number % 3] for number in range(29)]
    found = made("ClassifierEstimator").fit(texts, labels)
    assert found.classes_.tolist() == ["A", "b"]
    assert found.score(texts, labels) == found.score(texts, [label.strip() for label in labels])


@pytest.fixture(scope="module")
def texts(cases):
    return cases["ClassifierEstimator"][0]


def test_rows_in_every_form(fitted, texts):
    found = fitted["ClassifierEstimator"]
    answers = list(found.predict(texts))
    for rows in (
        (text for text in texts),
        np.array([text.encode() for text in texts]),
        pandas.Series(texts, dtype="category"),
        pandas.Series(texts, dtype="string", index=range(90, 119)),
    ):
        assert list(found.predict(rows)) == answers
    for rows, problem in (("uno", "one text"), (b"uno", "one text"), ([], "no rows"), ([None], "missing")):
        with pytest.raises(InputError, match=problem):
            found.predict(rows)


def test_labels_in_every_form(made, texts):
    labels = ["b" if number % 2 else "a" for number in range(29)]
    for y in (np.array(labels).astype("S"), pandas.Series(labels, index=range(5, 34)).astype("category"), iter(labels)):
        assert made("ClassifierEstimator").fit(iter(texts), y).classes_.tolist() == ["a", "b"]


def test_a_frame_with_other_columns_is_refused(made, texts):
    found = made("ClassifierEstimator").fit(pandas.DataFrame({"one": texts}), [number % 2 for number in range(29)])
    with pytest.raises(InputError, match="feature names should match"):
        found.predict(pandas.DataFrame({"two": texts}))


def test_the_kind_of_output_can_be_chosen(fitted, texts):
    found = fitted["ClassifierEstimator"]
    try:
        assert found.set_output(transform="pandas").predict_proba(texts).columns.tolist() == ["no", "sí"]
        assert found.predict(pandas.Series(texts, index=range(7, 36))).index[0] == 7
        assert type(found.set_output(transform="polars").predict(texts)).__module__.startswith("polars")
        with pytest.raises(InputError, match="kind of output"):
            found.set_output(transform="excel")
    finally:
        found.set_output(transform="default")
    assert isinstance(found.predict(texts), list)


def test_an_estimator_explains_one_row(fitted, cases):
    for kind in ("ClassifierEstimator", "MatcherEstimator", "TaggerEstimator", "TranslatorEstimator"):
        rows, _ = cases[kind]
        assert fitted[kind].explain(rows[0]).source, kind


def test_its_recipe_says_that_the_rows_were_in_memory(fitted):
    assert fitted["ClassifierEstimator"].run_.recipe.data.train.startswith("memory:")
    assert isinstance(fitted["ClassifierEstimator"], ClassifierEstimator)
