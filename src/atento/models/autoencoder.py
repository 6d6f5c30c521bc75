"""Autoencoders: a window of a series, or a frame of a film, pressed to a few numbers and written again from them."""

from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.blocks.transformer import TransformerStack
from atento.errors import InputError
from atento.layers.losses import Loss, squared_error
from atento.layers.positions import Positions
from atento.models.protocols import Encoder
from atento.recurrent.stack import Stack

# Axes: B batch, L time, C channels (of a film its pixels, row by row), Z latent, D size, H height, W width.


class WindowSizes(NamedTuple):
    """What follows from the data."""

    channels: int
    look_back: int
    frame: tuple[int, int] = (0, 0)  # height and width of a film's frames; zeros: no film


class WindowBatch(NamedTuple):
    """Windows on the scale of the training part; what is read is what is to be written."""

    values: Tensor  # (B, L, C)


class Autoencoder(nn.Module):
    """values (B, L, C) -> latent (B, Z) -> values: x̂ = g(f(x)), learned by ‖x − x̂‖² (Hinton & Salakhutdinov, 2006).

    `noise` falls on what is read while training (Vincent et al., 2008); what is to be written stays clean.
    """

    def __init__(self, reader: nn.Module, writer: nn.Module, sizes: WindowSizes, *, noise: float = 0.0) -> None:
        super().__init__()
        self.reader, self.writer, self.sizes, self.noise = reader, writer, sizes, noise

    def encode(self, values: Tensor) -> Tensor:
        """The latent (B, Z) of each window."""
        if values.shape[1:] != (self.sizes.look_back, self.sizes.channels):
            raise InputError(
                "an autoencoder reads windows of one shape.",
                found=f"values {tuple(values.shape)}",
                fix=f"give values (B, {self.sizes.look_back}, {self.sizes.channels})",
            )
        latent: Tensor = self.reader(values)
        return latent

    def decode(self, latent: Tensor) -> Tensor:
        """The window (B, L, C) of each latent."""
        values: Tensor = self.writer(latent)
        return values

    def forward(self, values: Tensor) -> Tensor:
        """What is left of each window (B, L, C)."""
        return self.decode(self.encode(values))

    def loss(self, batch: WindowBatch) -> Loss:
        """Squared error of every number."""
        read = batch.values
        if self.training and self.noise:
            read = read + self.noise * torch.randn_like(read)
        return squared_error(self(read), batch.values)


class SummaryReader(nn.Module):
    """W s + b of the summary s of any encoder of numbers: (B, L, C) -> (B, Z)."""

    def __init__(self, encoder: Encoder, latent: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.press = nn.Linear(encoder.size, latent)

    def forward(self, values: Tensor) -> Tensor:
        """A window has no padding: every step is real."""
        valid = torch.ones(values.shape[:2], dtype=torch.bool, device=values.device)
        latent: Tensor = self.press(self.encoder.encode(values, valid).summary)
        return latent


class RecurrentWriter(nn.Module):
    """Walks the window with the latent as the input of every step (Srivastava et al., 2015, sec. 2.2)."""

    def __init__(self, stack: Stack, channels: int, look_back: int) -> None:
        super().__init__()
        self.stack, self.look_back = stack, look_back
        self.write = nn.Linear(stack.output_size, channels)

    def forward(self, latent: Tensor) -> Tensor:
        """(B, Z) -> (B, L, C)."""
        inputs = latent.unsqueeze(1).expand(-1, self.look_back, -1)
        values: Tensor = self.write(self.stack(inputs).outputs)
        return values


class TransformerWriter(nn.Module):
    """The latent at every place, told apart by positions alone, through the layers."""

    def __init__(
        self, latent: int, positions: Positions, stack: TransformerStack, channels: int, look_back: int
    ) -> None:
        super().__init__()
        self.spread, self.positions, self.stack = nn.Linear(latent, stack.size), positions, stack
        self.look_back = look_back
        self.write = nn.Linear(stack.size, channels)

    def forward(self, latent: Tensor) -> Tensor:
        """(B, Z) -> (B, L, C)."""
        vectors = self.spread(latent).unsqueeze(1)  # (B, 1, D)
        places = self.positions(torch.arange(self.look_back, device=latent.device)).to(vectors.dtype)  # (L, D)
        values: Tensor = self.write(self.stack(vectors + places))
        return values


class FrameReader(nn.Module):
    """Convolutions that halve a frame again and again, then one linear map; the steps of a window are its planes."""

    def __init__(self, sizes: WindowSizes, widths: list[int], latent: int) -> None:
        super().__init__()
        self.frame = sizes.frame
        planes = [sizes.look_back, *widths]
        self.maps = nn.ModuleList(
            nn.Conv2d(before, after, kernel_size=3, stride=2, padding=1) for before, after in pairwise(planes)
        )
        height, width = halved(self.frame, len(widths))[-1]
        self.press = nn.Linear(widths[-1] * height * width, latent)

    def forward(self, values: Tensor) -> Tensor:
        """(B, L, H·W) -> (B, Z)."""
        seen = values.reshape(*values.shape[:2], *self.frame)
        for map_ in self.maps:
            seen = nn.functional.silu(map_(seen))
        latent: Tensor = self.press(seen.flatten(1))
        return latent


class FrameWriter(nn.Module):
    """The way back: a linear map, a bend, and transposed convolutions that double the frame again and again."""

    def __init__(self, sizes: WindowSizes, widths: list[int], latent: int, hidden: int) -> None:
        super().__init__()
        extents = halved(sizes.frame, len(widths))
        self.first = (widths[-1], *extents[-1])
        self.spread = nn.Linear(latent, hidden)
        self.unfold = nn.Linear(hidden, widths[-1] * extents[-1][0] * extents[-1][1])
        planes = [*reversed(widths), sizes.look_back]
        self.maps = nn.ModuleList(
            nn.ConvTranspose2d(
                before,
                after,
                kernel_size=3,
                stride=2,
                padding=1,
                output_padding=(1 - height % 2, 1 - width % 2),  # what was halved from an odd side is odd again
            )
            for before, after, (height, width) in zip(planes, planes[1:], reversed(extents[:-1]), strict=False)
        )

    def forward(self, latent: Tensor) -> Tensor:
        """(B, Z) -> (B, L, H·W)."""
        bend = nn.functional.silu
        seen = self.unfold(bend(self.spread(latent))).unflatten(-1, self.first)
        for map_ in self.maps:
            seen = map_(bend(seen))
        return seen.flatten(2)


def halved(frame: tuple[int, int], times: int) -> list[tuple[int, int]]:
    """The frame's height and width, and what is left of them after each halving."""
    extents = [frame]
    for _ in range(times):
        height, width = extents[-1]
        extents.append(((height + 1) // 2, (width + 1) // 2))
    return extents
