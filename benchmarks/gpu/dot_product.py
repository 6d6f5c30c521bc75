"""G1: the algebra's own cost. Scaled dot products and softmax, causal, beside torch's kernel called directly."""

import time

import torch
from measuring import Row, gate, inputs, report, time_beside
from torch.nn import functional

from atento.attention import Attention, Causal, ScaledDot, Softmax

BUDGET = 8.0  # microseconds of Python in a call
CALLS = 300


def microseconds(run: object) -> float:
    """The time of a call on the CPU: the GPU has almost nothing to do."""
    found = []
    for _ in range(15):
        torch.cuda.synchronize()
        before = time.perf_counter()
        for _ in range(CALLS):
            run()  # type: ignore[operator]
        found.append((time.perf_counter() - before) / CALLS * 1e6)
    return sorted(found)[len(found) // 2]


def main() -> None:
    attention, rows = Attention(ScaledDot(), Softmax(), Causal()), []
    gate(attention, 2, 3, 197, 64)
    for length in (512, 2048, 8192):
        query, key, value = inputs(4, 16, length, 64)
        ours, direct = time_beside(
            lambda q=query, k=key, v=value: attention(q, k, v),  # type: ignore[misc]
            lambda q=query, k=key, v=value: functional.scaled_dot_product_attention(q, k, v, is_causal=True),  # type: ignore[misc]
        )
        rows.append(Row(f"dot × softmax, causal, B4 H16 d64 n{length}, forward", "SDPA", ours, direct, 0.98))
    query, key, value = inputs(1, 1, 16, 64)
    with torch.no_grad():
        whole = microseconds(lambda: attention(query, key, value))
        bare = microseconds(lambda: functional.scaled_dot_product_attention(query, key, value, is_causal=True))
    rows.append(Row(f"Python in a call, µs (of {BUDGET:g})", "budget", max(whole - bare, 0.1), BUDGET, 1.0))
    report(rows)


if __name__ == "__main__":
    main()
