"""Results say in a few hundred characters what they are."""

from dataclasses import dataclass, field
from typing import NamedTuple

import torch

from atento.models.diagnostics.gradients import gradient_flow
from atento.recurrent import GRUCell
from atento.reprs import LONGEST, short_repr
from atento.tasks.traces import Alignment


@dataclass
class Result:
    name: str
    numbers: list[float]
    nothing: dict = field(default_factory=dict)


class Wide(NamedTuple):
    texts: list[str]
    more: dict[str, list[str]]


def test_long_fields_are_cut_and_empty_ones_left_out():
    text = short_repr(Result("a" * 1000, [0.1] * 1000))
    assert text.startswith("Result(name='aaa") and "..." in text and "nothing" not in text and len(text) < 200
    wide = Wide(["x" * 50] * 9, {str(key): ["y" * 99] * 9 for key in range(9)})
    assert len(short_repr(wide)) <= LONGEST + 20 < 600


def test_what_users_print_is_short():
    alignment = Alignment(["a"] * 90, ["b"] * 90, torch.zeros(4, 8, 90, 90), "b" * 300, -1.0)
    assert len(repr(alignment)) < 600 and "weights=[4, 8, 90" in repr(alignment)
    flow = gradient_flow(GRUCell(3, 5), torch.randn(2, 40, 3))
    assert len(repr(flow)) < 600 and flow.verdict in repr(flow)
