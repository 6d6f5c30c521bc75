"""Linear baselines of texts: one label or several from a bag of words or n-grams.

Where there is little text, such models are hard to beat.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from atento.baselines.explanation import Explanation, largest
from atento.baselines.linear import (
    LinearClassifier,
    LinearModel,
    Solver,
    least_examples,
    linear_model,
    require_positive,
)
from atento.baselines.probabilities import LabelProbabilities
from atento.baselines.validation import require_at_least_one, require_fitted, require_pairs
from atento.errors import unknown_name

# Axes: N texts, F features.

Text = str | Sequence[str]  # to be tokenized, or already a list of tokens
Weighting = Literal["presence", "unit presence", "frequency", "tf-idf"]
WEIGHTINGS: tuple[Weighting, ...] = ("presence", "unit presence", "frequency", "tf-idf")

TOKEN = re.compile(r"\w+|[^\w\s]")
MAX_TERMS = 10_000
MOST_WEIGHTS = 10_000_000  # of all labels of a text: 160 MB
WORDS_PER_TEXT = 1.5  # fewer on average: strings without words, whose characters are taken instead
CHARACTERS_PER_WORD = 3  # n-grams of characters are so many times longer
INVERSE_PENALTY = 10.0  # chosen on questions in six classes


class BagOfWords:
    """Texts -> a sparse matrix (N, F) of the most frequent terms of the training texts, ties in alphabetical order.

    A term is an n-gram of up to `max_n` words. presence: 1 where a term occurs; unit presence: the same in rows of
    length one. frequency: its share of the text's terms. tf-idf: its count times ln((1 + N) / (1 + texts that contain
    it)) + 1, rows of length one (Salton & Buckley, 1988; scikit-learn's form). Of strings without words the terms are
    n-grams of characters, three times as long.
    """

    def __init__(self, *, max_n: int = 1, weighting: Weighting = "presence", max_terms: int = MAX_TERMS) -> None:
        if weighting not in WEIGHTINGS:
            raise unknown_name("weighting", weighting, WEIGHTINGS, where="weighting")
        require_at_least_one(max_n=max_n, max_terms=max_terms)
        self.max_n, self.weighting, self.max_terms = max_n, weighting, max_terms
        self.by_character = False
        self.columns: dict[str, int] | None = None
        self.idf: list[float] = []

    def fit(self, texts: Sequence[Text]) -> "BagOfWords":
        """Choose the terms."""
        self.by_character = has_no_words(texts)
        counts: Counter[str] = Counter()
        document_counts: Counter[str] = Counter()
        for text in texts:
            terms = list(self.ngrams(text))
            counts.update(terms)
            document_counts.update(set(terms))
        chosen = sorted(counts, key=lambda term: (-counts[term], term))[: self.max_terms]
        self.columns = {term: number for number, term in enumerate(chosen)}
        self.idf = [math.log((1 + len(texts)) / (1 + document_counts[term])) + 1 for term in chosen]
        return self

    def transform(self, texts: Sequence[Text]) -> Any:
        """A scipy matrix (N, F); terms that were not chosen have no column, but count in a frequency."""
        from scipy.sparse import csr_matrix  # slow to load

        require_fitted("a bag of words", self.columns)
        columns = self.columns or {}
        numbers: list[float] = []
        places: list[int] = []
        ends = [0]
        for text in texts:
            counts = Counter(self.ngrams(text))
            known = {columns[term]: count for term, count in counts.items() if term in columns}
            numbers.extend(self.weighted(known, total=counts.total()))
            places.extend(known)
            ends.append(len(places))
        return csr_matrix((numbers, places, ends), shape=(len(texts), len(columns)), dtype=float)

    def weighted(self, counts: dict[int, int], *, total: int) -> list[float]:
        """The weights of one text's terms."""
        if self.weighting == "presence":
            return [1.0] * len(counts)
        if self.weighting == "unit presence":
            return [1 / math.sqrt(max(1, len(counts)))] * len(counts)
        if self.weighting == "frequency":
            return [count / total for count in counts.values()]
        scaled = [count * self.idf[column] for column, count in counts.items()]
        length = math.hypot(*scaled)
        return [number / length for number in scaled]

    def ngrams(self, text: Text) -> Iterable[str]:
        """All n-grams of a text: `no me gustó` -> no, me, gustó, no me, me gustó."""
        if self.by_character:
            words, between = list(text), ""
        else:
            words, between = TOKEN.findall(text.lower()) if isinstance(text, str) else list(text), " "
        for length in range(1, self.longest + 1):
            for first in range(len(words) - length + 1):
                yield between.join(words[first : first + length])

    @property
    def longest(self) -> int:
        """Words or characters in the longest n-gram."""
        return self.max_n * (CHARACTERS_PER_WORD if self.by_character and self.max_n > 1 else 1)

    @property
    def terms(self) -> list[str]:
        """The chosen terms, the most frequent first."""
        require_fitted("a bag of words", self.columns)
        return list(self.columns or ())

    def __str__(self) -> str:
        """`a bag of words (presence)`."""
        items = "characters" if self.by_character else "words"
        return f"a bag of {items if self.longest == 1 else f'1 to {self.longest} {items}'} ({self.weighting})"


def has_no_words(texts: Sequence[Text]) -> bool:
    """Whether texts are strings like ACCGTA; lists of tokens are never."""
    plain = [len(text.split()) for text in texts if isinstance(text, str) and text]
    return bool(plain) and len(plain) <= sum(plain) < WORDS_PER_TEXT * len(plain)


class BagClassifier(LinearClassifier):
    """One label per text: multinomial logistic regression over a bag of words, or another linear model of it."""

    def __init__(
        self,
        bag: BagOfWords,
        *,
        name: str,
        inverse_penalty: float = INVERSE_PENALTY,
        solve: Solver = linear_model,
    ) -> None:
        super().__init__(inverse_penalty=inverse_penalty, solve=solve)
        self.bag, self.name = bag, name
        self.summary = f"linear model over {bag}"

    def fit_features(self, sources: Sequence[Text]) -> Any:
        """Choose the terms."""
        features = self.bag.fit(sources).transform(sources)
        self.summary = f"linear model over {self.bag}"
        return features

    def features(self, sources: Sequence[Text]) -> Any:
        """The bags of the texts."""
        return self.bag.transform(sources)

    def feature_names(self) -> list[str]:
        """The terms."""
        return self.bag.terms


class BagMultiLabel:
    """Several labels per text: one logistic regression for each label, with balanced class weights.

    Of very many labels only the most frequent have one; the others are as probable as they are frequent.
    """

    state_types: ClassVar[tuple[type, ...]] = (LinearModel,)

    def __init__(self, bag: BagOfWords, *, name: str, inverse_penalty: float = INVERSE_PENALTY) -> None:
        self.bag, self.name, self.inverse_penalty = bag, name, require_positive(inverse_penalty)
        self.summary = f"for each label a linear model over {bag}"
        self.shares: dict[str, float] | None = None  # of the training texts that have each label
        self.models: dict[str, LinearModel | None] = {}

    def fit(self, sources: Sequence[Text], targets: Sequence[Sequence[str]]) -> "BagMultiLabel":
        """Choose the terms, then learn their weights for each label."""
        require_pairs(self.name, sources, targets)
        features = self.bag.fit(sources).transform(sources)
        self.summary = f"for each label a linear model over {self.bag}"
        counts = Counter(label for target in targets for label in set(target))
        self.shares = {label: counts[label] / len(targets) for label in sorted(counts)}
        self.models = dict.fromkeys(self.shares)
        most, least = max(1, MOST_WEIGHTS // max(1, features.shape[1])), least_examples(len(counts))
        frequent = [label for label, count in counts.most_common(most) if count >= least]
        if len(frequent) < len(counts):
            self.summary += f", of the {len(frequent)} most frequent of {len(counts)}"
        for label in frequent:
            truth, penalty = [label in target for target in targets], self.inverse_penalty
            self.models[label] = linear_model(features, truth, inverse_penalty=penalty, balanced=True)
        return self

    def predict(self, sources: Sequence[Text]) -> list[list[str]]:
        """Every label with a probability above one half, the most probable first."""
        return [labels for labels, _ in self.rank(sources)]

    def rank(self, sources: Sequence[Text]) -> list[tuple[list[str], list[str]]]:
        """For each text the predicted labels, and all labels, the most probable first."""
        labels, found = list(require_fitted(self.name, self.shares)), []
        for row in self.matrix(sources):
            order = np.argsort(-row, kind="stable").tolist()
            found.append(([labels[at] for at in order if row[at] > 0.5], [labels[at] for at in order]))
        return found

    def probabilities(self, sources: Sequence[Text]) -> Sequence[Mapping[str, float]]:
        """The probability of each label, for each text."""
        columns = {label: number for number, label in enumerate(require_fitted(self.name, self.shares))}
        return [LabelProbabilities(columns, row) for row in self.matrix(sources)]

    def matrix(self, sources: Sequence[Text]) -> NDArray[np.float64]:
        """The same as an array (N, L)."""
        shares = require_fitted(self.name, self.shares)
        features = self.bag.transform(sources)
        found = np.tile(list(shares.values()), (len(sources), 1))
        for number, label in enumerate(shares):
            model = self.models[label]
            if model is not None and len(sources):
                found[:, number] = np.concatenate([some[:, 1] for some in model.probabilities(features)])
        return found

    def explain(self, source: Text) -> Explanation | None:
        """The terms that count most for the most probable label."""
        require_fitted(self.name, self.shares)
        _, (first, *_) = self.rank([source])[0]
        model = self.models[first]
        if model is None:
            return None
        what = f"what adds to the score of {first}, and what takes away"
        return Explanation(what, largest(self.bag.terms, model.contributions(self.bag.transform([source]), 1)))
