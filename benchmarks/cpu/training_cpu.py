"""What every training step is made of on one core: dropout, a large linear layer and an LSTM, beside torch's.

    python benchmarks/cpu/training_cpu.py [--rounds 30]

Forward and backward, in float32; the linear layer and the LSTM once more with the bf16 products of a training by
default, where the processor has instructions for them. A gate first: relative error against float64 at most 1e-5, or
1e-2 in bf16, gradients too.
"""

import argparse
import copy
from collections.abc import Callable

import torch
from measuring_cpu import Claim, not_measured, one_thread, report, time_beside
from torch import Tensor, nn

from atento.layers.dropout import Dropout
from atento.layers.products import Linear, bf16_products, has_bf16_instructions
from atento.recurrent import LSTMCell, unroll

ROWS, SIZE, WIDE = 2048, 256, 1024
BATCH, TIME = 64, 20
GOALS = {"dropout": 3.0, "linear": 1.5, "LSTM": 0.0}
IN_BF16 = {"linear": 3.0, "LSTM": 1.5}
TOLERANCE = {False: 1e-5, True: 1e-2}

Layer = Callable[[Tensor], Tensor]


class OurLSTM(nn.Module):
    """A cell over a whole sequence."""

    def __init__(self, theirs: nn.LSTM) -> None:
        super().__init__()
        self.cell = LSTMCell(theirs.input_size, theirs.hidden_size)
        for ours, name in ((self.cell.read, "ih"), (self.cell.recur, "hh")):
            for part in ("weight", "bias"):
                getattr(ours, part).data.copy_(getattr(theirs, f"{part}_{name}_l0").detach())

    def forward(self, values: Tensor) -> Tensor:
        return unroll(self.cell, values).outputs


class TheirLSTM(nn.LSTM):
    """torch's, outputs alone."""

    def forward(self, values: Tensor) -> Tensor:  # type: ignore[override]
        return super().forward(values)[0]


def step(layer: nn.Module, values: Tensor, upstream: Tensor) -> list[Tensor]:
    """The output, and the gradients of values and weights."""
    leaf = values.detach().requires_grad_()
    output = layer(leaf)
    return [output, *torch.autograd.grad(output, [leaf, *layer.parameters()], upstream)]


def check(ours: nn.Module, values: Tensor, upstream: Tensor, *, in_bf16: bool) -> None:
    """Against float64."""
    wanted = step(copy.deepcopy(ours).double(), values.double(), upstream.double())
    with bf16_products(in_bf16):
        found = step(ours, values, upstream)
    for one, other in zip(found, wanted, strict=True):
        error = float(((one - other).norm() / other.norm()).detach())
        if error > TOLERANCE[in_bf16]:
            raise SystemExit(f"{type(ours).__name__}: a relative error of {error:.1e}")


def compared(name: str, ours: nn.Module, theirs: nn.Module, values: Tensor, shape: str, rounds: int) -> list[Claim]:
    """A layer of this package beside torch's."""
    with torch.no_grad():
        upstream = torch.randn_like(theirs(values))
    shorts = [False, True] if name in IN_BF16 and has_bf16_instructions() else [False]
    claims = []
    for in_bf16 in shorts:
        if name in IN_BF16:
            check(ours, values, upstream, in_bf16=in_bf16)

        def run(in_bf16: bool = in_bf16) -> None:
            with bf16_products(in_bf16):
                step(ours, values, upstream)

        found, peer = time_beside(run, lambda: step(theirs, values, upstream), rounds=rounds)
        claim = f"{name} {shape}" + (", ours in bf16" if in_bf16 else "")
        claims.append(Claim(claim, "torch", found, peer, (IN_BF16 if in_bf16 else GOALS)[name]))
    if name in IN_BF16 and not has_bf16_instructions():
        not_measured(f"{name} {shape}, ours in bf16", "torch", "this processor has no bf16 instructions")
    return claims


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=30)
    rounds = parser.parse_args().rounds
    one_thread()
    rows, sequences = torch.randn(ROWS, SIZE), torch.randn(BATCH, TIME, SIZE)
    linear, lstm = nn.Linear(SIZE, WIDE), TheirLSTM(SIZE, SIZE, batch_first=True)
    ours = Linear(SIZE, WIDE)
    ours.load_state_dict(linear.state_dict())
    report(
        [
            *compared("dropout", Dropout(0.1), nn.Dropout(0.1), rows, f"{ROWS}×{SIZE}", rounds),
            *compared("linear", ours, linear, rows, f"{ROWS}×{SIZE}→{WIDE}", rounds),
            *compared("LSTM", OurLSTM(lstm), lstm, sequences, f"B{BATCH} T{TIME} in{SIZE} h{SIZE}", rounds),
        ]
    )


if __name__ == "__main__":
    main()
