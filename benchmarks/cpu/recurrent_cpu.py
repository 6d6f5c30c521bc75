"""C1: recurrent layers beside torch's own modules, packed where ragged. Forward + backward, float32, one thread."""

import torch
from measuring_cpu import Claim, one_thread, report, time_beside
from torch import Tensor, nn

from atento.recurrent import Stack

CASES = [  # module, batch, time, input, hidden, ragged, goal
    (nn.GRU, 32, 100, 64, 128, False, 1.6),
    (nn.GRU, 32, 96, 8, 64, False, 4.0),
    (nn.GRU, 32, 100, 64, 128, True, 3.0),
    (nn.LSTM, 32, 100, 64, 128, False, 1.0),
    (nn.LSTM, 32, 96, 8, 64, False, 1.0),
    (nn.LSTM, 32, 100, 64, 128, True, 3.0),
    (nn.RNN, 32, 100, 64, 128, False, 1.0),
    (nn.RNN, 32, 100, 64, 128, True, 3.0),
]


def main() -> None:
    one_thread()
    claims = []
    for kind, batch, length, input_size, hidden, ragged, goal in CASES:
        theirs = kind(input_size, hidden, batch_first=True)
        ours = Stack.from_torch(theirs)
        lengths = torch.randint(length // 4, length + 1, (batch,)) if ragged else torch.full((batch,), length)
        lengths[0] = length
        valid = torch.arange(length) < lengths.unsqueeze(1) if ragged else None
        inputs = torch.randn(batch, length, input_size, requires_grad=True)
        found = ours(inputs, valid=valid).outputs
        torch.testing.assert_close(found, packed_outputs(theirs, inputs, lengths), rtol=1e-5, atol=1e-5)

        def run_theirs(theirs=theirs, inputs=inputs, lengths=lengths, ragged=ragged) -> None:  # type: ignore[no-untyped-def]
            outputs = packed_outputs(theirs, inputs, lengths) if ragged else theirs(inputs)[0]
            outputs.sum().backward()

        def run_ours(ours=ours, inputs=inputs, valid=valid) -> None:  # type: ignore[no-untyped-def]
            ours(inputs, valid=valid).outputs.sum().backward()

        mine, other = time_beside(run_ours, run_theirs)
        shape = f"B{batch} T{length} in{input_size} h{hidden}{' ragged' if ragged else ''}"
        claims.append(Claim(f"{kind.__name__} {shape}", f"torch{', packed' if ragged else ''}", mine, other, goal))
    report(claims)


def packed_outputs(module: nn.RNNBase, inputs: Tensor, lengths: Tensor) -> Tensor:
    packed = nn.utils.rnn.pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
    outputs, _ = nn.utils.rnn.pad_packed_sequence(module(packed)[0], batch_first=True)
    return outputs


if __name__ == "__main__":
    main()
