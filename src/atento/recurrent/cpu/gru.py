"""A GRU over a whole sequence on a CPU, forward and backward.

tanh(a) is computed as 2σ(2a) − 1, as a sigmoid costs a fifth of a tanh; the rows of the candidate in the weights are
doubled for it. A step is one product and five operations on tensors that are already there.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from atento.layers.products import is_rounded, product, product_to_weight
from atento.layers.second_derivatives import by_formula
from atento.native.library import Library, library_for
from atento.recurrent.cpu.steps import (
    StepOrder,
    add_product,
    plain_walk,
    read_gradients,
    widened,
)

# Axes: B batch, T time, M items of all steps, H hidden; r reset, z update, n candidate.


class GRUWalk(torch.autograd.Function):
    """Inputs (B, T, I), start (B, H), the weights and biases of both products -> outputs (B, T, H), last (B, H)."""

    @staticmethod
    def forward(context: Any, library: Library | None, steps: StepOrder, *parts: Tensor) -> tuple[Tensor, Tensor]:
        """h_t = n_t + z_t (h_{t−1} − n_t) with n_t = tanh(W x_t + b + r_t (U h_{t−1} + c))."""
        inputs, start, read_weight, read_bias, recur_weight, recur_bias = parts
        hidden = start.size(1)
        taken = steps.take(inputs)
        outside = read_bias.clone()
        outside[: 2 * hidden] += recur_bias[: 2 * hidden]
        reads = product(taken, read_weight, outside)[: steps.items]  # (M, 3H), which become r, z, U h + c
        states = inputs.new_empty(steps.batch + steps.items, hidden)
        states[: steps.batch] = steps.sort(start)
        bias, candidates = recur_bias[2 * hidden :], reads.new_empty(steps.items, hidden)
        bf16 = is_rounded(steps.items * recur_weight.numel())
        if library is None:
            walk_steps(steps, recur_weight, states, reads, candidates, bias)
        else:
            arguments = recur_weight, states, reads, candidates, bias
            library.walk("gru_forward", steps.sizes, steps.batch, *arguments, bf16=bf16)
        context.library, context.steps, context.bf16 = library, steps, bf16
        context.save_for_backward(*parts)
        context.kept = taken, reads, states, candidates
        return steps.put(states[steps.batch :]), steps.last(states)

    @staticmethod
    def backward(context: Any, *upstream: Tensor) -> tuple[Any, ...]:
        """The gradients of all parts."""
        parts, steps, library = context.saved_tensors, context.steps, context.library
        if torch.is_grad_enabled():
            return None, None, *by_formula(lambda *given: gru_formula(steps, *given), parts, upstream)
        _, start, read_weight, _, recur_weight, _ = parts
        taken, reads, states, candidates = context.kept
        hidden = start.size(1)
        d_states = torch.empty_like(states)
        d_states[: steps.batch] = 0.0
        steps.take_into(d_states[steps.batch :], upstream[0])
        steps.add_to_last(d_states, upstream[1])
        d_product = reads.new_empty(len(taken), 3 * hidden)
        d_product[steps.items :] = 0.0
        kept, d_content = (states, reads, candidates), torch.empty_like(candidates)
        if library is None:
            walk_back(steps, recur_weight, *kept, d_states, d_product[: steps.items], d_content)
        else:
            arguments = recur_weight, *kept, d_states, d_product, d_content
            library.walk("gru_backward", steps.sizes, steps.batch, *arguments, bf16=context.bf16)
        d_recur = product_to_weight(d_product[: steps.items], steps.before(states))
        d_recur_bias = d_product.sum(dim=0)
        d_product[: steps.items, 2 * hidden :] = d_content  # now the gradients of the reads
        needs = [context.needs_input_grad[place] for place in (2, 4, 5)]
        d_inputs, d_read, d_read_bias = read_gradients(steps, d_product, taken, read_weight, needs)
        return None, None, d_inputs, steps.unsort(d_states), d_read, d_read_bias, d_recur, d_recur_bias


def walk_steps(
    steps: StepOrder, weight: Tensor, states: Tensor, reads: Tensor, candidates: Tensor, bias: Tensor
) -> None:
    """Write the states of all items after the first B of (B + M, H), and the candidates n (M, H).

    reads (M, 3H): W x + b, and c in r and z -> r, z, U h + c; the bias (H,) is c of the candidate.
    """
    hidden = states.size(1)
    double = weight.new_ones(3 * hidden)
    double[2 * hidden :] = 2.0
    content = 2 * reads[:, 2 * hidden :]
    reads[:, 2 * hidden :] = 2 * bias
    minus = -torch.ones_like(states[: steps.batch])
    transposed = (weight * double.unsqueeze(1)).t().contiguous()  # (H, 3H)
    shrinking = [minus] * len(steps.sizes) if steps.places is None else [minus[:size] for size in steps.sizes]
    for one, before, after, product_t, gates, reset, update, from_state, read, candidate in zip(
        shrinking,
        steps.split_before(states),
        steps.split(states[steps.batch :]),
        steps.split(reads),
        steps.split(reads[:, : 2 * hidden]),
        steps.split(reads[:, :hidden]),
        steps.split(reads[:, hidden : 2 * hidden]),
        steps.split(reads[:, 2 * hidden :]),
        steps.split(content),
        steps.split(candidates),
        strict=False,
    ):
        add_product(product_t, before, transposed)
        gates.sigmoid_()
        torch.addcmul(read, reset, from_state, out=candidate).sigmoid_()
        torch.add(one, candidate, alpha=2, out=candidate)
        torch.lerp(candidate, before, update, out=after)
    reads[:, 2 * hidden :] *= 0.5


def walk_back(
    steps: StepOrder,
    weight: Tensor,
    states: Tensor,
    gates: Tensor,
    candidates: Tensor,
    d_states: Tensor,
    d_product: Tensor,
    d_content: Tensor,
) -> None:
    """Write the gradients (M, 3H) of U h + c, (M, H) of W x + b of n and, to d_states, of all states.

    What depends on no later step is computed for all steps first.
    """
    hidden = states.size(1)
    d_after, slopes = d_states[steps.batch :], d_product.view(-1, 3, hidden)
    write_slopes(slopes, d_content, gates, candidates, steps.before(states))
    for before, d_state, d_wide, update, slope, d_step in zip(
        reversed(steps.split_before(d_states)[:-1]),
        reversed(steps.split(d_after)),
        reversed(steps.split(d_after.unsqueeze(1))),
        reversed(steps.split(gates[:, hidden : 2 * hidden])),
        reversed(steps.split(slopes)),
        reversed(steps.split(d_product)),
        strict=True,
    ):
        slope.mul_(d_wide)
        add_product(before.addcmul_(d_state, update), d_step, weight)
    d_content.mul_(d_after)


def write_slopes(slopes: Tensor, to_content: Tensor, gates: Tensor, candidates: Tensor, earlier: Tensor) -> None:
    """How a state changes with each part of its product: slopes (m, 3, H), and with its candidate's argument."""
    reset, update, from_state = gates.chunk(3, dim=-1)
    to_reset, to_update, to_recur = slopes.unbind(1)
    torch.addcmul(candidates.new_ones(()), candidates, candidates, value=-1, out=to_content)
    to_content.addcmul_(to_content, update, value=-1)  # (1 − n²) (1 − z)
    torch.mul(to_content, reset, out=to_recur)
    torch.addcmul(to_recur, to_recur, reset, value=-1, out=to_reset).mul_(from_state)
    torch.sub(earlier, candidates, out=to_update).mul_(update)
    to_update.addcmul_(to_update, update, value=-1)  # (h − n) z (1 − z)


