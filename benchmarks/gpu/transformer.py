"""A Transformer 3 × 512 with 8,192 words in bfloat16: whole training steps beside nn.Transformer, and greedy search
beside `generate` of transformers (a package; without it that row is left out).

A training step is zero_grad, forward, loss on real tokens, backward and a step of fused Adam, 128 pairs of 50 tokens;
ragged: lengths from 1 to 50. Both sides run under autocast with the same dropout, and Python is in the time of both.
"""

import copy
import statistics
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec

import torch
from measuring import Row, report
from torch import Tensor, nn
from torch.nn import functional

from atento.decoding.greedy import SpecialTokens, greedy
from atento.layers.losses import token_cross_entropy
from atento.models.builders import Vocabularies, build_translator
from atento.models.translator import TranslationBatch, Translator
from atento.spec import ModelRecipe

BATCH, LENGTH, WORDS, SIZE, HEADS, LAYERS = 128, 50, 8192, 512, 8, 3
STEPS, WARM_UPS = 30, 10
ENDLESS = SpecialTokens(start=2, end=3, forbidden=(0, 1, 2, 3))  # no output ends before the limit


class TorchTranslator(nn.Module):
    """What one writes with torch's own modules."""

    def __init__(self) -> None:
        super().__init__()
        self.source, self.target = (nn.Embedding(WORDS, SIZE, padding_idx=0) for _ in range(2))
        self.places = nn.Parameter(torch.randn(LENGTH, SIZE))
        self.body = nn.Transformer(SIZE, HEADS, LAYERS, LAYERS, 4 * SIZE, batch_first=True, norm_first=True)
        self.output = nn.Linear(SIZE, WORDS)

    def forward(self, batch: TranslationBatch, *, ragged: bool) -> Tensor:
        """Logits of every place."""
        mask = nn.Transformer.generate_square_subsequent_mask(LENGTH, device=batch.source.device)
        hidden = ~batch.source_valid if ragged else None
        values = self.body(
            self.source(batch.source) + self.places,
            self.target(batch.previous) + self.places,
            tgt_mask=mask,
            tgt_is_causal=True,
            src_key_padding_mask=hidden,
            memory_key_padding_mask=hidden,
        )
        return self.output(values)


def made_batch(*, ragged: bool) -> TranslationBatch:
    """Random tokens on the GPU."""
    lengths = torch.randint(1, LENGTH + 1, (2, BATCH)) if ragged else torch.full((2, BATCH), LENGTH)
    lengths[:, 0] = LENGTH
    valid = (torch.arange(LENGTH) < lengths.unsqueeze(-1)).cuda()
    source, previous, target = (torch.randint(4, WORDS, (BATCH, LENGTH)).cuda() for _ in range(3))
    source, previous, target = (
        part.masked_fill(~real, 0) for part, real in zip((source, previous, target), valid[[0, 1, 1]], strict=True)
    )
    return TranslationBatch(source, valid[0], previous, target, valid[1])


def made_translator(dropout: float = 0.1) -> Translator:
    """atento's own."""
    recipe = ModelRecipe(name="transformer", hidden=SIZE, layers=LAYERS, heads=HEADS, dropout=dropout)
    return build_translator(recipe, Vocabularies(WORDS, WORDS)).cuda()


def training_step(
    module: nn.Module, loss_of: Callable[[TranslationBatch], Tensor]
) -> Callable[[TranslationBatch], None]:
    """One step of fused Adam."""
    optimizer = torch.optim.Adam(module.parameters(), lr=1e-4, fused=True)

    def step(batch: TranslationBatch) -> None:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = loss_of(batch)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    return step


def ours_and_theirs(*, ragged: bool) -> tuple[Callable[[TranslationBatch], None], Callable[[TranslationBatch], None]]:
    """A training step of each."""
    ours, theirs = made_translator(), TorchTranslator().cuda()

    def our_loss(batch: TranslationBatch) -> Tensor:
        return token_cross_entropy(ours(batch), batch.target[batch.target_valid]).mean

    def their_loss(batch: TranslationBatch) -> Tensor:
        logits = theirs(batch, ragged=ragged)
        return functional.cross_entropy(logits.flatten(0, 1), batch.target.flatten(), ignore_index=0)

    return training_step(ours, our_loss), training_step(theirs, their_loss)


