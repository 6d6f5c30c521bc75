"""Vanishing and exploding gradients made visible: ‖∂s_t/∂s_k‖ against t − k, for the whole state s of a cell.

∂s_t/∂s_k = J_t J_{t−1} … J_{k+1}, J_i = ∂s_i/∂s_{i−1}  (Pascanu et al., 2013, eq. 5); of a plain tanh cell
J_i = diag(1 − h_i²) W, not W alone. A path starts at some step and is followed back, one transposed product a step.

How a gradient fares on its way back through time, as numbers: a curve against lag, its slope, a verdict.
"""

import math
from collections.abc import Sequence
from statistics import median
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from atento.errors import InputError
from atento.layers.masking import clean
from atento.recurrent.cells import Cell
from atento.recurrent.unroll import pick, real_first

# Axes: P paths followed back, L lags.

Verdict = Literal["vanishes", "level", "explodes"]

LEVEL = 0.005  # a slope this small halves or doubles nothing within 138 steps
LOST = 0.01  # of what arrives one step back: less than so much at the longest lag is gone
LEAST_LOG, MOST_LOG = -690.0, 690.0  # logarithms that float64 can still hold
SURE = 4.0  # standard errors that a slope must be away from level


class Curve(NamedTuple):
    """Norms of ∂(now)/∂(lag steps ago), of which 1 means that a random small change arrives as large as it was."""

    lags: list[int]
    median: list[float]
    low: list[float]  # quartiles over paths
    high: list[float]
    slope: float  # of the log norm, a step, over the longer half of the lags
    error: float  # its standard error


def curve_of(log_norms: Tensor) -> Curve:
    """Log norms (P, L) at lags 0, 1, …, two at least; NaN where a path is shorter."""
    logs = log_norms.detach().double().cpu().clamp(LEAST_LOG, MOST_LOG)
    low, median, high = torch.nanquantile(logs, logs.new_tensor([0.25, 0.5, 0.75]), dim=0)
    lags = list(range(logs.size(1)))
    slope, error = fitted_slope(lags, median.tolist())
    return Curve(lags, median.exp().tolist(), low.exp().tolist(), high.exp().tolist(), slope, error)


def fitted_slope(lags: list[int], logs: list[float]) -> tuple[float, float]:
    """Least squares over the longer half of the lags, where a passing swell is over; the slope's standard error."""
    keep = [place for place, lag in enumerate(lags) if 2 * lag >= lags[-1]]
    keep = keep if len(keep) > 1 else list(range(len(lags)))[-2:]
    across, up = [float(lags[place]) for place in keep], [logs[place] for place in keep]
    middle, level = math.fsum(across) / len(keep), math.fsum(up) / len(keep)
    spread = math.fsum((x - middle) ** 2 for x in across)
    if spread == 0:
        return 0.0, 0.0
    slope = math.fsum((x - middle) * (y - level) for x, y in zip(across, up, strict=True)) / spread
    rest = math.fsum((y - level - slope * (x - middle)) ** 2 for x, y in zip(across, up, strict=True))
    return slope, math.sqrt(rest / max(len(keep) - 2, 1) / spread)


def verdict_of(curve: Curve) -> Verdict:
    """By the slope at long lags: a singular value over 1 proves no explosion, only growth that goes on does."""
    sure = abs(curve.slope) > max(LEVEL, SURE * curve.error)
    if sure and curve.slope > 0 and curve.median[-1] > 1:
        return "explodes"
    if (sure and curve.slope < 0) or curve.median[-1] < LOST * curve.median[1]:
        return "vanishes"
    return "level"


def half_life(curve: Curve) -> float:
    """Steps in which the norm halves, or doubles; infinite where it does neither."""
    return math.log(2) / abs(curve.slope) if curve.slope else math.inf


# Axes: R rows, T time, I input, G product of a step, S whole state, P paths, M directions, N steps in all.

