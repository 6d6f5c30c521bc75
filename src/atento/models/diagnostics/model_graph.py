"""The graph of a model for one input: which part reads the output of which, with shapes, parameters, shared weights.

Any `nn.Module` can be traced. What flows is read from the graph of autograd, so that additions, products and views
between two parts are followed. A part that is applied at every time step, such as a recurrent cell, is one node with
many calls.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from atento.errors import InputError
from atento.models.diagnostics.part_calls import (
    INPUT,
    PartCall,
    Shape,
    named_inputs,
    node_names,
    recorded_calls,
    tensors_in,
)
from atento.recurrent.stack import Stack
from atento.recurrent.unroll import step_by_step

OUTPUT = "output"


class Edge(NamedTuple):
    """What flows from a call of one part to a call of another."""

    source: str
    source_call: int
    target: str
    target_call: int
    shape: Shape


@dataclass(frozen=True)
class GraphPart:
    """One part of a model."""

    name: str  # dotted, as in `named_modules`; "" is the model
    kind: str
    depth: int
    parameters: int  # with those of its own parts
    calls: int
    inputs: list[Shape]  # of the first call
    outputs: list[Shape]
    shared: list[str]  # other parts that use the same weights


@dataclass(frozen=True)
class GraphNode:
    """A part that is drawn as one box, or one of two methods of it between which another part is called."""

    name: str
    part: str
    kind: str
    parameters: int
    calls: int
    inputs: list[Shape]
    outputs: list[Shape]
    shared: list[str]
    backward: bool  # a cell that reads from right to left


@dataclass(frozen=True)
class ModelGraph:
    """The parts of a model in the order of their definition, its nodes in the order of their first calls, and what
    flows between these.
    """

    parts: list[GraphPart]
    nodes: list[GraphNode]
    edges: list[Edge]
    inputs: dict[str, Shape]
    outputs: list[Shape]
    parameters: int

    def steps(self, name: str) -> int:
        """Over how many time steps a part is applied: how many of its calls each read the one before; 1: no loop."""
        own = [edge for edge in self.edges if edge.source == edge.target == name]
        return 1 + sum(edge.target_call == edge.source_call + 1 for edge in own)


def trace_model(module: nn.Module, batch: Any) -> ModelGraph:
    """Run a batch through a model in evaluation mode, and record its graph.

    `batch` is what the model is called with: one object, a tuple of arguments, a dict of named ones, or a function that
    calls the model.
    """
    was_training, frozen = module.training, [one for one in module.parameters() if not one.requires_grad]
    module.eval()
    calls: list[PartCall] = []
    try:
        for parameter in frozen:
            parameter.requires_grad_(True)
        with torch.enable_grad(), step_by_step(), recorded_calls(module, calls):
            result = run_module(module, batch)
    finally:
        for parameter in frozen:
            parameter.requires_grad_(False)
        module.train(was_training)
    return graph_of(module, calls, named_inputs(batch), tensors_in(result))


def run_module(module: nn.Module, batch: Any) -> Any:
    """Call a module as it wants to be called."""
    if callable(batch):
        return batch()
    if isinstance(batch, Mapping):
        return module(**batch)
    if type(batch) is tuple:
        return module(*batch)
    return module(batch)


def graph_of(
    module: nn.Module, calls: Sequence[PartCall], named: Mapping[int, tuple[str, Shape]], results: Sequence[Tensor]
) -> ModelGraph:
    """The graph of recorded calls."""
    nodes = node_names(module)
    boxes = [call for call in calls if call.part in nodes and any(made.requires_grad for made in call.results)]
    if not boxes:
        raise InputError(
            "no part of this model with weights was called.",
            found=type(module).__name__,
            fix="give what its forward takes",
        )
    makers: dict[Any, PartCall] = {}
    for call in boxes:
        for made in call.results:
            if made.grad_fn is not None:
                makers.setdefault(made.grad_fn, call)
    owners = {id(weight): name for name, weight in module.named_parameters()}
    sources: dict[int, list[tuple[PartCall, Shape]]] = {}
    used: dict[str, set[str]] = {}  # parameters that each node reads
    for call in boxes:
        sources[id(call)], weights = walk_back([one.grad_fn for one in call.results], makers, call)
        call.weights = {owners[id(one)] for one in weights if id(one) in owners}
        used.setdefault(call.part, set()).update(call.weights)
    ends, weights = walk_back([one.grad_fn for one in results], makers, None)
    used[OUTPUT] = {owners[id(one)] for one in weights if id(one) in owners}
    places = numbered(boxes, sources)
    inputs, edges = flows(boxes, sources, places, named)
    edges += [Edge(*places[id(one)], OUTPUT, 0, shape) for one, shape in ends]
    parts = parts_of(module, calls, used)
    return ModelGraph(
        parts,
        nodes_of(module, parts, boxes, places),
        list(dict.fromkeys(edges)),
        inputs,
        [tuple(one.shape) for one in results],
        sum(weight.numel() for weight in module.parameters()),
    )


def numbered(
    boxes: Sequence[PartCall], sources: Mapping[int, list[tuple[PartCall, Shape]]]
) -> dict[int, tuple[str, int]]:
    """The name of the node of each call, and its number among the calls of that node. Two methods of one part are two
    nodes where another part reads the one and is read by the other, as the norm before a sublayer and the sum after it.
    """
    split = {
        call.part
        for call in boxes
        for between, _ in sources[id(call)]
        for first, _ in sources[id(between)]
        if first.part == call.part != between.part and first.method != call.method
    }
    counts: dict[str, int] = {}
    found = {}
    for call in boxes:
        name = f"{call.part}.{call.method}" if call.part in split else call.part
        counts[name] = counts.get(name, -1) + 1
        found[id(call)] = (name, counts[name])
    return found


def flows(
    boxes: Sequence[PartCall],
    sources: Mapping[int, list[tuple[PartCall, Shape]]],
    places: Mapping[int, tuple[str, int]],
    named: Mapping[int, tuple[str, Shape]],
) -> tuple[dict[str, Shape], list[Edge]]:
    """The inputs by name, and what flows from them and between calls. A state that is held over padding is not an
    edge: a step reads the step before it.
    """
    inputs: dict[str, Shape] = {}
    edges: list[Edge] = []
    for call in boxes:
        name, number = places[id(call)]
        for one, shape in sources[id(call)]:
            before, at = places[id(one)]
            if before != name or (one.method == call.method and at == number - 1):
                edges.append(Edge(before, at, name, number, shape))
        if not sources[id(call)] and call.read:
            tensor = call.read[0]
            source, shape = named.get(tensor.untyped_storage().data_ptr(), (INPUT, tuple(tensor.shape)))
            inputs.setdefault(source, shape)
            edges.append(Edge(source, 0, name, number, tuple(tensor.shape)))
    return inputs, edges


def nodes_of(
    module: nn.Module, parts: Sequence[GraphPart], boxes: Sequence[PartCall], places: Mapping[int, tuple[str, int]]
) -> list[GraphNode]:
    """The nodes in the order of their first calls."""
    by_name = {part.name: part for part in parts}
    backward = {
        f"{name}.cells.{at}".removeprefix(".")
        for name, part in module.named_modules()
        if isinstance(part, Stack) and part.directions == 2
        for at in range(1, len(part.cells), 2)
    }
    found: dict[str, list[PartCall]] = {}
    for call in boxes:
        found.setdefault(places[id(call)][0], []).append(call)
    return [
        GraphNode(
            name,
            own[0].part,
            by_name[own[0].part].kind,
            by_name[own[0].part].parameters if name == own[0].part else count_weights(module, own),
            len(own),
            own[-1].inputs,
            own[-1].outputs,
            [
                other
                for part in parts
                if is_within(part.name, own[0].part)
                for other in part.shared
                if not is_within(other, own[0].part)
            ],
            own[0].part in backward,
        )
        for name, own in found.items()
    ]


def count_weights(module: nn.Module, calls: Sequence[PartCall]) -> int:
    """How many of the weights of their own part some calls use."""
    used = {name for call in calls for name in call.weights if is_within(name, call.part)}
    return sum(weight.numel() for name, weight in module.named_parameters() if name in used)


def walk_back(
    starts: Sequence[Any], makers: Mapping[Any, PartCall], own: PartCall | None
) -> tuple[list[tuple[PartCall, Shape]], list[Tensor]]:
    """From some results back to the results of other calls, with their shapes, and the weights met on the way."""
    seen, waiting = set(), [one for one in starts if one is not None]
    found: dict[int, tuple[PartCall, Shape]] = {}
    weights: list[Tensor] = []
    while waiting:
        place = waiting.pop()
        if place in seen:
            continue
        seen.add(place)
        maker = makers.get(place)
        if maker is not None and maker is not own:
            made = next(one for one in maker.results if one.grad_fn is place)
            found.setdefault(id(maker), (maker, tuple(made.shape)))
            continue
        if hasattr(place, "variable"):
            weights.append(place.variable)
        waiting += [after for after, _ in place.next_functions if after is not None]
    return sorted(found.values(), key=lambda pair: (pair[0].part, pair[0].number)), weights


def parts_of(module: nn.Module, calls: Sequence[PartCall], used: Mapping[str, set[str]]) -> list[GraphPart]:
    """Every part of the model, with its shapes and who shares its weights."""
    by_part: dict[str, list[PartCall]] = {}
    for call in calls:
        by_part.setdefault(call.part, []).append(call)
    places: dict[int, list[str]] = {}
    for name, part in module.named_modules(remove_duplicate=False):
        for weight in part.parameters(recurse=False):
            places.setdefault(id(weight), []).append(name)
    readers: dict[str, set[str]] = {}
    for reader, names in used.items():
        for weight_name in names:
            readers.setdefault(weight_name, set()).add(reader)
    found = []
    for name, part in module.named_modules():
        weights = sum(weight.numel() for weight in part.parameters())  # what a part without any makes has no gradient
        own = [call for call in by_part.get(name, []) if not weights or any(x.requires_grad for x in call.results)]
        shared = {other for weight in part.parameters(recurse=False) for other in places[id(weight)] if other != name}
        for key, _ in part.named_parameters(recurse=False):
            own_readers = readers.get(f"{name}.{key}" if name else key, set())
            shared |= {one for one in own_readers if len(own_readers) > 1 and not is_within(name, one)}
        depth = name.count(".") + bool(name)
        first = own[0] if own else None
        found.append(
            GraphPart(
                name,
                type(part).__name__,
                depth,
                weights,
                len(own),
                first.inputs if first else [],
                first.outputs if first else [],
                sorted(shared),
            )
        )
    return found


def is_within(name: str, other: str) -> bool:
    """Whether a part is another one or a part of it."""
    return name == other or other == "" or name.startswith(f"{other}.")
