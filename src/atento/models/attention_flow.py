"""The gradient's way through attention: ‖∂output_t/∂input_k‖ against |t − k|. Every step is one step away."""

import math
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from torch.nn import functional

from atento.models.watching import Passed, Seen
from atento.recurrent.curves import curve_of
from atento.recurrent.gradients import LEAST, PATHS, ROWS, Flow, directions, starting_points
from atento.recurrent.remedies import ATTENTION

# Axes: R rows, T time, D size, P paths, L lags, M directions.

PROBES = 16  # directions in which an output is followed back


def attentive_parts(seen: Sequence[Seen]) -> list[Flow]:
    """Every stack of attention that was passed."""
    passes: dict[str, list[Passed]] = {}
    for one in seen:
        for name, found in one.passed.items():
            passes.setdefault(name, []).extend(found)
    parts = []
    for name, some in passes.items():
        paths = [path for passed in some for path in paths_back(passed, paths=max(1, PATHS // len(some)))]
        longest = max(map(len, paths), default=0)
        if longest > 1:
            logs = torch.stack([functional.pad(path, (0, longest - len(path)), value=torch.nan) for path in paths])
            parts.append(Flow(name or ATTENTION, ATTENTION, curve_of(logs), {}, None, {}))
    return parts


def paths_back(passed: Passed, *, paths: int) -> Iterator[Tensor]:
    """Log norms (L,) at lags 0, 1, … from some outputs: to the past, and to the future where any of it is seen."""
    valid = passed.valid
    valid = torch.ones_like(passed.inputs[..., 0], dtype=torch.bool) if valid is None else valid
    rows = valid.sum(dim=1).argsort(descending=True, stable=True)[:ROWS]
    row, end = starting_points(valid[rows].sum(dim=1), paths)
    points = list(zip(rows[row].tolist(), (end - 1).tolist(), strict=True))  # a row, and which of its real items
    while points:
        once = dict(points)  # one output a row, so that gradients do not mix
        norms = norms_from(passed, {row: valid[row].nonzero()[item].item() for row, item in once.items()})
        for row, item in once.items():
            real = norms[row, valid[row]].clamp(min=LEAST).log()
            yield real[: item + 1].flip(0)
            if (real[item + 1 :] > math.log(LEAST)).any():
                yield real[item:]
        points = [(row, item) for row, item in points if once[row] != item]


def norms_from(passed: Passed, places: dict[int, float]) -> Tensor:
    """Norms (B, T) of ∂output/∂input from one place a row: the root mean square over directions of what arrives."""
    inputs, outputs = passed.inputs, passed.outputs
    said = torch.stack([outputs[row, int(place)] for row, place in places.items()])  # (R, D)
    probes = directions(said, most=PROBES)
    energy = torch.zeros_like(inputs[..., 0])
    for probe in probes:
        (gradient,) = torch.autograd.grad((said * probe).sum(), inputs, retain_graph=True)
        energy += gradient.square().sum(dim=-1)
    return (energy / len(probes)).sqrt()
