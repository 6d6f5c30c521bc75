"""Token by token, by hand."""

import pytest

from atento.metrics.language_model import Agreement, agree, summarise


@pytest.mark.spec("E03")
@pytest.mark.parametrize(
    "written, truth, hits",
    [
        ([1, 2, 9], [1, 2, 9], 3),
        ([1, 9], [1, 2, 9], 1),
        ([1, 2, 3, 9], [1, 2, 9], 2),
        ([2, 1, 9], [1, 2, 9], 1),
        ([], [9], 0),
    ],
)
def test_tokens_count_at_their_place(written, truth, hits):
    assert agree(written, truth) == Agreement(hits, len(truth))


@pytest.mark.spec("E03")
def test_shares_are_of_all_tokens_not_a_mean_of_means():
    found = summarise([Agreement(1, 1), Agreement(1, 4), Agreement(5, 5)])
    assert found == {"tokens": 0.7, "exact": pytest.approx(2 / 3)}
    assert summarise([]) == {"tokens": 0.0, "exact": 0.0}
