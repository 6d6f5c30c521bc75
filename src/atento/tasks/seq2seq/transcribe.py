"""Transcribe: write the text of a sequence of numeric frames.

Scales of the channels that are read, and a vocabulary of what is written.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from atento.baselines.frequent import Majority
from atento.baselines.time_warping import NearestWarped
from atento.data.examples.batches import like_lengths, pad
from atento.data.records import counted
from atento.data.tables.number_lists import require_numbers
from atento.data.text.levels import learn_target, load_vocabulary
from atento.data.text.vocabulary import END, START, Vocabulary
from atento.decoding import Hypothesis, search
from atento.errors import InputError
from atento.metrics.metric import Metric
from atento.metrics.text import CHARACTER_ERROR, CHRF2, EDITS, EXACT, SYMBOL_ERROR
from atento.models.backbones.numbers import steps_together
from atento.models.build.classifier import build_transcriber
from atento.models.translator import TranslationBatch, Translator, as_translator
from atento.spec import DecodeRecipe, ModelRecipe, TokensRecipe
from atento.tasks.inputs.numbers import Channels, pad_for, pad_sequences
from atento.tasks.reading.sequences import TRANSCRIBED
from atento.tasks.recognising.sequences import write_of_sequences
from atento.tasks.seq2seq.codec import LEVEL_WORDS, MOST_TOKENS
from atento.tasks.seq2seq.defaults import TRANSCRIBE_MODELS, transcribe_defaults, transcribe_sizes
from atento.tasks.seq2seq.training import MARKS, STRETCHES, mix_own_tokens, next_token_loss
from atento.tasks.seq2seq.translate import seeds_of, trace_writing
from atento.tasks.task import Alignment, Answer, Task
from atento.tasks.traces import entry


class EncodedFrames(NamedTuple):
    """Scaled numbers and token numbers."""

    values: Tensor  # (T, C)
    previous: list[int]  # start mark, then the target
    target: list[int]  # the target, then the end mark


class FramesCodec:
    """Texts of numbers and texts <-> tensors and token lists."""

    def __init__(self, channels: Channels, target: Vocabulary, *, longest: int, notes: tuple[str, ...] = ()) -> None:
        self.channels, self.target, self.longest, self.notes = channels, target, longest, notes

    @classmethod
    def learn(cls, recipe: TokensRecipe, pairs: Sequence[tuple[str, str]]) -> "FramesCodec":
        """Scales, level and vocabulary from the training part alone; an output may be half as long again as any."""
        texts = [target for _, target in pairs]
        target, level, reason = learn_target(recipe.target, texts, size=recipe.size, least_count=recipe.least_count)
        channels, steps = Channels.learn([source for source, _ in pairs])
        longest = max(len(target.encode(text)) for text in texts)
        notes = (
            f"source: {counted(len(channels), 'channel')}, {steps / len(pairs):.0f} steps a sequence",
            f"target: {len(target)} {LEVEL_WORDS[level]} ({reason})",
        )
        return cls(channels, target, longest=longest + longest // 2 + 5, notes=notes)

    @classmethod
    def load(cls, saved: Mapping[str, Any]) -> "FramesCodec":
        """What `to_json` wrote."""
        longest = saved.get("longest")
        if not isinstance(longest, int) or not 1 <= longest <= MOST_TOKENS:
            raise InputError("the vocabulary file names no longest output.", found=repr(longest), fix="train again")
        return cls(Channels.load(saved.get("channels")), load_vocabulary(saved.get("target")), longest=longest)

    def to_json(self) -> dict[str, Any]:
        """The scale of every channel, the vocabulary, and how long an output may become."""
        return {"channels": self.channels.to_json(), "target": self.target.to_json(), "longest": self.longest}

    def read(self, source: str) -> Tensor:
        """The scaled numbers (T, C) of a text."""
        return self.channels.read(source)

    def encode(self, pair: tuple[str, str]) -> EncodedFrames:
        """A training pair."""
        target = self.target.encode(pair[1])
        return EncodedFrames(self.read(pair[0]), [START, *target], [*target, END])


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
    models=TRANSCRIBE_MODELS,
    default_model="gru+dot",
    defaults=transcribe_defaults,
    sized=transcribe_sizes,
)
