"""C2: training steps of a Transformer 3 × 256 beside plain torch and transformers.

    python benchmarks/cpu/transformer_cpu.py [--rounds 20]

Number words as characters, German to English, 64 pairs of like length in a batch, dropout 0.1, one thread. A step is
zero_grad, forward, loss on real tokens, backward and a step of fused Adam.
"""

import argparse
import random
import statistics
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import torch
from measuring_cpu import Claim, end, tell
from torch import Tensor, nn
from torch.nn import functional

from atento.data.builtin.numbers import english, german
from atento.layers.losses import token_cross_entropy
from atento.models.builders import Vocabularies, build_translator
from atento.models.translator import TranslationBatch
from atento.spec import ModelRecipe

SIZE, LAYERS, HEADS, DROPOUT, BATCH = 256, 3, 8, 0.1, 64
NAMES = {"torch": "plain torch", "transformers": "transformers"}
LETTERS = {letter: 4 + number for number, letter in enumerate("abcdefghijklmnopqrstuvwxyzäöüß -")}
VOCABULARY = 4 + len(LETTERS)
PAD, UNKNOWN, START, END = range(4)

Pair = tuple[list[int], list[int]]


def pairs(count: int) -> list[Pair]:
    """Number words as characters, shortest source first."""
    draw = random.Random(7)
    numbers = [min(int(10 ** draw.uniform(0, 6)), 999_999) for _ in range(count)]
    found = [
        ([LETTERS[one] for one in german(number)], [LETTERS[one] for one in english(number)]) for number in numbers
    ]
    return sorted(found, key=lambda pair: len(pair[0]))


def padded(rows: list[list[int]]) -> tuple[Tensor, Tensor]:
    """Rows as one tensor, and which of its places are real."""
    tokens = nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True)
    lengths = torch.tensor([len(row) for row in rows])
    return tokens, torch.arange(tokens.size(1)) < lengths.unsqueeze(1)


def batches(found: list[Pair]) -> Iterator[TranslationBatch]:
    """Batches of pairs of like length."""
    for start in range(0, len(found), BATCH):
        here = found[start : start + BATCH]
        previous, _ = padded([[START, *target] for _, target in here])
        yield TranslationBatch(
            *padded([source for source, _ in here]), previous, *padded([[*target, END] for _, target in here])
        )


class TorchTranslator(nn.Module):
    """What one writes with torch's own modules."""

    def __init__(self) -> None:
        super().__init__()
        self.source, self.target = (nn.Embedding(VOCABULARY, SIZE, padding_idx=PAD) for _ in range(2))
        self.places = nn.Parameter(torch.randn(128, SIZE))
        self.body = nn.Transformer(
            SIZE, HEADS, LAYERS, LAYERS, 4 * SIZE, dropout=DROPOUT, batch_first=True, norm_first=True
        )
        self.output = nn.Linear(SIZE, VOCABULARY)

    def loss(self, batch: TranslationBatch) -> Tensor:
        """The mean over real tokens."""
        source, previous = (
            table(tokens) + self.places[: tokens.size(1)]
            for table, tokens in ((self.source, batch.source), (self.target, batch.previous))
        )
        hidden, mask = ~batch.source_valid, nn.Transformer.generate_square_subsequent_mask(batch.previous.size(1))
        values = self.body(
            source, previous, tgt_mask=mask.isinf(), tgt_is_causal=True,
            src_key_padding_mask=hidden, memory_key_padding_mask=hidden,
        )  # fmt: skip
        return functional.cross_entropy(self.output(values).flatten(0, 1), batch.target.flatten(), ignore_index=PAD)


def bart() -> Any:
    """A model of the same size by transformers."""
    from transformers import BartConfig, BartForConditionalGeneration

    return BartForConditionalGeneration(
        BartConfig(
            vocab_size=VOCABULARY, d_model=SIZE, encoder_layers=LAYERS, decoder_layers=LAYERS, dropout=DROPOUT,
            encoder_attention_heads=HEADS, decoder_attention_heads=HEADS, encoder_ffn_dim=4 * SIZE,
            decoder_ffn_dim=4 * SIZE, max_position_embeddings=160, activation_function="relu", pad_token_id=PAD,
            bos_token_id=START, eos_token_id=END, decoder_start_token_id=START, forced_eos_token_id=None,
        )
    )  # fmt: skip


def stepping(module: nn.Module, loss_of: Callable[[TranslationBatch], Tensor]) -> Callable[[TranslationBatch], None]:
    """A training step."""
    optimizer = torch.optim.Adam(module.parameters(), lr=1e-4, fused=True)

    def step(batch: TranslationBatch) -> None:
        module.train()
        optimizer.zero_grad(set_to_none=True)
        loss_of(batch).backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    return step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    with_peer = find_spec("transformers") is not None
    recipe = ModelRecipe(name="transformer", hidden=SIZE, layers=LAYERS, heads=HEADS, dropout=DROPOUT)
    ours, theirs = build_translator(recipe, Vocabularies(VOCABULARY, VOCABULARY)), TorchTranslator()
    peer: Any = bart() if with_peer else nn.Identity()
    taught = list(batches(pairs(BATCH * options.rounds)))
    claims: list[Claim] = []

    def peer_loss(batch: TranslationBatch) -> Tensor:
        labels = batch.target.masked_fill(~batch.target_valid, -100)
        found = peer(
            input_ids=batch.source, attention_mask=batch.source_valid.long(), decoder_input_ids=batch.previous,
            labels=labels,
        )  # fmt: skip
        loss: Tensor = found.loss
        return loss

    steps = {
        "atento": stepping(ours, lambda batch: token_cross_entropy(ours(batch), batch.target[batch.target_valid]).mean),
        "torch": stepping(theirs, theirs.loss),
        **({"transformers": stepping(peer, peer_loss)} if with_peer else {}),
    }
    ratios: dict[str, list[float]] = {name: [] for name in steps}
    for turn, batch in enumerate([taught[0], *taught]):
        for name, step in steps.items():
            began = time.process_time()
            step(batch)
            if turn:
                ratios[name].append(time.process_time() - began)
    medians = {name: statistics.median(found) for name, found in ratios.items()}
    for name, goal in (("torch", 1.59), ("transformers", 1.3)):
        if name in medians:
            ratio = statistics.median(b / a for a, b in zip(ratios["atento"], ratios[name], strict=True))
            claim = f"training step, Transformer 3 × {SIZE}, dropout, B{BATCH}"
            peers = medians["atento"] * ratio  # of steps taken in turn, as batches differ
            claims.append(tell(Claim(claim, NAMES[name], medians["atento"] * 1e3, peers * 1e3, goal)))
    end(claims)


if __name__ == "__main__":
    main()
