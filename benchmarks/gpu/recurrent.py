"""G8: cells over a whole sequence beside cuDNN, regular and packed, and own cells beside a loop in Python."""

import copy
import functools
import sys
from collections.abc import Callable
from typing import Any

import torch
from measuring import LIMITS, Row, Run, report, time_beside
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from atento.layers import SIGMOID
from atento.recurrent import Cell, ElmanCell, GRUCell, GRUResetBeforeCell, JordanCell, LSTMCell, MGUCell, unroll
from atento.recurrent.unroll import step_by_step

DTYPE = torch.bfloat16
REGULAR = (32, 256, 128)  # batch, time, hidden
RAGGED = (50, 256, 256)
OWN: dict[str, Callable[[int, int], Cell[Any]]] = {
    "GRU, reset before the product": GRUResetBeforeCell,
    "MGU": MGUCell,
    "Jordan": JordanCell,
    "Elman with a sigmoid": functools.partial(ElmanCell, activation=SIGMOID),
}
PEERS: dict[str, tuple[Callable[[int, int], Cell[Any]], Callable[..., nn.RNNBase]]] = {
    "LSTM": (LSTMCell, nn.LSTM),
    "GRU": (GRUCell, nn.GRU),
    "Elman": (ElmanCell, nn.RNN),
}


def by_steps(cell: Cell[Any], inputs: Tensor, valid: Tensor | None = None) -> Tensor:
    """A loop in Python, one step after the other."""
    with step_by_step():
        return unroll(cell, inputs, valid=valid).outputs


def by_unroll(cell: Cell[Any], inputs: Tensor, valid: Tensor | None = None) -> Tensor:
    """The path that atento takes."""
    return unroll(cell, inputs, valid=valid).outputs


def packed(module: nn.RNNBase, lengths: Tensor, inputs: Tensor) -> Tensor:
    """cuDNN over a packed batch; the lengths are on the CPU already."""
    outputs, _ = module(pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False))
    return pad_packed_sequence(outputs, batch_first=True, total_length=inputs.size(1))[0]


def both_ways(run: Callable[[Tensor], Tensor], module: nn.Module, inputs: Tensor) -> Run:
    """Forward and backward, to the inputs and to every parameter."""
    given, upstream = [inputs, *module.parameters()], torch.randn_like(run(inputs))
    return lambda: torch.autograd.grad(run(inputs), given, upstream)


def gate(cell: Cell[Any], batch: int, time: int, *, ragged: bool) -> None:
    """Outputs and gradients against the loop in float64; ends the benchmark where they differ."""
    lengths = torch.randint(1, time + 1, (batch,), device="cuda")
    valid = torch.arange(time, device="cuda") < lengths.unsqueeze(-1) if ragged else None
    inputs = torch.randn(batch, time, cell.input_size, device="cuda", dtype=DTYPE)
    upstream, found = torch.randn(batch, time, cell.output_size, device="cuda", dtype=DTYPE), []
    for run, kind in ((by_unroll, DTYPE), (by_steps, DTYPE), (by_steps, torch.float64)):
        module, leaf = copy.deepcopy(cell).to(kind), inputs.to(kind).requires_grad_()
        outputs = run(module, leaf, valid)
        found.append([outputs.detach(), *torch.autograd.grad(outputs, [leaf, *module.parameters()], upstream.to(kind))])
    for number, (one, plain, other) in enumerate(zip(*found, strict=True)):
        error, usual = (float((part.double() - other).norm() / other.norm()) for part in (one, plain))
        if not error <= max(LIMITS[DTYPE], usual):
            print(f"wrong: {type(cell).__name__}, tensor {number}: {error:.1e} from float64, the loop {usual:.1e}")
            sys.exit(1)


def main() -> None:
    rows = []
    batch, time, size = REGULAR
    for name, make in OWN.items():
        cell = make(size, size).cuda().to(DTYPE)
        gate(cell, 19, 67, ragged=False)
        gate(cell, 19, 67, ragged=True)
        inputs = torch.randn(batch, time, size, device="cuda", dtype=DTYPE, requires_grad=True)
        runs = [both_ways(functools.partial(run, cell), cell, inputs) for run in (by_unroll, by_steps)]
        ours, loop = time_beside(*runs, graphs=False)
        rows.append(Row(f"{name} B{batch} T{time} h{size}, with backward", "a loop in Python", ours, loop, 10.0))
    for name, (make, peer) in PEERS.items():
        cell, module = make(size, size).cuda().to(DTYPE), peer(size, size, batch_first=True).cuda().to(DTYPE)
        inputs = torch.randn(batch, time, size, device="cuda", dtype=DTYPE, requires_grad=True)
        ours, theirs = time_beside(
            both_ways(functools.partial(by_unroll, cell), cell, inputs),
            both_ways(lambda given, run=module: run(given)[0], module, inputs),  # type: ignore[misc]
            graphs=False,
        )
        rows.append(Row(f"{name} B{batch} T{time} h{size}, with backward", "cuDNN", ours, theirs, 0.98))
    batch, time, size = RAGGED
    for name, (make, peer) in PEERS.items():
        cell, module = make(size, size).cuda().to(DTYPE), peer(size, size, batch_first=True).cuda().to(DTYPE)
        gate(cell, 19, 67, ragged=True)
        lengths = torch.randint(16, time + 1, (batch,))
        lengths[0] = time
        valid = (torch.arange(time) < lengths.unsqueeze(-1)).cuda()
        inputs = torch.randn(batch, time, size, device="cuda", dtype=DTYPE, requires_grad=True)
        ours, theirs = time_beside(
            both_ways(functools.partial(by_unroll, cell, valid=valid), cell, inputs),
            both_ways(functools.partial(packed, module, lengths), module, inputs),
            graphs=False,
        )
        rows.append(Row(f"{name} B{batch} T U(16,{time}) h{size}, with backward", "cuDNN, packed", ours, theirs, 2.0))
    report(rows)


if __name__ == "__main__":
    main()
