"""Metrics of tag sequences: accuracy per step and per sequence, and F1 of the spans that tags mark, as conlleval's.

A prediction is a list of tags; its reference is one text of tags, separated by tabs. Span tags are O, or a prefix and
a type: `B-person`. In IOB1 (Ramshaw & Marcus, 1995) a span begins with I, and with B only right after a span of its
type; in IOB2 every span begins with B; in IOBES it also ends with E, and a span of one step is S (Tjong Kim Sang &
Veenstra, 1999). The L and U of BILOU are read as E and S.
"""

from collections.abc import Collection, Iterable, Sequence
from functools import partial
from itertools import cycle
from typing import NamedTuple

import numpy as np

from atento.metrics.metric import Metric, Sums, hit_counts, ratio

# Axes: N examples, R resamples.

SEPARATOR = "\t"
OUTSIDE = "O"
BEGINS, ENDS = {"B", "S"}, {"E", "S"}
PREFIXES = {"B": "B", "I": "I", "E": "E", "S": "S", "L": "E", "U": "S"}
SCHEMES = ("iob1", "iob2", "iobes")

TagSequences = Sequence[Sequence[str]]


def count_tags(predictions: TagSequences, references: Sequence[Sequence[str]]) -> Sums:
    """(N, 2): tags that are right, and all of the reference; a missing tag is wrong."""
    pairs = [(tags, allowed[0].split(SEPARATOR)) for tags, allowed in zip(predictions, references, strict=True)]
    return np.asarray(
        [(sum(one == other for one, other in zip(tags, true, strict=False)), len(true)) for tags, true in pairs],
        dtype=np.float64,
    ).reshape(len(pairs), 2)


def count_sequences(predictions: TagSequences, references: Sequence[Sequence[str]]) -> Sums:
    """(N, 2): 1 where all tags of a sequence are right, and 1."""
    pairs = zip(predictions, references, strict=True)
    return hit_counts([SEPARATOR.join(tags) == allowed[0] for tags, allowed in pairs])


def count_unseen(
    sources: Sequence[str], predictions: TagSequences, references: Sequence[Sequence[str]], *, known: Collection[str]
) -> Sums:
    """(N, 2): right tags of words that are not known, and how many such words there are."""
    counts = []
    for source, tags, allowed in zip(cycle(sources), predictions, references, strict=False):  # once for each run
        steps = zip(source.split(SEPARATOR), tags, allowed[0].split(SEPARATOR), strict=False)
        right = [one == other for word, one, other in steps if word not in known]
        counts.append((sum(right), len(right)))
    return np.asarray(counts, dtype=np.float64).reshape(len(counts), 2)


def ratio_of_any(sums: Sums) -> Sums:
    """Hits over trials; NaN where there was no trial."""
    return np.asarray(np.where(sums[:, 1] > 0, sums[:, 0] / np.maximum(sums[:, 1], 1), np.nan))


TAG_ACCURACY = Metric("accuracy", "share of tags that are right", count_tags, ratio)
SEQUENCE_ACCURACY = Metric("sentences", "share of sequences with all tags right", count_sequences, ratio)


def unseen_accuracy(known: Collection[str]) -> Metric:
    """The tag accuracy on words that are not among the known ones; it needs the sources (`Metric.for_sources`)."""
    return Metric(
        "unseen_accuracy",
        "share of right tags among words that training never saw",
        count_tags,
        ratio_of_any,
        source_statistics=partial(count_unseen, known=known),
    )


class Span(NamedTuple):
    """A span of steps, first to last, both included."""

    kind: str
    first: int
    last: int


def split_tag(tag: str) -> tuple[str, str]:
    """`B-person` -> B, person; O, and whatever has no such prefix, is outside: "", ""."""
    prefix, sign, kind = tag.partition("-")
    return (PREFIXES[prefix], kind) if sign and prefix in PREFIXES else ("", "")


