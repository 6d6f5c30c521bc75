"""One pass of a tagger, matrix by matrix."""

from collections.abc import Sequence

from torch import Tensor

from atento.models.tagger import Tagger
from atento.tasks.traces import Trace, entry

# Axes: N words, L letters, D size, C tags.


def trace_tags(
    tagger: Tagger, tokens: Tensor, valid: Tensor, words: Sequence[str], said: Sequence[str], tags: Sequence[str]
) -> list[Trace]:
    """Words (1, N, 1 + L) to states, scores, what is known of neighbours, and how likely each tag is."""
    labels = list(words) or ["<unknown>"]
    states = tagger.encoder.encode(tokens, valid).states[0]
    found = [
        entry("words", "number of the word, then of its letters", labels, tokens[0]),
        entry("states", f"{type(tagger.encoder).__name__}: one vector a word", labels, states),
        entry("scores", "W state + b", labels, tagger.head(states), columns=tags),
    ]
    if tagger.chain is not None:
        start, between, end = tagger.chain.neighbours()
        found += [
            entry("start", "score of a first tag", ["start"], start.unsqueeze(0), columns=tags),
            entry("transitions", "score of a tag (column) after another (row)", tags, between, columns=tags),
            entry("end", "score of a last tag", ["end"], end.unsqueeze(0), columns=tags),
        ]
    formula = "softmax of the scores" if tagger.chain is None else "share of all sequences with this tag here"
    chances = tagger.chances(tokens, valid)[0]
    spoken = [f"{word} {tag}" for word, tag in zip(words, said, strict=True)] or labels
    return [*found, entry("chances", formula, spoken, chances, columns=tags)]
