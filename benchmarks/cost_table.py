"""C06: what attention costs against length: dense, cheap and recurrent side by side, with fitted exponents.

Operations and bytes kept for the backward pass are counted, depth is the longest chain of steps that wait for each
other, seconds are measured: forward + backward, one head of 64, one thread. The exponent of the bytes is that of a head
of 2, where what grows fastest outweighs the rest. Prints the table, and last how far the counted exponents are from
theory; exits 1 where one is off by more than .05.

A second table shows what a sequential walk costs: seconds a sequence against the length of an LSTM and a GRU, whose
steps wait for each other, and of a minGRU, by the scan and by the walk of the same cell. `--walks` prints it alone.
"""

import math
import statistics
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from atento.attention import (
    AdaptiveSpan,
    Attention,
    BlockLocal,
    Causal,
    Everything,
    Fixed,
    Kernel,
    Linformer,
    Proportional,
    RandomFeatures,
    ScaledDot,
    Softmax,
    Strided,
    Window,
)
from atento.recurrent import ElmanCell, GRUCell, LSTMCell, MinGRUCell, Stack
from atento.recurrent.stack import CellMaker
from atento.recurrent.unroll import step_by_step

SIZE, THIN = 64, 2
LENGTHS = (1024, 2304, 4096)  # squares, so that √n is a stride
REACH = 32
FEATURES = 32
LIMIT = 0.05
ROUNDS = 5
WALKED, BATCHES = (64, 256, 1024, 4096), (1, 16)  # lengths and sequences at once of the second table

Reader = Callable[[Tensor, Tensor, Tensor], Tensor]


class Written(Softmax):
    """Softmax of a matrix that is written out: no fused kernel knows this kind."""


class Kind(NamedTuple):
    """A way of attending: how to make it for a length and a width, and what theory says of its exponents."""

    make: Callable[[int, int], Reader]
    operations: float
    memory: float
    depth: float = 0.0


