"""Log-probabilities of texts by a language model, and the words that fill blanks.

A recurrent model carries its state through a text, other models slide a window along it. A masked model fills a blank
from both sides at once; a causal model tries words and scores the whole text.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from atento.data.examples.batches import like_lengths
from atento.data.text.vocabulary import END, PAD
from atento.layers.losses import at_least_float32
from atento.metrics.language_model import text_score
from atento.models.interpolated import InterpolatedLanguageModel
from atento.models.language_model import LanguageModel, MaskedLanguageModel
from atento.recurrent.unroll import chunks
from atento.spec import DecodeRecipe
from atento.tasks.generate.codec import MASK, TextCodec, prepare_text
from atento.tasks.generate.training import TextModel, pad_rows, recurs
from atento.tasks.task import Answer, TextExample

# Axes: B rows, T time, V vocabulary, N tokens of a text.

NUMBERS_AT_ONCE = 2**23  # logits held together
TOKENS_AT_ONCE = {"cpu": 4096}  # scored together: what a core's cache holds,
MOST_AT_ONCE = 16_384  # or what keeps a GPU busy
LONGEST_WALK = 8192  # steps; a GPU's kernel refuses very long ones
CALIBRATED = 30_000  # tokens of validation texts by which counts are weighed
FRESH = 4  # a sliding window moves on by a quarter of itself: three quarters of it at least stand before any token
HIDDEN_TOGETHER = 7  # one token in so many is hidden at a time, about as many as in training
BLANK = re.compile(r"_{3,}|<blank>")
NEAR = 160  # characters on either side of a blank that are read
KEPT = 60  # words that fit best what stands before a blank are tried with all that stands after it


class Segment(NamedTuple):
    """Some tokens of a row, and what stands before them."""

    row: int
    begin: int  # of the context
    fresh: int  # the first that is scored
    end: int


def judge_texts(
    module: TextModel, codec: TextCodec, sources: Sequence[str], recipe: DecodeRecipe
) -> list[list[object]]:
    """For each text [log-probability, characters, words, log-probability of each of its passages]."""
    rows = [codec.row(source) for source in sources]
    return [
        text_score(prepare_text(source), (log_probs - codec.spelling(source, row)).tolist())
        for source, row, log_probs in zip(sources, rows, log_probabilities(module, codec, rows), strict=True)
    ]


def log_probabilities(module: TextModel, codec: TextCodec, rows: Sequence[Tensor]) -> list[Tensor]:
    """Of each row (N + 1,) the log-probabilities (N,) of all tokens after the first."""
    found = network_log_probabilities(module, codec, rows)
    if not isinstance(module, InterpolatedLanguageModel):
        return found
    return [module.mixed(log_probs, row, skipped=1) for row, log_probs in zip(rows, found, strict=True)]


def calibrate(module: TextModel, codec: TextCodec, questions: Sequence[TextExample]) -> None:
    """Learn by validation texts how much the network and the counts are to be trusted."""
    if not isinstance(module, InterpolatedLanguageModel):
        return
    rows, left = list[Tensor](), CALIBRATED
    for question in questions:
        rows.append(codec.row(question.source)[: left + 1])
        left -= len(rows[-1]) - 1
        if left <= 0:
            break
    scored = [pair for pair in zip(rows, network_log_probabilities(module, codec, rows), strict=True) if len(pair[1])]
    if scored:
        module.calibrate(scored, skipped=1)


@torch.no_grad()
def network_log_probabilities(module: TextModel, codec: TextCodec, rows: Sequence[Tensor]) -> list[Tensor]:
    """The same by the network alone."""
    together = TOKENS_AT_ONCE.get(next(module.parameters()).device.type, MOST_AT_ONCE)
    if isinstance(module, MaskedLanguageModel):
        return by_segments(rows, codec.window, codec.window, lambda tokens: hidden_in_turn(module, tokens), together)
    if recurs(module):
        return carried(module, rows, most=NUMBERS_AT_ONCE // len(codec.vocabulary))
    step = max(1, codec.window // FRESH)
    return by_segments(rows, codec.window, step, lambda tokens: all_at_once(module, tokens), together)


def carried(model: LanguageModel, rows: Sequence[Tensor], *, most: int) -> list[Tensor]:
    """Log-probabilities by a recurrent state carried through each text, at most so many steps of all at once."""
    device, found = next(model.parameters()).device, dict[int, Tensor]()
    lengths = [len(row) for row in rows]
    for indices in like_lengths(lengths, batch_tokens=MOST_AT_ONCE):
        tokens = pad_rows([rows[index] for index in indices])[0].to(device)
        state, parts = model.decoder.start(model.empty_source(len(tokens))), [torch.zeros(len(tokens), 0)]
        for steps in chunks(tokens.size(1) - 1, min(LONGEST_WALK, max(1, most // len(tokens)))):
            features, state = model.resume(tokens[:, steps], state)
            parts.append(log_probability(model.decoder.to_logits(features), tokens[:, 1:][:, steps]).cpu())
        every = torch.cat(parts, dim=1).double()
        found.update({index: every[place, : lengths[index] - 1] for place, index in enumerate(indices)})
    return [found[index] for index in range(len(rows))]


def by_segments(
    rows: Sequence[Tensor], window: int, step: int, score: Callable[[Tensor], Tensor], together: int
) -> list[Tensor]:
    """Log-probabilities by a sliding window, so many tokens together; `score`: tokens (B, T + 1) -> log-probabilities
    (B, T) of the last T.
    """
    found = [torch.zeros(len(row) - 1, dtype=torch.float64) for row in rows]
    segments = [segment for index, row in enumerate(rows) for segment in slide(index, len(row) - 1, window, step)]
    lengths = [segment.end - segment.begin for segment in segments]
    for indices in like_lengths(lengths, batch_tokens=together):
        some = [segments[index] for index in indices]
        tokens, _ = pad_rows([rows[one.row][one.begin : one.end + 1] for one in some])
        for one, log_probs in zip(some, score(tokens).cpu().double(), strict=True):
            found[one.row][one.fresh : one.end] = log_probs[one.fresh - one.begin : one.end - one.begin]
    return found


def slide(row: int, tokens: int, window: int, step: int) -> Iterator[Segment]:
    """The first window is scored whole; then it moves on by a step, and what is new in it is scored."""
    end = min(window, tokens)
    yield Segment(row, 0, 0, end)
    while end < tokens:
        fresh, end = end, min(end + step, tokens)
        yield Segment(row, end - window, fresh, end)


def all_at_once(model: LanguageModel, tokens: Tensor) -> Tensor:
    """The log-probability of each token given those before it: (B, T + 1) -> (B, T). Padding is on the right."""
    tokens = tokens.to(next(model.parameters()).device)
    logits = model.decoder(tokens[:, :-1], model.empty_source(len(tokens)))
    return log_probability(logits, tokens[:, 1:])


def hidden_in_turn(model: MaskedLanguageModel, tokens: Tensor) -> Tensor:
    """The log-probability of each token given all others: (B, T + 1) -> (B, T) (Salazar et al., 2020, eq. 1), with
    several masked at a time. The sum is a pseudo-log-likelihood, not the log-probability of the text.
    """
    tokens = tokens.to(next(model.parameters()).device)
    valid = tokens != PAD
    log_probs = torch.zeros(tokens.shape, dtype=torch.float64, device=tokens.device)
    for first in range(min(HIDDEN_TOGETHER, tokens.size(1))):
        hidden = torch.zeros_like(valid)
        hidden[:, first::HIDDEN_TOGETHER] = True
        hidden &= valid & (tokens != END)
        states = model.encoder.encode(tokens.masked_fill(hidden, MASK), valid).states
        log_probs[hidden] = log_probability(model.to_logits(states[hidden]), tokens[hidden]).double()
    return log_probs[:, 1:]


def log_probability(logits: Tensor, tokens: Tensor) -> Tensor:
    """The log-probability of each token (...,) by its logits (..., V)."""
    return at_least_float32(logits).log_softmax(dim=-1).gather(-1, tokens.unsqueeze(-1)).squeeze(-1)


def has_blank(text: str) -> bool:
    """`___` or `<blank>`."""
    return BLANK.search(text) is not None


@torch.no_grad()
def fill(module: TextModel, codec: TextCodec, text: str) -> Answer:
    """The text with one word of the training part in each blank, the first blank first; the score is the sum of the
    words' log-probabilities, and of a causal model the log-probability of the filled text.
    """
    text, words, score = prepare_text(text), list[str](), 0.0
    while (blank := BLANK.search(text)) is not None:
        before, after = text[: blank.start()], text[blank.end() :]
        if isinstance(module, MaskedLanguageModel):
            word, gained = by_masks(module, codec, before, after)
        else:
            word, gained = by_trying(module, codec, before, after)
        words.append(word)
        score += gained
        text = before + word + after
    if not isinstance(module, MaskedLanguageModel):
        score = float(log_probabilities(module, codec, [codec.row(text)])[0].sum())
    return Answer(text, score, value=words)


def by_trying(module: TextModel, codec: TextCodec, before: str, after: str) -> tuple[str, float]:
    """The word with which the text up to the next blank is most probable."""
    before, rest = before[-NEAR:], BLANK.split(after)[0][:NEAR]
    words = rank_words(module, codec, before, codec.words, rest[:2])[:KEPT]  # what follows at once ends a word
    best = rank_words(module, codec, before, [word for word, _ in words], rest)
    return best[0]


def rank_words(
    module: TextModel, codec: TextCodec, before: str, words: Sequence[str], rest: str
) -> list[tuple[str, float]]:
    """The words with the log-probability of before + word + rest, the most probable first."""
    rows = [codec.row(before + word + rest, whole=False) for word in words]
    scores = [float(log_probs.sum()) for log_probs in log_probabilities(module, codec, rows)]
    return sorted(zip(words, scores, strict=True), key=lambda item: -item[1])


def by_masks(module: MaskedLanguageModel, codec: TextCodec, before: str, after: str) -> tuple[str, float]:
    """The word with the highest mean log-probability of its tokens at as many masks."""
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
        log_probs = module.to_logits(states).float().log_softmax(dim=-1).cpu()  # (N, V)
        for word, places, row in some:
            sums = float(log_probs[places, row[places]].sum())
            found.append((sums / len(places), word, sums))
    _, word, score = max(found)
    return word, score


def hidden_word(codec: TextCodec, before: str, word: str, after: str) -> tuple[Tensor, list[int], list[int]]:
    """The row of the text with that word in every blank; where its tokens stand, in the first blank and in any."""
    parts = [before[-NEAR:], *BLANK.split(after)]
    text, spans = parts[0], list[tuple[int, int]]()
    for part in parts[1:]:
        spans.append((len(text), len(text) + len(word)))
        text += word + part
    everywhere = [
        (place + 1, start < spans[0][1])  # after the first token
        for place, (start, end) in enumerate(codec.vocabulary.offsets(text))
        if any(start < last and end > first for first, last in spans)
    ]
    return codec.row(text), [place for place, first in everywhere if first], [place for place, _ in everywhere]
