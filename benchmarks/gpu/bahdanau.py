"""G9: an attentive decoder that reads its own context, beside a plain loop, alone and in a whole training step."""

import copy
import sys
from typing import Any

import torch
from measuring import LIMITS, Row, Run, report, time_beside
from torch import Tensor, nn
from torch.nn import functional

from atento.attention import Additive, Attention, Everything, Softmax
from atento.layers.embeddings import TokenEmbedding
from atento.models.backbones.recurrent import RecurrentEncoder, as_state
from atento.models.backbones.recurrent_decoders import BahdanauDecoder
from atento.models.protocols import Encoded
from atento.models.summaries import end_states
from atento.models.translator import TranslationBatch, Translator
from atento.recurrent import GRUCell, Stack
from atento.tasks.outputs.sequence_loss import next_token_loss

BATCH, LENGTH, SIZE, WORDS = 128, 50, 512, 8000


class PlainDecoder(nn.Module):
    """A decoder with additive attention as a user writes it: one loop over the target."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.cell = nn.Embedding(WORDS, SIZE), nn.GRUCell(3 * SIZE, SIZE)
        self.key, self.query = nn.Linear(2 * SIZE, SIZE, bias=False), nn.Linear(SIZE, SIZE, bias=False)
        self.score, self.join = nn.Linear(SIZE, 1, bias=False), nn.Linear(3 * SIZE, SIZE)

    def forward(self, previous: Tensor, states: Tensor, valid: Tensor, hidden: Tensor) -> Tensor:
        embedded, keys, features = self.embedding(previous), self.key(states), []
        for time in range(previous.size(1)):
            scores = self.score(torch.tanh(self.query(hidden).unsqueeze(1) + keys)).squeeze(-1)
            weights = scores.masked_fill(~valid, -1e9).softmax(dim=-1)
            context = (weights.unsqueeze(1) @ states).squeeze(1)
            hidden = self.cell(torch.cat([embedded[:, time], context], dim=-1), hidden)
            features.append(torch.tanh(self.join(torch.cat([context, hidden], dim=-1))))
        return torch.stack(features, dim=1)


class PlainModel(nn.Module):
    """The whole model of that decoder."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.decoder = nn.Embedding(WORDS, SIZE), PlainDecoder()
        self.encoder = nn.GRU(SIZE, SIZE, batch_first=True, bidirectional=True)
        self.first, self.output = nn.Linear(2 * SIZE, SIZE), nn.Linear(SIZE, WORDS)

    def loss(self, batch: TranslationBatch) -> Tensor:
        states, last = self.encoder(self.embedding(batch.source))
        hidden = torch.tanh(self.first(torch.cat([last[0], last[1]], dim=-1)))
        features = self.decoder(batch.previous, states, batch.source_valid, hidden)
        return functional.cross_entropy(self.output(features).flatten(0, 1).float(), batch.target.flatten())


def our_decoder(words: int = WORDS, size: int = SIZE) -> BahdanauDecoder:
    attention = Attention(Additive(size, 2 * size, hidden_size=size), Softmax(), Everything())
    stack, handover = Stack(GRUCell, 3 * size, size), as_state(2 * size, size)
    return BahdanauDecoder(TokenEmbedding(words, size), stack, handover, attention, source_size=2 * size)


def our_model() -> Translator:
    stack = Stack(GRUCell, SIZE, SIZE, bidirectional=True)
    return Translator(RecurrentEncoder(TokenEmbedding(WORDS, SIZE), stack, end_states), our_decoder())


def gate(precision: torch.dtype) -> None:
    """Features and gradients against single steps in float64; ends the benchmark where they differ."""
    decoder = our_decoder(words=97, size=128).cuda()
    lengths = torch.randint(1, 24, (19,), device="cuda")
    valid = torch.arange(23, device="cuda") < lengths.unsqueeze(-1)
    states, summary = torch.randn(19, 23, 256, device="cuda"), torch.randn(19, 256, device="cuda")
    previous, found = torch.randint(97, (19, 29), device="cuda"), []
    upstream = torch.randn(19, 29, 128, device="cuda")
    for kind, low in ((torch.float32, precision), (torch.float64, torch.float64)):
        module = copy.deepcopy(decoder).to(kind)
        leaves = [part.to(kind).requires_grad_() for part in (states, summary)]
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=low == torch.bfloat16):
            features = module.features(previous, Encoded(leaves[0], valid, leaves[1]))
        parameters = [part for name, part in module.named_parameters() if name != "bias"]  # of the logits
        given = [*leaves, *parameters]
        found.append([features.detach(), *torch.autograd.grad(features, given, upstream.to(features.dtype))])
    for number, (one, other) in enumerate(zip(*found, strict=True)):
        error = float((one.double() - other).norm() / other.norm())
        if not error <= LIMITS[precision] * (3 if number > 2 and precision == torch.bfloat16 else 1):
            print(f"wrong: tensor {number} of the decoder differs by {error:.1e} from float64 in {precision}")
            sys.exit(1)


def step_of(model: nn.Module, batch: TranslationBatch) -> Run:
    """One step of training in bfloat16, the optimizer included."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model.loss(batch) if isinstance(model, PlainModel) else next_token_loss(model, batch, 0.0).mean  # type: ignore[arg-type]
        torch.autograd.backward(loss)
        optimizer.step()

    return step


def decoder_runs(ours: Translator, plain: PlainModel, batch: TranslationBatch) -> list[Run]:
    """Forward and backward of both decoders alone, up to the features."""
    states = torch.randn(BATCH, LENGTH, 2 * SIZE, device="cuda", requires_grad=True)
    summary = torch.randn(BATCH, 2 * SIZE, device="cuda")
    hidden, upstream = torch.tanh(plain.first(summary)).detach(), torch.randn(BATCH, LENGTH, SIZE, device="cuda")
    decoder: Any = ours.decoder

    def walk() -> None:
        with torch.autocast("cuda", dtype=torch.bfloat16):
            features = decoder.features(batch.previous, Encoded(states, batch.source_valid, summary))
        torch.autograd.backward(features, upstream.to(features.dtype))

    def loop() -> None:
        with torch.autocast("cuda", dtype=torch.bfloat16):
            features = plain.decoder(batch.previous, states, batch.source_valid, hidden)
        torch.autograd.backward(features, upstream.to(features.dtype))

    return [walk, loop]


def main() -> None:
    torch.manual_seed(0)
    gate(torch.bfloat16)
    gate(torch.float32)
    tokens = [torch.randint(4, WORDS, (BATCH, LENGTH), device="cuda") for _ in range(3)]
    valid = torch.ones(BATCH, LENGTH, dtype=torch.bool, device="cuda")
    batch = TranslationBatch(tokens[0], valid, tokens[1], tokens[2], valid)
    ours, plain = our_model().cuda(), PlainModel().cuda()
    name = f"biGRU {SIZE}, GRU {SIZE}, B{BATCH} {LENGTH}×{LENGTH}"
    walk, loop = time_beside(*decoder_runs(ours, plain, batch), graphs=False)
    rows = [Row(f"Bahdanau decoder, {name}, with backward", "a plain loop", walk, loop, 10.0)]
    walk, loop = time_beside(step_of(ours, batch), step_of(plain, batch), graphs=False)
    rows.append(Row(f"Bahdanau training step, {name}, {WORDS} words", "a plain loop", walk, loop, 5.0))
    report(rows)


if __name__ == "__main__":
    main()
