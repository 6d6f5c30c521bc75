"""C1: recurrent layers on two cores, beside torch's own modules (packed where ragged). Forward + backward, one thread.

Prints a ratio a case (speed of ours over theirs: larger is better), the worst margin last; exits 1 when one is missed.
"""

import statistics
import sys
import time
from collections.abc import Callable

import torch
from torch import nn

from atento.recurrent import Stack

CASES = [  # module, batch, time, input, hidden, ragged, target
    (nn.GRU, 32, 100, 64, 128, False, 1.6),
    (nn.GRU, 32, 96, 8, 64, False, 4.0),
    (nn.GRU, 32, 100, 64, 128, True, 3.0),
    (nn.LSTM, 32, 100, 64, 128, False, 1.0),
    (nn.LSTM, 32, 96, 8, 64, False, 1.0),
    (nn.LSTM, 32, 100, 64, 128, True, 3.0),
    (nn.RNN, 32, 100, 64, 128, False, 1.0),
    (nn.RNN, 32, 100, 64, 128, True, 3.0),
]
ROUNDS = 20


def main() -> int:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    margins = []
    for kind, batch, length, input_size, hidden, ragged, target in CASES:
        theirs = kind(input_size, hidden, batch_first=True)
        ours = Stack.from_torch(theirs)
        lengths = torch.randint(length // 4, length + 1, (batch,)) if ragged else torch.full((batch,), length)
        lengths[0] = length
        valid = torch.arange(length) < lengths.unsqueeze(1) if ragged else None
        check(theirs, ours, lengths, valid, input_size)
        times: dict[str, list[float]] = {"theirs": [], "ours": []}
        for _ in range(ROUNDS + 3):
            inputs = torch.randn(batch, length, input_size, requires_grad=True)
            times["theirs"].append(seconds(lambda: run_theirs(theirs, inputs, lengths, ragged)))  # noqa: B023
            times["ours"].append(seconds(lambda: ours(inputs, valid=valid).outputs.sum().backward()))  # noqa: B023
        ratio = statistics.median(times["theirs"][3:]) / statistics.median(times["ours"][3:])
        margins.append(ratio / target)
        state = "ok" if ratio >= target else "MISSED"
        shape = f"B{batch} T{length} in{input_size} h{hidden}{' ragged' if ragged else ''}"
        print(f"{kind.__name__:5} {shape:30} {ratio:5.2f}x torch   target {target}x   {state}")
    print(f"worst margin {min(margins):.2f} of target")
    return 0 if min(margins) >= 1 else 1


def run_theirs(module: nn.RNNBase, inputs: torch.Tensor, lengths: torch.Tensor, ragged: bool) -> None:
    if ragged:
        packed = nn.utils.rnn.pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
        outputs, _ = nn.utils.rnn.pad_packed_sequence(module(packed)[0], batch_first=True)
    else:
        outputs = module(inputs)[0]
    outputs.sum().backward()  # type: ignore[no-untyped-call]


def check(theirs: nn.RNNBase, ours: Stack, lengths: torch.Tensor, valid: torch.Tensor | None, input_size: int) -> None:
    """Correct before fast: outputs agree with torch's in float32."""
    inputs = torch.randn(len(lengths), int(lengths.max()), input_size)
    found = ours(inputs, valid=valid).outputs
    packed = nn.utils.rnn.pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
    expected, _ = nn.utils.rnn.pad_packed_sequence(theirs(packed)[0], batch_first=True)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(main())
