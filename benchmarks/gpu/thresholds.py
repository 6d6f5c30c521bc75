"""G3: sparsemax and 1.5-entmax beside AdaSplash, where its shapes allow it, and the package entmax."""

import entmax
import torch
from measuring import Row, gate, inputs, peak_memory, report, time_beside

from atento.attention import Attention, Causal, Entmax, Everything, ScaledDot, Sparsemax

try:
    from adasplash import adasplash
except ImportError:
    adasplash = None


def main() -> None:
    rows = []
    for name, alpha, part, by_sorting in (
        ("sparsemax", 2.0, Sparsemax(), entmax.sparsemax),
        ("entmax 1.5", 1.5, Entmax(1.5), entmax.entmax15),
    ):
        everything, causal = Attention(ScaledDot(), part, Everything()), Attention(ScaledDot(), part, Causal())
        gate(everything, 2, 3, 197, 64, keys=797)
        gate(causal, 2, 3, 797, 64)
        q, k, v = inputs(16, 8, 512, 64, keys=384)
        ours, sorted_ = time_beside(
            lambda q=q, k=k, v=v, run=everything: run(q, k, v),  # type: ignore[misc]
            lambda q=q, k=k, v=v, run=by_sorting: run((q @ k.mT).float() / 8, dim=-1).to(v.dtype) @ v,  # type: ignore[misc]
        )
        rows.append(Row(f"{name} B16 H8 512×384 d64, forward", "entmax", ours, sorted_, 2.0))
        if adasplash is None:
            continue
        q, k, v = inputs(4, 16, 2048, 64)
        for extent, run in (("everything", everything), ("causal", causal)):
            ours, theirs = time_beside(
                lambda q=q, k=k, v=v, run=run: run(q, k, v),  # type: ignore[misc]
                lambda q=q, k=k, v=v, a=alpha, c=extent == "causal": adasplash(q, k, v, alpha=a, is_causal=c),  # type: ignore[misc]
                graphs=False,
            )
            rows.append(Row(f"{name} B4 H16 n2048 d64, {extent}, forward", "AdaSplash", ours, theirs, 1.3))
        q, k, v = inputs(1, 16, 16384, 64)
        ours, theirs = time_beside(
            lambda q=q, k=k, v=v, run=causal: run(q, k, v),  # type: ignore[misc]
            lambda q=q, k=k, v=v, a=alpha: adasplash(q, k, v, alpha=a, is_causal=True),  # type: ignore[misc]
            graphs=False,
        )
        rows.append(Row(f"{name} B1 H16 n16384 d64, causal, forward", "AdaSplash", ours, theirs, 1.3))
        with torch.no_grad():
            taken = peak_memory(lambda q=q, k=k, v=v, run=causal: run(q, k, v))  # type: ignore[misc]
        size = 16 * 16384 * 16384 * 4
        rows.append(Row(f"{name} n16384, memory, MB", "one matrix of weights", taken / 1e6, size / 1e6, 50.0))
    report(rows)


if __name__ == "__main__":
    main()
