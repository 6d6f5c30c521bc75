"""Times of Parquet files as Python writes them, an absent one empty."""

import io
from datetime import UTC, datetime

import pyarrow
import pyarrow.parquet
import pytest

from atento.data.tables.formats.parquet import read_parquet

WHOLE = [datetime(2020, 1, 1), None, datetime(1850, 5, 5, 3, 4, 5)]
EXACT = [datetime(2020, 1, 1, 0, 0, 0, 500_000), datetime(2020, 1, 1, 2, 0, 0, 1000)]


def cells(values, kind):
    sink = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"ds": pyarrow.array(values, kind)}), sink)
    return [row[0] for row in read_parquet(sink.getvalue(), "t.parquet").rows]


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_times_are_written_as_python_writes_them(unit):
    assert cells(WHOLE, pyarrow.timestamp(unit)) == [str(one) if one else "" for one in WHOLE]
    assert cells(EXACT, pyarrow.timestamp(unit)) == [str(one) for one in EXACT]
    assert cells([None], pyarrow.timestamp(unit)) == [""]


def test_a_zone_stays():
    assert cells([datetime(2020, 1, 1, tzinfo=UTC)], pyarrow.timestamp("us", "UTC")) == ["2020-01-01 00:00:00+00:00"]
