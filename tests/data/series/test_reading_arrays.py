"""Arrays that numpy saved: every shape, exactly, and a refusal for what is no array of numbers."""

import numpy as np
import pytest

from atento.data import read_source
from atento.data.series import read_series
from atento.errors import InputError
from atento.spec import DataRecipe

SERIES, TIME, CHANNELS = 5, 53, 3
VALUES = np.random.default_rng(2).normal(size=(SERIES, TIME, CHANNELS))


def saved(folder, array, name="a.npy"):
    (np.savez if name.endswith("z") else np.save)(folder / name, **array if isinstance(array, dict) else {"arr": array})
    return str(folder / name)


@pytest.mark.parametrize(
    "array, expected",
    [(VALUES[0, :, 0], [VALUES[0, :, :1]]), (VALUES[0], [VALUES[0]]), (VALUES, list(VALUES))],
    ids=["(T,)", "(T, C)", "(N, T, C)"],
)
def test_every_shape(array, expected, tmp_path):
    found = read_series(DataRecipe(), saved(tmp_path, array))
    assert len(found.series) == len(expected)
    for one, values in zip(found.series, expected, strict=True):
        np.testing.assert_array_equal(one.values, values)
        assert one.times is None
    assert found.channels == tuple(str(at + 1) for at in range(expected[0].shape[1]))
    table = read_source(str(tmp_path / "a.npy"))  # the same as rows of text
    np.testing.assert_array_equal(
        np.array([row[-found.series[0].values.shape[1] :] for row in table.rows], float), np.concatenate(expected)
    )


def test_several_arrays_and_chosen_channels(tmp_path):
    path = saved(tmp_path, {"one": VALUES[0], "two": VALUES[1, :40]}, "several.npz")
    found = read_series(DataRecipe(target="3,1", future_covariates="2"), path)
    assert [one.name for one in found.series] == ["one", "two"]
    np.testing.assert_array_equal(found.series[1].values, VALUES[1, :40, [2, 0]].T)
    np.testing.assert_array_equal(found.series[1].future_covariates, VALUES[1, :40, 1:2])
    assert found.keys == (("target", "3,1"), ("future_covariates", "2"))
    with pytest.raises(InputError, match="there is no channel '4'"):
        read_series(DataRecipe(target="4"), path)


def test_a_hole_is_named_and_filled(tmp_path):
    array = VALUES[0].copy()
    array[7, 1] = np.inf
    path = saved(tmp_path, array)
    with pytest.raises(InputError, match=r"a\.npy:8:2: "):
        read_series(DataRecipe(), path)
    found = read_series(DataRecipe(gaps="linear"), path)
    assert found.series[0].values[7, 1] == pytest.approx((array[6, 1] + array[8, 1]) / 2)


@pytest.mark.parametrize(
    "array", [np.array(["a", "b"]), np.zeros((2, 2, 2, 2)), np.zeros((0, 3)), np.array([1j, 2]), np.zeros(9)]
)
def test_what_is_no_series(array, tmp_path):
    with pytest.raises(InputError) as caught:
        read_series(DataRecipe(), saved(tmp_path, array))
    assert caught.value.fix


def test_no_file_is_run(tmp_path):
    np.save(tmp_path / "a.npy", np.array([{}, []], dtype=object), allow_pickle=True)
    (tmp_path / "b.npy").write_bytes(b"\x93NUMPY not an array at all")
    for name in ("a.npy", "b.npy"):
        with pytest.raises(InputError, match=r"cannot be read as arrays of numpy"):
            read_series(DataRecipe(), str(tmp_path / name))


def test_channels_differ(tmp_path):
    with pytest.raises(InputError, match="different numbers of channels"):
        read_series(DataRecipe(), saved(tmp_path, {"a": VALUES[0], "b": VALUES[0, :, :2]}, "x.npz"))


def test_an_archive_of_arrays_of_one_axis_is_series_without_being_told(tmp_path):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "two.npz", one=rng.normal(size=41).cumsum(), two=rng.normal(size=29).cumsum())
    found = read_source(str(tmp_path / "two.npz"))
    assert (found.kind, found.columns, len(found.rows)) == ("npy", ("series", "step", "1"), 41 + 29)
    np.savez(tmp_path / "cases.npz", X=rng.normal(size=(20, 7)), y=np.arange(20) % 2)
    assert read_source(str(tmp_path / "cases.npz")).kind == "npz"
