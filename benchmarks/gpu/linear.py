"""G7: a causal Performer beside performer-pytorch without its CUDA extension, Linformer beside torch's kernel."""

import torch
from measuring import Row, both_ways, gate, inputs, report, time_beside
from torch import Tensor
from torch.nn import functional

from atento.attention import (
    Attention,
    Causal,
    Everything,
    Kernel,
    Linformer,
    Proportional,
    RandomFeatures,
    ScaledDot,
    Softmax,
)

try:
    from performer_pytorch import FastAttention
except ImportError:
    FastAttention = None

LENGTH = 16384


def softmax(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return functional.scaled_dot_product_attention(query, key, value)


def main() -> None:
    rows, shape = [], (4, 16, LENGTH, 64)
    linformer = Linformer(Attention(ScaledDot(), Softmax(), Everything()), LENGTH, 256).cuda().bfloat16()
    gate(linformer, 2, 3, 797, 64)
    given = inputs(*shape, gradient=True)
    with torch.no_grad():
        ours, theirs = time_beside(lambda: linformer(*given), lambda: softmax(*given))
    rows.append(Row("Linformer k256 B4 H16 n16384 d64, forward", "SDPA", ours, theirs, 6.0))
    ours, theirs = time_beside(both_ways(linformer, given), both_ways(softmax, given))
    rows.append(Row("Linformer k256 B4 H16 n16384 d64, with backward", "SDPA", ours, theirs, 6.0))
    performer = Attention(Kernel(RandomFeatures(64, count=256)), Proportional(), Causal()).cuda().bfloat16()
    gate(performer, 2, 3, 797, 64)
    if FastAttention is not None:
        peer = FastAttention(64, nb_features=256, causal=True).cuda().bfloat16()
        with torch.no_grad():
            ours, theirs = time_beside(lambda: performer(*given), lambda: peer(*given), graphs=False, repeats=5)
        name = "Performer m256 causal B4 H16 n16384 d64"
        rows.append(Row(f"{name}, forward", "performer-pytorch", ours, theirs, 0.0))
        try:
            runs = both_ways(performer, given), both_ways(peer, given)
            ours, theirs = time_beside(*runs, graphs=False, repeats=3)
            rows.append(Row(f"{name}, with backward", "performer-pytorch", ours, theirs, 15.0))
        except torch.OutOfMemoryError:
            print("performer-pytorch: out of memory with backward")
    report(rows)


if __name__ == "__main__":
    main()