def begins_span(before: str, tag: str) -> bool:
    """Whether a span begins at a tag, given the previous one: by its prefix, or as no span of its type is open."""
    prefix, kind = split_tag(tag)
    earlier, other = split_tag(before)
    return bool(prefix) and (prefix in BEGINS or earlier in {"", *ENDS} or kind != other)


def find_spans(tags: Sequence[str]) -> list[Span]:
    """The spans of a sequence in any of the schemes; invalid tags are read as conlleval reads them."""
    spans: list[Span] = []
    first = -1  # of the open span
    for place, tag in enumerate([*tags, OUTSIDE]):
        before = tags[place - 1] if place else OUTSIDE
        if first >= 0 and (not split_tag(tag)[0] or begins_span(before, tag)):
            spans.append(Span(split_tag(tags[first])[1], first, place - 1))
            first = -1
        if begins_span(before, tag):
            first = place
    return spans


def is_valid_transition(scheme: str, before: str, tag: str) -> bool:
    """Whether a scheme allows a tag right after another; before and after a sequence stands O."""
    (earlier, other), (prefix, kind) = split_tag(before), split_tag(tag)
    same = kind == other
    if scheme == "iob1":
        return prefix != "B" or (bool(earlier) and same)
    inside = prefix in ("I", "E")
    if scheme == "iob2":
        return not inside or (bool(earlier) and same)
    if earlier in ("B", "I"):  # an open span must continue or end
        return inside and same
    return not inside


def find_scheme(sequences: Iterable[Sequence[str]]) -> str:
    """The scheme that all sequences keep; empty where tags mark no spans, or a sequence breaks every scheme."""
    rows = [list(tags) for tags in sequences]
    known = {tag for tags in rows for tag in tags}
    prefixes = {split_tag(tag)[0] for tag in known}
    if not are_span_tags(known):
        return ""
    pairs = {pair for tags in rows for pair in zip([OUTSIDE, *tags], [*tags, OUTSIDE], strict=True)}
    possible = ["iobes"] if prefixes & ENDS else ["iob2", "iob1"] if "B" in prefixes else ["iob1"]
    return next((scheme for scheme in possible if all(is_valid_transition(scheme, *pair) for pair in pairs)), "")


def are_span_tags(tags: Iterable[str]) -> bool:
    """Whether tags are O and prefixes with a type, and nothing else."""
    known = set(tags)
    return OUTSIDE in known and len(known) > 1 and all(split_tag(tag)[0] for tag in known - {OUTSIDE})


def count_spans(predictions: TagSequences, references: Sequence[Sequence[str]]) -> Sums:
    """(N, 3): true positive, predicted and true spans; a span is right when its type and both ends are."""
    counts = []
    for tags, allowed in zip(predictions, references, strict=True):
        found, true = set(find_spans(tags)), set(find_spans(allowed[0].split(SEPARATOR)))
        counts.append((len(found & true), len(found), len(true)))
    return np.asarray(counts, dtype=np.float64).reshape(len(counts), 3)


def span_f1(sums: Sums) -> Sums:
    """2 hits / (predicted + true); 0 where there are none."""
    return np.asarray(2 * sums[:, 0] / np.maximum(sums[:, 1] + sums[:, 2], 1))


def span_precision(sums: Sums) -> Sums:
    """Hits / predicted."""
    return np.asarray(sums[:, 0] / np.maximum(sums[:, 1], 1))


def span_recall(sums: Sums) -> Sums:
    """Hits / true."""
    return np.asarray(sums[:, 0] / np.maximum(sums[:, 2], 1))


SPAN_F1 = Metric("span_f1", "F1 of whole spans, type and both ends right, as conlleval", count_spans, span_f1)
SPAN_PRECISION = Metric("span_precision", "share of predicted spans that are right", count_spans, span_precision)
SPAN_RECALL = Metric("span_recall", "share of true spans that are predicted", count_spans, span_recall)
