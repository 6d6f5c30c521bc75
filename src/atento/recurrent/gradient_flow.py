"""Vanishing and exploding gradients of a cell, measured: ‖∂s_t/∂s_k‖ against the lag t − k, for the whole state s.

∂s_t/∂s_k = J_t J_{t−1} … J_{k+1}, J_i = ∂s_i/∂s_{i−1}  (Pascanu et al., 2013, eq. 5); for an Elman cell with tanh
J_i = diag(1 − h_i²) W, not W alone. `record_steps` runs the cell, `cell_flow` follows gradients back along several
paths, one vector–Jacobian product a step, and gathers the curve of their norms, the largest singular value and the
spectral radius of the recurrent matrices, and the saturation of the gates. `verdict_of` judges the curve.
"""

import math
from collections.abc import Sequence
from statistics import median
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from atento.errors import InputError
from atento.layers.masking import clean, valid_first
from atento.recurrent.cells import Cell
from atento.recurrent.unroll import gather_steps

# Axes: R rows, T time, I input, G product of a step, S whole state, P paths, L lags, M directions, N steps in all.

Verdict = Literal["vanishes", "level", "explodes"]

MAX_ROWS, MAX_PATHS, MAX_LAGS = 8, 16, 500  # rows and paths that are followed, and how far back
MAX_JACOBIANS = 8  # steps whose Jacobian is computed in full
MAX_DIRECTIONS = 256  # all directions of a smaller state; of a larger one, so many at random
MIN_NORM = 1e-30  # smaller norms count as this
MIN_LOG, MAX_LOG = -690.0, 690.0  # logarithms whose exponentials float64 can hold
LEVEL_SLOPE = 0.005  # a slope this small changes the norm by less than a factor of 2 within 138 steps
SURE_ERRORS = 4.0  # standard errors by which a slope must differ from level
LOST = 0.01  # less than this share of the norm one step back, at the longest lag, has vanished
SHUT, OPEN = 0.05, 0.95  # a gate beyond these is saturated and hardly learns


class GradientCurve(NamedTuple):
    """Norms of ∂(now)/∂(lag steps ago); at 1 a small random change arrives at its own size."""

    lags: list[int]
    median: list[float]
    low: list[float]  # quartiles over paths
    high: list[float]
    slope: float  # of the log norm for each step, over the longer half of the lags
    error: float  # the standard error of the slope


class Spectrum(NamedTuple):
    """The two numbers that say how a matrix changes lengths."""

    singular: float  # the largest singular value: the most it stretches any vector, once
    radius: float  # the spectral radius: what decides when it is applied again and again


class GateSaturation(NamedTuple):
    """How often a gate is saturated."""

    shut: float  # share of its values below 0.05
    open: float  # above 0.95


class PartFlow(NamedTuple):
    """The gradient flow of one part of a model: a cell, or a stack of attention."""

    part: str  # its name: "encoder.stack, layer 1, backward"
    kind: str  # "LSTMCell", "attention"
    curve: GradientCurve
    matrices: dict[str, Spectrum]  # of the recurrent matrices by name
    step: Spectrum | None  # of the Jacobian of a step, median over steps
    gates: dict[str, GateSaturation]


class RecordedSteps(NamedTuple):
    """The steps of a cell run over sequences."""

    reads: Tensor  # (R, T, G) products of the inputs
    states: Tensor  # (R, T, S) the whole state before each step
    lengths: Tensor  # (R,) valid steps; the rest is padding


def gradient_curve(log_norms: Tensor) -> GradientCurve:
    """The curve of log norms (P, L) at lags 0, 1, …, at least two; NaN where a path is shorter."""
    logs = log_norms.detach().double().cpu().clamp(MIN_LOG, MAX_LOG)
    low, median, high = torch.nanquantile(logs, logs.new_tensor([0.25, 0.5, 0.75]), dim=0)
    lags = list(range(logs.size(1)))
    slope, error = fitted_slope(lags, median.tolist())
    return GradientCurve(lags, median.exp().tolist(), low.exp().tolist(), high.exp().tolist(), slope, error)


