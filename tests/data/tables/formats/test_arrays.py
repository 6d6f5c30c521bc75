"""Arrays that numpy saved: which is what, which axis is time, and nothing that only pickle could read."""

import numpy as np
import pytest

from atento.data import read_table
from atento.data.tables.formats.arrays import read_case_arrays
from atento.data.tables.number_lists import require_numbers
from atento.errors import InputError

CASES, STEPS, CHANNELS = 5, 7, 3
VALUES = np.random.default_rng(0).normal(size=(CASES, STEPS, CHANNELS))
LABELS = np.array(["a", "b", "a", "b", "a"])


def save(tmp_path, **arrays):
    path = tmp_path / "set.npz"
    np.savez(path, **arrays)
    return path


@pytest.mark.spec("K02")
@pytest.mark.parametrize("channels_first", [False, True])
def test_time_is_the_longer_axis_and_every_number_comes_back(tmp_path, channels_first):
    path = save(tmp_path, X=VALUES.swapaxes(1, 2) if channels_first else VALUES, y=LABELS)
    table = read_table(str(path))
    assert [row[1] for row in table.rows] == LABELS.tolist()
    np.testing.assert_array_equal([require_numbers(row[0]) for row in table.rows], VALUES)
    axis = 2 if channels_first else 1
    assert f"7 steps of 3 channels (axis {axis} is time; --set data.time={3 - axis} takes the other)" in table.notes[0]
    other = read_case_arrays(path.read_bytes(), "set.npz", time=str(3 - axis))
    assert require_numbers(other.rows[0][0]).shape == (CHANNELS, STEPS)


def test_one_channel_and_other_names(tmp_path):
    path = save(
        tmp_path, signals=np.arange(8, dtype=np.int16).reshape(2, 4), classes=np.array([1.0, 2.0]), ids=np.arange(2)
    )
    table = read_table(str(path))
    assert table.rows == (("0 1 2 3", "1"), ("4 5 6 7", "2"))
    assert table.notes[-2:] == ("classes holds the labels", "ids is not read")


def test_parts_in_one_file(tmp_path):
    path = save(tmp_path, X_train=VALUES, y_train=LABELS, X_test=VALUES[:2], y_test=LABELS[:2])
    table = read_table(str(path))
    assert len(table.rows) == CASES
    assert table.notes[-1] == "X_test and y_test are not read"


def test_missing_numbers_at_the_end_make_a_sequence_shorter(tmp_path):
    values = VALUES[:, :, 0].copy()
    values[1, 4:], values[2, 3] = np.nan, np.nan
    rows = read_table(str(save(tmp_path, X=values, y=LABELS))).rows
    assert [len(row[0].split()) for row in rows] == [7, 4, 7, 7, 7]
    assert rows[2][0].split()[3] == "nan"


@pytest.mark.parametrize(
    "arrays, found",
    [
        ({"X": np.array([[1, "a"], [2, object()]], dtype=object)}, "an array of objects"),
        ({"a": np.zeros((2, 3)), "b": np.zeros((2, 3))}, r"a \(2, 3\) and b \(2, 3\)"),
        ({"y": np.array(["a", "b", "a"])}, r"y \(3,\)"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path, arrays, found):
    with pytest.raises(InputError, match=found):
        read_table(str(save(tmp_path, **arrays)))


def test_broken_files_and_wrong_axes(tmp_path):
    (tmp_path / "broken.npz").write_bytes(b"PK\x03\x04 not an archive")
    with pytest.raises(InputError, match="cannot be read as arrays"):
        read_table(str(tmp_path / "broken.npz"))
    with pytest.raises(InputError, match=r"data\.time is the axis of time"):
        read_case_arrays(save(tmp_path, X=VALUES, y=LABELS).read_bytes(), "set.npz", time="date")
