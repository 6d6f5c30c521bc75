"""Tags of the steps of a sequence: an output is a list of them, its reference one text with tabs between."""

from collections.abc import Collection, Sequence
from functools import partial
from itertools import cycle

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
