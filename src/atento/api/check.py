"""Contracts on a module, a trained run, or the folder of one."""

from pathlib import Path

from torch import Tensor, nn

from atento.api.run import Run
from atento.bundle import load_bundle
from atento.checking import Checked
from atento.checking import check as check_module
from atento.checking.runs import check_run


def check(subject: nn.Module | Run | str | Path, *, values: Tensor | None = None, causal: bool = False) -> Checked:
    """Every contract that applies: true when none is broken, printed as a table.

    A module of ours is known by its kind; any other is called as forward(values, valid) -> values, with random
    numbers of the width it reads or like the example `values`; `causal`: no output may know later items.
    """
    if isinstance(subject, Run):
        return check_run(subject.predictor.bundle)
    if isinstance(subject, str | Path):
        return check_run(load_bundle(Path(subject)))
    return check_module(subject, values=values, causal=causal)
