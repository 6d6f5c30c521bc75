"""Texts by themselves, to model or to go on with."""

from collections.abc import Sequence

from atento.data.documents import document_table, is_plain, read_documents
from atento.data.pairs import Pair, Pairs, empty_cell
from atento.data.records import Refusal
from atento.data.splitting import parse_shares
from atento.spec import DataRecipe
from atento.tasks.opening import open_rows
from atento.tasks.reading import Reader, share_out
from atento.tasks.task import Opened

FEW = 20  # so few documents are each cut in time, not dealt out


def share_documents(
    recipe: DataRecipe, pairs: Sequence[Pair], own_valid: Pairs | None, own_test: Pairs | None, seed: int
) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Many documents are dealt out whole; of few, each gives its beginning to train and its end to the test."""
    if len(pairs) >= FEW or (own_valid is not None and own_test is not None):
        return share_out(recipe, pairs, own_valid, own_test, seed)
    shares = parse_shares(recipe.split)
    wanted = (shares[0], 0.0 if own_valid else shares[1], 0.0 if own_test else shares[2])
    parts: tuple[list[Pair], list[Pair], list[Pair]] = ([], [], [])
    for text, target in pairs:
        begin, done = 0, 0.0
        for part, share in zip(parts, wanted, strict=True):
            done += share / sum(wanted)
            end = int(len(text) * done + 1e-6)
            if text[begin:end].strip():
                part.append((text[begin:end], target))
            begin = end
    train, valid, test = parts
    return train, list(own_valid.pairs) if own_valid else valid, list(own_test.pairs) if own_test else test


def read_prompts(recipe: DataRecipe, file: str) -> Opened:
    """Texts to go on with: the lines of a plain text that are not blank, unless data.documents says otherwise."""
    lines = (
        recipe.model_copy(update={"documents": "lines"}) if recipe.documents == "auto" and is_plain(file) else recipe
    )
    table, at, _ = document_table(lines, file)

    def source_of(row: int) -> str | Refusal:
        text = table.rows[row][at]
        return text if text.strip() else empty_cell(table, row, at)

    return open_rows(recipe, table, source_of)


DOCUMENTS = Reader(rows=read_documents, sources=read_prompts, share=share_documents, columns=("text", "nothing"))
