"""Sequences and images cut into groups, so that a sparse extent is computed group by group, without the full matrix."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

# Axes: L leading axes (batch, heads), T time, G groups, g items of a group, D features. G stands before all of L, so
# that heads stay the third axis from the right. Of an image, T pixels row after row: R × C tiles of r × c pixels.


@dataclass(frozen=True)
class Groups(ABC):
    """A rule that cuts items (L, T, D) into groups (G, L, g, D), with zeros past either end."""

    groups: int  # G
    size: int  # g

    def split(self, items: Tensor, *, axes: int) -> Tensor:
        """(L, T, D) -> (G, L, g, D), where L has `axes` axes; missing ones are added in front."""
        items = items[(None,) * (axes + 2 - items.dim())]
        return self.cut(items).movedim(-3, -axes - 3)

    @abstractmethod
    def cut(self, items: Tensor) -> Tensor:
        """(L, T, D) -> (L, G, g, D)."""


@dataclass(frozen=True)
class Partition(Groups):
    """Groups in which every item occurs once, as queries are cut."""

    length: int  # T

    def merge(self, grouped: Tensor, *, axes: int) -> Tensor:
        """(G, L, g, D) -> (L, T, D), the inverse of `split`."""
        return self.uncut(grouped.movedim(-axes - 3, -3))[..., : self.length, :]

    @abstractmethod
    def uncut(self, grouped: Tensor) -> Tensor:
        """(L, G, g, D) -> (L, at least T, D), the inverse of `cut`."""


class Blocks(Partition):
    """Blocks of `size` neighbours."""

    @classmethod
    def over(cls, length: int, size: int) -> "Blocks":
        """As many blocks as the length needs."""
        return cls(-(-length // size), size, length)

    def cut(self, items: Tensor) -> Tensor:
        """0 1 2 | 3 4 5 | ..."""
        return torch.unflatten(pad_or_cut(items, self.groups * self.size), -2, (self.groups, self.size))

    def uncut(self, grouped: Tensor) -> Tensor:
        """Blocks end to end."""
        return grouped.flatten(-3, -2)


class Strides(Partition):
    """Every `groups`-th item: group r holds r, r + G, r + 2G, ..."""

    @classmethod
    def over(cls, length: int, stride: int) -> "Strides":
        """One group per remainder."""
        return cls(stride, -(-length // stride), length)

    def cut(self, items: Tensor) -> Tensor:
        """0 3 6 | 1 4 7 | 2 5 8."""
        whole = pad_or_cut(items, self.groups * self.size)
        return torch.unflatten(whole, -2, (self.size, self.groups)).transpose(-3, -2)

    def uncut(self, grouped: Tensor) -> Tensor:
        """Interleaved again."""
        return grouped.transpose(-3, -2).flatten(-3, -2)


@dataclass(frozen=True)
class Neighbourhoods(Groups):
    """For each block of queries the keys of that block, of `before` blocks before it and of some after it."""

    block: int
    before: int

    @classmethod
    def around(cls, blocks: Blocks, *, before: int, after: int) -> "Neighbourhoods":
        """One neighbourhood per block."""
        return cls(blocks.groups, (before + 1 + after) * blocks.size, blocks.size, before)

    def cut(self, items: Tensor) -> Tensor:
        """Shifted copies of the blocks, concatenated."""
        wide = self.size // self.block
        whole = pad_or_cut(
            functional.pad(items, (0, 0, self.before * self.block, 0)), (self.groups + wide - 1) * self.block
        )
        blocks = torch.unflatten(whole, -2, (-1, self.block))
        return torch.cat([blocks[..., first : first + self.groups, :, :] for first in range(wide)], dim=-2)


@dataclass(frozen=True)
class BlockEnds(Groups):
    """One group of the last `last` items of every block."""

    block: int
    last: int

    @classmethod
    def over(cls, length: int, block: int, last: int) -> "BlockEnds":
        """As many blocks as the length needs."""
        return cls(1, -(-length // block) * last, block, last)

    def cut(self, items: Tensor) -> Tensor:
        """2 5 8, for blocks of three and one item each."""
        blocks = torch.unflatten(pad_or_cut(items, self.size // self.last * self.block), -2, (-1, self.block))
        return blocks[..., self.block - self.last :, :].flatten(-3, -2).unsqueeze(-3)


@dataclass(frozen=True)
class Tiles(Partition):
    """Tiles of r × c pixels; those at the right and bottom border may be padded."""

    height: int
    width: int
    block: tuple[int, int]  # r, c

    @classmethod
    def over(cls, length: int, height: int, width: int, block: tuple[int, int]) -> "Tiles":
        """As many tiles as the image needs."""
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
        image = torch.unflatten(pad_or_cut(items, self.height * self.width), -2, (self.height, self.width))
        missing = (0, 0, 0, across * columns - self.width, 0, down * rows - self.height)
        whole = functional.pad(image, missing)
        return torch.unflatten(torch.unflatten(whole, -2, (across, columns)), -4, (down, rows)).transpose(-4, -3)

    def uncut(self, grouped: Tensor) -> Tensor:
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
        """`near` tiles on every side; those below only if `below`."""
        lower = near if below else 0
        return cls(tiles.groups, (near + 1 + lower) * (2 * near + 1) * tiles.size, tiles, near, lower)

    def cut(self, items: Tensor) -> Tensor:
        """Shifted copies of the tiles, concatenated."""
        down, across = self.tiles.counts
        tiled = self.tiles.tiled(items).flatten(-3, -2)  # (L, R, C, r·c, D)
        whole = functional.pad(tiled, (0, 0, 0, 0, self.near, self.near, self.near, self.below))
        shifted = [
            whole[..., row : row + down, column : column + across, :, :]
            for row in range(self.near + 1 + self.below)
            for column in range(2 * self.near + 1)
        ]
        return torch.cat(shifted, dim=-2).flatten(-4, -3)


def pad_or_cut(items: Tensor, length: int) -> Tensor:
    """Items (L, T, D) padded with zeros, or cut, to a length."""
    missing = length - items.size(-2)
    if missing > 0:
        return functional.pad(items, (0, 0, 0, missing))
    return items if missing == 0 else items[..., :length, :]
