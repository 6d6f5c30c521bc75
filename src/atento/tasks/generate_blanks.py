"""Filling blanks: a masked model reads both sides at once; a model that writes tries words and scores all of it."""

import re
from collections import defaultdict

import torch
from torch import Tensor, nn

from atento.models.masked import MaskedModel
from atento.tasks.generate_scoring import log_probabilities
from atento.tasks.task import Answer
from atento.tasks.text_codec import MASK, TextCodec, prepare_text

# Axes: N tokens of a text, V vocabulary.

BLANK = re.compile(r"_{3,}|<blank>")
NEAR = 160  # characters on either side that have a say in a blank
KEPT = 60  # words that go best with what stands before a blank are tried with all that stands after it


def has_blank(text: str) -> bool:
    """`___` or `<blank>`."""
    return BLANK.search(text) is not None


@torch.no_grad()
def fill(module: nn.Module, codec: TextCodec, text: str) -> Answer:
    """The text with one word of the training part in each blank, the first blank first; the score is the sum of the
    words' log-probabilities, by a model that writes that of the filled text.
    """
    text, words, score = prepare_text(text), list[str](), 0.0
    while (blank := BLANK.search(text)) is not None:
        before, after = text[: blank.start()], text[blank.end() :]
        if isinstance(module, MaskedModel):
            word, gained = by_masks(module, codec, before, after)
        else:
            word, gained = by_trying(module, codec, before, after)
        words.append(word)
        score += gained
        text = before + word + after
    if not isinstance(module, MaskedModel):
        score = float(log_probabilities(module, codec, [codec.row(text)])[0].sum())
    return Answer(text, score, value=words)


def by_trying(module: nn.Module, codec: TextCodec, before: str, after: str) -> tuple[str, float]:
    """The word with which the text up to the next blank is likeliest."""
    before, rest = before[-NEAR:], BLANK.split(after)[0][:NEAR]
    words = likeliest(module, codec, before, codec.words, rest[:2])[:KEPT]  # what follows at once ends a word
    best = likeliest(module, codec, before, [word for word, _ in words], rest)
    return best[0]


def likeliest(
    module: nn.Module, codec: TextCodec, before: str, words: tuple[str, ...] | list[str], rest: str
) -> list[tuple[str, float]]:
    """The words with the log-probability of before + word + rest, the likeliest first."""
    rows = [codec.row(before + word + rest, whole=False) for word in words]
    scores = [float(chances.sum()) for chances in log_probabilities(module, codec, rows)]
    return sorted(zip(words, scores, strict=True), key=lambda item: -item[1])


def by_masks(module: MaskedModel, codec: TextCodec, before: str, after: str) -> tuple[str, float]:
    """The word whose tokens are likeliest where masks stand, as many masks as it has tokens, by the mean of them."""
    alike = defaultdict[tuple[int, ...], list[tuple[str, list[int], Tensor]]](list)
    for word in codec.words:
        row, own, places = hidden_word(codec, before, word, after)
        masked = row.clone()
        masked[places] = MASK
        alike[tuple(masked.tolist())].append((word, own, row))
    found: list[tuple[float, str, float]] = []
    device = next(module.parameters()).device
    for tokens, some in alike.items():
        asked = torch.tensor([tokens], device=device)
        states = module.encoder.encode(asked, torch.ones_like(asked, dtype=torch.bool)).states[0]
        chances = module.to_logits(states).float().log_softmax(dim=-1).cpu()  # (N, V)
        for word, places, row in some:
            sums = float(chances[places, row[places]].sum())
            found.append((sums / len(places), word, sums))
    _, word, score = max(found)
    return word, score


def hidden_word(codec: TextCodec, before: str, word: str, after: str) -> tuple[Tensor, list[int], list[int]]:
    """The row of the text with that word in every blank; where its tokens stand, in the first blank and in any."""
    pieces = [before[-NEAR:], *BLANK.split(after)]
    text, spans = pieces[0], list[tuple[int, int]]()
    for piece in pieces[1:]:
        spans.append((len(text), len(text) + len(word)))
        text += word + piece
    everywhere = [
        (place + 1, start < spans[0][1])  # after the first mark
        for place, (start, end) in enumerate(codec.vocabulary.offsets(text))
        if any(start < last and end > first for first, last in spans)
    ]
    return codec.row(text), [place for place, first in everywhere if first], [place for place, _ in everywhere]
