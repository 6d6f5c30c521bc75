"""Layers as CUDA graphs, forward and backward: in training a GPU would else wait for Python to launch each kernel.

A graph has fixed shapes. Packed batches have few: rows are filled up to a multiple with a sequence of zeros, and the
number of sequences with empty ones. A shape is captured when it is met for the third time; others run as always. All
graphs of one owner share their memory, so that one of them is under way at a time, from its forward pass to its
backward pass; what comes in between runs as always too."""

import gc
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from atento.layers.packing import Pack, Packing

# Axes: B sequences, M rows, D size.

ROWS, SEQUENCES, TIMES = 256, 32, 64  # multiples that rows, sequences and lengths are filled up to
CAPTURED_AT = 3  # how often a shape is met before it is captured
MOST_GRAPHS, MOST_SHAPES = 24, 1000  # of one owner

Compute = Callable[[Sequence[Packing], Sequence[Tensor], Tensor | None], Tensor]
Facts = tuple[object, ...]  # what layers depend on beside weights and shapes
Key = tuple[object, ...]


def up_to(number: int, multiple: int) -> int:
    """The next multiple."""
    return -(-number // multiple) * multiple


class FixedPacking(Packing):
    """A packing of fixed shape, whose bounds are given."""

    def __init__(self, rows: int, sequences: int, time: int, bounds: Tensor) -> None:
        super().__init__(sequences, time, bounds, None, bounds.device)
        self.rows, self.bounds = rows, bounds

    @staticmethod
    def shape(packing: Packing) -> tuple[int, int, int]:
        """Rows, sequences and longest length of the fixed shape that holds a packing, with a row to spare."""
        rows = up_to(packing.items + 1, ROWS)
        return rows, up_to(packing.batch, SEQUENCES) + 1, max(up_to(packing.time, TIMES), ROWS)

    @staticmethod
    def bounds_of(packing: Packing, rows: int, sequences: int) -> Tensor:
        """Bounds (sequences + 1,): those of the packing, empty sequences, and one of all rows that are left."""
        empty = sequences - 1 - packing.batch
        return nn.functional.pad(nn.functional.pad(packing.bounds, (0, empty), value=packing.items), (0, 1), value=rows)

    @staticmethod
    def fill(values: Tensor, packing: Packing, rows: int) -> Tensor:
        """Values (B, T, D) as rows of the fixed shape, zeros at the end."""
        flat = values.reshape(-1, values.size(-1))
        if packing.places is not None:
            found: Tensor = Pack.apply(flat, packing.places, rows)  # type: ignore[no-untyped-call]
            return found
        return nn.functional.pad(flat, (0, 0, 0, rows - len(flat)))


class CapturedPass:
    """One shape, captured: static inputs, output and gradients, and the graphs that go from one to the other."""

    def __init__(
        self,
        compute: Compute,
        shapes: Sequence[tuple[int, int, int]],
        inputs: Sequence[Tensor],
        weights: Sequence[Tensor],
        pool: Any,
    ) -> None:
        self.count, self.used = len(shapes), [weight for weight in weights if weight.requires_grad]
        self.inputs = [one.detach().clone().requires_grad_(one.is_floating_point()) for one in inputs]
        packed, bounds = self.inputs[: self.count], self.inputs[self.count : 2 * self.count]
        packings = [FixedPacking(*shape, one) for shape, one in zip(shapes, bounds, strict=True)]
        live: list[Tensor] = []  # the output with its way back; it is not kept, as it would keep the layers

        def run_forward() -> list[Tensor]:
            """The output (M, D)."""
            with torch.enable_grad():
                live[:] = [compute(packings, packed, self.inputs[-1])]
            return [live[0].detach()]

        def run_backward() -> list[Tensor]:
            """The gradients of the packed inputs, and of all weights as one vector."""
            gradients = torch.autograd.grad(live.pop(), [*packed, *self.used], self.upstream, materialize_grads=True)
            return [*gradients[: self.count], torch.cat([one.flatten() for one in gradients[self.count :]])]

        for _ in range(2):  # kernels are chosen and compiled before
            self.upstream = torch.zeros_like(run_forward()[0])
            run_backward()
        self.forward, (self.output,) = captured(run_forward, pool)
        self.backward, (*self.to_inputs, self.to_weights) = captured(run_backward, pool)


def captured(work: Callable[[], list[Tensor]], pool: Any) -> tuple[torch.cuda.CUDAGraph, list[Tensor]]:
    """Work as a CUDA graph that is not computed yet, and the tensors that it writes whenever it is."""
    graph = torch.cuda.CUDAGraph()
    with nothing_freed(), torch.cuda.graph(graph, pool=pool, capture_error_mode="thread_local"):
        results = work()  # other threads may use the GPU meanwhile
    return graph, results


@contextmanager
def nothing_freed() -> Iterator[None]:
    """Within it Python does not look for garbage: freeing another graph, or its memory, would end a capture."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def leave_capture(device: torch.device) -> None:
    """After a capture that failed: random numbers are drawn as before it."""
    generator = torch.cuda.default_generators[device.index or 0]
    generator.graphsafe_set_state(generator.clone_state())


class Graphs:
    """The graphs of one owner."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.pool: Any = torch.cuda.graph_pool_handle()
        self.met: dict[Key, int] = {}
        self.captured: dict[Key, CapturedPass] = {}
        self.under_way: weakref.ref[Token] | None = None
        self.passes = 0
        self.refused = ""  # why a capture failed, after which there is no other

    def is_free(self) -> bool:
        """Whether no forward pass waits for its backward pass."""
        return self.under_way is None or self.under_way() is None

    def find(self, key: Key, make: Callable[[], CapturedPass]) -> CapturedPass | None:
        """The graph of a shape; None: it has not been met often enough, or there are too many."""
        if key in self.captured:
            return self.captured[key]
        if len(self.met) > MOST_SHAPES:
            self.met.clear()
        self.met[key] = self.met.get(key, 0) + 1
        if self.met[key] < CAPTURED_AT or len(self.captured) >= MOST_GRAPHS or self.refused:
            return None
        try:
            self.captured[key] = make()
        except RuntimeError as error:  # the layers run as always
            self.refused = str(error)
            leave_capture(self.device)
        return self.captured.get(key)


class Token:
    """Lives as long as a backward pass may come."""


OWNERS: weakref.WeakKeyDictionary[nn.Module, Graphs] = weakref.WeakKeyDictionary()


class GraphFunction(torch.autograd.Function):
    """The forward and backward graph as one node."""

    @staticmethod
    def forward(ctx: Any, graphs: Graphs, graph: CapturedPass, *inputs: Tensor) -> Tensor:
        """Copy the inputs to their places, and run."""
        own = inputs[: len(graph.inputs)]
        torch._foreach_copy_([one.detach() for one in graph.inputs], [one.detach() for one in own])
        graph.forward.replay()
        graphs.passes += 1
        ctx.graphs, ctx.graph, ctx.number, ctx.token = graphs, graph, graphs.passes, Token()
        graphs.under_way = weakref.ref(ctx.token)
        return graph.output.clone()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Any, ...]:
        """Run backward; the gradients are copies, as the next pass writes to the same places."""
        graphs, graph = ctx.graphs, ctx.graph
        if graphs.passes != ctx.number:
            raise RuntimeError("a backward pass was repeated after another forward pass of the same layers")
        graph.upstream.copy_(upstream)
        graph.backward.replay()
        graphs.under_way = None
        flat = torch._C._nn.unflatten_dense_tensors(graph.to_weights.clone(), graph.used)
        to_inputs = [one.clone() for one in graph.to_inputs]
        rest = [None] * (len(graph.inputs) - graph.count)
        return None, None, *to_inputs, *rest, *flat


