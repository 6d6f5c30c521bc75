"""The forward and backward pass of a GRU over a whole sequence on a CPU.

Torch's GRU records every small operation of every step for the backward pass there. This function keeps four tensors
and computes the gradient of all weights in one product.
"""

from typing import Any

import torch
from torch import Tensor

# Axes: T time, B batch, H hidden. Time first: a step is contiguous.


class GRUFunction(torch.autograd.Function):
    """reads (T, B, 3H) = W x + b of all steps, start (B, H), recurrent weight (3H, H) and bias -> outputs (T, B, H)."""

    @staticmethod
    def forward(context: Any, reads: Tensor, start: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """h_t = n_t + z_t (h_{t−1} − n_t)."""
        time, batch, hidden = len(reads), len(start), start.size(1)
        outputs = reads.new_empty(time, batch, hidden)
        products = torch.empty_like(reads)  # U h + c
        gates = reads.new_empty(time, batch, 2 * hidden)  # reset, update
        candidates = torch.empty_like(outputs)
        transposed = weight.mT
        state = start
        for step in range(time):
            product = torch.addmm(bias, state, transposed, out=products[step])
            gate = torch.add(reads[step, :, : 2 * hidden], product[:, : 2 * hidden], out=gates[step]).sigmoid_()
            candidate = torch.addcmul(
                reads[step, :, 2 * hidden :], gate[:, :hidden], product[:, 2 * hidden :], out=candidates[step]
            ).tanh_()
            state = torch.lerp(candidate, state, gate[:, hidden:], out=outputs[step])
        context.save_for_backward(outputs, products, gates, candidates, start, weight)
        return outputs

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The gradients of all arguments; what depends on no later step is computed for all steps first."""
        outputs, products, gates, candidates, start, weight = context.saved_tensors
        hidden = start.size(1)
        reset, update = gates.split(hidden, dim=-1)
        before = torch.cat([start.unsqueeze(0), outputs[:-1]])  # h_{t−1}
        rest = 1 - update
        to_candidate = rest * (1 - candidates.square())
        to_update = (before - candidates) * update * rest
        to_reset = products[..., 2 * hidden :] * reset * (1 - reset)
        d_products = torch.empty_like(products)
        d_candidates = torch.empty_like(candidates)
        d_state = torch.zeros_like(start)
        for step in range(len(outputs) - 1, -1, -1):
            d_state = d_state + gradients[0][step]
            d_product = d_products[step]
            d_candidate = torch.mul(d_state, to_candidate[step], out=d_candidates[step])
            torch.mul(d_candidate, to_reset[step], out=d_product[:, :hidden])
            torch.mul(d_state, to_update[step], out=d_product[:, hidden : 2 * hidden])
            torch.mul(d_candidate, reset[step], out=d_product[:, 2 * hidden :])
            d_state = torch.addmm(d_state * update[step], d_product, weight)
        d_reads = torch.cat([d_products[..., : 2 * hidden], d_candidates], dim=-1)
        flat = d_products.flatten(0, 1)
        return d_reads, d_state, flat.mT @ before.flatten(0, 1), flat.sum(dim=0)


def gru_outputs(reads: Tensor, start: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Outputs (B, T, H) of reads (B, T, 3H) = W x + b, from the state `start` (B, H)."""
    outputs: Tensor = GRUFunction.apply(reads.transpose(0, 1).contiguous(), start, weight, bias)  # type: ignore[no-untyped-call]
    return outputs.transpose(0, 1)
