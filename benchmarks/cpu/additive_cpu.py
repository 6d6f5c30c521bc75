"""C1: additive attention B32 20×50 d128 beside the same formula in plain torch. Forward + backward, one thread."""

import torch
from measuring_cpu import Claim, one_thread, report, time_beside

from atento.attention import Additive, Attention, Everything, Softmax

BATCH, QUERIES, KEYS, SIZE = 32, 20, 50, 128


def plain(score: Additive, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    """What one writes without atento."""
    mixed = torch.tanh(score.project_query(query).unsqueeze(2) + score.project_key(key).unsqueeze(1))
    return score.collapse(mixed).squeeze(-1).softmax(-1) @ key


def main() -> None:
    one_thread()
    score = Additive(SIZE, SIZE, hidden_size=SIZE)
    attention = Attention(score, Softmax(), Everything())
    query = torch.randn(BATCH, QUERIES, SIZE, requires_grad=True)
    key = torch.randn(BATCH, KEYS, SIZE, requires_grad=True)
    torch.testing.assert_close(attention(query, key, key), plain(score, query, key), rtol=1e-5, atol=1e-5)
    upstream = torch.randn(BATCH, QUERIES, SIZE)  # as a layer above gives it
    ours, other = time_beside(
        lambda: torch.autograd.backward(attention(query, key, key), upstream),
        lambda: torch.autograd.backward(plain(score, query, key), upstream),
    )
    report([Claim(f"additive B{BATCH} {QUERIES}×{KEYS} d{SIZE}", "plain torch", ours, other, 8.0)])


if __name__ == "__main__":
    main()
