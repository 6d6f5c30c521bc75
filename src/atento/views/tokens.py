"""One text at every level: as characters, subwords and words, with the place of each piece in the text."""

from typing import Any

from atento.data.text.vocabulary import UNKNOWN, Characters, Vocabulary, Words
from atento.tasks.embed.vectors import read_by, vocabulary_of

NAMES = {"char": "characters", "subword": "subwords", "word": "words", "running": "words and line breaks"}


def look_at_tokens(codec: Any, text: str) -> dict[str, Any]:
    """The text as the model cuts it, and at the levels that need no learning.

    Subwords are learned: only a model that reads them has some.
    """
    read = read_by(codec, text)
    own = vocabulary_of(codec)
    every: dict[str, Vocabulary] = {"char": Characters([]), "word": Words([])}
    if own is not None:
        every = {**every, own.level: own}
    levels = [level_of(level, every[level], read.text, own) for level in sorted(every, key=[*NAMES, *every].index)]
    return {"text": read.text, "levels": levels}


def level_of(level: str, vocabulary: Vocabulary, text: str, own: Vocabulary | None) -> dict[str, Any]:
    """The pieces of a text with their places; what the model does not know is said of its own level alone."""
    mine, numbers, places = vocabulary is own, vocabulary.encode(text), vocabulary.offsets(text)
    return {
        "level": NAMES.get(level, level),
        "own": mine,
        "pieces": [text[start:end] for start, end in places],
        "offsets": [list(place) for place in places],
        "numbers": numbers if mine else None,
        "unknown": [place for place, number in enumerate(numbers) if number == UNKNOWN] if mine else [],
        "again": vocabulary.decode(numbers) if mine else None,
    }


def tokens_text(found: dict[str, Any], *, width: int = 80) -> str:
    """A block a level: how many pieces, then each with its place."""
    blocks = [found["text"]]
    for level in found["levels"]:
        mine = " (what the model reads)" if level["own"] else ""
        cells = [
            f"{'?' if place in level['unknown'] else ''}{shown(piece)} {start}–{end}"
            for place, (piece, (start, end)) in enumerate(zip(level["pieces"], level["offsets"], strict=True))
        ]
        blocks.append(f"{len(cells)} {level['level']}{mine}\n" + folded(cells, width))
        if level["unknown"]:
            blocks[-1] += f"\n  {len(level['unknown'])} unknown, marked ?"
    return "\n\n".join(blocks)


def shown(piece: str) -> str:
    """A piece that can be seen."""
    return piece if piece.strip() else "␣" * len(piece) or "·"


def folded(cells: list[str], width: int) -> str:
    """Cells with a wide gap between, as many on a line as there is room for."""
    lines, line = [], " "
    for cell in cells:
        if len(line) + len(cell) + 3 > width and line.strip():
            lines.append(line)
            line = " "
        line += f" {cell}  "
    return "\n".join(part.rstrip() for part in [*lines, line])
