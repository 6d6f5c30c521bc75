import numpy as np

from atento.metrics import Metric


def lengths(outputs, references):
    """(N, 2): letters written, letters asked for."""
    return np.array(
        [[len(one), len(allowed[0])] for one, allowed in zip(outputs, references, strict=True)], dtype=float
    )


def test_a_metric_is_a_formula_over_sums():
    ratio = Metric("ratio", "letters written to letters asked for", lengths, lambda sums: sums[:, 0] / sums[:, 1])
    assert ratio.value(["ab", "c"], [["abc"], ["def"]]) == 0.5  # 3 of 6, not the mean of 2/3 and 1/3 by chance
    assert ratio.value(["ab", "c", ""], [["abc"], ["def"], ["ghijkl"]]) == 0.25
    assert np.isnan(ratio.value([], []))  # no score on nothing
