"""C5: sparsemax and 1.5-entmax weights on one thread, beside the package entmax. Forward + backward, float32.

Prints the smallest ratio last (larger is better); exits 1 when the target is missed.
"""

import statistics
import sys
import time
from collections.abc import Callable

import entmax
import torch
from torch import Tensor

from atento.attention import Distribution, Entmax, Sparsemax

SHAPES = [(4, 4, 512, 512), (1, 4, 2048, 2048)]  # batch, heads, queries, keys
TARGET = 5.0
ROUNDS = 7
EVERYTHING = torch.ones(1, 1, dtype=torch.bool)

SIDES: dict[str, tuple[Distribution, Callable[..., Tensor]]] = {
    "sparsemax": (Sparsemax(), entmax.sparsemax),
    "entmax 1.5": (Entmax(1.5), entmax.entmax15),
}


def seconds(share: Callable[[Tensor], Tensor], scores: Tensor, upstream: Tensor) -> float:
    started = time.perf_counter()
    torch.autograd.grad(share(scores), scores, upstream)
    return time.perf_counter() - started


def main() -> int:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    ratios = []
    for shape in SHAPES:
        scores, upstream = torch.randn(shape, requires_grad=True), torch.randn(shape)
        for name, (distribution, package) in SIDES.items():

            def ours(values: Tensor, distribution: Distribution = distribution) -> Tensor:
                return distribution(values, EVERYTHING)

            def theirs(values: Tensor, package: Callable[..., Tensor] = package) -> Tensor:
                return package(values, -1)

            torch.testing.assert_close(ours(scores), theirs(scores), rtol=1e-4, atol=1e-5)
            times = [(seconds(ours, scores, upstream), seconds(theirs, scores, upstream)) for _ in range(ROUNDS)]
            fast, slow = (statistics.median(column) * 1e3 for column in zip(*times, strict=True))
            ratios.append(slow / fast)
            print(f"{'x'.join(map(str, shape))} {name}: ours {fast:.0f} ms, entmax {slow:.0f} ms, {ratios[-1]:.2f}x")
    print(f"{min(ratios):.2f}x the package entmax   target {TARGET}x   {'ok' if min(ratios) >= TARGET else 'MISSED'}")
    return 0 if min(ratios) >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
