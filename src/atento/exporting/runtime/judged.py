"""Labels, numbers and tags: outputs of a graph to answers."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from atento.exporting.folder import Json
from atento.exporting.runtime.graphs import Array, OnnxGraph, like_lengths, log_softmax
from atento.exporting.runtime.sources import SourceReader, WordReader

# Axes: B batch, N words, C labels or tags.

AT_ONCE = 16_384  # tokens that are read together
RANKED = 100  # labels an answer ranks, at most
NONE = "–"  # how an answer without a label is written


class ExportedAnswer(NamedTuple):
    """The answer of an exported model, with the fields of `atento.tasks.task.Answer`."""

    text: str
    score: float | None
    value: Any = None
    probabilities: Mapping[str, float] | None = None
    evidence: str | None = None  # an exported model does not say what its answer rests on

    @property
    def judged(self) -> Any:
        """The form of the answer that metrics take."""
        return self.text if self.value is None else self.value


class LabelJudge:
    """Answers of a network that gives outputs (B, C) for whole sources."""

    def __init__(self, graph: OnnxGraph, reader: SourceReader, saved: Json, thresholds: Sequence[float]) -> None:
        self.graph, self.reader, self.saved = graph, reader, saved
        self.thresholds = np.asarray(thresholds, dtype=np.float32)

    def __call__(self, sources: Sequence[str]) -> list[ExportedAnswer]:
        """An answer for each source."""
        encoded = [self.reader.encode(source) for source in sources]
        found: dict[int, ExportedAnswer] = {}
        for places in like_lengths([self.reader.length(one) for one in encoded], AT_ONCE):
            outputs = self.graph(self.reader.arrays([encoded[place] for place in places]))["outputs"]
            found.update(zip(places, map(self.answer, outputs.astype(np.float32)), strict=True))
        return [found[place] for place in range(len(sources))]

    def answer(self, outputs: Array) -> ExportedAnswer:
        """What outputs (C,) mean."""
        if "scale" in self.saved:
            mean, std = self.saved["scale"]
            return ExportedAnswer(f"{float(outputs[0]) * std + mean:.6g}", None)
        labels = self.saved["labels"]
        if "examples" in self.saved:
            return self.label_set(labels, outputs)
        scores = log_softmax(outputs)
        best = int(scores.argmax())
        probabilities = dict(zip(labels, np.exp(scores).tolist(), strict=True))
        return ExportedAnswer(labels[best], float(scores[best]), probabilities=probabilities)

    def label_set(self, labels: Sequence[str], outputs: Array) -> ExportedAnswer:
        """The labels above their thresholds, the most probable first."""
        shares = sigmoid(outputs)
        chosen, order = shares > self.thresholds, np.argsort(-shares, kind="stable")
        named = [labels[at] for at in order if chosen[at]]
        score = float(np.log(np.maximum(np.where(chosen, shares, 1 - shares), 1e-12)).sum())
        ranked = [labels[at] for at in order[:RANKED]]
        probabilities = dict(zip(labels, shares.tolist(), strict=True))
        return ExportedAnswer(", ".join(named) or NONE, score, [named, ranked], probabilities)


class TagJudge:
    """A tag for each word, each by itself or, with transitions, the best sequence of them."""

    def __init__(self, graph: OnnxGraph, reader: WordReader, tags: Sequence[str], transitions: Json | None) -> None:
        self.graph, self.reader, self.tags = graph, reader, tags
        self.chain = None if transitions is None else Chain(transitions)

    def __call__(self, sources: Sequence[str]) -> list[ExportedAnswer]:
        """The best tags of each source; a very long one is read in parts."""
        parts = [(number, words) for number, source in enumerate(sources) for words in self.reader.parts(source)]
        encoded = [self.reader.encode_words(words) for _, words in parts]
        found: dict[int, tuple[list[int], float]] = {}
        for places in like_lengths([len(one) for one in encoded], AT_ONCE):
            scores = self.graph(self.reader.arrays([encoded[place] for place in places]))["scores"]
            for place, rows in zip(places, scores, strict=True):
                found[place] = self.best(rows[: len(encoded[place])].astype(np.float32))
        tags, logs = [list[str]() for _ in sources], [0.0] * len(sources)
        for place, (number, words) in enumerate(parts):
            numbers, score = found[place]
            tags[number] += [self.tags[at] for at in numbers[: len(words)]]
            logs[number] += score
        return [ExportedAnswer(" ".join(each), log, value=each) for each, log in zip(tags, logs, strict=True)]

    def best(self, scores: Array) -> tuple[list[int], float]:
        """The tags of scores (N, C), and their log-probability."""
        if self.chain is not None:
            return self.chain.best(scores)
        logs = log_softmax(scores)
        return logs.argmax(axis=-1).tolist(), float(logs.max(axis=-1).sum())


class Chain:
    """A linear-chain conditional random field: start (C,), between (C, C) from and to, end (C,)."""

    def __init__(self, saved: Json) -> None:
        self.start, self.between, self.end = (
            np.asarray(saved[name], dtype=np.float32) for name in ("start", "between", "end")
        )

    def best(self, scores: Array) -> tuple[list[int], float]:
        """The most probable labels of scores (N, C) (Viterbi, 1967), and their log-probability."""
        best = total = self.start + scores[0]
        back = []
        for row in scores[1:]:
            moved = best[:, None] + self.between
            back.append(moved.argmax(axis=0))
            best = moved.max(axis=0) + row
            total = log_sum(total[:, None] + self.between) + row
        label = int((best + self.end).argmax())
        score = float((best + self.end).max() - log_sum((total + self.end)[:, None])[0])
        path = [label]
        for previous in reversed(back):
            path.append(int(previous[path[-1]]))
        return path[::-1], score


def log_sum(values: Array) -> Array:
    """log Σ exp over the first axis."""
    largest = values.max(axis=0)
    return np.asarray(largest + np.log(np.exp(values - largest).sum(axis=0)))


def sigmoid(values: Array) -> Array:
    """1 / (1 + exp(−x)), without overflow."""
    return np.asarray(np.exp(-np.logaddexp(np.float32(0), -values)), dtype=np.float32)
