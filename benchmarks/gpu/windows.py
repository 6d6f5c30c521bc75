"""G6: windows and strides beside FlexAttention with its block mask kept; spans and positions that are learned beside it
with the mask made anew in every call. FlexAttention has no factor of weights: the Gaussian of predicted positions is a
bias there, which is as much work."""

from collections.abc import Callable

import torch
from measuring import Row, both_ways, gate, inputs, report, time_beside
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask, create_block_mask, flex_attention

from atento.attention import (
    AdaptiveSpan,
    Attention,
    Causal,
    Extent,
    PredictiveLocal,
    ScaledDot,
    Softmax,
    Strided,
    Window,
)

LENGTH, HEADS = 16384, 16


def near(batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
    return (query - key).abs() <= 128


def strided(batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
    distance = query - key
    return (distance >= 0) & ((distance <= 128) | (distance % 128 == 0))


def main() -> None:
    rows, flex = [], torch.compile(flex_attention)
    patterns: tuple[tuple[str, Extent, object], ...] = (
        ("window 128", Window(128), near),
        ("causal strided 128", Causal() & Strided(128), strided),
    )
    for name, extent, mask in patterns:
        attention = Attention(ScaledDot(), Softmax(), extent)
        gate(attention, 2, 3, 797, 64)
        blocks = create_block_mask(mask, None, None, LENGTH, LENGTH, device="cuda")  # type: ignore[arg-type]
        given = inputs(2, HEADS, LENGTH, 64, gradient=True)

        def theirs(query: Tensor, key: Tensor, value: Tensor, blocks: BlockMask = blocks) -> Tensor:
            found: Tensor = flex(query, key, value, block_mask=blocks)
            return found

        with torch.no_grad():
            ours, other = time_beside(lambda run=attention, g=given: run(*g), lambda run=theirs, g=given: run(*g))  # type: ignore[misc]
        rows.append(Row(f"{name} B2 H16 n16384 d64, forward", "FlexAttention, mask kept", ours, other, 1.0))
        ours, other = time_beside(both_ways(attention, given), both_ways(theirs, given))
        rows.append(Row(f"{name} B2 H16 n16384 d64, with backward", "FlexAttention, mask kept", ours, other, 1.0))
    rows += [adaptive_span(flex), *predicted(flex)]
    report(rows)


def adaptive_span(flex: Callable[..., Tensor]) -> Row:
    span = Attention(ScaledDot(), Softmax(), AdaptiveSpan(HEADS, 256, 32)).cuda().bfloat16()
    gate(span, 2, HEADS, 397, 64)
    given = inputs(2, HEADS, LENGTH, 64)
    reach = span.extent.span.detach().flatten()  # type: ignore[operator]

    def learned(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """The span changes with every step of training: so does the mask."""
        blocks = create_block_mask(
            lambda b, h, i, j: (i - j).abs() < reach[h] + 32, None, HEADS, LENGTH, LENGTH, device="cuda", _compile=True
        )
        ramp = lambda score, b, h, i, j: score + torch.log(((32 + reach[h] - (i - j).abs()) / 32).clamp(0.0, 1.0))  # noqa: E731
        found: Tensor = flex(query, key, value, score_mod=ramp, block_mask=blocks)
        return found

    with torch.no_grad():
        ours, other = time_beside(lambda: span(*given), lambda: learned(*given), graphs=False)
    return Row("adaptive span B2 H16 n16384 d64, forward", "FlexAttention, mask rebuilt", ours, other, 4.0)


def predicted(flex: Callable[..., Tensor]) -> list[Row]:
    attention = Attention(ScaledDot(), Softmax(), PredictiveLocal(64, 64, 128)).cuda().bfloat16()
    gate(attention, 2, HEADS, 397, 64)
    given, rows = inputs(2, HEADS, LENGTH, 64, gradient=True), []
    extent: PredictiveLocal = attention.extent  # type: ignore[assignment]
    every = torch.ones(1, LENGTH, dtype=torch.bool, device="cuda")

    def theirs(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """Positions change with every query."""
        centre = extent.centre(query, every)
        still = centre.detach()
        blocks = create_block_mask(
            lambda b, h, i, j: (j - still[b, h, i]).abs() <= 128, 2, HEADS, LENGTH, LENGTH, device="cuda", _compile=True
        )
        bell = lambda score, b, h, i, j: score - 2 * ((j - centre[b, h, i]) / 128) ** 2  # noqa: E731
        found: Tensor = flex(query, key, value, score_mod=bell, block_mask=blocks)
        return found

    name, peer = "predictive local 128 B2 H16 n16384 d64", "FlexAttention, mask rebuilt"
    with torch.no_grad():
        ours, other = time_beside(lambda: attention(*given), lambda: theirs(*given), graphs=False)
    rows.append(Row(f"{name}, forward", peer, ours, other, 4.0))
    ours, other = time_beside(both_ways(attention, given), both_ways(theirs, given), graphs=False)
    return [*rows, Row(f"{name}, with backward", peer, ours, other, 4.0)]


if __name__ == "__main__":
    main()
