"""G4 and the forward pass of G5: sigmoid weights, and the key with the highest score, beside torch's softmax kernel."""

import torch
from measuring import Row, gate, inputs, report, time_beside
from torch.nn import functional

from atento.attention import Attention, Everything, Hard, ScaledDot, Sigmoid


def main() -> None:
    rows = []
    sigmoid, hard = Attention(ScaledDot(), Sigmoid(), Everything()), Attention(ScaledDot(), Hard(), Everything()).eval()
    for name, attention, shape, goal in (
        ("sigmoid B4 H16 n4096 d64", sigmoid, (4, 16, 4096, 64), 1.0),
        ("sigmoid B4 H16 n4096 d128", sigmoid, (4, 16, 4096, 128), 0.0),
        ("hard, the best key, B4 H8 n2048 d64", hard, (4, 8, 2048, 64), 1.3),
    ):
        gate(attention, 2, 3, 197, shape[-1], gradient=attention is sigmoid)
        q, k, v = inputs(*shape)
        with torch.no_grad():
            ours, theirs = time_beside(
                lambda q=q, k=k, v=v, run=attention: run(q, k, v),  # type: ignore[misc]
                lambda q=q, k=k, v=v: functional.scaled_dot_product_attention(q, k, v),  # type: ignore[misc]
            )
        rows.append(Row(f"{name}, forward", "SDPA", ours, theirs, goal))
    report(rows)


if __name__ == "__main__":
    main()