ROWS, PATHS, STEPS = 8, 16, 8  # rows and paths that are followed, steps whose Jacobian is taken apart
LAGS = 500  # no path is followed further
DIRECTIONS = 256  # all of a smaller state; of a larger one, so many at random
LEAST = 1e-30  # a norm below it counts as so much
SHUT, OPEN = 0.05, 0.95  # a gate beyond these hardly learns


class Steps(NamedTuple):
    """A walk, taken apart."""

    reads: Tensor  # (R, T, G) products of the inputs
    states: Tensor  # (R, T, S) the whole state before each step
    lengths: Tensor  # (R,) real steps; the rest is padding


class Stretch(NamedTuple):
    """What a matrix does to vectors."""

    singular: float  # largest singular value: the most it stretches any vector once
    radius: float  # spectral radius: what decides when it is applied again and again


class Gate(NamedTuple):
    """How much of a gate is stuck."""

    shut: float  # share of its values below 0.05
    open: float  # above 0.95


class Flow(NamedTuple):
    """What is known of the gradient's way through one cell, or through one stack of attention."""

    part: str  # which one: "encoder.stack, layer 1, backward"
    kind: str  # "LSTM", "attention"
    curve: Curve
    matrices: dict[str, Stretch]  # the recurrent matrices by name
    step: Stretch | None  # of the step's Jacobian, median over steps
    gates: dict[str, Gate]


def take_apart(
    cell: Cell[Any], inputs: Tensor, start: Any = None, *, valid: Tensor | None = None, backward: bool = False
) -> Steps:
    """The steps of `unroll` with the same arguments, of the rows with the most of them."""
    valid = torch.ones(inputs.shape[:2], dtype=torch.bool, device=inputs.device) if valid is None else valid
    rows = valid.sum(dim=1).argsort(descending=True, stable=True)[:ROWS]
    state = cell.start(inputs[rows, 0]) if start is None else type(start)(*(part[rows] for part in start))
    inputs, valid = inputs[rows], valid[rows]
    inputs, valid = (inputs.flip(1), valid.flip(1)) if backward else (inputs, valid)
    with torch.no_grad():
        reads = cell.read(pick(clean(inputs, valid), real_first(valid)))
        states = []
        for time in range(inputs.size(1)):
            states.append(torch.cat(state, dim=-1))
            state = cell.advance(reads[:, time], state)
    return Steps(reads, torch.stack(states, dim=1), valid.sum(dim=1))


