"""Lists, numpy, pandas, polars and Arrow in; the same kind out."""

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from atento.errors import InputError
from atento.estimators import ClassifierEstimator
from atento.estimators.frames import like
from atento.estimators.rows import label_lists_of, pairs_of, texts_of, word_lists_of

TEXTS = ["uno dos", "tres", "cuatro cinco"]
ONE_COLUMN = {
    "list": TEXTS,
    "tuple": tuple(TEXTS),
    "numpy": np.array(TEXTS),
    "object": np.array(TEXTS, dtype=object),
    "pandas": pandas.Series(TEXTS, index=[7, 5, 3]),
    "polars": polars.Series("t", TEXTS),
    "arrow": pyarrow.array(TEXTS),
    "chunked": pyarrow.chunked_array([TEXTS[:1], TEXTS[1:]]),
    "pandas frame": pandas.DataFrame({"t": TEXTS}, index=[7, 5, 3]),
    "polars frame": polars.DataFrame({"t": TEXTS}),
    "arrow table": pyarrow.table({"t": TEXTS}),
}
SAME_KIND = {
    "list": list,
    "tuple": list,
    "numpy": np.ndarray,
    "object": np.ndarray,
    "pandas": pandas.Series,
    "polars": polars.Series,
    "arrow": pyarrow.Array,
    "chunked": pyarrow.ChunkedArray,
    "pandas frame": pandas.Series,
    "polars frame": polars.Series,
    "arrow table": pyarrow.ChunkedArray,
}


@pytest.mark.parametrize("name", ONE_COLUMN)
def test_the_same_texts_from_every_kind(name):
    assert texts_of(ONE_COLUMN[name]) == TEXTS
    out = like(ONE_COLUMN[name], ["a", "b", "c"])
    assert isinstance(out, SAME_KIND[name])
    values = out.to_pylist() if name in ("arrow", "chunked", "arrow table") else list(out)
    assert values == ["a", "b", "c"]


def test_the_index_of_pandas_is_kept():
    assert like(ONE_COLUMN["pandas"], [1, 2, 3]).index.tolist() == [7, 5, 3]
    assert like(ONE_COLUMN["pandas frame"], [1, 2, 3]).index.tolist() == [7, 5, 3]


def test_couples_words_and_label_sets():
    frame = {"a": ["x", "y"], "b": ["z", "w"]}
    for rows in (pandas.DataFrame(frame), polars.DataFrame(frame), pyarrow.table(frame), [("x", "z"), ("y", "w")]):
        assert pairs_of(rows) == ["x\tz", "y\tw"]
    assert word_lists_of([["a", "b"], "c d"]) == ["a\tb", "c\td"]
    assert label_lists_of(np.array([[1, 0, 1], [0, 0, 0]])) == [["0", "2"], []]
    assert label_lists_of([["a"], []]) == [["a"], []]
    with pytest.raises(InputError, match="two texts per row"):
        pairs_of(["x", "y", "zzz"])


def test_an_empty_text_is_named_by_its_row():
    with pytest.raises(InputError, match=r"X\[1\] is empty"):
        texts_of(["a", " "])


def test_classes_come_back_as_they_were(made, cases):
    texts, _ = cases["ClassifierEstimator"]
    labels = np.array([number % 2 + 3 for number in range(len(texts))])
    found = made("ClassifierEstimator").fit(pandas.Series(texts), pandas.Series(labels))
    assert found.classes_.tolist() == [3, 4]
    assert set(found.predict(pandas.Series(texts))) <= {3, 4}
    chances = found.predict_proba(polars.Series(texts))
    assert chances.columns == ["3", "4"]
    assert np.allclose(chances.to_numpy().sum(axis=1), 1)
    assert found.predict_proba(texts).shape == (len(texts), 2)


def test_label_sets_as_an_array(made, cases):
    texts, _ = cases["LabelSetEstimator"]
    truth = np.array([[number % 2, number % 3 == 0, 1] for number in range(len(texts))])
    found = made("LabelSetEstimator").fit(texts, truth)
    assert found.predict(texts).shape == truth.shape
    assert found.predict_proba(texts).shape == truth.shape
    assert 0 <= found.score(texts, truth) <= 1


def test_in_a_pipeline_and_a_grid(made, cases):
    texts, labels = cases["ClassifierEstimator"]
    lower = FunctionTransformer(lambda rows: [text.lower() for text in rows])
    line = Pipeline([("lower", lower), ("model", made("ClassifierEstimator"))])
    assert len(line.fit(texts, labels).predict(texts)) == len(texts)
    grid = GridSearchCV(line, {"model__model": ["rnn", "gru"]}, cv=2, error_score="raise").fit(texts, labels)
    assert grid.best_params_["model__model"] in ("rnn", "gru")
    assert grid.best_estimator_.named_steps["model"].run_.recipe.model.name == grid.best_params_["model__model"]


def test_it_learns():
    chance = np.random.default_rng(0)
    order = chance.integers(0, 2, size=200)
    texts = [f"{'no me gustó, sí' if one else 'sí me gustó, no'} la vi {number}" for number, one in enumerate(order)]
    quick = {"model.hidden": 32, "model.dropout": 0, "train.word_dropout": 0, "train.lr": 1e-2, "train.threads": 1}
    found = ClassifierEstimator("gru", steps=100, settings=quick).fit(texts, order)
    assert found.score(texts[:50], order[:50]) > 0.95
