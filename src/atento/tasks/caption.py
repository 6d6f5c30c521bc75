"""Caption: write a line about a picture, looking at its regions."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import nn

from atento.baselines.frequent import Majority
from atento.baselines.nearest_picture import NearestPicture
from atento.data.batches import pad
from atento.data.pictures.loading import load_picture
from atento.data.vocabulary import START
from atento.decoding import Hypothesis, search
from atento.metrics.metric import Metric
from atento.metrics.translation import BLEU4, CHRF2, EXACT
from atento.models.build_captioner import build_captioner, require_captioner
from atento.models.pictures import all_there, as_picture_encoder
from atento.models.translator import TranslationBatch, Translator, as_translator
from atento.spec import DecodeRecipe, ModelRecipe
from atento.tasks.caption_codec import CaptionCodec, EncodedCaption
from atento.tasks.caption_defaults import MODELS, defaults
from atento.tasks.caption_steps import trace_caption
from atento.tasks.picture_alignment import over_regions
from atento.tasks.picture_codec import A_PICTURE
from atento.tasks.read_pictures import CAPTIONED
from atento.tasks.recognising_pictures import caption_pictures
from atento.tasks.task import Alignment, Answer, Task
from atento.tasks.translate import seeds_of
from atento.tasks.translate_training import MARKS, STRETCHES, mix_own_tokens, next_token_loss

# Axes: B batch, S side, T target time, R regions.

PICTURES_AT_ONCE = 256
ROUGHLY = 32  # tokens
THUMBNAIL = 16  # pixels a side, that pictures are compared by
METRICS: dict[str, tuple[Metric, ...]] = {  # by the level of captions, the headline first
    "char": (EXACT, CHRF2, BLEU4),
    "word": (EXACT, CHRF2, BLEU4),
    "subword": (CHRF2, BLEU4, EXACT),
}


def length(example: EncodedCaption) -> int:
    """What is read and, roughly, what is written: short captions of unlike length are learned together."""
    return A_PICTURE + ROUGHLY * -(-len(example.target) // ROUGHLY)


def batch(examples: Sequence[EncodedCaption]) -> TranslationBatch:
    """Pixels (B, 3, S, S) and padded captions (B, T); a picture has no padding."""
    previous, _ = pad([example.previous for example in examples])
    target, target_valid = pad([example.target for example in examples])
    pixels = examples[0].reader.read_all([example.source for example in examples])
    return TranslationBatch(pixels, all_there(pixels), previous, target, target_valid)


def build(recipe: ModelRecipe, codec: CaptionCodec) -> Translator:
    """Sizes that follow from data are filled in here."""
    return build_captioner(recipe, len(codec.target), side=codec.pictures.side)


def write(module: Translator, codec: CaptionCodec, sources: Sequence[str], recipe: DecodeRecipe) -> list[Hypothesis]:
    """The best caption of each picture, some pictures at a time."""
    device = next(module.parameters()).device
    seeds = seeds_of([[source] for source in sources], recipe.seed)
    found: list[Hypothesis] = []
    together = max(1, PICTURES_AT_ONCE // recipe.beam)
    for first in range(0, len(sources), together):
        here = slice(first, first + together)
        pixels = codec.pictures.read_all(sources[here]).to(device)
        with torch.no_grad():
            encoded = module.encode(pixels, all_there(pixels))
        longest = [recipe.longest or codec.longest] * len(pixels)
        found += search(module.decoder, encoded, recipe, marks=MARKS, longest=longest, seeds=seeds[here])
    return found


def write_captions(
    module: nn.Module, codec: CaptionCodec, sources: Sequence[str], recipe: DecodeRecipe
) -> list[Answer]:
    """Validation, evaluation, prediction and serving all answer through here."""
    captioner = as_translator(module)
    return [Answer(codec.target.decode(one.tokens), one.score) for one in write(captioner, codec, sources, recipe)]


def look_at(module: nn.Module, codec: CaptionCodec, source: str, recipe: DecodeRecipe) -> Alignment:
    """Write the caption, then ask where each word of it looked (L, H, T, R)."""
    captioner = as_translator(module)
    best = write(captioner, codec, [source], recipe)[0]
    device = next(module.parameters()).device
    pixels = codec.pictures.read_all([source]).to(device)
    previous = torch.tensor([[START, *best.tokens]], device=device)
    with torch.no_grad():
        weights = captioner.decoder.weights(previous, captioner.encode(pixels, all_there(pixels)))[0].float().cpu()
    return over_regions(
        codec.pictures,
        source,
        grid=as_picture_encoder(captioner.encoder).grid(codec.pictures.side),
        output=[*codec.target.pieces(best.tokens), "<end>"],
        weights=weights,
        text=codec.target.decode(best.tokens),
        score=best.score,
    )


def trace(module: nn.Module, codec: CaptionCodec, source: str, recipe: DecodeRecipe) -> list[dict[str, Any]]:
    """One pass, matrix by matrix, of the caption the search finds."""
    captioner = as_translator(module)
    written = write(captioner, codec, [source], recipe)[0].tokens
    return trace_caption(captioner, codec, source, written)


def no_bands(
    codec: CaptionCodec, metric: Metric, sources: Sequence[Any], runs: Any, references: Sequence[Any]
) -> list[dict[str, Any]]:
    """A picture has no length that quality could be told by."""
    return []


def headline_first(codec: CaptionCodec) -> tuple[Metric, ...]:
    """Exact captions where they are of a closed vocabulary; characters in common for open text."""
    return METRICS[codec.target.level]


CAPTION = Task(
    name="caption",
    summary="Write a line about each picture.",
    recognise=caption_pictures,
    names=require_captioner,
    read=CAPTIONED.read,
    ask=CAPTIONED.ask,
    open=CAPTIONED.open_file,
    learn=CaptionCodec.learn,
    suit=CaptionCodec.suited,
    load=CaptionCodec.load,
    encode=CaptionCodec.encode,
    length=length,
    batch=batch,
    build=build,
    mix=mix_own_tokens,
    loss=next_token_loss,
    stretches=STRETCHES,
    answer=write_captions,
    look=look_at,
    steps=trace,
    bands=no_bands,
    selects=CHRF2,
    metrics=headline_first,
    baselines=(Majority, partial(NearestPicture, partial(load_picture, side=THUMBNAIL))),
    models=MODELS,
    default_model="conv/lstm+additive",
    defaults=defaults,
)