def flow_through(cell: Cell[Any], walks: Sequence[Steps], *, part: str = "") -> Flow:
    """Everything about one cell, from one or several walks of it, one of two steps at least."""
    if max(int(steps.lengths.max()) for steps in walks) < 2:
        raise InputError(
            "a gradient needs at least two steps to travel.",
            found=f"{part or type(cell).__name__}: sequences of one step",
            fix="give longer sequences",
        )
    paths = [follow_back(cell, steps, paths=max(1, PATHS // len(walks))) for steps in walks]
    longest = max(path.size(1) for path in paths)
    logs = torch.cat([functional.pad(path, (0, longest - path.size(1)), value=torch.nan) for path in paths])
    reads = torch.cat([steps.reads[real_steps(steps)] for steps in walks])  # (N, G)
    states = torch.cat([steps.states[real_steps(steps)] for steps in walks])  # (N, S)
    return Flow(
        part,
        type(cell).__name__,
        curve_of(logs),
        {name: stretch(matrix) for name, matrix in cell.recurrences().items()},
        typical_step(cell, reads, states),
        {name: stuck(values) for name, values in cell.shares(reads, as_state(cell, states)).items()},
    )


def follow_back(cell: Cell[Any], steps: Steps, *, paths: int) -> Tensor:
    """Log norms (P, L) of ∂s_t/∂s_k at lags 0, 1, …: the root mean square over directions of what arrives.

    NaN where a path has passed its row's first state.
    """
    row, end = starting_points(steps.lengths, paths)  # (P,) each
    gradients = directions(steps.states, most=DIRECTIONS).unsqueeze(1).expand(-1, len(row), -1)  # (M, P, S)
    logs = [steps.states.new_zeros(len(row))]
    for lag in range(1, min(int(end.max()), LAGS) + 1):
        at = (end - lag).clamp(min=0)
        gradients = pulled_back(cell, steps.reads[row, at], steps.states[row, at], gradients)
        norm = gradients.square().sum(dim=(0, 2)).div(len(gradients)).sqrt().clamp(min=LEAST)  # (P,)
        gradients = gradients / norm.view(1, -1, 1)  # or it would leave the range of floats
        logs.append(logs[-1] + norm.log())
    lags = torch.arange(len(logs), device=end.device)
    return torch.stack(logs, dim=1).masked_fill(lags > end.unsqueeze(1), torch.nan)


def starting_points(lengths: Tensor, paths: int) -> tuple[Tensor, Tensor]:
    """Rows and ends (P,): of each row its last step and others spread over its later half."""
    each = max(1, paths // len(lengths))
    points = {
        (row, length - (length // 2) * place // each)
        for row, length in enumerate(lengths.tolist()[:paths])
        for place in range(each)
        if length > 0
    }
    found = torch.tensor(sorted(points), device=lengths.device)
    return found[:, 0], found[:, 1]


def directions(like: Tensor, *, most: int) -> Tensor:
    """Orthonormal rows (M, S) for vectors like these (..., S): all where S is small, else some, always the same."""
    size = like.size(-1)
    if size <= most:
        return torch.eye(size, dtype=like.dtype, device=like.device)
    chance = torch.Generator().manual_seed(0)
    return torch.linalg.qr(torch.randn(size, most, generator=chance, dtype=torch.float64)).Q.mT.to(like)


def pulled_back(cell: Cell[Any], reads: Tensor, states: Tensor, gradients: Tensor) -> Tensor:
    """Gradients (M, P, S) of the state after a step -> of the state before it; reads (P, G), states (P, S)."""

    def step(flat: Tensor) -> Tensor:
        return torch.cat(cell.advance(reads, as_state(cell, flat)), dim=-1)

    pull = torch.func.vjp(step, states)[1]
    pulled: Tensor = torch.func.vmap(pull)(gradients)[0]
    return pulled.detach()


def as_state(cell: Cell[Any], flat: Tensor) -> Any:
    """A flat state (..., S) as the cell knows it."""
    bare = cell.start(flat)
    return type(bare)(*torch.split(flat, [part.size(-1) for part in bare], dim=-1))


def typical_step(cell: Cell[Any], reads: Tensor, states: Tensor) -> Stretch:
    """The median over some steps of what their Jacobians do; reads (N, G), states (N, S)."""
    size = states.size(-1)
    some = torch.linspace(0, len(states) - 1, min(len(states), STEPS if size <= DIRECTIONS else 1)).long()
    every = torch.eye(size, dtype=states.dtype, device=states.device).unsqueeze(1).expand(-1, len(some), -1)
    jacobians = pulled_back(cell, reads[some], states[some], every).transpose(0, 1)  # (P, S, S)
    found = [stretch(jacobian) for jacobian in jacobians]
    return Stretch(median([one.singular for one in found]), median([one.radius for one in found]))


def stretch(matrix: Tensor) -> Stretch:
    """Largest singular value and spectral radius of a square matrix."""
    matrix = matrix.detach().double().cpu()
    if not matrix.isfinite().all():
        return Stretch(torch.nan, torch.nan)
    return Stretch(torch.linalg.matrix_norm(matrix, 2).item(), torch.linalg.eigvals(matrix).abs().max().item())


def real_steps(steps: Steps) -> Tensor:
    """Which steps (R, T) are no padding."""
    return torch.arange(steps.reads.size(1), device=steps.lengths.device) < steps.lengths.unsqueeze(1)


def stuck(values: Tensor) -> Gate:
    """Shares of a gate's values that are nearly 0 and nearly 1."""
    return Gate((values < SHUT).double().mean().item(), (values > OPEN).double().mean().item())
