"""G5: compositional de-attention beside torch.compile, the better of two ways of writing it."""

from collections.abc import Callable

import torch
from measuring import Row, Run, both_ways, gate, inputs, report, time_beside
from torch import Tensor

from atento.attention import Attention, DeAttention, Everything, Opposed, ScaledDot, Similarity, minus_manhattan

WIDTH = 64


def by_norm(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """The distance as a norm."""
    far = torch.linalg.vector_norm(query.unsqueeze(-2) - key.unsqueeze(-3), ord=1, dim=-1) / WIDTH
    return (query @ key.mT / WIDTH**0.5).tanh() * (2 * (-far).sigmoid()) @ value


def by_sum(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """The distance as a sum, which torch.compile fuses."""
    far = (query.unsqueeze(-2) - key.unsqueeze(-3)).abs().float().sum(dim=-1).to(query.dtype) / WIDTH
    return (query @ key.mT / WIDTH**0.5).tanh() * (2 * (-far).sigmoid()) @ value


def main() -> None:
    attention = Attention(
        Opposed(ScaledDot(), Similarity(minus_manhattan, sharpness=1 / WIDTH)), DeAttention(), Everything()
    )
    gate(attention, 2, 3, 197, WIDTH)
    given, rows, name = inputs(4, 8, 2048, WIDTH, gradient=True), [], "de-attention B4 H8 n2048 d64"
    ways: list[Callable[..., Tensor]] = []
    for written in (by_norm, by_sum):
        way = torch.compile(written)
        try:
            both_ways(way, given)()
            ways.append(way)
        except torch.OutOfMemoryError:
            print(f"{written.__name__}: out of memory with backward")
            torch.cuda.empty_cache()
    with torch.no_grad():
        runs: list[Run] = [lambda run=run: run(*given) for run in (attention, *ways)]  # type: ignore[misc]
        ours, *theirs = time_beside(*runs, graphs=False)
    rows.append(Row(f"{name}, forward", "torch.compile", ours, min(theirs), 5.0))
    ours, *theirs = time_beside(*(both_ways(run, given) for run in (attention.__call__, *ways)), graphs=False)
    rows.append(Row(f"{name}, with backward", "torch.compile", ours, min(theirs), 5.0))
    report(rows)


if __name__ == "__main__":
    main()