def gate() -> None:
    """Loss and gradients of a ragged batch under autocast, eager and as CUDA graphs, against float64 on a CPU."""
    torch.manual_seed(1)
    module = made_translator(dropout=0.0)
    batch = TranslationBatch(*(part[:5] for part in made_batch(ragged=True)))
    exact_module, exact_batch = copy.deepcopy(module).double().cpu(), TranslationBatch(*(part.cpu() for part in batch))
    exact = loss_and_gradients(exact_module, exact_batch)
    for turn in range(4):  # the third and the fourth are graphs
        with torch.autocast("cuda", dtype=torch.bfloat16):
            found = loss_and_gradients(module, batch)
        errors = [float((one - other).norm() / other.norm()) for one, other in zip(found, exact, strict=True)]
        print(f"gate {turn}: loss differs by {errors[0]:.1e}, gradients by {errors[1]:.1e} from float64", flush=True)
        if not (errors[0] < 1e-2 and errors[1] < 2e-2):
            sys.exit("wrong: the training step differs from float64")


def loss_and_gradients(module: Translator, batch: TranslationBatch) -> tuple[Tensor, Tensor]:
    """The mean loss, and the gradients of all weights as one vector, in float64."""
    module.zero_grad(set_to_none=True)
    loss = token_cross_entropy(module(batch), batch.target[batch.target_valid]).mean
    loss.backward()  # type: ignore[no-untyped-call]
    gradients = [weight.grad.double().cpu().flatten() for weight in module.parameters() if weight.grad is not None]
    return loss.detach().double().cpu(), torch.cat(gradients)


def wall(run: Callable[[], object]) -> float:
    """Milliseconds of a run."""
    torch.cuda.synchronize()
    began = time.perf_counter()
    run()
    torch.cuda.synchronize()
    return (time.perf_counter() - began) * 1e3


def train_rows() -> list[Row]:
    """Training steps, dense and ragged; each round takes ten fresh batches with each, in turn."""
    rows = []
    for ragged, goal in ((False, 1.5), (True, 2.0)):
        steps = ours_and_theirs(ragged=ragged)
        times: tuple[list[float], list[float]] = ([], [])
        for turn in range(WARM_UPS + STEPS):
            batches = [made_batch(ragged=ragged) for _ in range(4)]
            for step, found in zip(steps, times, strict=True):
                took = wall(lambda step=step, batches=batches: [step(batch) for batch in batches]) / len(batches)  # type: ignore[misc]
                if turn >= WARM_UPS:
                    found.append(took)
        name = "ragged" if ragged else "dense"
        medians = [statistics.median(found) for found in times]
        rows.append(
            Row(f"Transformer 3×512 training step B128 S50, {name}", "nn.Transformer", medians[0], medians[1], goal)
        )
    return rows


def search_rows() -> list[Row]:
    """Greedy search of 128 sentences, 50 tokens each."""
    if find_spec("transformers") is None:
        print("transformers is not installed: greedy search is left out")
        return []
    from transformers import BartConfig, BartForConditionalGeneration  # the peer

    torch.manual_seed(2)
    config = BartConfig(
        vocab_size=WORDS, d_model=SIZE, encoder_layers=LAYERS, decoder_layers=LAYERS, encoder_attention_heads=HEADS,
        decoder_attention_heads=HEADS, encoder_ffn_dim=4 * SIZE, decoder_ffn_dim=4 * SIZE, max_position_embeddings=128,
        decoder_start_token_id=2, forced_eos_token_id=None,
    )  # fmt: skip
    peer = BartForConditionalGeneration(config).cuda().bfloat16().eval()
    ours, batch = made_translator().eval(), made_batch(ragged=False)

    def search() -> None:
        with torch.no_grad(), torch.autocast("cuda", dtype=torch.bfloat16):
            encoded = ours.encode(batch.source, batch.source_valid)
            found = greedy(ours.decoder, encoded, special_tokens=ENDLESS, max_tokens=LENGTH)
        if any(len(one.tokens) != LENGTH for one in found):
            sys.exit("wrong: an output ended early")

    def generate() -> None:
        peer.generate(
            batch.source, attention_mask=batch.source_valid.long(), min_new_tokens=LENGTH, max_new_tokens=LENGTH,
            num_beams=1, do_sample=False,
        )  # fmt: skip

    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(12):
        for run, found in zip((search, generate), times, strict=True):
            took = wall(run)
            if turn >= 2:
                found.append(took)
    medians = [statistics.median(found) for found in times]
    print("sentences a second:", *(f"{BATCH / (found / 1e3):,.0f}" for found in medians))
    return [Row("Transformer 3×512 greedy, 128 × 50 tokens", "transformers generate", medians[0], medians[1], 5.0)]


def main() -> None:
    gate()
    report([*train_rows(), *search_rows()])


if __name__ == "__main__":
    main()
