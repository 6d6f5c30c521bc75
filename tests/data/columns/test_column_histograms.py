import random
from itertools import pairwise

import pytest

from atento.data.columns.column import Bin, LabelCount, label_histogram, length_histogram, readable_width


@pytest.mark.parametrize("spread", [1, 3, 9, 11, 40, 99, 1000, 20_000])
def test_every_text_is_in_one_bin(spread):
    draw = random.Random(spread)
    lengths = [draw.randint(1, spread) for _ in range(500)] + [17 * spread]
    bins = length_histogram(lengths)
    assert len(bins) <= 10
    assert [each.count for each in bins] == [sum(each.low <= size <= each.high for size in lengths) for each in bins]
    assert sum(each.count for each in bins) == 501
    assert sum(each.share for each in bins) == pytest.approx(1)
    assert bins[0].low == min(lengths) and bins[-1].high == max(lengths)
    assert all(one.high + 1 == other.low for one, other in pairwise(bins)), "no length between"


def test_bins_by_hand():
    assert length_histogram([3, 4, 4]) == [Bin(3, 3, 1, 1 / 3), Bin(4, 4, 2, 2 / 3)]
    named = [each.name for each in length_histogram([*range(1, 25), 1500])]
    assert named == ["1-4", "5-9", "10-14", "15-19", "20-24", "25-1,500"], "one text far off does not hide the others"
    assert length_histogram([]) == []
    assert length_histogram([7] * 5) == [Bin(7, 7, 5, 1.0)]


@pytest.mark.parametrize(
    "span, most, width", [(9, 9, 1), (10, 9, 2), (16, 9, 2), (17, 9, 5), (81, 9, 20), (900, 10, 100)]
)
def test_widths_read_well(span, most, width):
    assert readable_width(span, most) == width


def test_labels_by_hand():
    rows = [["b"], ["a", "c"], ["b", "b"], [], ["a"], ["b"]]
    assert label_histogram(rows) == [LabelCount("b", 3, 0.5), LabelCount("a", 2, 1 / 3), LabelCount("c", 1, 1 / 6)]
    assert label_histogram(rows, most=1) == [LabelCount("b", 3, 0.5)]
    assert label_histogram([]) == []
