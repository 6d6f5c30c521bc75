"""What the benchmarks on a GPU share: a correctness gate, interleaved timing, and the report of a claim."""

import copy
import json
import statistics
import sys
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from atento.attention import Attention

Run = Callable[[], object]
REPEATS = 30
WARM_UPS = 5
LIMITS = {torch.float32: 1e-5, torch.bfloat16: 1e-2}  # relative error against float64


class Row(NamedTuple):
    """One claim: how many times as fast as the peer, and the goal."""

    claim: str
    peer: str
    ours_ms: float
    peer_ms: float
    goal: float

    @property
    def ratio(self) -> float:
        return self.peer_ms / self.ours_ms


def time_beside(ours: Run, *peers: Run, graphs: bool = True, repeats: int = REPEATS) -> list[float]:
    """Median milliseconds of each on the device, taken in turn, each with a cold cache.

    Calls are replayed from CUDA graphs, unless a peer cannot be captured: what Python takes is a claim of its own.
    """
    cache = torch.empty(1 << 26, dtype=torch.int32, device="cuda")
    runs = tuple(captured(run) if graphs else run for run in (ours, *peers))
    events: list[list[tuple[torch.cuda.Event, torch.cuda.Event]]] = [[] for _ in runs]
    for turn in range(min(WARM_UPS, repeats) + repeats):
        for run, found in zip(runs, events, strict=True):
            cache.zero_()
            before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
            before.record()
            run()
            after.record()
            if turn >= min(WARM_UPS, repeats):
                found.append((before, after))
    torch.cuda.synchronize()  # once, at the end: the CPU runs ahead, as in training
    times = [[before.elapsed_time(after) for before, after in found] for found in events]
    return [statistics.median(found) for found in times]


def captured(run: Run) -> Run:
    """The kernels of a run, without its Python."""
    aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


def inputs(*shape: int, keys: int = 0, dtype: torch.dtype = torch.bfloat16, gradient: bool = False) -> list[Tensor]:
    """Fresh random query, key and value; shape (..., Q, D)."""
    sizes = [shape, (*shape[:-2], keys or shape[-2], shape[-1]), (*shape[:-2], keys or shape[-2], shape[-1])]
    return [torch.randn(size, device="cuda", dtype=dtype, requires_grad=gradient) for size in sizes]


def gate(
    attention: Attention, *shape: int, keys: int = 0, dtype: torch.dtype = torch.bfloat16, gradient: bool = True
) -> None:
    """Values and gradients against the formula in float64; ends the benchmark where they differ."""
    given = inputs(*shape, keys=keys, dtype=dtype, gradient=gradient)
    exact = [part.detach().double().requires_grad_(gradient) for part in given]
    upstream = torch.randn_like(attention(*given))
    whole, exact_whole = copy.deepcopy(attention), copy.deepcopy(attention).double()
    found = outputs(attention, given, upstream, gradient=gradient)
    by_formula = outputs(lambda *parts: formula(whole, *parts), given, upstream, gradient=gradient)
    wanted = outputs(lambda *parts: formula(exact_whole, *parts), exact, upstream.double(), gradient=gradient)
    for number, (one, plain, other) in enumerate(zip(found, by_formula, wanted, strict=True)):
        error, usual = (float((part.detach().double() - other).norm() / other.norm()) for part in (one, plain))
        if not error <= max(LIMITS[dtype], usual):  # short floats round weights too, by whatever path
            print(f"wrong: output {number} of {shape} differs by {error:.1e} from float64, the formula by {usual:.1e}")
            sys.exit(1)


def formula(attention: Attention, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """The context by the matrix of weights."""
    prepared = attention.prepare(key, value)
    return attention.weights_from(query, prepared) @ prepared.value


def outputs(run: Callable[..., Tensor], given: list[Tensor], upstream: Tensor, *, gradient: bool) -> list[Tensor]:
    """The context, and its gradients by the inputs."""
    context = run(*given)
    return [context.detach(), *(torch.autograd.grad(context, given, upstream) if gradient else ())]


def both_ways(run: Callable[..., Tensor], given: list[Tensor]) -> Run:
    """Forward and backward."""
    upstream = torch.randn_like(run(*given))

    def step() -> None:
        torch.autograd.grad(run(*given), given, upstream)

    return step


def peak_memory(run: Run) -> int:
    """Bytes that a run takes at most beyond what it is given."""
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    run()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() - before


def report(rows: list[Row]) -> None:
    """One line of JSON for each claim, then the ratio that is farthest below its goal; exit 1 if any is missed."""
    for row in rows:
        passed = row.ratio >= row.goal
        print(json.dumps({**row._asdict(), "ratio": round(row.ratio, 3), "pass": passed}))
    worst = min(rows, key=lambda row: row.ratio / row.goal if row.goal else float("inf"))
    print(f"{worst.claim}: {worst.ratio:.2f}× {worst.peer}, goal {worst.goal}×")
    sys.exit(0 if worst.ratio >= worst.goal else 1)
