"""Estimators that write: a tag for each word, another text, more of the same text."""

from typing import Any

from atento.data.lists import split
from atento.estimators.estimator import SequenceEstimator
from atento.estimators.frames import like, require_rows
from atento.estimators.rows import texts_of, word_lists_of
from atento.tasks.task import judged


class SequenceTagger(SequenceEstimator):
    """A tag for each word: X is a list of lists of words, or of texts, y a list of lists of tags."""

    task = "tag"

    def fit(self, X: Any, y: Any) -> "SequenceTagger":
        """Learn from sentences and their tags."""
        sources, targets = word_lists_of(X), word_lists_of(y, what="y")
        require_rows(targets, len(sources), "y")
        rows = [
            {"words": split(source), "tags": split(target)} for source, target in zip(sources, targets, strict=True)
        ]
        self.learn(rows, {"source": "words", "label": "tags"})
        return self

    def predict(self, X: Any) -> Any:
        """A list of tags for each sentence."""
        return like(X, [list(answer.value) for answer in self.answers(word_lists_of(X))])

    def score(self, X: Any, y: Any) -> float:
        """The task's first metric: the share of right tags, or F1 of entities where tags mark some."""
        return measure(self, word_lists_of(X), [(target,) for target in word_lists_of(y, what="y")])


class Translator(SequenceEstimator):
    """One text into another."""

    task = "translate"

    def fit(self, X: Any, y: Any) -> "Translator":
        """Learn from pairs of texts."""
        sources, targets = texts_of(X), texts_of(y, what="y")
        require_rows(targets, len(sources), "y")
        rows = [{"source": source, "target": target} for source, target in zip(sources, targets, strict=True)]
        self.learn(rows, {"source": "source", "target": "target"})
        return self

    def predict(self, X: Any) -> Any:
        """A text for each text."""
        return like(X, [answer.text for answer in self.answers(texts_of(X))])

    def score(self, X: Any, y: Any) -> float:
        """The task's first metric: exact match, or characters in common for open text."""
        return measure(self, texts_of(X), [(target,) for target in texts_of(y, what="y")])


class LanguageModel(SequenceEstimator):
    """What comes next in texts like these; y is not used."""

    task = "generate"

    def fit(self, X: Any, y: Any = None) -> "LanguageModel":
        """Learn from texts."""
        self.learn([{"text": source} for source in texts_of(X)], {"source": "text"})
        return self

    def predict(self, X: Any) -> Any:
        """How each text goes on."""
        return like(X, [answer.text for answer in self.answers(texts_of(X))])

    def score(self, X: Any, y: Any = None) -> float:
        """Log-probability of a character, on average: minus the nats per character."""
        sources = texts_of(X)
        return -measure(self, sources, [("",)] * len(sources))


def measure(estimator: SequenceEstimator, sources: list[str], references: list[tuple[str, ...]]) -> float:
    """The first metric of the estimator's task."""
    require_rows(references, len(sources), "y")
    estimator.answers(sources[:0])  # says so when nothing was fitted
    bundle = estimator.run_.predictor.bundle
    outputs, _ = judged(bundle.task, bundle.module, bundle.codec, sources, bundle.recipe.decode)
    return bundle.task.metrics(bundle.codec)[0].on(sources).value(outputs, references)
