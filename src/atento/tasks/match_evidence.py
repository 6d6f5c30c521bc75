"""What a matcher looked at in the first text while it read the second: the evidence for its answer."""

from collections.abc import Sequence

from torch import Tensor

from atento.data.sentences import sentences
from atento.tasks.label_codec import prepare
from atento.tasks.match_codec import MatchCodec, two_texts

# Axes: L layers, H heads, N tokens of the second text, T of the first.

WORDS = 3  # shown where the first text is one sentence


def evidence_of(codec: MatchCodec, source: str, weights: Tensor) -> str:
    """The sentence of the first text that was looked at most; of a single sentence its words, as they stand.

    weights (L, H, N, T): all layers, heads and tokens of the second text count alike; they are squared, so that a look
    at one place counts for more than one that spreads over many.
    """
    text = prepare(two_texts(source)[0], lower=False)
    mass = weights.square().mean(dim=(0, 1, 2)).tolist()  # (T,)
    places = codec.vocabulary.offsets(text)[: len(mass)]
    parts = sentence_spans(text)
    if len(parts) < 2:
        words = [at for at, (start, end) in enumerate(places) if any(map(str.isalnum, text[start:end]))]
        best = sorted(sorted(words, key=lambda at: -mass[at])[:WORDS])
        return " … ".join(text[slice(*places[at])] for at in best)
    looked = [sum(mass[at] for at in tokens_within(places, part)) for part in parts]
    start, end = parts[max(range(len(parts)), key=lambda at: looked[at])]
    return text[start:end]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where each sentence of a text begins and ends."""
    spans, at = [], 0
    for sentence in sentences(text):
        start = text.index(sentence, at)
        at = start + len(sentence)
        spans.append((start, at))
    return spans


def tokens_within(places: Sequence[tuple[int, int]], part: tuple[int, int]) -> list[int]:
    """The tokens that begin inside a stretch of the text."""
    return [at for at, (start, _) in enumerate(places) if part[0] <= start < part[1]]