def recurrent(length: int, size: int) -> Reader:
    """A plain recurrent network reads the values, step by step: a kernel would hide that steps wait for each other."""
    stack = Stack(ElmanCell, size, size)

    def read(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        with step_by_step():
            return stack(value).outputs

    return read


class Walk(NamedTuple):
    """A way to run a recurrent cell: the cell, whether its kernel is taken, and what waits at each length."""

    cell: CellMaker
    by_kernel: bool
    rounds: Callable[[int], int]

    def reader(self, length: int, size: int) -> Reader:
        """A stack of the cell that reads the values."""
        stack = Stack(self.cell, size, size)
        if self.by_kernel:
            return lambda query, key, value: stack(value).outputs

        def walk(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
            with step_by_step():
                return stack(value).outputs

        return walk


def every_step(length: int) -> int:
    return length


def pairs_of_steps(length: int) -> int:
    return 2 * math.ceil(math.log2(length))  # once up the pairs and once down


WALKS = {
    "lstm": Walk(LSTMCell, True, every_step),
    "gru": Walk(GRUCell, True, every_step),
    "mingru, step by step": Walk(MinGRUCell, False, every_step),
    "mingru, scan": Walk(MinGRUCell, True, pairs_of_steps),
}


def performer(causal: bool) -> Callable[[int, int], Reader]:
    extent = Causal() if causal else Everything()
    return lambda length, size: Attention(Kernel(RandomFeatures(size, count=FEATURES)), Proportional(), extent)


KINDS = {
    "dense, written out": Kind(lambda n, d: Attention(ScaledDot(), Written(), Everything()), 2, 2),
    "dense, fused": Kind(lambda n, d: Attention(ScaledDot(), Softmax(), Everything()), 2, 1),
    "local": Kind(lambda n, d: Attention(ScaledDot(), Softmax(), Window(REACH)), 1, 1),
    "block-local": Kind(lambda n, d: Attention(ScaledDot(), Softmax(), BlockLocal(REACH)), 1, 1),
    "strided": Kind(lambda n, d: Attention(ScaledDot(), Softmax(), Causal() & Strided(math.isqrt(n))), 1.5, 1.5),
    "fixed": Kind(lambda n, d: Attention(ScaledDot(), Softmax(), Causal() & Fixed(math.isqrt(n))), 1.5, 1.5),
    "adaptive span": Kind(lambda n, d: Attention(ScaledDot(), Softmax(), AdaptiveSpan(1, REACH, 8)), 1, 1),
    "performer": Kind(performer(causal=False), 1, 1),
    "performer, causal": Kind(performer(causal=True), 1, 1),
    "linformer": Kind(lambda n, d: Linformer(Attention(ScaledDot(), Softmax(), Everything()), n, FEATURES), 1, 1),
    "recurrent": Kind(recurrent, 1, 1, depth=1),
}


def some_items(length: int, size: int, batch: int = 1) -> list[Tensor]:
    return [torch.randn(batch, length, size, requires_grad=True) for _ in range(3)]


def operations(reader: Reader, items: list[Tensor]) -> int:
    """Products counted by torch, forward + backward; the fused kernel's in the way it is defined."""
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        reader(*items).sum().backward()  # type: ignore[no-untyped-call]
    return counter.get_total_flops()


def kept(reader: Reader, items: list[Tensor]) -> int:
    """Bytes that wait for the backward pass; a tensor kept twice counts once."""
    found: dict[int, Tensor] = {}

    def keep(tensor: Tensor) -> Tensor:
        found[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        end = reader(*items).grad_fn
    for node in every_node(end):
        for value in vars(node).values() if hasattr(node, "__dict__") else ():
            for tensor in value if isinstance(value, tuple) else (value,):
                if isinstance(tensor, Tensor):
                    keep(tensor)  # a function of ours may hold what no hook sees
    return sum(tensor.untyped_storage().nbytes() for tensor in found.values())


def every_node(end: object) -> list[object]:
    """The nodes of a graph, each once."""
    found: dict[object, None] = {}
    waiting = [end]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in found:
            found[node] = None
            waiting += [other for other, _ in node.next_functions]  # type: ignore[attr-defined]
    return list(found)


def depth(reader: Reader, items: list[Tensor]) -> int:
    """The longest chain of steps in the graph."""
    longest: dict[object, int] = {None: 0}
    waiting = [reader(*items).grad_fn]
    while waiting:
        node = waiting[-1]
        before = [] if node is None else [other for other, _ in node.next_functions]
        missing = [other for other in before if other not in longest]
        if missing:
            waiting.extend(missing)
            continue
        longest.setdefault(node, 1 + max((longest[other] for other in before), default=0))
        waiting.pop()
    return max(longest.values())


def seconds(reader: Reader, items: list[Tensor], of: Callable[[list[float]], float] = statistics.median) -> float:
    """The median of a few rounds, forward + backward, or another number `of` them.

    Of the processor: with one thread they are those of the clock, less what other programs take.
    """
    times = []
    for _ in range(ROUNDS + 1):
        started = time.process_time()
        reader(*items).sum().backward()  # type: ignore[no-untyped-call]
        times.append(time.process_time() - started)
    return of(times[1:])


def exponent(lengths: tuple[int, ...], costs: list[float]) -> float:
    """The slope of log cost against log length."""
    across, up = [math.log(length) for length in lengths], [math.log(cost) for cost in costs]
    middle, height = statistics.mean(across), statistics.mean(up)
    spread = sum((x - middle) ** 2 for x in across)
    return sum((x - middle) * (y - height) for x, y in zip(across, up, strict=True)) / spread


def fitted(kind: Kind, measure: Callable[[Reader, list[Tensor]], float], size: int) -> tuple[list[float], float]:
    """A cost at every length, and its exponent."""
    costs = [measure(kind.make(length, size), some_items(length, size)) for length in LENGTHS]
    return costs, exponent(LENGTHS, costs)


def print_walks() -> None:
    """Milliseconds a sequence at every length, their exponent over the longer half, and how much faster the scan is."""
    print(
        f"\nWalk and scan: ms a sequence, forward + backward, width {SIZE}, and rounds that wait at n = {WALKED[-1]}."
    )
    for batch in BATCHES:
        print(f"\n{f'{batch} at once':28}" + "".join(f"{f'n {n}':>10}" for n in WALKED) + "  exponent  rounds")
        costs = {}
        for name, walk in WALKS.items():
            runs = [seconds(walk.reader(n, SIZE), some_items(n, SIZE, batch), min) for n in WALKED]
            costs[name] = found = [run * 1e3 / batch for run in runs]
            slope = exponent(WALKED[-2:], found[-2:])
            print(f"{name:28}" + "".join(f"{one:10.3f}" for one in found) + f"{slope:10.2f}{walk.rounds(WALKED[-1]):8}")
        for name in ("lstm", "gru", "mingru, step by step"):
            ratios = (other / scan for other, scan in zip(costs[name], costs["mingru, scan"], strict=True))
            print(f"{f'÷ scan: {name}':28}" + "".join(f"{f'{ratio:.1f}×':>10}" for ratio in ratios))


def main() -> int:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    if "--walks" in sys.argv:
        print_walks()
        return 0
    worst = 0.0
    print(f"Costs at n = {LENGTHS[-1]}, then the exponent of n over {LENGTHS}, and what theory says.\n")
    print(f"{'':20} {'operations':>22} {'bytes kept':>24} {'depth':>18} {'seconds':>16}")
    for name, kind in KINDS.items():
        work, work_slope = fitted(kind, operations, SIZE)
        memory, (_, memory_slope) = fitted(kind, kept, SIZE)[0], fitted(kind, kept, THIN)
        chain, chain_slope = fitted(kind, depth, SIZE)
        clock, clock_slope = fitted(kind, seconds, SIZE)
        found = (work_slope, kind.operations), (memory_slope, kind.memory), (chain_slope, kind.depth)
        worst = max([worst, *(abs(slope - theory) for slope, theory in found)])
        print(
            f"{name:20} {work[-1] / 1e9:8.3f} G  {work_slope:.2f} ({kind.operations:g})"
            f" {memory[-1] / 2**20:9.2f} MB {memory_slope:.2f} ({kind.memory:g})"
            f" {chain[-1]:8.0f}  {chain_slope:.2f} ({kind.depth:g})"
            f" {clock[-1] * 1e3:8.1f} ms {clock_slope:.2f}"
        )
    print(
        f"\nlargest difference of a counted exponent from theory: {worst:.3f}   {'ok' if worst <= LIMIT else 'MISSED'}"
    )
    print_walks()
    return 0 if worst <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
