"""Sparse extents: patterns in which a query sees few of the keys of its own sequence, computed group by group."""

import torch
from torch import Tensor

from atento.attention.extents.extents import Extent, GroupPair, View
from atento.attention.extents.groups import BlockEnds, Blocks, NearTiles, Neighbourhoods, Strides, Tiles
from atento.attention.extents.local import Window, offsets
from atento.attention.requirements import require_not_negative, require_positive
from atento.errors import InputError

# Axes: Q queries, K keys. Blocks are counted from the first real key, so padding before it does not shift them.


class BlockLocal(Extent):
    """Block-local: each block of queries sees its own block, `before` blocks before it and `after` blocks after it.

    1-D local attention of the Image Transformer (Parmar et al., 2018, sec. 3.3): memory = block + neighbourhood.
    """

    crosses_sequences = False
    position_only = True
    counts_real = True

    def __init__(self, block: int, before: int = 1, after: int = 1) -> None:
        super().__init__()
        require_positive("BlockLocal", block=block)
        require_not_negative("BlockLocal", before=before, after=after)
        self.block, self.before, self.after = block, before, after

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """−before ≤ block of the key − block of the query ≤ after."""
        first = first_real(valid)
        distance = offsets((query_at - first) // self.block, (key_at - first) // self.block)
        return View((distance >= -self.before) & (distance <= self.after))

    def cover(self, queries: int, keys: int, *, causal: bool) -> tuple[GroupPair, ...]:
        """The blocks themselves."""
        blocks = Blocks.over(queries, self.block)
        after = 0 if causal else self.after
        return (GroupPair(blocks, Neighbourhoods.around(blocks, before=self.before, after=after), self),)

    def extra_repr(self) -> str:
        """Its arguments."""
        return f"{self.block}, before={self.before}, after={self.after}"


class BlockLocal2d(Extent):
    """Block-local in two dimensions: the pixels of an image, row after row, see `around` tiles on every side.

    2-D local attention of the Image Transformer (Parmar et al., 2018, sec. 3.3). block: height and width of a tile.
    """

    crosses_sequences = False
    position_only = True
    counts_real = True

    def __init__(self, height: int, width: int, block: tuple[int, int], around: int = 1) -> None:
        super().__init__()
        require_positive("BlockLocal2d", height=height, width=width, block_height=block[0], block_width=block[1])
        require_not_negative("BlockLocal2d", around=around)
        self.height, self.width, self.block, self.around = height, width, block, around

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """|tile of the key − tile of the query| ≤ around, down and across."""
        if valid is None and not torch.compiler.is_compiling() and int(key_at.max()) >= self.height * self.width:
            raise InputError(
                "BlockLocal2d: there are more keys than the image has pixels.",
                found=f"{int(key_at.max()) + 1} keys, an image of {self.height} × {self.width}",
                fix="give the height and width of the image",
            )
        first = first_real(valid)
        query_at, key_at = query_at - first, key_at - first
        down = offsets(query_at // self.width // self.block[0], key_at // self.width // self.block[0])
        across = offsets(query_at % self.width // self.block[1], key_at % self.width // self.block[1])
        return View((down.abs() <= self.around) & (across.abs() <= self.around))

    def cover(self, queries: int, keys: int, *, causal: bool) -> tuple[GroupPair, ...]:
        """The tiles themselves."""
        if queries > self.height * self.width:
            return ()
        tiles = Tiles.over(queries, self.height, self.width, self.block)
        return (GroupPair(tiles, NearTiles.around(tiles, self.around, below=not causal), self),)

    def extra_repr(self) -> str:
        """Its arguments."""
        return f"{self.height}, {self.width}, block={self.block}, around={self.around}"


class EveryNth(Extent):
    """A query sees every `stride`-th key, counted from itself."""

    crosses_sequences = False
    position_only = True

    def __init__(self, stride: int) -> None:
        super().__init__()
        self.stride = stride

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """(key_at − query_at) mod stride = 0."""
        return View(offsets(query_at, key_at) % self.stride == 0)

    def cover(self, queries: int, keys: int, *, causal: bool) -> tuple[GroupPair, ...]:
        """One group per remainder."""
        return (GroupPair(Strides.over(queries, self.stride), Strides.over(keys, self.stride), self),)


class LastOfBlock(Extent):
    """Every query sees the last `last` keys of every block."""

    crosses_sequences = False
    position_only = True
    counts_real = True

    def __init__(self, block: int, last: int) -> None:
        super().__init__()
        self.block, self.last = block, last

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """key_at mod block ≥ block − last."""
        return View(((key_at - first_real(valid)) % self.block >= self.block - self.last).unsqueeze(-2))

    def cover(self, queries: int, keys: int, *, causal: bool) -> tuple[GroupPair, ...]:
        """One group of all queries, with the last keys of all blocks."""
        return (GroupPair(Blocks.over(queries, queries), BlockEnds.over(keys, self.block, self.last), self),)


class SparsePattern(Extent):
    """A named union of two extents, its `pattern`."""

    crosses_sequences = False
    position_only = True
    pattern: Extent

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """What either extent shows."""
        return self.pattern(query, key, query_at=query_at, key_at=key_at, valid=valid)

    def cover(self, queries: int, keys: int, *, causal: bool) -> tuple[GroupPair, ...]:
        """The cover of both extents."""
        return self.pattern.cover(queries, keys, causal=causal)


class Strided(SparsePattern):
    """Strided sparse attention: a query sees the `stride` nearest keys on either side, and every stride-th key.

    `Causal() & Strided(l)` is the strided pattern of Child et al. (2019, sec. 4.2), its two kinds of keys in one head.
    """

    def __init__(self, stride: int) -> None:
        super().__init__()
        require_positive("Strided", stride=stride)
        self.pattern = Window(stride) | EveryNth(stride)
        self.stride = stride

    def extra_repr(self) -> str:
        """The stride."""
        return str(self.stride)


class Fixed(SparsePattern):
    """Fixed sparse attention: a query sees its own block, and the last `summary` keys of every block.

    `Causal() & Fixed(l, c)` is the fixed pattern of Child et al. (2019, sec. 4.2), its two kinds of keys in one head.
    """

    counts_real = True

    def __init__(self, block: int, summary: int = 1) -> None:
        super().__init__()
        require_positive("Fixed", block=block, summary=summary)
        if summary > block:
            raise InputError(
                "Fixed: summary must not be larger than block.",
                found=f"block={block}, summary={summary}",
                fix=f"give 1 to {block}",
            )
        self.pattern = BlockLocal(block, before=0, after=0) | LastOfBlock(block, summary)
        self.block, self.summary = block, summary

    def extra_repr(self) -> str:
        """Its arguments."""
        return f"{self.block}, summary={self.summary}"


def first_real(valid: Tensor | None) -> Tensor | int:
    """The position of the first real key (..., 1); 0 if there is none."""
    return 0 if valid is None else valid.long().argmax(dim=-1, keepdim=True)
