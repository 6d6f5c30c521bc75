"""One pass from a picture to its caption, part by part, with its matrices: for teaching."""

from collections.abc import Sequence

import torch

from atento.models.pictures import all_there, as_picture_encoder
from atento.models.translator import Translator
from atento.tasks.caption_codec import CaptionCodec
from atento.tasks.picture_alignment import region_names
from atento.tasks.traces import Trace, entry
from atento.tasks.translate_steps import trace_writing

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
