"""One label a source: the most probable one, weights of rare labels, and what is saved."""

import math

import numpy as np
import pytest
import torch
from sklearn.utils.class_weight import compute_class_weight
from torch import nn

from atento.errors import InputError
from atento.models import LabelHead
from atento.tasks.outputs.one_label import OneLabel, count_labels, load_labels

KNOWN = OneLabel(["ham", "jam", "spam"], [2, 3, 5])


@pytest.mark.spec("K01", "K14")
def test_the_most_probable_label_with_the_probabilities_of_all():
    probabilities = {"ham": 2 / 11, "jam": 6 / 11, "spam": 3 / 11}
    outputs = torch.tensor([[math.log(share) + 5 for share in probabilities.values()]], dtype=torch.float64)
    (answer,) = KNOWN.answers(nn.Identity(), outputs)
    assert (answer.text, answer.judged) == ("jam", "jam")
    assert answer.score == pytest.approx(math.log(6 / 11))
    assert dict(answer.probabilities) == pytest.approx(probabilities)


def test_every_head_of_labels_weighs_rare_ones_more_by_the_formula():
    """With power 1 each label weighs as much as another in all: scikit-learn's balanced weights."""
    module = nn.ModuleDict({"pair": nn.ModuleDict({"head": LabelHead(7, 3)}), "other": nn.Linear(3, 3)})
    head = module["pair"]["head"]
    KNOWN.weigh(module, 1.0)
    cases = ["ham"] * 2 + ["jam"] * 3 + ["spam"] * 5
    theirs = compute_class_weight("balanced", classes=np.array(KNOWN.labels), y=cases)
    assert head.weights.tolist() == pytest.approx(theirs.tolist())
    KNOWN.weigh(module, 0.0)
    assert head.weights.tolist() == pytest.approx([1, 1, 1])
    KNOWN.weigh(module, 0.5)
    assert float(head.weights @ torch.tensor([2.0, 3.0, 5.0])) == pytest.approx(10)
    assert float(head.weights[0] / head.weights[2]) == pytest.approx(2.5**0.5)


def test_labels_are_counted_by_the_source():
    assert count_labels([["b"], ["a"], ["b"], ["b"]], least=2) == (
        ["a", "b"],
        [1, 3],
        ("2 labels, most often b 75%, a 25%",),
    )
    labels, counts, notes = count_labels([["a", "b"], ["b"], [], ["b", "c"]], least=1)
    assert (labels, counts) == (["a", "b", "c"], [1, 3, 1])
    assert notes[0].startswith("3 labels, most often b 75%")
    with pytest.raises(InputError, match="nothing to tell apart") as caught:
        count_labels([["a"], ["a"]], least=2)
    assert "1 label: a" in caught.value.found


def test_labels_that_were_saved_are_read_and_others_refused():
    assert load_labels({"labels": ["a", "b"], "counts": [1, 0]}) == (["a", "b"], [1, 0])
    for labels, counts in (
        (None, []),
        ([], []),
        (["a", "a"], [1, 1]),
        ([1, 2], [1, 1]),
        (["a"], [-1]),
        (["a"], [True]),
    ):
        with pytest.raises(InputError, match="holds no labels"):
            load_labels({"labels": labels, "counts": counts})
    assert [metric.name for metric in KNOWN.metrics(None)] == ["accuracy", "macro_f1"]
