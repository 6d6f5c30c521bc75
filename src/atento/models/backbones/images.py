"""Image encoder: states of an image's regions, computed by any convolutional torch module.

`ImageEncoder(small_convolutions(32), channels=32, size=64)` uses our own body; a pretrained one goes in the same way.
"""

from copy import deepcopy

import torch
from torch import Tensor, nn

from atento.errors import InputError
from atento.layers.dropout import Dropout
from atento.layers.masking import masked_mean
from atento.layers.positions import SinusoidalPositions
from atento.layers.products import Linear
from atento.models.protocols import Encoded, Encoder
from atento.models.summaries import Summary

# Axes: B batch, S side of an image, C channels, h and w rows and columns of regions, R = h·w regions, D size.

COLOURS = 3


class ImageEncoder(Encoder):
    """pixels (B, 3, S, S) -> a state for each region, row by row: ReLU(W f + P p)  (the annotation vectors of Xu et
    al., 2015, sec. 3.1.1), f the body's features there, p sinusoidal encodings of its row and column. By the ReLU
    even the mean of the states depends on which feature is where.

    body: (B, 3, S, S) -> (B, channels, h, w), any module. An image has no padding: every region is valid.
    """

    def __init__(
        self,
        body: nn.Module,
        *,
        channels: int,
        size: int,
        summarize: Summary = masked_mean,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        for name, number in (("channels", channels), ("size", size)):
            if number < 1:
                raise InputError(f"ImageEncoder: {name} must be positive.", found=f"{name}={number}", fix="1 or more")
        self.body, self.channels, self.size, self.summarize = body, channels, size, summarize
        self.waves = SinusoidalPositions(size)
        self.read = Linear(channels, size)
        self.place = Linear(2 * size, size, bias=False)
        self.dropout = Dropout(dropout)

    def encode(self, pixels: Tensor, valid: Tensor) -> Encoded:
        """One state for each region; `valid` is ignored, as every image is real."""
        features = self.features(pixels)
        rows, columns = features.shape[-2:]
        states = self.read(features.flatten(2).transpose(1, 2))  # (B, R, D)
        states = states + self.position_vectors(rows, columns).to(features.dtype)
        states = self.dropout(torch.relu(states))
        real = torch.ones(states.shape[:2], dtype=torch.bool, device=states.device)
        return Encoded(states, real, self.summarize(states, real))

    def features(self, pixels: Tensor) -> Tensor:
        """The body's feature maps (B, C, h, w)."""
        if pixels.dim() != 4 or pixels.size(1) != COLOURS or not pixels.is_floating_point():
            raise InputError(
                "ImageEncoder: pixels must be floating-point numbers of the shape (B, 3, S, S).",
                found=f"{tuple(pixels.shape)} of {pixels.dtype}",
                fix="put the three colours before the rows, and divide bytes by 255",
            )
        features = self.body(pixels)
        if (
            not isinstance(features, Tensor)
            or features.dim() != 4
            or features.shape[:2] != (pixels.size(0), self.channels)
        ):
            found = tuple(features.shape) if isinstance(features, Tensor) else type(features).__name__
            raise InputError(
                f"ImageEncoder: the body must give ({len(pixels)}, {self.channels}, h, w), a grid of regions.",
                found=f"{found} from {type(self.body).__name__}",
                fix="leave out the body's own pooling and head, and set `channels` to the channels that remain",
            )
        return features

    def position_vectors(self, rows: int, columns: int) -> Tensor:
        """The vector added to each region for its position (R, D)."""
        device = self.place.weight.device
        row, column = (self.waves(torch.arange(count, device=device)) for count in (rows, columns))
        row = row.unsqueeze(1).expand(-1, columns, -1)  # (h, w, D)
        column = column.unsqueeze(0).expand(rows, -1, -1)
        both = torch.cat([row, column], dim=-1).flatten(0, 1)  # (R, 2 D)
        return self.place(both.to(self.place.weight.dtype))

    def grid(self, side: int) -> tuple[int, int]:
        """Rows and columns of regions in an image of this side."""
        like = next((parameter for parameter in self.body.parameters()), self.read.weight)
        blank = torch.zeros(1, COLOURS, side, side, dtype=like.dtype, device=like.device)
        body = deepcopy(self.body).eval()  # a body's running statistics must not change
        with torch.no_grad():
            rows, columns = body(blank).shape[-2:]
        return int(rows), int(columns)


def all_valid(pixels: Tensor) -> Tensor:
    """`valid` (B, 1) of images (B, 3, S, S): each is real."""
    return torch.ones(pixels.size(0), 1, dtype=torch.bool, device=pixels.device)


def small_convolutions(channels: int, *, halvings: int = 3, deep: int = 1) -> nn.Sequential:
    """A small convolutional body: `halvings` 3 × 3 convolutions of stride 2, then `deep` of stride 1.

    There is no normalization, so a region depends on its receptive field alone: 2ⁿ⁺¹ − 1 + deep·2ⁿ⁺¹ pixels a side.
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
        convolution = nn.Conv2d(before, width, kernel_size=3, stride=2 if number < halvings else 1, padding=1)
        nn.init.kaiming_normal_(convolution.weight, nonlinearity="relu")  # He et al., 2015: keeps the variance
        layers += [convolution, nn.ReLU()]
        before = width
    return nn.Sequential(*layers)
