"""The tokenization of a text at every level: characters, subwords and words, with the place of each token."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from atento.data.text.vocabulary import UNKNOWN, Characters, Vocabulary, Words
from atento.tasks.embed.vectors import read_by, vocabulary_of
from atento.views.saving import ModelView

NAMES = {"char": "characters", "subword": "subwords", "word": "words", "lossless": "words and line breaks"}


@dataclass(frozen=True, kw_only=True)
class TokenLevel:
    """The tokens of a text at one level."""

    level: str
    own: bool  # whether the model reads this level; ids, unknown and decoded are known of it alone
    tokens: list[str]
    offsets: list[list[int]]  # start and end of each token in the text
    ids: list[int] | None
    unknown: list[int]  # which tokens are not in the vocabulary
    decoded: str | None  # the text again, from the ids


@dataclass(frozen=True, kw_only=True)
class TokensView(ModelView):
    """A text and its tokens at every level."""

    text: str
    levels: list[TokenLevel]


def tokens_view(codec: Any, text: str, *, model: str = "") -> TokensView:
    """The tokens that the model reads, and those of the levels that need no learning.

    Subwords are learned, so only a model that reads subwords shows them.
    """
    read = read_by(codec, text)
    own = vocabulary_of(codec)
    every: dict[str, Vocabulary] = {"char": Characters([]), "word": Words([])}
    if own is not None:
        every = {**every, own.level: own}
    levels = [level_of(level, every[level], read.text, own) for level in sorted(every, key=[*NAMES, *every].index)]
    return TokensView(model=model, text=read.text, levels=levels)


def level_of(level: str, vocabulary: Vocabulary, text: str, own: Vocabulary | None) -> TokenLevel:
    """The tokens of a text with their places."""
    mine, ids, places = vocabulary is own, vocabulary.encode(text), vocabulary.offsets(text)
    return TokenLevel(
        level=NAMES.get(level, level),
        own=mine,
        tokens=[text[start:end] for start, end in places],
        offsets=[list(place) for place in places],
        ids=ids if mine else None,
        unknown=[place for place, number in enumerate(ids) if number == UNKNOWN] if mine else [],
        decoded=vocabulary.decode(ids) if mine else None,
    )


def tokens_text(view: TokensView, *, width: int = 80) -> str:
    """A block for each level: how many tokens, then each with its place."""
    blocks = [view.text]
    for level in view.levels:
        mine = " (what the model reads)" if level.own else ""
        cells = [
            f"{'?' if at in level.unknown else ''}{shown(token)} {start}–{end}"
            for at, (token, (start, end)) in enumerate(zip(level.tokens, level.offsets, strict=True))
        ]
        blocks.append(f"{len(cells)} {level.level}{mine}\n" + folded(cells, width))
        if level.unknown:
            blocks[-1] += f"\n  {len(level.unknown)} unknown, marked ?"
    return "\n\n".join(blocks)


def shown(token: str) -> str:
    """A token with a sign for each blank."""
    return token if token.strip() else "␣" * len(token) or "·"


def folded(cells: Sequence[str], width: int) -> str:
    """Cells with a wide gap between them, as many on a line as fit."""
    lines, line = [], " "
    for cell in cells:
        if len(line) + len(cell) + 3 > width and line.strip():
            lines.append(line)
            line = " "
        line += f" {cell}  "
    return "\n".join(part.rstrip() for part in [*lines, line])
