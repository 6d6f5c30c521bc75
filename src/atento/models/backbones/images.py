"""Pictures in: an encoder whose items are a picture's regions, around any torch module that sees.

`PictureEncoder(small_convolutions(32), channels=32, size=64)` is our own; a body from elsewhere goes in the same way.
"""

from copy import deepcopy

import torch
from torch import Tensor, nn

from atento.errors import InputError
from atento.layers.masking import masked_mean
from atento.layers.positions import Sinusoidal
from atento.models.protocols import Encoded, Encoder
from atento.models.summaries import Summary

# Axes: B batch, S side of a picture, C channels, h and w rows and columns of regions, R = h·w regions, D size.

COLOURS = 3


class PictureEncoder(Encoder):
    """pixels (B, 3, S, S) -> a state for each region, row by row: max(0, W f + P p)  (the annotation vectors of Xu et
    al., 2015, sec. 3.1.1), f what the body sees there, p sine and cosine waves of its row and of its column. Bent, so
    that their mean still knows what stands where.

    body: (B, 3, S, S) -> (B, channels, h, w), any module. A picture has no padding: every region is real.
    """

    def __init__(
        self,
        body: nn.Module,
        *,
        channels: int,
        size: int,
        summarise: Summary = masked_mean,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        for name, number in (("channels", channels), ("size", size)):
            if number < 1:
                raise InputError(f"PictureEncoder: {name} must be positive.", found=f"{name}={number}", fix="1 or more")
        self.body, self.channels, self.size, self.summarise = body, channels, size, summarise
        self.waves = Sinusoidal(size)
        self.read = nn.Linear(channels, size)
        self.place = nn.Linear(2 * size, size, bias=False)
        self.dropout = nn.Dropout(dropout)

    def encode(self, pixels: Tensor, valid: Tensor) -> Encoded:
        """One state a region; `valid` says nothing of a picture, which is real or not there."""
        seen = self.see(pixels)
        rows, columns = seen.shape[-2:]
        states = self.read(seen.flatten(2).transpose(1, 2)) + self.places(rows, columns).to(seen.dtype)  # (B, R, D)
        states = self.dropout(torch.relu(states))
        real = torch.ones(states.shape[:2], dtype=torch.bool, device=states.device)
        return Encoded(states, real, self.summarise(states, real))

    def see(self, pixels: Tensor) -> Tensor:
        """What the body makes of the pixels (B, C, h, w)."""
        if pixels.dim() != 4 or pixels.size(1) != COLOURS or not pixels.is_floating_point():
            raise InputError(
                "PictureEncoder: pixels must be floating-point numbers of the shape (B, 3, S, S).",
                found=f"{tuple(pixels.shape)} of {pixels.dtype}",
                fix="put the three colours before the rows, and divide bytes by 255",
            )
        seen = self.body(pixels)
        if not isinstance(seen, Tensor) or seen.dim() != 4 or seen.shape[:2] != (len(pixels), self.channels):
            found = tuple(seen.shape) if isinstance(seen, Tensor) else type(seen).__name__
            raise InputError(
                f"PictureEncoder: the body must give ({len(pixels)}, {self.channels}, h, w), a grid of regions.",
                found=f"{found} from {type(self.body).__name__}",
                fix="leave out the body's own pooling and head, and give `channels` as many as it has left",
            )
        return seen

    def places(self, rows: int, columns: int) -> Tensor:
        """What is added to each region (R, D), by where it stands."""
        device = self.place.weight.device
        row, column = (self.waves(torch.arange(count, device=device)) for count in (rows, columns))
        row = row.unsqueeze(1).expand(-1, columns, -1)  # (h, w, D)
        column = column.unsqueeze(0).expand(rows, -1, -1)
        both = torch.cat([row, column], dim=-1).flatten(0, 1)  # (R, 2 D)
        placed: Tensor = self.place(both.to(self.place.weight.dtype))
        return placed

    def grid(self, side: int) -> tuple[int, int]:
        """Rows and columns of regions in a picture of this side."""
        like = next((parameter for parameter in self.body.parameters()), self.read.weight)
        blank = torch.zeros(1, COLOURS, side, side, dtype=like.dtype, device=like.device)
        body = deepcopy(self.body).eval()  # a look that leaves no trace in what a body may count
        with torch.no_grad():
            rows, columns = body(blank).shape[-2:]
        return int(rows), int(columns)


def all_there(pixels: Tensor) -> Tensor:
    """`valid` (B, 1) of pictures (B, 3, S, S): each is real."""
    return torch.ones(len(pixels), 1, dtype=torch.bool, device=pixels.device)


def as_picture_encoder(encoder: Encoder) -> PictureEncoder:
    """The half that sees, typed."""
    if not isinstance(encoder, PictureEncoder):
        raise TypeError(f"pictures are read by a PictureEncoder, not by a {type(encoder).__name__}")
    return encoder


def small_convolutions(channels: int, *, halvings: int = 3, deep: int = 1) -> nn.Sequential:
    """Our own body: each halving sees 3 × 3 pixels and makes the grid half as fine, then `deep` layers look around.

    Nothing is normalised, so that a region means its place alone: it sees 2ⁿ⁺¹ − 1 + deep·2ⁿ⁺¹ pixels a side.
    Channels double from layer to layer up to `channels`.
    """
    if channels < 1 or halvings < 1 or deep < 0:
        raise InputError(
            "small_convolutions: channels and halvings must be positive, and deep not negative.",
            found=f"channels={channels}, halvings={halvings}, deep={deep}",
            fix="e.g. small_convolutions(64, halvings=3, deep=1)",
        )
    widths = [max(1, channels >> (halvings - 1 - layer)) for layer in range(halvings)] + [channels] * deep
    layers: list[nn.Module] = []
    before = COLOURS
    for number, width in enumerate(widths):
        map_ = nn.Conv2d(before, width, kernel_size=3, stride=2 if number < halvings else 1, padding=1)
        nn.init.kaiming_normal_(map_.weight, nonlinearity="relu")  # He et al., 2015: keeps the size of what passes
        layers += [map_, nn.ReLU()]
        before = width
    return nn.Sequential(*layers)
