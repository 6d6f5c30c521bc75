"""Steps of an LSTM and of a GRU, forward and backward, in tensors that hold all steps of a walk.

A walk gives each step the sum of W x + b and of the context's product, and the product with the state."""

from typing import Protocol

import torch
from torch import Tensor

# Axes: T time, B batch, H hidden, G a cell's product.


class WalkedCell(Protocol):
    """What a walk asks of a cell. The products (T, B, G) become the gates, then their gradients."""

    products: Tensor

    def forward(self, time: int, recur: Tensor, before: Tensor, after: Tensor) -> None:
        """Write the state (B, H) after a step; `recur` (B, G) is the product with the state before."""

    def start_backward(self, states: Tensor) -> None:
        """Compute for all steps what depends on no later one; states (T + 1, B, H)."""

    def backward(self, time: int, d_after: Tensor, d_before: Tensor, d_recur: Tensor) -> Tensor:
        """Gradients (B, G) of the sum and, written to `d_recur`, of the state's product; adds what else reaches
        `d_before`.
        """


class WalkedLSTM:
    """c_t = f c_{t−1} + i g; h_t = o tanh(c_t), with the gates in the order i, f, g, o."""

    def __init__(self, products: Tensor, carry: Tensor) -> None:
        time, batch, hidden = len(products), *carry.shape
        self.hidden, self.products = hidden, products
        self.carries = products.new_empty(time + 1, batch, hidden)
        self.carries[0] = carry
        self.tanh = products.new_empty(time, batch, hidden)
        self.parts = [part.unbind(0) for part in torch.split(products, hidden, dim=-1)]
        self.write_and_keep = products[..., : 2 * hidden].unbind(0)

    def forward(self, time: int, recur: Tensor, before: Tensor, after: Tensor) -> None:
        """One step."""
        self.products[time].add_(recur)
        write, keep, content, output = (part[time] for part in self.parts)
        self.write_and_keep[time].sigmoid_()
        content.tanh_()
        output.sigmoid_()
        carry = torch.mul(keep, self.carries[time], out=self.carries[time + 1]).addcmul_(write, content)
        torch.mul(output, torch.tanh(carry, out=self.tanh[time]), out=after)

    def start_backward(self, states: Tensor) -> None:
        """The slopes of every gate."""
        write, keep, content, output = torch.split(self.products, self.hidden, dim=-1)
        one = write.new_ones(())
        self.slopes = torch.empty_like(self.products)
        to_write, to_keep, to_content, to_output = torch.split(self.slopes, self.hidden, dim=-1)
        torch.addcmul(write, write, write, value=-1, out=to_write).mul_(content)
        torch.addcmul(keep, keep, keep, value=-1, out=to_keep).mul_(self.carries[:-1])
        torch.addcmul(one, content, content, value=-1, out=to_content).mul_(write)
        torch.addcmul(output, output, output, value=-1, out=to_output).mul_(self.tanh)
        self.to_carry = torch.addcmul(one, self.tanh, self.tanh, value=-1).mul_(output)
        self.d_carry = torch.zeros_like(self.carries[0])

    def backward(self, time: int, d_after: Tensor, d_before: Tensor, d_recur: Tensor) -> Tensor:
        """One step; the gradient of the carry goes on in `d_carry`."""
        slopes = self.slopes[time]
        d_carry = self.d_carry.addcmul_(d_after, self.to_carry[time])
        slopes.view(-1, 4, self.hidden)[:, :3].mul_(d_carry.unsqueeze(1))
        slopes[:, 3 * self.hidden :].mul_(d_after)
        d_carry.mul_(self.parts[1][time])
        d_recur.copy_(slopes)
        return slopes


class WalkedGRU:
    """h_t = z h_{t−1} + (1 − z) n with n = tanh(a + r (U h_{t−1} + c)) and the gates in the order r, z, n."""

    def __init__(self, products: Tensor, hidden: int) -> None:
        self.hidden, self.products = hidden, products
        self.parts = [part.unbind(0) for part in torch.split(products, hidden, dim=-1)]
        self.gates = products[..., : 2 * hidden].unbind(0)
        self.recurs = products.new_empty(*products.shape[:2], hidden)  # U h + c of the candidate

    def forward(self, time: int, recur: Tensor, before: Tensor, after: Tensor) -> None:
        """One step."""
        reset, update, candidate = (part[time] for part in self.parts)
        self.gates[time].add_(recur[:, : 2 * self.hidden]).sigmoid_()
        content = self.recurs[time].copy_(recur[:, 2 * self.hidden :])
        candidate.addcmul_(reset, content).tanh_()
        torch.lerp(candidate, before, update, out=after)

    def start_backward(self, states: Tensor) -> None:
        """The slopes of every gate, and of the product of the state with the candidate's matrix."""
        reset, update, candidate = torch.split(self.products, self.hidden, dim=-1)
        self.slopes = torch.empty_like(self.products)
        to_reset, to_update, to_content = torch.split(self.slopes, self.hidden, dim=-1)
        torch.addcmul(candidate.new_ones(()), candidate, candidate, value=-1, out=to_content)
        to_content.addcmul_(to_content, update, value=-1)  # (1 − n²) (1 − z)
        torch.addcmul(reset, reset, reset, value=-1, out=to_reset).mul_(self.recurs).mul_(to_content)
        torch.addcmul(update, update, update, value=-1, out=to_update).mul_(states[:-1] - candidate)

    def backward(self, time: int, d_after: Tensor, d_before: Tensor, d_recur: Tensor) -> Tensor:
        """One step."""
        slopes = self.slopes[time]
        slopes.view(-1, 3, self.hidden).mul_(d_after.unsqueeze(1))
        d_before.addcmul_(d_after, self.parts[1][time])
        d_recur.copy_(slopes)
        d_recur[:, 2 * self.hidden :].mul_(self.parts[0][time])
        return slopes