def gru_formula(steps: StepOrder, *parts: Tensor) -> tuple[Tensor, ...]:
    """The same by plain operations, step by step."""
    inputs, start, read_weight, read_bias, recur_weight, recur_bias = parts

    def advance(read: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        (hidden,) = state
        recur = functional.linear(hidden, recur_weight, recur_bias)
        (read_r, read_z, read_n), (recur_r, recur_z, recur_n) = read.chunk(3, dim=-1), recur.chunk(3, dim=-1)
        candidate = torch.tanh(read_n + torch.sigmoid(read_r + recur_r) * recur_n)
        return (torch.lerp(candidate, hidden, torch.sigmoid(read_z + recur_z)),)

    return plain_walk(steps, functional.linear(inputs, read_weight, read_bias), (start,), advance)


def gru_walk(steps: StepOrder, *parts: Tensor) -> tuple[Tensor, Tensor]:
    """Outputs (B, T, H), zero at padding, and the last states (B, H)."""
    library, hidden = library_for(*parts), parts[1].size(1)
    if library is not None and hidden % library.lanes:
        parts = widened(*parts, gates=3, lanes=library.lanes)
    outputs, last = GRUWalk.apply(library, steps, *parts)  # type: ignore[no-untyped-call]
    return outputs[..., :hidden], last[..., :hidden]
