"""C5: a window and a causal Performer, 1×4×2048×64, beside local-attention, performer-pytorch and dense SDPA."""

import torch
from measuring_cpu import Claim, Run, not_measured, one_thread, report, time_beside
from torch import Tensor
from torch.nn import functional

from atento.attention import Attention, Causal, Kernel, Proportional, RandomFeatures, ScaledDot, Softmax, Window

HEADS, LENGTH, SIZE, REACH, FEATURES = 4, 2048, 64, 64, 256


def both_ways(read: object, items: list[Tensor]) -> Run:
    return lambda: read(*items).sum().backward()  # type: ignore[operator]


def main() -> None:
    one_thread()
    items = [torch.randn(1, HEADS, LENGTH, SIZE, requires_grad=True) for _ in range(3)]
    window = both_ways(Attention(ScaledDot(), Softmax(), Window(REACH)), items)
    performer = both_ways(Attention(Kernel(RandomFeatures(SIZE, count=FEATURES)), Proportional(), Causal()), items)
    dense = both_ways(functional.scaled_dot_product_attention, items)
    claims = []
    ours, other = time_beside(window, dense, rounds=6)
    claims.append(Claim("window 64, 1×4×2048×64", "dense SDPA", ours, other, 3.0))
    try:
        from local_attention import LocalAttention

        local = LocalAttention(dim=SIZE, window_size=REACH, causal=False, look_backward=1, look_forward=1)
        flat = [part.detach().flatten(0, 1).requires_grad_() for part in items]
        ours, other = time_beside(window, both_ways(local, flat), rounds=6)
        claims.append(Claim("window 64, 1×4×2048×64", "local-attention", ours, other, 1.5))
    except ImportError:
        not_measured("window 64, 1×4×2048×64", "local-attention", "the package is not installed")
    try:
        from performer_pytorch import FastAttention

        theirs = FastAttention(dim_heads=SIZE, nb_features=FEATURES, causal=True)
        ours, other = time_beside(performer, both_ways(theirs, items), rounds=4)
        claims.append(Claim("causal Performer, 1×4×2048×64", "performer-pytorch", ours, other, 5.0))
    except ImportError:
        not_measured("causal Performer, 1×4×2048×64", "performer-pytorch", "the package is not installed")
    report(claims)


if __name__ == "__main__":
    main()
