"""A picture, row after row, cut into tiles."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from atento.attention.groups import Groups, Partition, stretch

# Axes: L leading axes, T pixels row after row, R rows of tiles, C columns of tiles, r × c a tile, D features.


@dataclass(frozen=True)
class Tiles(Partition):
    """Tiles of r × c pixels; those at the right and bottom border may be cut."""

    height: int
    width: int
    block: tuple[int, int]  # r, c

    @classmethod
    def over(cls, length: int, height: int, width: int, block: tuple[int, int]) -> "Tiles":
        """As many tiles as the picture needs."""
        down, across = -(-height // block[0]), -(-width // block[1])
        return cls(down * across, block[0] * block[1], length, height, width, block)

    @property
    def counts(self) -> tuple[int, int]:
        """R and C."""
        return -(-self.height // self.block[0]), -(-self.width // self.block[1])

    def cut(self, items: Tensor) -> Tensor:
        """(L, T, D) -> (L, R·C, r·c, D)."""
        return self.tiled(items).flatten(-5, -4).flatten(-3, -2)

    def tiled(self, items: Tensor) -> Tensor:
        """(L, T, D) -> (L, R, C, r, c, D)."""
        (down, across), (rows, columns) = self.counts, self.block
        picture = torch.unflatten(stretch(items, self.height * self.width), -2, (self.height, self.width))
        missing = (0, 0, 0, across * columns - self.width, 0, down * rows - self.height)
        whole = functional.pad(picture, missing)
        return torch.unflatten(torch.unflatten(whole, -2, (across, columns)), -4, (down, rows)).transpose(-4, -3)

    def mend(self, grouped: Tensor) -> Tensor:
        """(L, R·C, r·c, D) -> (L, height·width, D)."""
        tiles = torch.unflatten(torch.unflatten(grouped, -2, self.block), -4, self.counts)  # (L, R, C, r, c, D)
        whole = tiles.transpose(-4, -3).flatten(-5, -4).flatten(-3, -2)  # (L, R·r, C·c, D)
        return whole[..., : self.height, : self.width, :].flatten(-3, -2)


@dataclass(frozen=True)
class NearTiles(Groups):
    """For each tile the pixels of that tile and of its neighbours."""

    tiles: Tiles
    near: int
    below: int

    @classmethod
    def around(cls, tiles: Tiles, near: int, *, below: bool) -> "NearTiles":
        """`near` tiles on every side; below only where asked for."""
        lower = near if below else 0
        return cls(tiles.groups, (near + 1 + lower) * (2 * near + 1) * tiles.size, tiles, near, lower)

    def cut(self, items: Tensor) -> Tensor:
        """Tiles side by side, once for each distance down and across."""
        down, across = self.tiles.counts
        tiled = self.tiles.tiled(items).flatten(-3, -2)  # (L, R, C, r·c, D)
        whole = functional.pad(tiled, (0, 0, 0, 0, self.near, self.near, self.near, self.below))
        shifted = [
            whole[..., row : row + down, column : column + across, :, :]
            for row in range(self.near + 1 + self.below)
            for column in range(2 * self.near + 1)
        ]
        return torch.cat(shifted, dim=-2).flatten(-4, -3)
