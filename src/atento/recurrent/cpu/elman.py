"""An Elman network over a whole sequence on a CPU, forward and backward, with tanh or ReLU."""

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

# Axes: B batch, T time, M items of all steps, H hidden.


class ElmanWalk(torch.autograd.Function):
    """Inputs (B, T, I), start (B, H), the weights and biases of both products -> outputs (B, T, H), last (B, H)."""

    @staticmethod
    def forward(
        context: Any, library: Library | None, is_relu: bool, steps: StepOrder, *parts: Tensor
    ) -> tuple[Tensor, Tensor]:
        """h_t = g(W x_t + b + U h_{t−1} + c)."""
        inputs, start, read_weight, read_bias, recur_weight, recur_bias = parts
        taken = steps.take(inputs)
        states = inputs.new_empty(steps.batch + steps.items, start.size(1))
        states[: steps.batch] = steps.sort(start)
        states[steps.batch :] = product(taken, read_weight, read_bias + recur_bias)[: steps.items]
        bf16 = is_rounded(steps.items * recur_weight.numel())
        if library is None:
            walk_steps(is_relu, steps, recur_weight, states)
        else:
            arguments = recur_weight, int(is_relu), states
            library.walk("elman_forward", steps.sizes, steps.batch, *arguments, bf16=bf16)
        context.library, context.steps, context.is_relu, context.bf16 = library, steps, is_relu, bf16
        context.kept = taken, states
        context.save_for_backward(*parts)
        return steps.put(states[steps.batch :]), steps.last(states)

    @staticmethod
    def backward(context: Any, *upstream: Tensor) -> tuple[Any, ...]:
        """The gradients of all parts: g′ of a step is known from its state, 1 − h² or whether h > 0."""
        parts, steps, is_relu = context.saved_tensors, context.steps, context.is_relu
        if torch.is_grad_enabled():
            return None, None, None, *by_formula(lambda *given: elman_formula(is_relu, steps, *given), parts, upstream)
        taken, states = context.kept
        after = states[steps.batch :]
        slopes = states.new_zeros(len(taken), states.size(1))
        if is_relu:
            torch.sign(after, out=slopes[: steps.items])
        else:
            torch.addcmul(torch.ones((), dtype=states.dtype), after, after, value=-1, out=slopes[: steps.items])
        d_states = torch.empty_like(states)
        d_states[: steps.batch] = 0.0
        steps.take_into(d_states[steps.batch :], upstream[0])
        steps.add_to_last(d_states, upstream[1])
        if context.library is None:
            walk_back(steps, parts[4], d_states, slopes[: steps.items])
        else:
            arguments = parts[4], d_states, slopes
            context.library.walk("elman_backward", steps.sizes, steps.batch, *arguments, bf16=context.bf16)
        d_recur = product_to_weight(slopes[: steps.items], steps.before(states))
        needs = [context.needs_input_grad[place] for place in (3, 5, 6)]
        d_inputs, d_read, _ = read_gradients(steps, slopes, taken, parts[2], [*needs[:2], False])
        d_bias = slopes.sum(dim=0)
        return None, None, None, d_inputs, steps.unsort(d_states), d_read, d_bias, d_recur, d_bias


def walk_steps(is_relu: bool, steps: StepOrder, weight: Tensor, states: Tensor) -> None:
    """W x + b + c of all items, after the first states in (B + M, H), become their states."""
    transposed = weight.t().contiguous()
    activate = torch.relu_ if is_relu else torch.tanh_
    for before, after in zip(steps.split_before(states), steps.split(states[steps.batch :]), strict=False):
        add_product(after, before, transposed)
        activate(after)


def walk_back(steps: StepOrder, weight: Tensor, d_states: Tensor, slopes: Tensor) -> None:
    """The slopes g′ (M, H) become the gradients of the products; d_states (B + M, H) those of all states."""
    for before, d_state, slope in zip(
        reversed(steps.split_before(d_states)[:-1]),
        reversed(steps.split(d_states[steps.batch :])),
        reversed(steps.split(slopes)),
        strict=True,
    ):
        add_product(before, slope.mul_(d_state), weight)


def elman_formula(is_relu: bool, steps: StepOrder, *parts: Tensor) -> tuple[Tensor, ...]:
    """The same by plain operations, step by step."""
    inputs, start, read_weight, read_bias, recur_weight, recur_bias = parts
    activate = torch.relu if is_relu else torch.tanh

    def advance(read: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return (activate(read + functional.linear(state[0], recur_weight, recur_bias)),)

    return plain_walk(steps, functional.linear(inputs, read_weight, read_bias), (start,), advance)


def elman_walk(steps: StepOrder, *parts: Tensor, is_relu: bool = False) -> tuple[Tensor, Tensor]:
    """Outputs (B, T, H), zero at padding, and the last states (B, H)."""
    library, hidden = library_for(*parts), parts[1].size(1)
    if library is not None and hidden % library.lanes:
        parts = widened(*parts, gates=1, lanes=library.lanes)
    outputs, last = ElmanWalk.apply(library, is_relu, steps, *parts)  # type: ignore[no-untyped-call]
    return outputs[..., :hidden], last[..., :hidden]
