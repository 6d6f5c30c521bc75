"""C1: additive attention on one thread, beside the same formula in plain torch. Forward + backward, B32 20×50 d128.

Prints the ratio last (larger is better); exits 1 when the target is missed.
"""

import statistics
import sys
import time

import torch

from atento.attention import Additive, Attention, Everything, Softmax

BATCH, QUERIES, KEYS, SIZE = 32, 20, 50, 128
TARGET = 8.0
ROUNDS = 30


def plain(score: Additive, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    """What one writes without atento."""
    mixed = torch.tanh(score.project_query(query).unsqueeze(2) + score.project_key(key).unsqueeze(1))
    return score.collapse(mixed).squeeze(-1).softmax(-1) @ key


def main() -> int:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    score = Additive(SIZE, SIZE, hidden_size=SIZE)
    attention = Attention(score, Softmax(), Everything())
    times: dict[str, list[float]] = {"plain": [], "ours": []}
    for _ in range(ROUNDS + 3):
        query = torch.randn(BATCH, QUERIES, SIZE, requires_grad=True)
        key = torch.randn(BATCH, KEYS, SIZE, requires_grad=True)
        torch.testing.assert_close(attention(query, key, key), plain(score, query, key), rtol=1e-5, atol=1e-5)
        for name, work in (
            ("plain", lambda: plain(score, query, key)),  # noqa: B023
            ("ours", lambda: attention(query, key, key)),  # noqa: B023
        ):
            started = time.perf_counter()
            work().sum().backward()
            times[name].append(time.perf_counter() - started)
    ratio = statistics.median(times["plain"][3:]) / statistics.median(times["ours"][3:])
    print(f"B{BATCH} {QUERIES}x{KEYS} d{SIZE}: plain {statistics.median(times['plain']) * 1e3:.1f} ms")
    print(f"{ratio:.2f}x plain torch   target {TARGET}x   {'ok' if ratio >= TARGET else 'MISSED'}")
    return 0 if ratio >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
