"""Examples for a module of the user's own: tensors, arrays, a Dataset or a DataLoader, asked for by number."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset, TensorDataset, default_collate

from atento.errors import InputError

BATCH = 32  # examples, unless a DataLoader or train.batch_tokens says otherwise


@dataclass(frozen=True)
class Item:
    """An example by its number; its tensors are asked for when a batch needs them."""

    number: int

    def __str__(self) -> str:
        return f"example {self.number}"


@dataclass(frozen=True)
class Examples:
    """Examples (inputs, target) by their numbers, and how a batch is made of them."""

    of: Any  # number -> a tuple of inputs and target
    count: int
    title: str
    fingerprint: str  # SHA-256; of a Dataset that may draw its examples anew, of its type and length alone
    batch_size: int = BATCH
    collate: Callable[[list[Any]], Any] = field(default=default_collate)

    def values(self, number: int) -> tuple[Any, ...]:
        """The inputs of an example, then its target."""
        values = self.of[number]
        if not isinstance(values, list | tuple) or len(values) < 2:
            raise InputError(
                f"example {number} is not an input and a target.",
                found=f"{type(values).__name__}" + (f" of {len(values)}" if hasattr(values, "__len__") else ""),
                fix="give (inputs, targets), or a Dataset whose examples are (input, target)",
            )
        return tuple(values)

    def batch(self, items: Sequence[Item]) -> tuple[Any, ...]:
        """The tensors of several examples, stacked by the collate function."""
        try:
            return tuple(self.collate([self.values(item.number) for item in items]))
        except (RuntimeError, TypeError) as error:
            raise InputError(
                "the examples cannot be stacked to a batch.",
                found=str(error).partition("\n")[0],
                fix="give tensors of one shape, or a DataLoader with a collate_fn that pads them",
            ) from None


def examples_of(data: Any) -> Examples:
    """Examples from tensors or arrays (inputs, targets), a list of pairs, a Dataset or a DataLoader."""
    if isinstance(data, DataLoader):
        return replace(examples_of(data.dataset), batch_size=data.batch_size or BATCH, collate=data.collate_fn)
    title = type(data).__name__
    if isinstance(data, tuple) and len(data) > 1 and all(hasattr(part, "__len__") for part in data):
        data = TensorDataset(*same_length([as_tensor(part) for part in data]))
    if isinstance(data, IterableDataset) or not hasattr(data, "__len__") or not hasattr(data, "__getitem__"):
        raise InputError(
            "a module of your own learns from examples that can be counted and asked for by number.",
            found=title,
            fix="give (inputs, targets), a list of (input, target), or a Dataset with __len__ and __getitem__",
        )
    parts = list(data.tensors) if isinstance(data, TensorDataset) else []
    if isinstance(data, list | tuple):
        parts = [as_tensor(part) for row in data for part in row]
    digest = hashlib.sha256(f"{title} {len(data)}".encode())
    for part in parts:
        digest.update(f"{list(part.shape)} {part.dtype}".encode())
        digest.update(part.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return Examples(data, len(data), title if title != "tuple" else "tensors", digest.hexdigest())


def same_length(parts: Sequence[Tensor]) -> Sequence[Tensor]:
    """One target for each input."""
    if len({len(part) for part in parts}) > 1:
        found = " and ".join(f"{len(part)} rows" for part in parts)
        raise InputError(
            "inputs and targets have different lengths.", found=found, fix="give one target for each input"
        )
    return parts


def as_tensor(part: Any) -> Tensor:
    """A tensor as it is; numbers of numpy, pandas or a list as a tensor, in the default precision where they are
    fractions.
    """
    if isinstance(part, Tensor):
        return part
    values = np.asarray(part)
    if values.dtype.kind not in "bifu":
        raise InputError(
            "a module of your own takes tensors or numbers.",
            found=f"{type(part).__name__} of {values.dtype}",
            fix="encode texts and labels as numbers first, e.g. torch.tensor(...)",
        )
    tensor = torch.as_tensor(values)
    return tensor.to(torch.get_default_dtype()) if tensor.is_floating_point() else tensor
