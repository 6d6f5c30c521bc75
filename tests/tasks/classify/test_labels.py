import math

import pytest
import torch
from torch import nn

from atento.errors import InputError
from atento.models.heads import LabelHead
from atento.tasks.classify.labels import KnownLabels, labels_of, load_labels, metrics, weigh

KNOWN = KnownLabels(["ham", "jam", "spam"], [2, 3, 5], notes=())


@pytest.mark.spec("K01", "K14")
def test_the_likeliest_label_with_its_chance_and_those_of_all():
    chances = {"ham": 2 / 11, "jam": 6 / 11, "spam": 3 / 11}
    logs = torch.tensor([math.log(chance) for chance in chances.values()], dtype=torch.float64)
    said = KNOWN.likeliest(logs, evidence="the second word")
    assert (said.text, said.judged, said.evidence) == ("jam", "jam", "the second word")
    assert said.score == pytest.approx(math.log(6 / 11))
    assert dict(said.chances) == pytest.approx(chances)


def test_every_head_of_labels_weighs_rare_ones_more_by_the_formula():
    module = nn.ModuleDict({"verdict": nn.ModuleDict({"head": LabelHead(7, 3)}), "other": nn.Linear(3, 3)})
    weigh(module, KNOWN, 1.0)
    expected = [10 / (3 * count) for count in KNOWN.counts]  # n / (C n_c), whose mean over cases is 1
    assert module["verdict"]["head"].weights.tolist() == pytest.approx(expected)


def test_labels_are_counted_by_the_source():
    assert labels_of(["b", "a", "b", "b"]) == (["a", "b"], [1, 3], "2 labels, most often b 75%, a 25%")
    several = labels_of(["a\tb", "b", "", "b\tc"], several=True)
    assert several[:2] == (["a", "b", "c"], [1, 3, 1])
    assert several[2].startswith("3 labels, most often b 75%")
    with pytest.raises(InputError, match="nothing to tell apart"):
        labels_of(["a", "a"])


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
    assert [metric.name for metric in metrics(KNOWN)] == ["accuracy", "macro_f1"]
