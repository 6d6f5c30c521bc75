"""Metrics of generated text: exact match, chrF and BLEU as sacrebleu computes them, and edit distances.

chrF and BLEU are sums of counts over sentences, so that examples can be drawn anew, and a formula of the sums. An edit
distance is to the nearest reference, in characters or in symbols separated by spaces.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache, partial

import numpy as np
from rapidfuzz.distance import Levenshtein

from atento.metrics.metric import Metric, Sums, exact_statistics, ratio

# Axes: N examples.

Tokenize = Callable[[str], Sequence[str]]
CHARACTERS, BETA = 6, 2  # of chrF: the longest n-gram, and how much recall counts (Popović, 2015)
WORDS = 4  # of BLEU: the longest n-gram (Papineni et al., 2002)
ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
SPLITS = (  # of mteval-v13a: signs stand alone; a period or comma does outside numbers, a dash behind a digit
    (re.compile(r"([\{-\~\[-\` -\&\(-\+\:-\@\/])"), r" \1 "),
    (re.compile(r"([^0-9])([\.,])"), r"\1 \2 "),
    (re.compile(r"([\.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)


def chrf_statistics(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Sums:
    """(N, 18): for n-grams of 1 to 6 characters how many were predicted, are in the reference, and are in both; of the
    reference with the best score. White space does not count.
    """
    rows = []
    for output, allowed in zip(predictions, references, strict=True):
        predicted = character_grams(output)
        counts = [matched(predicted, character_grams(reference)) for reference in allowed]
        rows.append(max(counts, key=chrf_score))  # the first of the best
    return np.asarray(rows, dtype=np.float64)


def character_grams(text: str) -> list[Counter[str]]:
    """How often each n-gram occurs, for each length."""
    plain = "".join(text.split())
    return [
        Counter(plain[start : start + length] for start in range(len(plain) - length + 1))
        for length in range(1, CHARACTERS + 1)
    ]


def matched(predicted: Sequence[Counter[str]], true: Sequence[Counter[str]]) -> list[int]:
    """For each length how many n-grams were predicted, are true, and are both; none count where none are true."""
    counts = []
    for ours, theirs in zip(predicted, true, strict=True):
        both = sum(min(count, theirs[gram]) for gram, count in ours.items() if gram in theirs)
        counts += [ours.total() if theirs else 0, theirs.total(), both]
    return counts


def chrf_score(counts: Sequence[float]) -> float:
    """F with beta = 2 of the mean precision and the mean recall over the lengths that both texts have, from 0 to 1."""
    triples = [counts[place : place + 3] for place in range(0, len(counts), 3)]
    used = [(both / ours, both / theirs) for ours, theirs, both in triples if ours > 0 and theirs > 0]
    precision, recall = (sum(column) / len(used) for column in zip(*used, strict=True)) if used else (0.0, 0.0)
    return (1 + BETA**2) * precision * recall / (BETA**2 * precision + recall) if precision + recall else 0.0


def bleu_statistics(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Sums:
    """(N, 10): words of the prediction and of the reference nearest in length; for n-grams of 1 to 4 words how many of
    those predicted are in a reference; and how many were predicted.
    """
    rows = []
    for output, allowed in zip(predictions, references, strict=True):
        ours, known = tokenize_13a(output.rstrip()), [tokenize_13a(reference.rstrip()) for reference in allowed]
        nearest = min((abs(len(ours) - len(words)), len(words)) for words in known)[1]
        most: Counter[tuple[str, ...]] = Counter()
        for words in known:
            most |= word_grams(words)
        correct, total = [0] * WORDS, [0] * WORDS
        for gram, count in word_grams(ours).items():
            total[len(gram) - 1] += count
            correct[len(gram) - 1] += min(count, most[gram])
        rows.append([len(ours), nearest, *correct, *total])
    return np.asarray(rows, dtype=np.float64)


def word_grams(words: Sequence[str]) -> Counter[tuple[str, ...]]:
    """How often each n-gram of 1 to 4 words occurs."""
    return Counter(
        tuple(words[start : start + length])
        for length in range(1, WORDS + 1)
        for start in range(len(words) - length + 1)
    )


@lru_cache(maxsize=2**16)
def tokenize_13a(text: str) -> tuple[str, ...]:
    """The words of a text by the rules of mteval-v13a, the script of the WMT campaigns."""
    text = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, sign in ENTITIES:
        text = text.replace(entity, sign)
    text = f" {text} "
    for pattern, spaced in SPLITS:
        text = pattern.sub(spaced, text)
    return tuple(text.split())


def bleu_score(counts: Sequence[float]) -> float:
    """The geometric mean of the precisions with the brevity penalty, from 0 to 1; a precision of zero counts as half of
    one n-gram, the next one as a quarter, and so on (smoothing `exp`).
    """
    length, wanted, (correct, total) = counts[0], counts[1], (counts[2 : 2 + WORDS], counts[2 + WORDS :])
    if not any(correct) or not all(total):
        return 0.0
    logs, share = 0.0, 1.0
    for right, all_of_them in zip(correct, total, strict=True):
        share = share if right else share / 2
        logs += math.log((right or share) / all_of_them)
    penalty = math.exp(1 - wanted / length) if length < wanted else 1.0
    return penalty * math.exp(logs / WORDS)


def chrf(sums: Sums) -> Sums:
    """The score of each row of summed counts."""
    return np.asarray([chrf_score(row) for row in sums.tolist()])


def bleu(sums: Sums) -> Sums:
    """The score of each row of summed counts."""
    return np.asarray([bleu_score(row) for row in sums.tolist()])


EXACT_MATCH = Metric("exact", "share of predictions equal to a reference", exact_statistics, ratio)
CHRF2 = Metric(
    "chrf",
    "overlap of characters, sacrebleu nrefs:var|case:mixed|nc:6|nw:0",
    chrf_statistics,
    chrf,
)
BLEU4 = Metric(
    "bleu",
    "overlap of words, sacrebleu nrefs:var|case:mixed|tok:13a|smooth:exp",
    bleu_statistics,
    bleu,
)


def edit_statistics(predictions: Sequence[str], references: Sequence[Sequence[str]], *, tokenize: Tokenize) -> Sums:
    """(N, 3): edits to the nearest reference, that reference's length, and 1.

    An edit inserts, deletes or replaces a symbol (Levenshtein, 1966).
    """
    rows = []
    for output, allowed in zip(predictions, references, strict=True):
        predicted, known = tokenize(output), [tokenize(reference) for reference in allowed]
        distances = ((Levenshtein.distance(predicted, true), len(true)) for true in known)
        edits, length = min(distances, key=lambda one: one[0])
        rows.append((edits, length, 1))
    return np.asarray(rows, dtype=np.float64)


def mean_edits(sums: Sums) -> Sums:
    """Edits per prediction."""
    return ratio(sums[:, [0, 2]])


SYMBOL_ERROR = Metric(
    "symbol_error",
    "edits of symbols separated by spaces to the nearest reference, over its length",
    partial(edit_statistics, tokenize=str.split),  # words, phones
    ratio,
    smaller_is_better=True,
)
CHARACTER_ERROR = Metric(
    "character_error",
    "edits of characters to the nearest reference, over its length",
    partial(edit_statistics, tokenize=str),
    ratio,
    smaller_is_better=True,
)
EDITS = Metric(
    "edits",
    "mean edits of characters to the nearest reference",
    partial(edit_statistics, tokenize=str),
    mean_edits,
    smaller_is_better=True,
)