def graphed(
    owner: nn.Module,
    compute: Compute,
    values: Sequence[Tensor],
    packings: Sequence[Packing],
    weights: Sequence[Tensor],
    seed: Tensor,
    *,
    facts: Facts,
) -> Tensor | None:
    """The packed output of layers by a graph; None: this shape has none, or another pass is under way."""
    if not any(weight.requires_grad for weight in weights):
        return None
    if owner not in OWNERS:
        OWNERS[owner] = Graphs(seed.device)
    graphs = OWNERS[owner]
    if not graphs.is_free() or torch.cuda.is_current_stream_capturing():
        return None
    shapes = [FixedPacking.shape(packing) for packing in packings]
    short = torch.get_autocast_dtype("cuda") if torch.is_autocast_enabled("cuda") else None
    places = tuple(weight.data_ptr() if weight.requires_grad else -weight.data_ptr() for weight in weights)
    key = (*shapes, *(one.dtype for one in values), short, places, facts)

    def inputs() -> list[Tensor]:
        filled = [
            FixedPacking.fill(one, packing, shape[0])
            for one, packing, shape in zip(values, packings, shapes, strict=True)
        ]
        bounds = [FixedPacking.bounds_of(packing, *shape[:2]) for packing, shape in zip(packings, shapes, strict=True)]
        return [*filled, *bounds, seed]

    graph = graphs.find(key, lambda: CapturedPass(compute, shapes, inputs(), weights, graphs.pool))
    if graph is None:
        return None
    found: Tensor = GraphFunction.apply(graphs, graph, *inputs(), *graph.used)  # type: ignore[no-untyped-call]
    return found[: packings[0].rows]
