"""Gradient flow through time in a whole model, for each recurrent cell and each stack of attention.

The model processes a batch while its activations are recorded; gradients are then followed back through the parts. For
attention they are ‖∂output_t/∂input_k‖ against |t − k|: every step is one step away.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from atento.attention.attention import Attention
from atento.errors import InputError
from atento.models.diagnostics.recording import (
    AttentionPass,
    CellStep,
    RecordedActivations,
    StackInputs,
    record_activations,
)
from atento.recurrent.cells import Cell
from atento.recurrent.gradient_flow import (
    MAX_PATHS,
    MAX_ROWS,
    MIN_NORM,
    PartFlow,
    RecordedSteps,
    Verdict,
    cell_flow,
    gradient_curve,
    half_life,
    path_ends,
    probe_directions,
    record_steps,
    verdict_of,
)
from atento.recurrent.stack import Stack
from atento.recurrent.suggestions import ATTENTION, describe_flow, suggest_fix
from atento.recurrent.unroll import unroll
from atento.reprs import repr_html

# Axes: B batch, R rows, T time, I input, D size, L lags.

PROBES = 16  # directions in which an output is followed back
SEVERITY: dict[Verdict, int] = {"level": 0, "vanishes": 1, "explodes": 2}


@dataclass(frozen=True)
class GradientFlow:
    """The gradient flow of every part of a model; the worst part decides the verdict."""

    parts: tuple[PartFlow, ...]
    attends: bool  # whether the model has attention

    @property
    def worst(self) -> PartFlow:
        """The part that explodes, or else vanishes, the fastest."""
        return max(self.parts, key=lambda part: (SEVERITY[verdict_of(part.curve)], abs(part.curve.slope)))

    @property
    def verdict(self) -> Verdict:
        """`vanishes`, `level` or `explodes`."""
        return verdict_of(self.worst.curve)

    _repr_html_ = repr_html

    def __repr__(self) -> str:
        return f"GradientFlow({len(self.parts)} parts, the worst {self.worst.part!r} {self.verdict}: {self.words})"

    @property
    def words(self) -> str:
        """The verdict in words."""
        return describe_flow(self.worst)

    @property
    def remedy(self) -> str:
        """What to change, by recipe keys."""
        return suggest_fix(self.worst, attends=self.attends)

    def to_json(self) -> dict[str, Any]:
        """All of it as plain data."""
        summary = {"verdict": self.verdict, "part": self.worst.part, "words": self.words, "remedy": self.remedy}
        return {**summary, "parts": [self.part_to_json(part) for part in self.parts]}

    def part_to_json(self, part: PartFlow) -> dict[str, Any]:
        """One part as plain data."""
        return {
            "part": part.part,
            "kind": part.kind,
            "verdict": verdict_of(part.curve),
            "words": describe_flow(part),
            "remedy": suggest_fix(part, attends=self.attends),
            "half_life": half_life(part.curve) if verdict_of(part.curve) != "level" else None,
            "matrices": {name: one._asdict() for name, one in part.matrices.items()},
            "step": part.step._asdict() if part.step else None,
            "gates": {name: one._asdict() for name, one in part.gates.items()},
            "curve": part.curve._asdict(),
        }


def gradient_flow(model: nn.Module, batch: Any) -> GradientFlow:
    """Norms of ∂s_t/∂s_k against lag, with spectra, gates and a verdict, for every cell and attention of the model.

    `batch` is what the model is called with: one object, or a dict of arguments, or a function that calls the model; a
    list holds several batches.
    A bare cell or `Stack` takes inputs (B, T, I). The model is in evaluation mode meanwhile.
    """
    require_finite_weights(model)
    batches = batch if isinstance(batch, list) else [batch]
    was_training = model.training
    model.eval()
    try:
        with torch.enable_grad():
            recorded = [record_forward(model, one) for one in batches]
        parts = [*recurrent_parts(model, recorded), *attention_parts(recorded)]
    finally:
        model.train(was_training)
    if not parts:
        raise InputError(
            "gradient_flow found nothing that carries a gradient through time.",
            found=type(model).__name__,
            fix="give a model with a Stack, a Cell or a TransformerStack, and sequences of two steps or more",
        )
    return GradientFlow(tuple(parts), attends=any(isinstance(part, Attention) for part in model.modules()))


def require_finite_weights(model: nn.Module) -> None:
    """A model that diverged has no gradient to follow."""
    for name, parameter in model.named_parameters():
        if not parameter.isfinite().all():
            raise InputError(
                "this model has diverged: some of its weights are NaN or infinite.",
                found=name,
                fix="train it again, with a smaller learning rate or gradient clipping (train.lr, train.clip)",
            )


def record_forward(model: nn.Module, batch: Any) -> RecordedActivations:
    """The activations of a forward pass; for a bare cell, its inputs."""
    if isinstance(model, Cell):
        return RecordedActivations(stack_inputs={"": [StackInputs(batch, None, None)]})
    with record_activations(model) as recorded:
        if callable(batch):
            batch()
        elif isinstance(batch, Mapping):
            model(**batch)
        else:
            model(batch)
    return recorded


def recurrent_parts(model: nn.Module, recorded: Sequence[RecordedActivations]) -> list[PartFlow]:
    """The gradient flow of every cell that was run, in a stack or step by step."""
    parts = dict(model.named_modules())
    found: dict[str, tuple[Cell[Any], list[RecordedSteps]]] = {}
    for one in recorded:
        calls = [(name, parts[name], call) for name, calls in one.stack_inputs.items() for call in calls]
        runs = [
            (", ".join(word for word in (name, label) if word), cell, steps)
            for name, part, call in calls
            for label, cell, steps in each_cell(part, call)
        ]
        runs += [
            (name, cell, as_sequence(steps))
            for name, steps in one.cell_steps.items()
            if steps and isinstance(cell := parts[name], Cell)
        ]
        for name, cell, steps_ in runs:
            found.setdefault(name, (cell, []))[1].append(steps_)
    return [
        cell_flow(cell, sequences, part=name or type(cell).__name__)
        for name, (cell, sequences) in found.items()
        if any(steps.lengths.max() > 1 for steps in sequences)
    ]


def each_cell(part: nn.Module, call: StackInputs) -> list[tuple[str, Cell[Any], RecordedSteps]]:
    """The steps of every layer and direction of a stack, or of a bare cell, each with a label."""
    inputs, start, valid = call
    if isinstance(part, Cell):
        return [("", part, record_steps(part, inputs))]
    if not isinstance(part, Stack):
        return []
    found = []
    for layer in range(part.layers):
        outputs = []
        for direction in range(part.directions):
            index = layer * part.directions + direction
            cell, state, backward = part.cell(index), None if start is None else start[index], direction == 1
            words = (
                (f"layer {layer + 1}", part.layers > 1),
                ("backward" if backward else "forward", part.directions > 1),
            )
            label = ", ".join(word for word, needed in words if needed)
            found.append((label, cell, record_steps(cell, inputs, state, valid=valid, backward=backward)))
            with torch.no_grad():
                outputs.append(unroll(cell, inputs, state, valid=valid, backward=backward).outputs)
        inputs = torch.cat(outputs, dim=-1)
    return found


def as_sequence(steps: Sequence[CellStep]) -> RecordedSteps:
    """Single steps joined to a sequence."""
    reads = torch.stack([step.read[:MAX_ROWS] for step in steps], dim=1)
    states = torch.stack([torch.cat([part[:MAX_ROWS] for part in step.state], dim=-1) for step in steps], dim=1)
    return RecordedSteps(reads, states, torch.full((len(reads),), len(steps), device=reads.device))


def attention_parts(recorded: Sequence[RecordedActivations]) -> list[PartFlow]:
    """The gradient flow of every stack of attention that was run."""
    passes: dict[str, list[AttentionPass]] = {}
    for one in recorded:
        for name, found in one.attention_passes.items():
            passes.setdefault(name, []).extend(found)
    parts = []
    for name, some in passes.items():
        paths = [path for one in some for path in paths_back(one, paths=max(1, MAX_PATHS // len(some)))]
        longest = max(map(len, paths), default=0)
        if longest > 1:
            logs = torch.stack([functional.pad(path, (0, longest - len(path)), value=torch.nan) for path in paths])
            parts.append(PartFlow(name or ATTENTION, ATTENTION, gradient_curve(logs), {}, None, {}))
    return parts


def paths_back(passed: AttentionPass, *, paths: int) -> Iterator[Tensor]:
    """Log norms (L,) at lags 0, 1, … from some outputs: to the past, and to the future where any of it is visible."""
    valid = passed.valid
    valid = torch.ones_like(passed.inputs[..., 0], dtype=torch.bool) if valid is None else valid
    rows = valid.sum(dim=1).argsort(descending=True, stable=True)[:MAX_ROWS]
    row, end = path_ends(valid[rows].sum(dim=1), paths)
    points = list(zip(rows[row].tolist(), (end - 1).tolist(), strict=True))  # a row, and which of its real items
    while points:
        once = dict(points)  # one output of each row, so that gradients do not mix
        norms = norms_from(passed, {row: valid[row].nonzero()[item].item() for row, item in once.items()})
        for row, item in once.items():
            real = norms[row, valid[row]].clamp(min=MIN_NORM).log()
            yield real[: item + 1].flip(0)
            if (real[item + 1 :] > math.log(MIN_NORM)).any():
                yield real[item:]
        points = [(row, item) for row, item in points if once[row] != item]


def norms_from(passed: AttentionPass, places: dict[int, float]) -> Tensor:
    """Norms (B, T) of ∂output/∂input from one position in each row: root mean square over random directions."""
    inputs, outputs = passed.inputs, passed.outputs
    vectors = torch.stack([outputs[row, int(place)] for row, place in places.items()])  # (R, D)
    probes = probe_directions(vectors, most=PROBES)
    energy = torch.zeros_like(inputs[..., 0])
    for probe in probes:
        (gradient,) = torch.autograd.grad((vectors * probe).sum(), inputs, retain_graph=True)
        energy += gradient.square().sum(dim=-1)
    return (energy / len(probes)).sqrt()
