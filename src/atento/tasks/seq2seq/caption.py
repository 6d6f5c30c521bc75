"""Caption: write a line about a picture, looking at its regions.

Pictures and a vocabulary of what is written of them.
One pass from a picture to its caption, part by part, with its matrices: for teaching.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import nn

from atento.baselines.frequent import Majority
from atento.baselines.images import NearestPicture
from atento.data.examples.batches import pad
from atento.data.images.loading import load_picture
from atento.data.text.levels import learn_target, load_vocabulary
from atento.data.text.vocabulary import END, START, Vocabulary
from atento.decoding import Hypothesis, search
from atento.errors import InputError
from atento.metrics.metric import Metric
from atento.metrics.text import BLEU4, CHRF2, EXACT
from atento.models.backbones.images import all_there, as_picture_encoder
from atento.models.build.images import build_captioner, require_captioner
from atento.models.translator import TranslationBatch, Translator, as_translator
from atento.spec import DecodeRecipe, ModelRecipe, Recipe, TokensRecipe
from atento.tasks.inputs.images import A_PICTURE, PictureReader, over_regions, region_names
from atento.tasks.reading.images import CAPTIONED
from atento.tasks.recognising.images import caption_pictures
from atento.tasks.seq2seq.codec import LEVEL_WORDS, MOST_TOKENS, SAMPLE, Limits
from atento.tasks.seq2seq.defaults import CAPTION_MODELS, caption_defaults
from atento.tasks.seq2seq.training import MARKS, STRETCHES, mix_own_tokens, next_token_loss
from atento.tasks.seq2seq.translate import seeds_of, trace_writing
from atento.tasks.task import Alignment, Answer, Task
from atento.tasks.traces import Trace, entry


class EncodedCaption(NamedTuple):
    """A picture by its name, with its reader, and the token numbers of a caption."""

    reader: PictureReader
    source: str
    previous: list[int]  # start mark, then the caption
    target: list[int]  # the caption, then the end mark


class CaptionCodec:
    """Sources, paths or drawn scenes, and captions <-> pixels and token lists."""

    def __init__(
        self, pictures: PictureReader, target: Vocabulary, *, limits: Limits, notes: tuple[str, ...] = ()
    ) -> None:
        self.pictures, self.target, self.limits, self.notes = pictures, target, limits, notes

    @classmethod
    def learn(cls, recipe: TokensRecipe, pairs: Sequence[tuple[str, str]]) -> "CaptionCodec":
        """The vocabulary from the captions of the training part alone; pictures as they are until `suited`."""
        captions = [caption for _, caption in pairs]
        vocabulary, level, reason = learn_target(
            recipe.target, captions, size=recipe.size, least_count=recipe.least_count
        )
        sample = [vocabulary.encode(caption) for caption in captions[:: 1 + len(captions) // SAMPLE]]
        limits = Limits.of([[START]] * len(sample), sample)  # a picture is one source
        note = f"captions: {len(vocabulary)} {LEVEL_WORDS[level]} ({reason})"
        return cls(PictureReader.of([source for source, _ in pairs]), vocabulary, limits=limits, notes=(note,))

    @classmethod
    def load(cls, saved: Mapping[str, Any]) -> "CaptionCodec":
        """What `to_json` wrote."""
        longest, growth = saved.get("longest"), saved.get("growth")
        if not isinstance(longest, int) or not 1 <= longest <= MOST_TOKENS or not isinstance(growth, float):
            raise InputError("the vocabulary file names no longest caption.", found=repr(longest), fix="train again")
        target = load_vocabulary(saved.get("target"))
        return cls(PictureReader.load(saved.get("pictures")), target, limits=Limits(longest, growth))

    def to_json(self) -> dict[str, Any]:
        """How pictures are read, the vocabulary, and how long a caption may become."""
        return {"pictures": self.pictures.to_json(), "target": self.target.to_json(), **self.limits._asdict()}

    def suited(self, recipe: Recipe) -> "CaptionCodec":
        """The same captions of pictures that are read as the recipe says."""
        pictures = self.pictures.suited(recipe.data)
        notes = (*([pictures.note] if pictures.note else []), *self.notes)
        return CaptionCodec(pictures, self.target, limits=self.limits, notes=notes)

    def encode(self, pair: tuple[str, str]) -> EncodedCaption:
        """A training example."""
        target = self.target.encode(pair[1])
        return EncodedCaption(self.pictures, pair[0], [START, *target], [*target, END])

    @property
    def longest(self) -> int:
        """The most tokens a caption may have."""
        return self.limits.tokens(1)


COLOURS = ("red", "green", "blue")


@torch.no_grad()
def trace_caption(module: Translator, codec: CaptionCodec, source: str, written: Sequence[int]) -> list[Trace]:
    """From the pixels read to the words written."""
    encoder, device = as_picture_encoder(module.encoder), next(module.parameters()).device
    pixels = codec.pictures.read_all([source]).to(device)
    encoded = module.encode(pixels, all_there(pixels))
    grid = encoder.grid(codec.pictures.side)
    regions = region_names(grid)
    colours = torch.nn.functional.adaptive_avg_pool2d(pixels, grid)[0].flatten(1).mT  # (R, 3)
    seen = encoder.see(pixels)[0].flatten(1).mT  # (R, channels)
    return [
        entry("pixels", "the mean colour of each region, from −1 to 1", regions, colours, columns=COLOURS),
        entry("features", f"{type(encoder.body).__name__}: what is seen at each region", regions, seen),
        entry("encoder states", "max(0, W f + P p): what is seen, and where", regions, encoded.states[0]),
        entry("summary", "the whole picture in one vector", ["summary"], encoded.summary),
        *trace_writing(module, encoded, codec.target, regions, written),
    ]


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
    models=CAPTION_MODELS,
    default_model="conv/lstm+additive",
    defaults=caption_defaults,
)
