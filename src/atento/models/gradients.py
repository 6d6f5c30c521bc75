"""How the gradient travels through time in a whole model: each recurrent cell, each stack of attention.

The model reads a batch once, watched; what its parts were given there is then followed back.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from atento.attention.attention import Attention
from atento.errors import InputError
from atento.models.attention_flow import attentive_parts
from atento.models.watching import Seen, Stepped, Walked, watch
from atento.recurrent.cells import Cell
from atento.recurrent.curves import Verdict, half_life, verdict_of
from atento.recurrent.gradients import ROWS, Flow, Steps, flow_through, take_apart
from atento.recurrent.remedies import remedy_for, words_for
from atento.recurrent.stack import Stack
from atento.recurrent.unroll import unroll

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
