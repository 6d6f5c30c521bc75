"""Texts that are written of a source, or continued: graphs give the next token, searches run here."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from atento.data.text.levels import load_vocabulary
from atento.data.text.vocabulary import END, PAD, START, UNKNOWN
from atento.errors import InputError
from atento.exporting.folder import Json
from atento.exporting.runtime.graphs import Array, OnnxGraph, like_lengths, log_softmax
from atento.exporting.runtime.judged import ExportedAnswer
from atento.exporting.runtime.search import Begun, Emit, Special, State, Written, search, seeds_of
from atento.exporting.runtime.sources import SourceReader
from atento.spec import DecodeRecipe

AT_ONCE = 16_384  # tokens that are read together
ROWS_AT_ONCE = 64
SOURCE = Special(end=END, forbidden=(PAD, UNKNOWN, START))
RUNNING = SOURCE._replace(forbidden=(*SOURCE.forbidden, END))  # a long text has no end to write
BLANK = re.compile(r"_{3,}|<blank>")
NEXT = "next_"  # before the names of states that a step gives


class Steps:
    """The first and the next steps of a decoder: states that a step does not give stay as they are."""

    def __init__(self, first: OnnxGraph, step: OnnxGraph) -> None:
        self.first, self.next = first, step

    def begin(self, given: dict[str, Array]) -> Begun:
        """The logits after the first token, and the state."""
        found = self.first(given)
        return Begun(found.pop("logits"), found)

    def step(self, token: Array, state: State) -> tuple[Array, State]:
        """The logits after one more token, and the state."""
        found = self.next({"token": token.astype(np.int64), **state})
        logits = found.pop("logits")
        return logits, {**state, **{name.removeprefix(NEXT): part for name, part in found.items()}}


class Writer:
    """A text of each source."""

    def __init__(self, steps: Steps, reader: SourceReader, saved: Json) -> None:
        self.steps, self.reader = steps, reader
        self.vocabulary = load_vocabulary(saved.get("vocabulary"))
        self.longest, self.growth = int(saved["longest"]), saved.get("growth")

    def limit(self, length: int | None) -> int:
        """The most tokens that are written of a source of that length."""
        if length is None or self.growth is None:
            return self.longest
        return min(self.longest, int(self.growth * length) + 10)

    def __call__(self, sources: Sequence[str], recipe: DecodeRecipe, emit: Emit | None = None) -> list[ExportedAnswer]:
        """The best text for each source; sources of like length are decoded together."""
        encoded = [self.reader.encode(source) for source in sources]
        seeds = seeds_of([self.reader.seed_key(source) for source in sources], recipe.seed)
        found: dict[int, Written] = {}
        lengths = [self.reader.length(one) for one in encoded]
        for places in like_lengths(lengths, max(1, AT_ONCE // recipe.beam)):
            some = [encoded[place] for place in places]
            limits = [recipe.max_tokens or self.limit(self.reader.written_length(one)) for one in some]
            begun, own = self.steps.begin(self.reader.arrays(some)), [seeds[place] for place in places]
            best = search(begun, self.steps.step, recipe, special=SOURCE, limits=limits, seeds=own, emit=emit)
            found.update(zip(places, best, strict=True))
        texts = [found[place] for place in range(len(sources))]
        return [ExportedAnswer(self.vocabulary.decode(best.tokens), best.score) for best in texts]


class Completer:
    """A text continued, by a language model."""

    def __init__(self, steps: Steps, saved: Json, *, recurrent: bool) -> None:
        self.steps, self.recurrent = steps, recurrent
        self.vocabulary = load_vocabulary(saved.get("vocabulary"))
        self.longest, self.window, self.ends = int(saved["longest"]), int(saved["window"]), bool(saved["ends"])

    def row(self, text: str) -> list[int]:
        """An end token, then the tokens."""
        return [END, *self.vocabulary.encode(composed(text))]

    def __call__(self, sources: Sequence[str], recipe: DecodeRecipe, emit: Emit | None = None) -> list[ExportedAnswer]:
        """Each text with what follows it."""
        refuse_blanks(sources)
        rows, answers = [self.row(source) for source in sources], []
        for source, row, more in zip(sources, rows, self.go_on(rows, recipe, emit), strict=True):
            text = self.vocabulary.decode([*row, *more.tokens])
            added = text[len(self.vocabulary.decode(row)) :]
            answers.append(ExportedAnswer(composed(source) + added, more.score, value=added))
        return answers

    def go_on(self, rows: Sequence[list[int]], recipe: DecodeRecipe, emit: Emit | None) -> list[Written]:
        """What follows each row; those of one length are read together, and a Transformer writes in rounds."""
        longest, found = recipe.max_tokens or self.longest, [Written((), 0.0) for _ in rows]
        own, going = seeds_of(rows, recipe.seed), list(range(len(rows)))
        while going:
            texts = {index: self.seen([*rows[index], *found[index].tokens]) for index in going}
            going = []
            for some in of_one_length(texts):
                room = longest if self.recurrent else max(1, self.window - len(texts[some[0]]))
                limits = [min(longest - len(found[index].tokens), room) for index in some]
                seeds = [f"{len(found[index].tokens)} {own[index]}" for index in some]
                logits, state = self.steps.begin({"tokens": np.array([texts[index] for index in some])})
                begun, special = Begun(logits[:, -1], state), SOURCE if self.ends else RUNNING
                added = search(begun, self.steps.step, recipe, special=special, limits=limits, seeds=seeds, emit=emit)
                for index, limit, more in zip(some, limits, added, strict=True):
                    found[index] = Written(found[index].tokens + more.tokens, found[index].score + more.score)
                    if len(more.tokens) == limit and len(found[index].tokens) < longest:
                        going.append(index)
        return found

    def seen(self, tokens: list[int]) -> list[int]:
        """What the model reads before it goes on: all of it, or the last half of a window."""
        if self.recurrent or len(tokens) < self.window:
            return tokens
        return tokens[-max(1, self.window // 2) :]

    def nats(self, texts: Sequence[str]) -> float:
        """The mean negative log-probability of a token, given those before it in its window."""
        total, count = 0.0, 0
        for text in texts:
            row = self.row(text)[: self.window + 1]
            if len(row) > 1:
                logs = log_softmax(self.steps.begin({"tokens": np.array([row[:-1]])}).logits[0])
                total -= float(np.take_along_axis(logs, np.array(row[1:])[:, None], axis=1).sum())
                count += len(row) - 1
        return total / max(1, count)


class MaskedScorer:
    """A text without blanks, with its pseudo-log-likelihood by a masked language model."""

    together = 7  # one token in so many is hidden at a time

    def __init__(self, graph: OnnxGraph, saved: Json) -> None:
        self.graph, self.window = graph, int(saved["window"])
        self.vocabulary = load_vocabulary(saved.get("vocabulary"))

    def __call__(self, sources: Sequence[str]) -> list[ExportedAnswer]:
        """Each text as it is, with its score."""
        refuse_blanks(sources)
        return [ExportedAnswer(composed(source), self.score(source)) for source in sources]

    def score(self, text: str) -> float:
        """The sum over all tokens of the log-probability of each, given all others of its window."""
        row = np.array([END, *self.vocabulary.encode(composed(text))])
        total, end = 0.0, 0
        while end < len(row) - 1:
            fresh, end = end, min(end + self.window, len(row) - 1)
            begin = max(0, end - self.window)
            total += float(self.logs(row[begin : end + 1])[fresh - begin :].sum())
        return total

    def logs(self, tokens: Array) -> Array:
        """The log-probabilities (T,) of tokens (T + 1,) but the first; 0 at end tokens."""
        found = np.zeros(len(tokens))
        for first in range(min(self.together, len(tokens))):
            hidden = np.zeros(len(tokens), dtype=bool)
            hidden[first :: self.together] = True
            hidden &= tokens != END
            asked = np.where(hidden, START, tokens)[None]
            logits = self.graph({"tokens": asked, "valid": np.ones(asked.shape, dtype=bool)})["logits"][0]
            places = np.flatnonzero(hidden)
            found[places] = np.take_along_axis(log_softmax(logits[places]), tokens[places, None], axis=1)[:, 0]
        return found[1:]


def composed(text: str) -> str:
    """Composed characters, as training text was."""
    return unicodedata.normalize("NFC", text)


def refuse_blanks(sources: Sequence[str]) -> None:
    """Blanks are filled by trying many words, which an exported model does not do."""
    blank = next((source for source in sources if BLANK.search(source)), None)
    if blank is not None:
        raise InputError(
            "an exported model goes on with a text; it fills no blanks.",
            found=repr(blank[:80]),
            fix="leave the blank out, or ask the run itself: atento predict RUN -",
        )


def of_one_length(texts: dict[int, list[int]]) -> list[list[int]]:
    """Which texts are read together."""
    by_length = defaultdict[int, list[int]](list)
    for index, text in texts.items():
        by_length[len(text)].append(index)
    return [
        indices[at : at + ROWS_AT_ONCE] for indices in by_length.values() for at in range(0, len(indices), ROWS_AT_ONCE)
    ]