def fitted_slope(lags: list[int], logs: list[float]) -> tuple[float, float]:
    """The slope by least squares over the longer half of the lags, after any transient, and its standard error."""
    keep = [place for place, lag in enumerate(lags) if 2 * lag >= lags[-1]]
    keep = keep if len(keep) > 1 else list(range(len(lags)))[-2:]
    across, up = [float(lags[place]) for place in keep], [logs[place] for place in keep]
    middle, level = math.fsum(across) / len(keep), math.fsum(up) / len(keep)
    squares = math.fsum((x - middle) ** 2 for x in across)
    if squares == 0:
        return 0.0, 0.0
    slope = math.fsum((x - middle) * (y - level) for x, y in zip(across, up, strict=True)) / squares
    residuals = math.fsum((y - level - slope * (x - middle)) ** 2 for x, y in zip(across, up, strict=True))
    return slope, math.sqrt(residuals / max(len(keep) - 2, 1) / squares)


def verdict_of(curve: GradientCurve) -> Verdict:
    """The verdict by the slope at long lags: a singular value over 1 proves no explosion, only lasting growth does."""
    sure = abs(curve.slope) > max(LEVEL_SLOPE, SURE_ERRORS * curve.error)
    if sure and curve.slope > 0 and curve.median[-1] > 1:
        return "explodes"
    if (sure and curve.slope < 0) or curve.median[-1] < LOST * curve.median[1]:
        return "vanishes"
    return "level"


def half_life(curve: GradientCurve) -> float:
    """The number of steps in which the norm halves, or doubles; infinite where it does neither."""
    return math.log(2) / abs(curve.slope) if curve.slope else math.inf


def record_steps(
    cell: Cell[Any], inputs: Tensor, start: Any = None, *, valid: Tensor | None = None, backward: bool = False
) -> RecordedSteps:
    """The steps that `unroll` takes with the same arguments, of the longest rows."""
    valid = torch.ones(inputs.shape[:2], dtype=torch.bool, device=inputs.device) if valid is None else valid
    rows = valid.sum(dim=1).argsort(descending=True, stable=True)[:MAX_ROWS]
    state = cell.start(inputs[rows, 0]) if start is None else type(start)(*(part[rows] for part in start))
    inputs, valid = inputs[rows], valid[rows]
    inputs, valid = (inputs.flip(1), valid.flip(1)) if backward else (inputs, valid)
    with torch.no_grad():
        reads = cell.read(gather_steps(clean(inputs, valid), valid_first(valid)))
        states = []
        for time in range(inputs.size(1)):
            states.append(torch.cat(state, dim=-1))
            state = cell.advance(reads[:, time], state)
    return RecordedSteps(reads, torch.stack(states, dim=1), valid.sum(dim=1))


