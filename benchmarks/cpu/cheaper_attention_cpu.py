"""Cheaper attention beside torch's own dense attention: 1×4×4096×64, fp32, forward + backward, one thread.

Each must be faster than SDPA (causal SDPA where the pattern is causal) and lighter than dense attention whose matrix is
written out.
"""

import multiprocessing
import multiprocessing.connection
import resource
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from measuring_cpu import Claim, end, tell
from torch import Tensor
from torch.nn import functional

from atento.attention import (
    AdaptiveSpan,
    Attention,
    BlockLocal,
    BlockLocal2d,
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
from atento.attention.extents.extents import Extent

HEADS, LENGTH, SIZE, BLOCK = 4, 4096, 64, 64
FEATURES = 256
CHECKED = 1024  # positions of the correctness gate
ROUNDS = 20

Reader = Callable[[Tensor, Tensor, Tensor], Tensor]


def through(extent: Extent) -> Attention:
    return Attention(ScaledDot(), Softmax(), extent)


def performer(extent: Extent) -> Attention:
    return Attention(Kernel(RandomFeatures(SIZE, count=FEATURES)), Proportional(), extent)


def cheap() -> dict[str, tuple[Attention, bool]]:
    """Every pattern, and whether it is causal."""
    return {
        "local, reach 64": (through(Window(BLOCK)), False),
        "block-local 64": (through(BlockLocal(BLOCK)), False),
        "block-local 2-D 8×8": (through(BlockLocal2d(LENGTH // BLOCK, BLOCK, (8, 8))), False),
        "causal local, reach 64": (through(Causal() & Window(BLOCK)), True),
        "causal strided 64": (through(Causal() & Strided(BLOCK)), True),
        "causal fixed 64": (through(Causal() & Fixed(BLOCK)), True),
        "adaptive span 64 + 32": (through(AdaptiveSpan(HEADS, 2 * BLOCK, BLOCK // 2)), False),
        "causal adaptive span": (through(Causal() & AdaptiveSpan(HEADS, 2 * BLOCK, BLOCK // 2)), True),
        f"performer {FEATURES}": (performer(Everything()), False),
        f"causal performer {FEATURES}": (performer(Causal()), True),
        f"linformer {FEATURES}": (Linformer(through(Everything()), LENGTH, FEATURES), False),
    }


def written_out(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Dense attention as one writes it by hand."""
    return (query @ key.mT / SIZE**0.5).softmax(-1) @ value


def some_items(length: int = LENGTH, dtype: torch.dtype = torch.float32) -> list[Tensor]:
    return [torch.randn(1, HEADS, length, SIZE, dtype=dtype, requires_grad=True) for _ in range(3)]


def check(name: str, attention: Attention) -> None:
    """Correct before fast: context and gradients against the whole matrix in float64."""
    exact = [part.detach().double().requires_grad_() for part in some_items(CHECKED)]
    short = [part.detach().float().requires_grad_() for part in exact]
    context = attention(*short)
    doubled = attention.double()
    expected = doubled.weights(*exact[:2]) @ exact[2]
    upstream = torch.randn_like(expected)
    found = [context, *torch.autograd.grad(context, short, upstream.float())]
    wanted = [expected, *torch.autograd.grad(expected, exact, upstream)]
    attention.float()
    for left, right in zip(found, wanted, strict=True):
        error = ((left - right).norm() / right.norm()).item()
        assert error <= 1e-5, f"{name}: relative error {error:.1e}"


def seconds(reader: Reader, items: list[Tensor]) -> float:
    started = time.process_time()
    reader(*items).sum().backward()  # type: ignore[no-untyped-call]
    return time.process_time() - started


def all_readers() -> dict[str, Reader]:
    """Dense attention in three forms, then every pattern."""
    return {
        "written out": written_out,
        "dense": functional.scaled_dot_product_attention,
        "causal": lambda query, key, value: functional.scaled_dot_product_attention(query, key, value, is_causal=True),
        **{name: attention for name, (attention, _) in cheap().items()},
    }


def peak(name: str) -> float:
    """Megabytes that one forward + backward takes at most, in a process of its own."""
    here, there = multiprocessing.Pipe(duplex=False)
    worker = multiprocessing.get_context("spawn").Process(target=weigh, args=(name, there))
    worker.start()
    found = here.recv()
    worker.join()
    return found


def weigh(name: str, there: multiprocessing.connection.Connection) -> None:
    torch.set_num_threads(1)
    reader, items = all_readers()[name], some_items()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    before = pages * resource.getpagesize() / 2**20
    seconds(reader, items)
    there.send(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before)


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    patterns = cheap()
    for name, (attention, _) in patterns.items():
        check(name, attention)
    readers = {name: reader for name, reader in all_readers().items() if name != "written out"}
    weights = {name: peak(name) for name in ["written out", *readers]}
    times: dict[str, list[float]] = {name: [] for name in readers}
    for _ in range(ROUNDS + 1):
        items = some_items()
        for name, reader in readers.items():
            times[name].append(seconds(reader, items))
    medians = {name: statistics.median(line[1:]) for name, line in times.items()}
    claims = []
    for name, (_, causal) in patterns.items():
        where, dense = f"{name}, 1×{HEADS}×{LENGTH}×{SIZE}", "causal" if causal else "dense"
        claims.append(tell(Claim(where, f"{dense} SDPA", medians[name] * 1e3, medians[dense] * 1e3, 1.0)))
        claims.append(
            tell(Claim(f"{where}, memory", "a written matrix", weights[name], weights["written out"], 1.0, "MB"))
        )
    end(claims)


if __name__ == "__main__":
    main()
