"""C2: training steps of an LSTM with attention after (Luong) and before (Bahdanau) each step, beside plain torch.

German number words to English ones, as characters; 64 pairs of like length in a batch; zero_grad, forward, loss on real
tokens, backward, clipping and a step of Adam; one thread. Plain torch is what one writes by hand: a packed encoder in
both directions, nn.LSTM or a loop of nn.LSTMCell, and the loss over all positions.
"""

import random

import torch
from measuring_cpu import Claim, one_thread, report, time_beside
from torch import Tensor, nn
from torch.nn import functional

from atento.data.builtin.numbers import english, german
from atento.layers.losses import token_cross_entropy
from atento.models.builders import Vocabularies, build_translator
from atento.models.translator import TranslationBatch
from atento.spec import ModelRecipe

LETTERS = {letter: 4 + number for number, letter in enumerate("abcdefghijklmnopqrstuvwxyzäöüß -")}
BATCH, VOCABULARY, START, END = 64, 4 + len(LETTERS), 2, 3
GOALS = {"luong": 1.5, "bahdanau": 1.3}


class PlainTranslator(nn.Module):
    """An encoder–decoder as one writes it by hand."""

    def __init__(self, size: int, *, is_bahdanau: bool) -> None:
        super().__init__()
        self.is_bahdanau = is_bahdanau
        self.source, self.target = (nn.Embedding(VOCABULARY, size, padding_idx=0) for _ in range(2))
        self.encoder = nn.LSTM(size, size // 2, batch_first=True, bidirectional=True)
        self.bridge, self.join, self.out = nn.Linear(size, size), nn.Linear(2 * size, size), nn.Linear(size, VOCABULARY)
        self.project_key, self.project_query = (nn.Linear(size, size, bias=False) for _ in range(2))
        self.collapse = nn.Linear(size, 1, bias=False)
        self.cell, self.decoder = nn.LSTMCell(2 * size, size), nn.LSTM(size, size, batch_first=True)

    def forward(self, batch: TranslationBatch) -> Tensor:
        lengths, hidden_keys = batch.source_valid.sum(1), ~batch.source_valid
        packed = nn.utils.rnn.pack_padded_sequence(
            self.source(batch.source), lengths, batch_first=True, enforce_sorted=False
        )
        outputs, (last, _) = self.encoder(packed)
        states, _ = nn.utils.rnn.pad_packed_sequence(outputs, batch_first=True)
        first = torch.tanh(self.bridge(torch.cat([last[0], last[1]], dim=-1)))
        inputs, carry = self.target(batch.previous), torch.zeros_like(first)
        if not self.is_bahdanau:
            hidden, _ = self.decoder(inputs, (first.unsqueeze(0), carry.unsqueeze(0)))
            scores = self.project_query(hidden) @ states.mT
            context = scores.masked_fill(hidden_keys.unsqueeze(1), -1e9).softmax(-1) @ states
            return self.out(torch.tanh(self.join(torch.cat([context, hidden], dim=-1))))
        keys, steps = self.project_key(states), []
        for step in inputs.unbind(1):
            scores = self.collapse(torch.tanh(self.project_query(first).unsqueeze(1) + keys)).squeeze(-1)
            weights = scores.masked_fill(hidden_keys, -1e9).softmax(-1)
            context = (weights.unsqueeze(1) @ states).squeeze(1)
            first, carry = self.cell(torch.cat([step, context], dim=-1), (first, carry))
            steps.append(torch.cat([context, first], dim=-1))
        return self.out(torch.tanh(self.join(torch.stack(steps, dim=1))))


def some_batch() -> TranslationBatch:
    numbers = sorted(random.Random(0).sample(range(1_000_000), 4096), key=lambda number: len(german(number)))
    chosen = numbers[2048 : 2048 + BATCH]
    sources = [[LETTERS[letter] for letter in german(number)] for number in chosen]
    targets = [[*(LETTERS[letter] for letter in english(number)), END] for number in chosen]
    source, target = (
        nn.utils.rnn.pad_sequence([torch.tensor(one) for one in many], batch_first=True) for many in (sources, targets)
    )
    previous = functional.pad(target, (1, -1), value=START)
    return TranslationBatch(source, source > 0, previous, target, target > 0)


def main() -> None:
    one_thread()
    batch, claims = some_batch(), []
    for attend, goal in GOALS.items():
        for size in (64, 256):
            name = "lstm+additive" if attend == "bahdanau" else "lstm+general"
            recipe = ModelRecipe(name=name, hidden=size, attend=attend, dropout=0.0)
            ours = build_translator(recipe, Vocabularies(VOCABULARY, VOCABULARY))
            plain = PlainTranslator(size, is_bahdanau=attend == "bahdanau")
            steps = [take_steps(module, batch) for module in (ours, plain)]
            mine, other = time_beside(*steps, rounds=6)
            shape = f"B64 {batch.source.size(1)}→{batch.target.size(1)} letters, width {size}"
            claims.append(Claim(f"training step, LSTM, {attend}, {shape}", "plain torch", mine, other, goal))
    report(claims)


def take_steps(module: nn.Module, batch: TranslationBatch):  # type: ignore[no-untyped-def]
    parameters = [one for one in module.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=1e-3)
    real = batch.target[batch.target_valid]

    def step() -> None:
        optimizer.zero_grad()
        logits = module(batch)
        if logits.dim() == 3:
            loss = functional.cross_entropy(logits.flatten(0, 1), batch.target.flatten(), ignore_index=0)
        else:
            loss = token_cross_entropy(logits, real).mean
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_([one for one in parameters if one.grad is not None], 1.0)
        optimizer.step()

    return step


if __name__ == "__main__":
    main()
