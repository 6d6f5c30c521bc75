"""Which parts of a module are drawn as one box, and the recorded calls of every part with their shapes."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import torch
from torch import Tensor, nn

from atento.recurrent.cells import Cell

Shape = tuple[int, ...]

INPUT = "input"
SILENT = (nn.Dropout, nn.Identity)  # parts that pass their input on


@dataclass
class PartCall:
    """One call of a part."""

    part: str
    method: str
    number: int  # among the calls of this part, from 0
    inputs: list[Shape]
    outputs: list[Shape]
    results: list[Tensor] = field(repr=False)
    read: list[Tensor] = field(repr=False)  # inputs that no part has made
    weights: set[str] = field(default_factory=set)  # names of the parameters it uses


@contextmanager
def recorded_calls(module: nn.Module, calls: list[PartCall]) -> Iterator[None]:
    """Record every call of every part: of `forward`, and of other public methods that take and give tensors."""
    counts: dict[str, int] = {}
    with ExitStack() as undo:
        for name, part in module.named_modules():
            under_way = [0]
            for method in methods_of(part):
                wrapped = recording(getattr(part, method), name, method, calls, counts, under_way)
                part.__dict__[method] = wrapped
                undo.callback(part.__dict__.pop, method)
        yield


def methods_of(part: nn.Module) -> list[str]:
    """`forward`, and public methods of a class that is not torch's own."""
    found = {"forward"}
    for kind in type(part).__mro__:
        if kind is nn.Module:
            break
        if not kind.__module__.startswith("torch."):
            found |= {
                name for name, value in vars(kind).items() if inspect.isfunction(value) and not name.startswith("_")
            }
    return sorted(found)


def recording(
    method: Callable[..., Any],
    name: str,
    label: str,
    calls: list[PartCall],
    counts: dict[str, int],
    under_way: list[int],
) -> Callable[..., Any]:
    """A method that records its outermost calls."""

    def recorded(*args: Any, **kwargs: Any) -> Any:
        under_way[0] += 1
        try:
            result = method(*args, **kwargs)
        finally:
            under_way[0] -= 1
        given, made = tensors_in((args, kwargs)), tensors_in(result)
        if not under_way[0] and given and made and not all(any(one is two for two in given) for one in made):
            counts[name] = number = counts.get(name, -1) + 1
            read = [one for one in given if one.grad_fn is None and one.dtype != torch.bool]
            calls.append(PartCall(name, label, number, shapes_of(given), shapes_of(made), made, read))
        return result

    return recorded


def shapes_of(tensors: list[Tensor]) -> list[Shape]:
    """The shapes of tensors but for masks."""
    return [tuple(one.shape) for one in tensors if one.dtype != torch.bool]


def tensors_in(value: Any) -> list[Tensor]:
    """All tensors in nested tuples, lists, dicts and dataclasses."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, Mapping):
        return [one for part in value.values() for one in tensors_in(part)]
    if isinstance(value, tuple | list):
        return [one for part in value for one in tensors_in(part)]
    if is_dataclass(value) and not isinstance(value, type):
        return [one for part in fields(value) for one in tensors_in(getattr(value, part.name))]
    return []


def named_inputs(batch: Any) -> dict[int, tuple[str, Shape]]:
    """The name and shape of each tensor of a batch, by where its numbers lie."""
    if isinstance(batch, Mapping):
        pairs = list(batch.items())
    elif hasattr(batch, "_fields"):
        pairs = list(zip(batch._fields, batch, strict=True))
    else:
        pairs = [(INPUT, batch)]
    return {
        one.untyped_storage().data_ptr(): (name, tuple(one.shape))
        for name, value in pairs
        for one in tensors_in(value)
        if one.dtype != torch.bool
    }


def node_names(module: nn.Module) -> set[str]:
    """The parts that are drawn as one box: cells, and parts whose own parts have no parts with weights; none of them
    holds another.
    """
    found: set[str] = set()

    def visit(name: str, part: nn.Module) -> None:
        if isinstance(part, SILENT):
            return
        if isinstance(part, Cell) or (height(part) <= 1 and not any(isinstance(one, Cell) for one in part.modules())):
            found.add(name)
            return
        for own, child in part.named_children():
            visit(f"{name}.{own}" if name else own, child)

    for own, child in module.named_children():
        visit(own, child)
    return found or {""}


def height(part: nn.Module) -> int:
    """How many levels of parts with weights are below a part, where it branches."""
    below = [child for child in part.children() if any(True for _ in child.parameters())]
    if isinstance(part, nn.ModuleList | nn.Sequential | nn.ModuleDict) and len(list(part.children())) > 1:
        return 2  # parts in a row are shown
    return max((height(child) + (len(below) > 1) for child in below), default=0)
