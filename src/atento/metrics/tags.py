"""Tags of the steps of a sequence: an output is a list of them, its reference one text with tabs between.

Spans in tags: which stretches of a sequence B-, I-, E- and S- tags mark, and their F1 as conlleval counts it.
Tags are O, or a prefix and a kind: `B-person`. In IOB1 (Ramshaw & Marcus, 1995) a span begins with I, with B only where
one of its kind ends right before it; in IOB2 every span begins with B; in IOBES it also ends with E, and a span of one
step is S (as in Tjong Kim Sang & Veenstra, 1999).
"""

from collections.abc import Collection, Iterable, Sequence
from functools import partial
from itertools import cycle
from typing import NamedTuple

import numpy as np

from atento.metrics.metric import Metric, Sums, hits_of, share

# Axes: N examples, R resamples.

BETWEEN = "\t"

Said = Sequence[Sequence[str]]


def count_tags(outputs: Said, references: Sequence[Sequence[str]]) -> Sums:
    """(N, 2): tags that are right, and all of them; one too few is wrong."""
    pairs = [(said, allowed[0].split(BETWEEN)) for said, allowed in zip(outputs, references, strict=True)]
    return np.asarray(
        [(sum(one == other for one, other in zip(said, true, strict=False)), len(true)) for said, true in pairs],
        dtype=np.float64,
    ).reshape(len(pairs), 2)


def count_sentences(outputs: Said, references: Sequence[Sequence[str]]) -> Sums:
    """(N, 2): all tags right or not, and one."""
    return hits_of([BETWEEN.join(said) == allowed[0] for said, allowed in zip(outputs, references, strict=True)])


def count_unseen(
    sources: Sequence[str], outputs: Said, references: Sequence[Sequence[str]], *, known: Collection[str]
) -> Sums:
    """(N, 2): right tags of words that training never saw, and how many there are."""
    counts = []
    for source, said, allowed in zip(cycle(sources), outputs, references, strict=False):  # once for each run
        steps = zip(source.split(BETWEEN), said, allowed[0].split(BETWEEN), strict=False)
        right = [one == other for word, one, other in steps if word not in known]
        counts.append((sum(right), len(right)))
    return np.asarray(counts, dtype=np.float64).reshape(len(counts), 2)


def share_of_some(sums: Sums) -> Sums:
    """Hits over chances; 1 where there was no chance to fail."""
    return np.asarray(np.where(sums[:, 1] > 0, sums[:, 0] / np.maximum(sums[:, 1], 1), 1.0))


def unseen_accuracy(known: Collection[str]) -> Metric:
    """Accuracy on the words that are not among those known; it must be told the sources, see `Metric.on`."""
    return Metric(
        "unseen_accuracy",
        "share of right tags among words that training never saw",
        count_tags,
        share_of_some,
        by_source=partial(count_unseen, known=known),
    )


TAG_ACCURACY = Metric("accuracy", "share of tags that are right", count_tags, share)
SENTENCES = Metric("sentences", "share of sequences with all tags right", count_sentences, share)


# Axes: N examples, R resamples.

OUTSIDE = "O"
BEGINS, ENDS = {"B", "S"}, {"E", "S"}  # L and U of BILOU are read as E and S
PREFIXES = {"B": "B", "I": "I", "E": "E", "S": "S", "L": "E", "U": "S"}
SCHEMES = ("iob1", "iob2", "iobes")


class Span(NamedTuple):
    """Steps first to last, both included, of one kind."""

    kind: str
    first: int
    last: int


def parts_of(tag: str) -> tuple[str, str]:
    """`B-person` -> B, person; O, and whatever has no such prefix, is outside: "", ""."""
    prefix, sign, kind = tag.partition("-")
    return (PREFIXES[prefix], kind) if sign and prefix in PREFIXES else ("", "")


def begins(before: str, tag: str) -> bool:
    """Whether a span begins at a tag, given the one before it: by its prefix, or where none of its kind goes on."""
    prefix, kind = parts_of(tag)
    earlier, other = parts_of(before)
    return bool(prefix) and (prefix in BEGINS or earlier in {"", *ENDS} or kind != other)


def find_spans(tags: Sequence[str]) -> list[Span]:
    """The spans of a sequence in any of the schemes, valid or not: as conlleval, which reads every tag somehow."""
    spans: list[Span] = []
    first = -1  # of the open span
    for place, tag in enumerate([*tags, OUTSIDE]):
        before = tags[place - 1] if place else OUTSIDE
        if first >= 0 and (not parts_of(tag)[0] or begins(before, tag)):
            spans.append(Span(parts_of(tags[first])[1], first, place - 1))
            first = -1
        if begins(before, tag):
            first = place
    return spans


def may_follow(scheme: str, before: str, tag: str) -> bool:
    """Whether a scheme has these two tags side by side; the ends of a sequence are O."""
    (earlier, other), (prefix, kind) = parts_of(before), parts_of(tag)
    same = kind == other
    if scheme == "iob1":
        return prefix != "B" or (bool(earlier) and same)
    inside = prefix in ("I", "E")
    if scheme == "iob2":
        return not inside or (bool(earlier) and same)
    if earlier in ("B", "I"):  # an open span goes on or ends
        return inside and same
    return not inside


def find_scheme(sequences: Iterable[Sequence[str]]) -> str:
    """The scheme that all sequences keep; empty where tags mark no spans, or some sequence keeps none."""
    rows = [list(tags) for tags in sequences]
    known = {tag for tags in rows for tag in tags}
    prefixes = {parts_of(tag)[0] for tag in known}
    if not marks_spans(known):
        return ""
    pairs = {pair for tags in rows for pair in zip([OUTSIDE, *tags], [*tags, OUTSIDE], strict=True)}
    possible = ["iobes"] if prefixes & ENDS else ["iob2", "iob1"] if "B" in prefixes else ["iob1"]
    return next((scheme for scheme in possible if all(may_follow(scheme, *pair) for pair in pairs)), "")


def marks_spans(tags: Iterable[str]) -> bool:
    """Whether tags are O and prefixes with a kind, and nothing else."""
    known = set(tags)
    return OUTSIDE in known and len(known) > 1 and all(parts_of(tag)[0] for tag in known - {OUTSIDE})


def count_spans(outputs: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> Sums:
    """(N, 3): spans rightly found, found, and true; a span is right when its kind and both ends are."""
    counts = []
    for said, allowed in zip(outputs, references, strict=True):
        found, true = set(find_spans(said)), set(find_spans(allowed[0].split(BETWEEN)))
        counts.append((len(found & true), len(found), len(true)))
    return np.asarray(counts, dtype=np.float64).reshape(len(counts), 3)


def span_f1(sums: Sums) -> Sums:
    """2 hits / (found + true); 0 where there are none."""
    return np.asarray(2 * sums[:, 0] / np.maximum(sums[:, 1] + sums[:, 2], 1))


def span_precision(sums: Sums) -> Sums:
    """Hits / found."""
    return np.asarray(sums[:, 0] / np.maximum(sums[:, 1], 1))


def span_recall(sums: Sums) -> Sums:
    """Hits / true."""
    return np.asarray(sums[:, 0] / np.maximum(sums[:, 2], 1))


SPAN_F1 = Metric("span_f1", "F1 of whole spans, kind and both ends right, as conlleval", count_spans, span_f1)
SPAN_PRECISION = Metric("span_precision", "share of spans found that are right", count_spans, span_precision)
SPAN_RECALL = Metric("span_recall", "share of true spans that are found", count_spans, span_recall)
