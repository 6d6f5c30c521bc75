"""G4 and a part of G5: sigmoid weights and the key with the highest score beside torch's softmax kernel; a key drawn
by its probability, with the straight-through gradient, beside torch.multinomial."""

import sys

import torch
from measuring import Row, both_ways, gate, inputs, report, time_beside
from torch import Tensor
from torch.nn import functional

from atento.attention import Attention, Everything, Hard, ScaledDot, Sigmoid


def by_multinomial(query: Tensor, key: Tensor, value: Tensor, chosen: Tensor | None = None) -> Tensor:
    """A drawn key as a user writes it: one-hot weights, with the gradient of the probabilities."""
    probabilities = (query @ key.mT / query.size(-1) ** 0.5).float().softmax(dim=-1)
    if chosen is None:
        chosen = torch.multinomial(probabilities.flatten(0, -2), 1).view(*probabilities.shape[:-1], 1)
    hard = torch.zeros_like(probabilities).scatter(-1, chosen, 1.0)
    return (hard + (probabilities - probabilities.detach())).to(value.dtype) @ value


def check_drawn(attention: Attention) -> None:
    """Keys are drawn as often as their probabilities say, and the gradient is that of the same keys by the formula."""
    query, key = (
        torch.randn(1, 1, 1, 64, device="cuda").expand(1, 1, 40000, 64),
        torch.randn(1, 1, 97, 64, device="cuda"),
    )
    drawn = attention(query, key, torch.eye(97, device="cuda").view(1, 1, 97, 97))
    weights = (query[0, 0, :1] @ key[0, 0].mT / 8).softmax(dim=-1)[0]
    found = drawn[0, 0].mean(dim=0)
    spread = (weights * (1 - weights) / 40000).sqrt()
    given = inputs(2, 3, 197, 64, gradient=True)
    context = attention(*given)
    chosen = torch.cdist(context.detach().float(), given[2].detach().float()).argmin(dim=-1, keepdim=True)
    upstream, exact = torch.randn_like(context), [part.detach().double().requires_grad_() for part in given]
    ours = torch.autograd.grad(context, given, upstream)
    wanted = torch.autograd.grad(by_multinomial(exact[0], exact[1], exact[2], chosen), exact, upstream.double())
    errors = [float((one.double() - other).norm() / other.norm()) for one, other in zip(ours, wanted, strict=True)]
    if not (bool(((found - weights).abs() < 5 * spread + 1e-4).all()) and max(errors) < 1e-2):
        print(f"wrong: drawn keys, gradients differ by {errors}")
        sys.exit(1)


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
    drawn = Attention(ScaledDot(), Hard(), Everything())
    check_drawn(drawn)
    given, name = inputs(4, 8, 2048, 64, gradient=True), "hard, a drawn key, B4 H8 n2048 d64"
    with torch.no_grad():
        ours, theirs = time_beside(lambda: drawn(*given), lambda: by_multinomial(*given))
    rows.append(Row(f"{name}, forward", "torch.multinomial", ours, theirs, 10.0))
    ours, theirs = time_beside(both_ways(drawn, given), both_ways(by_multinomial, given))
    rows.append(Row(f"{name}, with backward", "torch.multinomial", ours, theirs, 10.0))
    report(rows)


if __name__ == "__main__":
    main()
