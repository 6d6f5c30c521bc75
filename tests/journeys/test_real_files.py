"""Files as real tools write them are read right with no option, or refused with the one key that settles it."""

import math

import numpy as np
import pytest
from tests.journeys.real_files import FILES

from atento.api.inspect import inspect
from atento.data.series.reading import read_series
from atento.data.sources.reading import read_source
from atento.errors import AtentoError
from atento.spec import DataRecipe


@pytest.mark.parametrize("name", FILES)
def test_a_real_file(name, tmp_path):
    expected = FILES[name](tmp_path)
    try:
        found = inspect(expected.source).to_json()
    except AtentoError as error:
        assert expected.refused, error
        assert expected.because in str(error) and expected.key.partition("=")[0] in str(error)
        return
    said = " ".join(
        [*found["notes"], *map(str, found["problems"]), *(one["reason"] for one in found["guesses"].values())]
    )
    assert found["task"] == (expected.task or None)
    assert all(word in said for word in expected.says)
    if expected.refused:
        assert expected.because in said and expected.key.partition("=")[0] in said
    else:
        assert found["refused"] == 0
    if not expected.task:
        return
    if expected.task == "forecast":
        key, _, value = expected.key.partition("=")
        recipe = DataRecipe(**{"train": expected.source, **({key.removeprefix("data."): value} if key else {})})
        read = read_series(recipe, expected.source)
        assert (len(read.series), sum(map(len, read.series))) == (expected.series, expected.rows)
        assert expected.frequency in ("", str(read.frequency))
        for channel, mean in expected.means.items():
            at = read.channels.index(channel) if channel else 0
            values = np.concatenate([one.values[:, at] for one in read.series])
            assert math.isclose(values.mean(), mean, rel_tol=0.02 if expected.refused else 1e-6), channel
        return
    assert all(column in found["used_as"] for column in expected.roles.values())
    assert not expected.labels or tuple(sorted(one["label"] for one in found["labels"])) == expected.labels
    if expected.example[0]:
        table = read_source(expected.source)
        assert table.rows[0][table.columns.index(expected.example[0])].strip() == expected.example[1]
