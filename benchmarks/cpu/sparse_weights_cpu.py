"""C5: sparsemax and 1.5-entmax weights beside the package entmax. Forward + backward, float32, one thread."""

from collections.abc import Callable

import torch
from measuring_cpu import Claim, not_measured, one_thread, report, time_beside
from torch import Tensor

from atento.attention import Distribution, Entmax, Sparsemax

SHAPES = [(4, 4, 512, 512), (1, 4, 2048, 2048)]  # batch, heads, queries, keys
EVERYTHING = torch.ones(1, 1, dtype=torch.bool)


def main() -> None:
    one_thread()
    try:
        import entmax
    except ImportError:
        not_measured("sparsemax, entmax 1.5", "entmax", "the package is not installed")
        return
    sides: dict[str, tuple[Distribution, Callable[..., Tensor]]] = {
        "sparsemax": (Sparsemax(), entmax.sparsemax),
        "entmax 1.5": (Entmax(1.5), entmax.entmax15),
    }
    claims = []
    for shape in SHAPES:
        scores, upstream = torch.randn(shape, requires_grad=True), torch.randn(shape)
        for name, (distribution, package) in sides.items():

            def ours(distribution=distribution, scores=scores, upstream=upstream) -> None:  # type: ignore[no-untyped-def]
                torch.autograd.grad(distribution(scores, EVERYTHING), scores, upstream)

            def theirs(package=package, scores=scores, upstream=upstream) -> None:  # type: ignore[no-untyped-def]
                torch.autograd.grad(package(scores, -1), scores, upstream)

            torch.testing.assert_close(distribution(scores, EVERYTHING), package(scores, -1), rtol=1e-4, atol=1e-5)
            mine, other = time_beside(ours, theirs, rounds=5)
            claims.append(Claim(f"{name} {'×'.join(map(str, shape))}", "entmax", mine, other, 5.0))
    report(claims)


if __name__ == "__main__":
    main()
