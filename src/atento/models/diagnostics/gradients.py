"""How the gradient travels through time in a whole model: each recurrent cell, each stack of attention.

The model reads a batch once, watched; what its parts were given there is then followed back.

The gradient's way through attention: ‖∂output_t/∂input_k‖ against |t − k|. Every step is one step away.
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
from atento.models.diagnostics.recording import Passed, Seen, Stepped, Walked, watch
from atento.recurrent.advice import ATTENTION, remedy_for, words_for
from atento.recurrent.cells import Cell
from atento.recurrent.gradient_flow import (
    LEAST,
    PATHS,
    ROWS,
    Flow,
    Steps,
    Verdict,
    curve_of,
    directions,
    flow_through,
    half_life,
    starting_points,
    take_apart,
    verdict_of,
)
from atento.recurrent.stack import Stack
from atento.recurrent.unroll import unroll

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


# Axes: B batch, T time, I input.

GRAVITY: dict[Verdict, int] = {"level": 0, "vanishes": 1, "explodes": 2}


@dataclass(frozen=True)
class GradientFlow:
    """What is known of every part; the gravest speaks for the model."""

    parts: tuple[Flow, ...]
    attends: bool  # whether the model has attention

    @property
    def gravest(self) -> Flow:
        """The part that explodes, or else vanishes, the fastest."""
        return max(self.parts, key=lambda part: (GRAVITY[verdict_of(part.curve)], abs(part.curve.slope)))

    @property
    def verdict(self) -> Verdict:
        """`vanishes`, `level` or `explodes`."""
        return verdict_of(self.gravest.curve)

    @property
    def words(self) -> str:
        """The verdict in words."""
        return words_for(self.gravest)

    @property
    def remedy(self) -> str:
        """What to change, by recipe keys."""
        return remedy_for(self.gravest, attends=self.attends)

    def to_json(self) -> dict[str, Any]:
        """All of it as plain data."""
        summary = {"verdict": self.verdict, "part": self.gravest.part, "words": self.words, "remedy": self.remedy}
        return {**summary, "parts": [self.plain(part) for part in self.parts]}

    def plain(self, part: Flow) -> dict[str, Any]:
        """One part as plain data."""
        return {
            "part": part.part,
            "kind": part.kind,
            "verdict": verdict_of(part.curve),
            "words": words_for(part),
            "remedy": remedy_for(part, attends=self.attends),
            "half_life": half_life(part.curve) if verdict_of(part.curve) != "level" else None,
            "matrices": {name: one._asdict() for name, one in part.matrices.items()},
            "step": part.step._asdict() if part.step else None,
            "gates": {name: one._asdict() for name, one in part.gates.items()},
            "curve": part.curve._asdict(),
        }


def gradient_flow(model: nn.Module, batch: Any) -> GradientFlow:
    """Norms of ∂s_t/∂s_k against lag and what follows from them, of every cell and attention in the model.

    `batch` is what the model is called with: one object, or a dict of arguments; a list holds several batches.
    A bare cell or `Stack` reads inputs (B, T, I). Dropout is off meanwhile.
    """
    require_numbers(model)
    batches = batch if isinstance(batch, list) else [batch]
    was_training = model.training
    model.eval()
    try:
        with torch.enable_grad():
            seen = [seen_reading(model, one) for one in batches]
        parts = [*recurrent_parts(model, seen), *attentive_parts(seen)]
    finally:
        model.train(was_training)
    if not parts:
        raise InputError(
            "gradient_flow found nothing that carries a gradient through time.",
            found=type(model).__name__,
            fix="give a model with a Stack, a Cell or a TransformerStack, and sequences of two steps or more",
        )
    return GradientFlow(tuple(parts), attends=any(isinstance(part, Attention) for part in model.modules()))


def require_numbers(model: nn.Module) -> None:
    """A model that diverged has no gradient to follow."""
    for name, parameter in model.named_parameters():
        if not parameter.isfinite().all():
            raise InputError(
                "this model has diverged: some of its weights are no numbers.",
                found=name,
                fix="train it again, e.g. with a smaller train.lr or train.clip=0.5",
            )


def seen_reading(model: nn.Module, batch: Any) -> Seen:
    """Let the model read; a cell by itself is walked."""
    if isinstance(model, Cell):
        return Seen(walked={"": [Walked(batch, None, None)]})
    with watch(model) as seen:
        if isinstance(batch, Mapping):
            model(**batch)
        else:
            model(batch)
    return seen


def recurrent_parts(model: nn.Module, seen: Sequence[Seen]) -> list[Flow]:
    """Every cell that was walked or stepped."""
    parts = dict(model.named_modules())
    found: dict[str, tuple[Cell[Any], list[Steps]]] = {}
    for one in seen:
        apart = [(name, parts[name], walked) for name, walks in one.walked.items() for walked in walks]
        taken = [
            (", ".join(word for word in (name, label) if word), cell, steps)
            for name, part, walked in apart
            for label, cell, steps in each_cell(part, walked)
        ]
        taken += [
            (name, cell, gathered(steps))
            for name, steps in one.stepped.items()
            if steps and isinstance(cell := parts[name], Cell)
        ]
        for name, cell, steps_ in taken:
            found.setdefault(name, (cell, []))[1].append(steps_)
    return [
        flow_through(cell, walks, part=name or type(cell).__name__)
        for name, (cell, walks) in found.items()
        if any(steps.lengths.max() > 1 for steps in walks)
    ]


def each_cell(part: nn.Module, walked: Walked) -> list[tuple[str, Cell[Any], Steps]]:
    """The steps of every layer and direction of a stack, or of a bare cell."""
    inputs, start, valid = walked
    if isinstance(part, Cell):
        return [("", part, take_apart(part, inputs))]
    if not isinstance(part, Stack):
        return []
    found = []
    for layer in range(part.layers):
        outputs = []
        for direction in range(part.directions):
            index = layer * part.directions + direction
            cell, state, backward = part.cell(index), None if start is None else start[index], direction == 1
            named = (
                (f"layer {layer + 1}", part.layers > 1),
                ("backward" if backward else "forward", part.directions > 1),
            )
            label = ", ".join(word for word, told in named if told)
            found.append((label, cell, take_apart(cell, inputs, state, valid=valid, backward=backward)))
            with torch.no_grad():
                outputs.append(unroll(cell, inputs, state, valid=valid, backward=backward).outputs)
        inputs = torch.cat(outputs, dim=-1)
    return found


def gathered(steps: Sequence[Stepped]) -> Steps:
    """Single steps as one walk."""
    reads = torch.stack([step.read[:ROWS] for step in steps], dim=1)
    states = torch.stack([torch.cat([part[:ROWS] for part in step.state], dim=-1) for step in steps], dim=1)
    return Steps(reads, states, torch.full((len(reads),), len(steps), device=reads.device))
