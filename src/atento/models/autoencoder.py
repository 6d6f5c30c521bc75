"""Autoencoders: a window of a series, or a frame of a video, encoded to a few latent numbers and decoded again.

A window's encoder is any encoder of numbers (`WindowEncoder`), its decoder recurrent or a Transformer; frames have
convolutional ones.
"""

from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.blocks.transformer_stack import TransformerStack
from atento.errors import InputError
from atento.layers.losses import Loss, squared_error
from atento.layers.positions import Positions
from atento.layers.products import Linear
from atento.models.protocols import Encoder
from atento.recurrent.layers import OneToMany
from atento.recurrent.stack import Stack

# Axes: B batch, L time, C channels (of a video its pixels, row by row), Z latent, D size, H height, W width.


class WindowSizes(NamedTuple):
    """The sizes that follow from the data."""

    channels: int
    look_back: int
    frame: tuple[int, int] = (0, 0)  # height and width of a video's frames; zeros: no video


class AutoencoderBatch(NamedTuple):
    """Windows, scaled by the training part: inputs and targets alike."""

    values: Tensor  # (B, L, C)


class Autoencoder(nn.Module):
    """values (B, L, C) -> latent (B, Z) -> values: x̂ = g(f(x)), trained on ‖x − x̂‖² (Hinton & Salakhutdinov, 2006).

    `noise` is added to the inputs in training, not to the targets (a denoising autoencoder; Vincent et al., 2008).
    """

    def __init__(self, encoder: nn.Module, decoder: nn.Module, sizes: WindowSizes, *, noise: float = 0.0) -> None:
        super().__init__()
        self.encoder, self.decoder, self.sizes, self.noise = encoder, decoder, sizes, noise

    def encode(self, values: Tensor) -> Tensor:
        """The latent (B, Z) of each window."""
        if values.shape[1:] != (self.sizes.look_back, self.sizes.channels):
            raise InputError(
                "Autoencoder: the windows are of another shape than it was made for.",
                found=f"values {tuple(values.shape)}",
                fix=f"give values (B, {self.sizes.look_back}, {self.sizes.channels})",
            )
        return self.encoder(values)

    def decode(self, latent: Tensor) -> Tensor:
        """The window (B, L, C) of each latent."""
        return self.decoder(latent)

    def forward(self, values: Tensor) -> Tensor:
        """The reconstruction (B, L, C) of each window."""
        return self.decode(self.encode(values))

    def loss(self, batch: AutoencoderBatch) -> Loss:
        """Squared error of every number."""
        read = batch.values
        if self.training and self.noise:
            read = read + self.noise * torch.randn_like(read)
        return squared_error(self(read), batch.values)


class WindowEncoder(nn.Module):
    """W s + b of the summary s of any encoder of numbers: (B, L, C) -> (B, Z)."""

    def __init__(self, encoder: Encoder, latent: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.to_latent = Linear(encoder.size, latent)

    def forward(self, values: Tensor) -> Tensor:
        """A window has no padding: every step is valid."""
        valid = torch.ones(values.shape[:2], dtype=torch.bool, device=values.device)
        return self.to_latent(self.encoder.encode(values, valid).summary)


class RecurrentWindowDecoder(nn.Module):
    """A recurrent stack with the latent as the input of every step (Srivastava et al., 2015, sec. 2.2)."""

    def __init__(self, stack: Stack, channels: int, look_back: int) -> None:
        super().__init__()
        self.look_back = look_back
        self.network = OneToMany(stack, Linear(stack.output_size, channels), given="always")

    def forward(self, latent: Tensor) -> Tensor:
        """(B, Z) -> (B, L, C)."""
        return self.network(latent, self.look_back)


class TransformerWindowDecoder(nn.Module):
    """Layers of self-attention over copies of the latent that differ by their positions alone."""

    def __init__(
        self, latent: int, positions: Positions, stack: TransformerStack, channels: int, look_back: int
    ) -> None:
        super().__init__()
        self.from_latent, self.positions, self.stack = Linear(latent, stack.size), positions, stack
        self.look_back = look_back
        self.write = Linear(stack.size, channels)

    def forward(self, latent: Tensor) -> Tensor:
        """(B, Z) -> (B, L, C)."""
        vectors = self.from_latent(latent).unsqueeze(1)  # (B, 1, D)
        places = self.positions(torch.arange(self.look_back, device=latent.device)).to(vectors.dtype)  # (L, D)
        return self.write(self.stack(vectors + places))


class FrameEncoder(nn.Module):
    """Convolutions of stride 2, then one linear map; the steps of a window are the input channels."""

    def __init__(self, sizes: WindowSizes, widths: list[int], latent: int) -> None:
        super().__init__()
        self.frame = sizes.frame
        planes = [sizes.look_back, *widths]
        self.convolutions = nn.ModuleList(
            nn.Conv2d(before, after, kernel_size=3, stride=2, padding=1) for before, after in pairwise(planes)
        )
        height, width = halved_sizes(self.frame, len(widths))[-1]
        self.to_latent = Linear(widths[-1] * height * width, latent)

    def forward(self, values: Tensor) -> Tensor:
        """(B, L, H·W) -> (B, Z)."""
        maps = values.reshape(*values.shape[:2], *self.frame)
        for convolution in self.convolutions:
            maps = nn.functional.silu(convolution(maps))
        return self.to_latent(maps.flatten(1))


class FrameDecoder(nn.Module):
    """The mirror of `FrameEncoder`: two linear maps, then transposed convolutions of stride 2."""

    def __init__(self, sizes: WindowSizes, widths: list[int], latent: int, hidden: int) -> None:
        super().__init__()
        extents = halved_sizes(sizes.frame, len(widths))
        self.first = (widths[-1], *extents[-1])
        self.from_latent = Linear(latent, hidden)
        self.to_maps = Linear(hidden, widths[-1] * extents[-1][0] * extents[-1][1])
        planes = [*reversed(widths), sizes.look_back]
        self.convolutions = nn.ModuleList(
            nn.ConvTranspose2d(
                before,
                after,
                kernel_size=3,
                stride=2,
                padding=1,
                output_padding=(1 - height % 2, 1 - width % 2),  # an odd side that was halved becomes odd again
            )
            for before, after, (height, width) in zip(planes, planes[1:], reversed(extents[:-1]), strict=False)
        )

    def forward(self, latent: Tensor) -> Tensor:
        """(B, Z) -> (B, L, H·W)."""
        silu = nn.functional.silu
        maps = self.to_maps(silu(self.from_latent(latent))).unflatten(-1, self.first)
        for convolution in self.convolutions:
            maps = convolution(silu(maps))
        return maps.flatten(2)


def halved_sizes(frame: tuple[int, int], times: int) -> list[tuple[int, int]]:
    """Height and width of a frame, and of what remains after each halving."""
    extents = [frame]
    for _ in range(times):
        height, width = extents[-1]
        extents.append(((height + 1) // 2, (width + 1) // 2))
    return extents
