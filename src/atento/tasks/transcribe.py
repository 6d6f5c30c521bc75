"""Transcribe: write the text of a sequence of numeric frames."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from atento.baselines.frequent import Majority
from atento.baselines.warping import NearestWarped
from atento.data.batches import like_lengths, pad
from atento.data.number_sequences import require_numbers
from atento.data.vocabulary import START
from atento.decoding import Hypothesis, search
from atento.metrics.edits import CHARACTER_ERROR, EDITS, SYMBOL_ERROR
from atento.metrics.metric import Metric
from atento.metrics.translation import CHRF2, EXACT
from atento.models.build_series_classifier import build_transcriber
from atento.models.patched_numbers import steps_together
from atento.models.translator import TranslationBatch, Translator, as_translator
from atento.spec import DecodeRecipe, ModelRecipe
from atento.tasks.channels import pad_for, pad_sequences
from atento.tasks.read_sequences import TRANSCRIBED
from atento.tasks.recognising_sequences import write_of_sequences
from atento.tasks.task import Alignment, Answer, Task
from atento.tasks.traces import entry
from atento.tasks.transcribe_codec import EncodedFrames, FramesCodec
from atento.tasks.transcribe_defaults import MODELS, defaults, sized
from atento.tasks.translate import seeds_of
from atento.tasks.translate_steps import trace_writing
from atento.tasks.translate_training import MARKS, STRETCHES, mix_own_tokens, next_token_loss

# Axes: B batch, N source time, T target time, C channels, M patches.

STEPS_AT_ONCE = 32_768
METRICS: dict[str, tuple[Metric, ...]] = {  # by the level of the target, the headline first
    "char": (EXACT, CHARACTER_ERROR, EDITS, CHRF2),
    "word": (EXACT, SYMBOL_ERROR, CHARACTER_ERROR, CHRF2),
    "subword": (CHARACTER_ERROR, CHRF2, EXACT),
}


def length(example: EncodedFrames) -> int:
    """Steps that are read and tokens that are written."""
    return len(example.values) + len(example.target)


def batch(examples: Sequence[EncodedFrames]) -> TranslationBatch:
    """Padded numbers (B, N, C) and padded targets (B, T)."""
    source, source_valid = pad_sequences([example.values for example in examples])
    previous, _ = pad([example.previous for example in examples])
    target, target_valid = pad([example.target for example in examples])
    return TranslationBatch(source, source_valid, previous, target, target_valid)


def build(recipe: ModelRecipe, codec: FramesCodec) -> Translator:
    """Sizes that follow from data are filled in here."""
    return build_transcriber(recipe, len(codec.channels), len(codec.target))


@torch.no_grad()
def write(module: Translator, codec: FramesCodec, sources: Sequence[str], recipe: DecodeRecipe) -> list[Hypothesis]:
    """The best text for each sequence; those of like length are decoded together."""
    rows = [codec.read(source) for source in sources]
    seeds = seeds_of([[source] for source in sources], recipe.seed) if recipe.temperature else [""] * len(rows)
    lengths, found = [len(row) for row in rows], dict[int, Hypothesis]()
    for indices in like_lengths(lengths, batch_tokens=max(1, STEPS_AT_ONCE // recipe.beam)):
        encoded = module.encode(*pad_for(module, [rows[index] for index in indices]))
        longest = [recipe.longest or codec.longest] * len(indices)
        drawn = [seeds[index] for index in indices]
        best = search(module.decoder, encoded, recipe, marks=MARKS, longest=longest, seeds=drawn)
        found.update(zip(indices, best, strict=True))
    return [found[index] for index in range(len(rows))]


def answer(module: nn.Module, codec: FramesCodec, sources: Sequence[str], recipe: DecodeRecipe) -> list[Answer]:
    """Validation, evaluation, prediction and serving all answer through here."""
    found = write(as_translator(module), codec, sources, recipe)
    return [Answer(codec.target.decode(one.tokens), one.score) for one in found]


@torch.no_grad()
def look_at(module: nn.Module, codec: FramesCodec, source: str, recipe: DecodeRecipe) -> Alignment:
    """Write the text, then ask where among the frames each symbol of it looked (L, H, T, M)."""
    translator = as_translator(module)
    best = write(translator, codec, [source], recipe)[0]
    encoded = translator.encode(*pad_for(module, [codec.read(source)]))
    previous = torch.tensor([[START, *best.tokens]], device=encoded.states.device)
    weights: Tensor = translator.decoder.weights(previous, encoded)[0].float().cpu()
    output = [*codec.target.pieces(best.tokens), "<end>"]
    frames = steps_together(translator.encoder, source.split())
    return Alignment(frames, output, weights, codec.target.decode(best.tokens), best.score)


@torch.no_grad()
def trace(module: nn.Module, codec: FramesCodec, source: str, recipe: DecodeRecipe) -> list[dict[str, Any]]:
    """One pass, matrix by matrix, of the text the search finds."""
    translator, row = as_translator(module), codec.read(source)
    written = write(translator, codec, [source], recipe)[0].tokens
    encoded = translator.encode(*pad_for(module, [row]))
    frames, scaled = steps_together(translator.encoder, source.split()), [f"x{at + 1}" for at in range(row.size(-1))]
    return [
        entry("numbers", "(x − mean) / spread of the training part", source.split(), row, columns=scaled),
        entry("encoder states", f"{type(translator.encoder).__name__}: one vector each", frames, encoded.states[0]),
        entry("summary", "the whole source in one vector", ["summary"], encoded.summary),
        *trace_writing(translator, encoded, codec.target, frames, written),
    ]


def headline_first(codec: FramesCodec) -> tuple[Metric, ...]:
    """Exact match first where symbols are few, and beside it the edits an output needs."""
    return METRICS[codec.target.level]


TRANSCRIBE = Task(
    name="transcribe",
    summary="Write the text of a sequence of numeric frames.",
    recognise=write_of_sequences,
    read=TRANSCRIBED.read,
    ask=TRANSCRIBED.ask,
    open=TRANSCRIBED.open_file,
    learn=FramesCodec.learn,
    load=FramesCodec.load,
    encode=FramesCodec.encode,
    length=length,
    batch=batch,
    build=build,
    mix=mix_own_tokens,
    loss=next_token_loss,
    stretches=STRETCHES,
    answer=answer,
    look=look_at,
    steps=trace,
    selects=CHRF2,
    metrics=headline_first,
    baselines=(Majority, partial(NearestWarped, require_numbers)),
    models=MODELS,
    default_model="gru+dot",
    defaults=defaults,
    sized=sized,
)
