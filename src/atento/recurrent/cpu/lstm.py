"""An LSTM over a whole sequence on a CPU, forward and backward, by the compiled library, which passes over padding."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from atento.layers.products import is_rounded, product, product_to_weight
from atento.layers.second_derivatives import by_formula
from atento.native.library import Library, library_for
from atento.recurrent.cpu.steps import StepOrder, plain_walk, read_gradients, widened

# Axes: B batch, T time, M items of all steps, H hidden; gates in the order i write, f keep, g content, o output.

MOSTLY_REAL = 0.9  # of a batch
SMALL = 96  # units


class LSTMWalk(torch.autograd.Function):
    """Inputs (B, T, I), start and carry (B, H), the weights and biases of both products -> outputs (B, T, H), the last
    states and carries (B, H).
    """

    @staticmethod
    def forward(context: Any, library: Library, steps: StepOrder, *parts: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """c_t = f c_{t−1} + i g; h_t = o tanh(c_t)."""
        inputs, start, carry, read_weight, read_bias, recur_weight, recur_bias = parts
        taken = steps.take(inputs)
        gates = product(taken, read_weight, read_bias + recur_bias)[: steps.items]  # (M, 4H)
        states, carries = inputs.new_empty(2, steps.batch + steps.items, start.size(1))
        states[: steps.batch], carries[: steps.batch] = steps.sort(start), steps.sort(carry)
        bf16 = is_rounded(steps.items * recur_weight.numel())
        library.walk("lstm_forward", steps.sizes, steps.batch, recur_weight, states, carries, gates, bf16=bf16)
        context.library, context.steps, context.bf16 = library, steps, bf16
        context.kept = taken, gates, states, carries
        context.save_for_backward(*parts)
        return steps.put(states[steps.batch :]), steps.last(states), steps.last(carries)

    @staticmethod
    def backward(context: Any, *upstream: Tensor) -> tuple[Any, ...]:
        """The gradients of all parts."""
        parts, steps = context.saved_tensors, context.steps
        if torch.is_grad_enabled():
            return None, None, *by_formula(lambda *given: lstm_formula(steps, *given), parts, upstream)
        taken, gates, states, carries = context.kept
        d_product = gates.new_empty(len(taken), gates.size(1))
        d_product[steps.items :] = 0.0
        d_states = torch.empty_like(states)
        d_states[: steps.batch] = 0.0
        steps.take_into(d_states[steps.batch :], upstream[0])
        steps.add_to_last(d_states, upstream[1])
        d_carry = steps.sort(upstream[2]).clone(memory_format=torch.contiguous_format)
        arguments = parts[5], carries, gates, d_states, d_carry, d_product
        context.library.walk("lstm_backward", steps.sizes, steps.batch, *arguments, bf16=context.bf16)
        d_recur = product_to_weight(d_product[: steps.items], steps.before(states))
        needs = [context.needs_input_grad[place] for place in (2, 5, 6)]
        d_inputs, d_read, _ = read_gradients(steps, d_product, taken, parts[3], [*needs[:2], False])
        d_bias = d_product.sum(dim=0)
        d_start, d_first = steps.unsort(d_states), steps.unsort(d_carry)
        return None, None, d_inputs, d_start, d_first, d_read, d_bias, d_recur, d_bias


def lstm_formula(steps: StepOrder, *parts: Tensor) -> tuple[Tensor, ...]:
    """The same by plain operations, step by step."""
    inputs, start, carry, read_weight, read_bias, recur_weight, recur_bias = parts

    def advance(read: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        hidden, before = state
        write, keep, content, output = (read + functional.linear(hidden, recur_weight, recur_bias)).chunk(4, dim=-1)
        after = torch.sigmoid(keep) * before + torch.sigmoid(write) * torch.tanh(content)
        return torch.sigmoid(output) * torch.tanh(after), after

    return plain_walk(steps, functional.linear(inputs, read_weight, read_bias), (start, carry), advance)


def lstm_walk(steps: StepOrder, *parts: Tensor) -> tuple[Tensor, ...]:
    """Outputs (B, T, H), zero at padding, the last states and carries (B, H); without the library by the formula."""
    library, hidden = library_for(*parts), parts[1].size(1)
    if library is None:
        outputs, *last = lstm_formula(steps, *parts)
        return outputs, *last
    if hidden % library.lanes:
        inputs, start, carry, *weights = parts
        inputs, start, *weights = widened(inputs, start, *weights, gates=4, lanes=library.lanes)
        parts = inputs, start, functional.pad(carry, (0, start.size(1) - hidden)), *weights
    outputs, *last = LSTMWalk.apply(library, steps, *parts)  # type: ignore[no-untyped-call]
    return outputs[..., :hidden], *(part[..., :hidden] for part in last)


def library_is_faster(weight: Tensor, inputs: Tensor, valid: Tensor | None) -> bool:
    """Whether the library computes a batch sooner than torch's LSTM, whose inputs have a weight (4 H, I).

    It does where much of a batch is padding, and in training where the cell is small and not in bfloat16.
    """
    padded = valid is not None and int(valid.sum()) <= MOSTLY_REAL * valid.numel()
    small = weight.size(0) <= 4 * SMALL and torch.is_grad_enabled()
    rounded = is_rounded(inputs.size(0) * inputs.size(1) * weight.numel())
    return (padded or (small and not rounded)) and library_for(inputs) is not None
