"""C5: sparsemax and 1.5-entmax attention on one thread, beside the package entmax. Forward + backward, float32.

Prints the smallest ratio last (larger is better); exits 1 when the target is missed.
"""

import statistics
import sys
import time
from collections.abc import Callable

import entmax
import torch
from torch import Tensor

from atento.attention import Attention, Distribution, Entmax, Everything, ScaledDot, Sparsemax

SHAPES = [(4, 4, 512, 64), (1, 4, 2048, 64)]
TARGET = 5.0
ROUNDS = 7

SIDES: dict[str, tuple[Distribution, Callable[..., Tensor]]] = {
    "sparsemax": (Sparsemax(), entmax.sparsemax),
    "entmax 1.5": (Entmax(1.5), entmax.entmax15),
}


def theirs(share: Callable[..., Tensor], query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """What one writes with the package."""
    return share(query @ key.mT / query.size(-1) ** 0.5, -1) @ value


def seconds(work: Callable[[], Tensor]) -> float:
    started = time.perf_counter()
    work().sum().backward()
    return time.perf_counter() - started


def main() -> int:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    ratios = []
    for shape in SHAPES:
        for name, (distribution, share) in SIDES.items():
            attention = Attention(ScaledDot(), distribution, Everything())
            query, key, value = (torch.randn(shape, requires_grad=True) for _ in range(3))
            both = attention(query, key, value), theirs(share, query, key, value)
            torch.testing.assert_close(*both, rtol=1e-4, atol=1e-5)
            times = [
                (seconds(lambda: attention(query, key, value)), seconds(lambda: theirs(share, query, key, value)))  # noqa: B023
                for _ in range(ROUNDS)
            ]
            ours, package = (statistics.median(column) for column in zip(*times, strict=True))
            ratios.append(package / ours)
            print(f"{'x'.join(map(str, shape))} {name}: {ours * 1e3:.0f} ms, {package * 1e3:.0f} ms, {ratios[-1]:.2f}x")
    print(f"{min(ratios):.2f}x the package entmax   target {TARGET}x   {'ok' if min(ratios) >= TARGET else 'MISSED'}")
    return 0 if min(ratios) >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