def cell_flow(cell: Cell[Any], recorded: Sequence[RecordedSteps], *, part: str = "") -> PartFlow:
    """The gradient flow of one cell from one or several recordings, one of at least two steps."""
    if max(int(steps.lengths.max()) for steps in recorded) < 2:
        raise InputError(
            "a gradient flow needs sequences of at least two steps.",
            found=f"{part or type(cell).__name__}: sequences of one step",
            fix="give longer sequences",
        )
    paths = [log_norms_by_lag(cell, steps, paths=max(1, MAX_PATHS // len(recorded))) for steps in recorded]
    longest = max(path.size(1) for path in paths)
    logs = torch.cat([functional.pad(path, (0, longest - path.size(1)), value=torch.nan) for path in paths])
    reads = torch.cat([steps.reads[valid_steps(steps)] for steps in recorded])  # (N, G)
    states = torch.cat([steps.states[valid_steps(steps)] for steps in recorded])  # (N, S)
    return PartFlow(
        part,
        type(cell).__name__,
        gradient_curve(logs),
        {name: spectrum_of(matrix) for name, matrix in cell.recurrences().items()},
        median_step_spectrum(cell, reads, states),
        {name: saturation_of(values) for name, values in cell.gates(reads, unflatten_state(cell, states)).items()},
    )


def log_norms_by_lag(cell: Cell[Any], steps: RecordedSteps, *, paths: int) -> Tensor:
    """Log norms (P, L) of ∂s_t/∂s_k at lags 0, 1, …, each the root mean square over directions.

    NaN where a path has passed its row's first state.
    """
    row, end = path_ends(steps.lengths, paths)  # (P,) each
    gradients = probe_directions(steps.states, most=MAX_DIRECTIONS).unsqueeze(1).expand(-1, len(row), -1)  # (M, P, S)
    logs = [steps.states.new_zeros(len(row))]
    for lag in range(1, min(int(end.max()), MAX_LAGS) + 1):
        at = (end - lag).clamp(min=0)
        gradients = vector_jacobian_products(cell, steps.reads[row, at], steps.states[row, at], gradients)
        norm = gradients.square().sum(dim=(0, 2)).div(len(gradients)).sqrt().clamp(min=MIN_NORM)  # (P,)
        gradients = gradients / norm.view(1, -1, 1)  # or it would leave the range of floats
        logs.append(logs[-1] + norm.log())
    lags = torch.arange(len(logs), device=end.device)
    return torch.stack(logs, dim=1).masked_fill(lags > end.unsqueeze(1), torch.nan)


def path_ends(lengths: Tensor, paths: int) -> tuple[Tensor, Tensor]:
    """Rows and steps (P,) at which paths start: each row's last step and others over its later half."""
    each = max(1, paths // len(lengths))
    points = {
        (row, length - (length // 2) * place // each)
        for row, length in enumerate(lengths.tolist()[:paths])
        for place in range(each)
        if length > 0
    }
    found = torch.tensor(sorted(points), device=lengths.device)
    return found[:, 0], found[:, 1]


def probe_directions(like: Tensor, *, most: int) -> Tensor:
    """Orthonormal rows (M, S) for vectors (..., S): a whole basis where S ≤ most, else `most` of a fixed random one."""
    size = like.size(-1)
    if size <= most:
        return torch.eye(size, dtype=like.dtype, device=like.device)
    generator = torch.Generator().manual_seed(0)
    return torch.linalg.qr(torch.randn(size, most, generator=generator, dtype=torch.float64)).Q.mT.to(like)


def vector_jacobian_products(cell: Cell[Any], reads: Tensor, states: Tensor, gradients: Tensor) -> Tensor:
    """Gradients (M, P, S) of the state after a step -> of the state before it; reads (P, G), states (P, S)."""

    def step(flat: Tensor) -> Tensor:
        return torch.cat(cell.advance(reads, unflatten_state(cell, flat)), dim=-1)

    pull = torch.func.vjp(step, states)[1]
    pulled: Tensor = torch.func.vmap(pull)(gradients)[0]
    return pulled.detach()


def unflatten_state(cell: Cell[Any], flat: Tensor) -> Any:
    """A flat state (..., S) as the cell's own state type."""
    bare = cell.start(flat)
    return type(bare)(*torch.split(flat, [part.size(-1) for part in bare], dim=-1))


def median_step_spectrum(cell: Cell[Any], reads: Tensor, states: Tensor) -> Spectrum:
    """The median spectrum of the Jacobians of some steps; reads (N, G), states (N, S)."""
    size = states.size(-1)
    some = torch.linspace(0, len(states) - 1, min(len(states), MAX_JACOBIANS if size <= MAX_DIRECTIONS else 1)).long()
    every = torch.eye(size, dtype=states.dtype, device=states.device).unsqueeze(1).expand(-1, len(some), -1)
    jacobians = vector_jacobian_products(cell, reads[some], states[some], every).transpose(0, 1)  # (P, S, S)
    found = [spectrum_of(jacobian) for jacobian in jacobians]
    return Spectrum(median([one.singular for one in found]), median([one.radius for one in found]))


def spectrum_of(matrix: Tensor) -> Spectrum:
    """The largest singular value and the spectral radius of a square matrix; NaN where it is not finite."""
    matrix = matrix.detach().double().cpu()
    if not matrix.isfinite().all():
        return Spectrum(torch.nan, torch.nan)
    return Spectrum(torch.linalg.matrix_norm(matrix, 2).item(), torch.linalg.eigvals(matrix).abs().max().item())


def valid_steps(steps: RecordedSteps) -> Tensor:
    """A mask (R, T) of the steps that are not padding."""
    return torch.arange(steps.reads.size(1), device=steps.lengths.device) < steps.lengths.unsqueeze(1)


def saturation_of(values: Tensor) -> GateSaturation:
    """The shares of a gate's values that are nearly 0 and nearly 1."""
    return GateSaturation((values < SHUT).double().mean().item(), (values > OPEN).double().mean().item())
