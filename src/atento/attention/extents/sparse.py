"""Sparse extents: patterns in which a query sees few of many keys of its own sequence, computed group by group."""

from torch import Tensor

from atento.attention.extents.extents import Extent, Piece, View
from atento.attention.extents.groups import BlockEnds, Blocks, NearTiles, Neighbourhoods, Strides, Tiles
from atento.attention.extents.local import Window
from atento.attention.requirements import require_not_negative, require_positive
from atento.errors import InputError

# Axes: Q queries, K keys. Blocks are counted from the first real key, so padding before it moves no border.


class BlockLocal(Extent):
    """Queries in blocks; each block sees itself, `before` blocks before it and `after` blocks after it.

    Image Transformer, 1-D local attention (Parmar et al., 2018, sec. 3.3): memory = block + neighbourhood.
    """

    between = False
    by_place = True
    counted = True

    def __init__(self, block: int, before: int = 1, after: int = 1) -> None:
        super().__init__()
        require_positive("BlockLocal", block=block)
        require_not_negative("BlockLocal", before=before, after=after)
        self.block, self.before, self.after = block, before, after

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """−before ≤ key's block − query's block ≤ after."""
        first = first_real(valid)
        distance = apart((query_at - first) // self.block, (key_at - first) // self.block)
        return View((distance >= -self.before) & (distance <= self.after))

    def cover(self, queries: int, keys: int, *, causal: bool) -> tuple[Piece, ...]:
        """The blocks themselves."""
        blocks = Blocks.over(queries, self.block)
        after = 0 if causal else self.after
        return (Piece(blocks, Neighbourhoods.around(blocks, before=self.before, after=after), self),)

    def extra_repr(self) -> str:
        """Its numbers."""
        return f"{self.block}, before={self.before}, after={self.after}"


class BlockLocal2d(Extent):
    """Pixels of a picture, row after row, in tiles; each tile sees itself and `around` tiles on every side.

    Image Transformer, 2-D local attention (Parmar et al., 2018, sec. 3.3). block: a tile's height and width.
    """

    between = False
    by_place = True
    counted = True

    def __init__(self, height: int, width: int, block: tuple[int, int], around: int = 1) -> None:
        super().__init__()
        require_positive("BlockLocal2d", height=height, width=width, block_height=block[0], block_width=block[1])
        require_not_negative("BlockLocal2d", around=around)
        self.height, self.width, self.block, self.around = height, width, block, around

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """|tile of the key − tile of the query| ≤ around, down and across."""
        if valid is None and int(key_at.max()) >= self.height * self.width:
            raise InputError(
                "BlockLocal2d: there are more keys than the picture has pixels.",
                found=f"{int(key_at.max()) + 1} keys, a picture of {self.height} × {self.width}",
                fix="give the picture's own height and width",
            )
        first = first_real(valid)
        query_at, key_at = query_at - first, key_at - first
        down = apart(query_at // self.width // self.block[0], key_at // self.width // self.block[0])
        across = apart(query_at % self.width // self.block[1], key_at % self.width // self.block[1])
        return View((down.abs() <= self.around) & (across.abs() <= self.around))

    def cover(self, queries: int, keys: int, *, causal: bool) -> tuple[Piece, ...]:
        """The tiles themselves."""
        if queries > self.height * self.width:
            return ()
        tiles = Tiles.over(queries, self.height, self.width, self.block)
        return (Piece(tiles, NearTiles.around(tiles, self.around, below=not causal), self),)

    def extra_repr(self) -> str:
        """Its numbers."""
        return f"{self.height}, {self.width}, block={self.block}, around={self.around}"


class Every(Extent):
    """A query sees every `stride`-th key, counted from itself."""

    between = False
    by_place = True

    def __init__(self, stride: int) -> None:
        super().__init__()
        self.stride = stride

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """(key_at − query_at) mod stride = 0."""
        return View(apart(query_at, key_at) % self.stride == 0)

    def cover(self, queries: int, keys: int, *, causal: bool) -> tuple[Piece, ...]:
        """One group a remainder."""
        return (Piece(Strides.over(queries, self.stride), Strides.over(keys, self.stride), self),)


class Ends(Extent):
    """Every query sees the last `last` keys of every block."""

    between = False
    by_place = True
    counted = True

    def __init__(self, block: int, last: int) -> None:
        super().__init__()
        self.block, self.last = block, last

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """key_at mod block ≥ block − last."""
        return View(((key_at - first_real(valid)) % self.block >= self.block - self.last).unsqueeze(-2))

    def cover(self, queries: int, keys: int, *, causal: bool) -> tuple[Piece, ...]:
        """All queries with the few keys."""
        return (Piece(Blocks.over(queries, queries), BlockEnds.over(keys, self.block, self.last), self),)


class Strided(Extent):
    """A query sees the `stride` nearest keys on either side, and every stride-th key.

    `Causal() & Strided(l)` is the strided pattern of Child et al. (2019, sec. 4.2), its two kinds of keys in one head.
    """

    between = False
    by_place = True

    def __init__(self, stride: int) -> None:
        super().__init__()
        require_positive("Strided", stride=stride)
        self.pattern = Window(stride) | Every(stride)
        self.stride = stride

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """|key_at − query_at| ≤ stride, or (key_at − query_at) mod stride = 0."""
        view: View = self.pattern(query, key, query_at=query_at, key_at=key_at, valid=valid)
        return view

    def cover(self, queries: int, keys: int, *, causal: bool) -> tuple[Piece, ...]:
        """The near keys, then the far ones."""
        return self.pattern.cover(queries, keys, causal=causal)

    def extra_repr(self) -> str:
        """The one number."""
        return str(self.stride)


class Fixed(Extent):
    """A query sees its own block, and the last `summary` keys of every block, which sum that block up.

    `Causal() & Fixed(l, c)` is the fixed pattern of Child et al. (2019, sec. 4.2), its two kinds of keys in one head.
    """

    between = False
    by_place = True
    counted = True

    def __init__(self, block: int, summary: int = 1) -> None:
        super().__init__()
        require_positive("Fixed", block=block, summary=summary)
        if summary > block:
            raise InputError(
                "Fixed: summary must not be larger than block.",
                found=f"block={block}, summary={summary}",
                fix=f"give 1 to {block}",
            )
        self.pattern = BlockLocal(block, before=0, after=0) | Ends(block, summary)
        self.block, self.summary = block, summary

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """The same block, or key_at mod block ≥ block − summary."""
        view: View = self.pattern(query, key, query_at=query_at, key_at=key_at, valid=valid)
        return view

    def cover(self, queries: int, keys: int, *, causal: bool) -> tuple[Piece, ...]:
        """The own block, then the ends of all."""
        return self.pattern.cover(queries, keys, causal=causal)

    def extra_repr(self) -> str:
        """Its numbers."""
        return f"{self.block}, summary={self.summary}"


def apart(query_at: Tensor, key_at: Tensor) -> Tensor:
    """How far each key is behind each query: (..., Q), (..., K) -> (..., Q, K)."""
    return key_at.unsqueeze(-2) - query_at.unsqueeze(-1)


def first_real(valid: Tensor | None) -> Tensor | int:
    """Where the first real key stands (..., 1); 0 where there is none."""
    return 0 if valid is None else valid.long().argmax(dim=-1, keepdim=True)
