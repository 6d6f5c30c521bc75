"""G2: additive attention beside torch.compile, the better of two ways of writing it; memory beside plain torch."""

import functools
from collections.abc import Callable

import torch
from measuring import Row, Run, both_ways, gate, inputs, peak_memory, report, time_beside
from torch import Tensor

from atento.attention import Additive, Attention, Everything, Softmax

SHAPES = ((64, 64, 512), (32, 512, 512), (4, 2048, 256))  # batch, length, width


def written(score: Additive, *, by_product: bool) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """Additive attention as a user writes it."""

    def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        mixed = torch.tanh(score.project_query(query).unsqueeze(-2) + score.project_key(key).unsqueeze(-3))
        weight = score.collapse.weight.squeeze(0)
        scores = mixed @ weight if by_product else (mixed * weight).sum(dim=-1)
        return scores.softmax(dim=-1) @ value

    return attend


def main() -> None:
    rows = []
    for batch, length, width in SHAPES:
        torch._dynamo.reset()
        name = f"B{batch} n{length} d{width}"
        attention = Attention(Additive(width, width, hidden_size=width), Softmax(), Everything()).cuda().bfloat16()
        gate(attention, 2, 131, width)
        given = inputs(batch, length, width, gradient=True)
        ways = [torch.compile(written(attention.score, by_product=way)) for way in (True, False)]  # type: ignore[arg-type]
        runs: list[Run] = [functools.partial(run, *given) for run in (attention.__call__, *ways)]
        with torch.no_grad():
            ours, *compiled = time_beside(*runs)
        rows.append(Row(f"additive {name}, forward", "torch.compile", ours, min(compiled), 4.0))
        ours, *compiled = time_beside(both_ways(attention, given), *(both_ways(way, given) for way in ways))
        rows.append(Row(f"additive {name}, with backward", "torch.compile", ours, min(compiled), 6.0))
        if length == SHAPES[-1][1]:
            plain = peak_memory(both_ways(written(attention.score, by_product=True), given))  # type: ignore[arg-type]
            own = peak_memory(both_ways(attention, given))
            rows.append(
                Row(f"additive {name}, peak memory with backward, MB", "plain torch", own / 1e6, plain / 1e6, 50.0)
            )
    report(rows)


if __name__ == "__main__":
    main()
