"""A file larger than memory: it is read in chunks, kept on disk, and split by the hash of each source."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from atento.data.examples.batches import Pair, StoredPairs
from atento.data.examples.pairs import Pairs
from atento.data.examples.splitting import parse_shares, rank
from atento.data.records import Refusal, stop_or_skip
from atento.data.tables.chunks import FileChunk, chunks_of
from atento.errors import InputError
from atento.spec import DataRecipe

MOST_HELD_OUT = 10_000  # rows of validation, and of the test
HEADED = ("csv", "tsv")


class Parts:
    """The three parts as they grow, and a fingerprint of them in the order of the file."""

    def __init__(self, shares: tuple[float, float], seed: int, held_out: set[str]) -> None:
        self.shares, self.seed, self.held_out = shares, seed, held_out
        self.train, self.left_out = StoredPairs(), 0
        self.valid: list[Pair] = []
        self.test: list[Pair] = []
        self.digest = hashlib.sha256()

    def add(self, pair: Pair) -> None:
        """Equal sources fall into the same part, whatever stands between them."""
        self.digest.update(f"{pair[0]}\x1f{pair[1]}\x1e".encode("utf-8", "surrogatepass"))
        place = int.from_bytes(rank(pair[0], self.seed)[:8], "big") / 2**64
        if pair[0] in self.held_out:
            self.left_out += 1
        elif place < self.shares[1]:
            self.test.append(pair)
        elif place < sum(self.shares):
            self.valid.append(pair)
        else:
            self.train.append(pair)


def read_chunks(
    recipe: DataRecipe, read: Callable[[DataRecipe, str], Pairs]
) -> Iterator[tuple[FileChunk, Pairs, tuple[Refusal, ...]]]:
    """Each chunk as the task's own reader reads it; refused rows are named by their line in the whole file."""
    name, skipping = Path(recipe.train).name, recipe.model_copy(update={"bad_rows": 1.0})
    with_header = has_header(recipe, read)
    first: Pairs | None = None
    for chunk in chunks_of(recipe.train, header=with_header):
        pairs = read(skipping, chunk.path)
        moved = [replace(refusal, file=name, line=refusal.line + chunk.lines_before) for refusal in pairs.refused]
        refused = stop_or_skip(moved, recipe.bad_rows, used=len(pairs.pairs))
        if first is None:
            first = pairs
            skipping = skipping.model_copy(update={"header": "yes" if with_header else "no"})
        here, there = ((one.source_column, one.target_column) for one in (pairs, first))
        if here != there:
            raise InputError(
                f"{name}:{chunk.lines_before + 1}: the columns look other than before.",
                found=f"{' and '.join(here)}, before {' and '.join(there)}",
                fix="name them: --set data.source=…, --set data.target=… or --set data.label=…",
            )
        yield chunk, pairs, refused


def has_header(recipe: DataRecipe, read: Callable[[DataRecipe, str], Pairs]) -> bool:
    """Whether the first line names the columns, and must stand before every chunk."""
    chunks = chunks_of(recipe.train, header=False)
    try:
        table = read(recipe.model_copy(update={"bad_rows": 1.0}), next(chunks).path).table
    finally:
        chunks.close()
    return table.header and table.kind in HEADED


def part_large(
    recipe: DataRecipe, seed: int, read: Callable[[DataRecipe, str], Pairs], *, own: tuple[bool, bool], held: set[str]
) -> tuple[Parts, list[str], list[Refusal]]:
    """All rows of a large file in three parts, what was guessed, and what was refused."""
    _, valid, test = parse_shares(recipe.split)
    parts: Parts | None = None
    notes: list[str] = []
    refused: list[Refusal] = []
    for chunk, pairs, bad in read_chunks(recipe, read):
        if parts is None:
            rows = max(1, len(pairs.pairs) / chunk.share)  # of the whole file, by its first chunk
            most = MOST_HELD_OUT / rows
            parts = Parts((0.0 if own[0] else min(valid, most), 0.0 if own[1] else min(test, most)), seed, held)
            notes += pairs.notes
        for pair in pairs.pairs:
            parts.add(pair)
        refused += bad
    if parts is None:
        raise InputError(f"{recipe.train} holds no rows.", found="nothing", fix="give a file with rows")
    parts.train.close_writing()
    if parts.left_out:
        notes.append(f"{parts.left_out} training rows left out: their source is also in validation or test")
    notes.append(
        f"{Path(recipe.train).name} is large: its rows are kept on disk, and vocabularies are learned from a sample"
    )
    return parts, notes, refused
