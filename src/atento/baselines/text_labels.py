"""Bags: a text as what occurs in it, the order forgotten; of words, or of runs of words that keep a little of it.

A linear model over a bag: labels of texts. Often hard to beat where there is little text.
"""

import math
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from atento.baselines.fitted import require_fitted, require_pairs
from atento.errors import InputError, unknown_name

# Axes: N texts, F terms.

Text = str | Sequence[str]  # to be cut into words and signs, or already a list of tokens
Weighing = Literal["presence", "frequency", "tf-idf"]
WEIGHINGS: tuple[Weighing, ...] = ("presence", "frequency", "tf-idf")

PIECES = re.compile(r"\w+|[^\w\s]")
MOST_TERMS = 10_000
WORDS_OF_A_TEXT = 1.5  # fewer on average: strings without words, whose characters are taken instead
CHARACTERS_OF_A_WORD = 3  # so much longer are then the runs


class Bag:
    """Texts -> (N, F) sparse numbers of the most frequent terms of the training texts, ties in alphabetical order.

    presence: 1 where a term occurs. frequency: its share of the text's terms. tf-idf: its count times
    ln((1 + N) / (1 + texts that hold it)) + 1, rows of length one (Salton & Buckley, 1988; scikit-learn's form).
    Of strings without words the terms are characters, as they are written, and runs three times as long.
    """

    def __init__(self, *, longest: int = 1, weigh: Weighing = "presence", most: int = MOST_TERMS) -> None:
        if weigh not in WEIGHINGS:
            raise unknown_name("weighing", weigh, WEIGHINGS, where="weigh")
        for name, number in (("longest", longest), ("most", most)):
            if number < 1:
                raise InputError(f"{name} must be at least 1.", found=f"{name}={number}", fix=f"{name}=1 or more")
        self.longest: int = longest  # words in a term
        self.weigh, self.most, self.wordless = weigh, most, False
        self.columns: dict[str, int] | None = None
        self.rarity: list[float] = []

    def fit(self, texts: Sequence[Text]) -> "Bag":
        """Choose the terms."""
        self.wordless = has_no_words(texts)
        counts: Counter[str] = Counter()
        holders: Counter[str] = Counter()
        for text in texts:
            terms = list(self.cut(text))
            counts.update(terms)
            holders.update(set(terms))
        chosen = sorted(counts, key=lambda term: (-counts[term], term))[: self.most]
        self.columns = {term: number for number, term in enumerate(chosen)}
        self.rarity = [math.log((1 + len(texts)) / (1 + holders[term])) + 1 for term in chosen]
        return self

    def transform(self, texts: Sequence[Text]) -> Any:
        """A scipy matrix (N, F); terms that were not chosen are not seen, but count in a frequency."""
        from scipy.sparse import csr_matrix  # slow to load

        require_fitted("a bag", self.columns)
        columns = self.columns or {}
        numbers: list[float] = []
        places: list[int] = []
        ends = [0]
        for text in texts:
            counts = Counter(self.cut(text))
            known = {columns[term]: count for term, count in counts.items() if term in columns}
            numbers.extend(self.weighed(known, total=counts.total()))
            places.extend(known)
            ends.append(len(places))
        return csr_matrix((numbers, places, ends), shape=(len(texts), len(columns)), dtype=float)

    def weighed(self, counts: dict[int, int], *, total: int) -> list[float]:
        """The numbers of one text's terms."""
        if self.weigh == "presence":
            return [1.0] * len(counts)
        if self.weigh == "frequency":
            return [count / total for count in counts.values()]
        scaled = [count * self.rarity[column] for column, count in counts.items()]
        length = math.hypot(*scaled)
        return [number / length for number in scaled]

    def cut(self, text: Text) -> Iterable[str]:
        """Runs of one to `longest` words: `no me gustó` -> no, me, gustó, no me, me gustó."""
        if self.wordless:
            words, between = list(text), ""
        else:
            words, between = PIECES.findall(text.lower()) if isinstance(text, str) else list(text), " "
        for length in range(1, self.run + 1):
            for first in range(len(words) - length + 1):
                yield between.join(words[first : first + length])

    @property
    def run(self) -> int:
        """Items in the longest term."""
        return self.longest * (CHARACTERS_OF_A_WORD if self.wordless and self.longest > 1 else 1)

    @property
    def terms(self) -> list[str]:
        """The chosen terms, the most frequent first."""
        require_fitted("a bag", self.columns)
        return list(self.columns or ())

    def __str__(self) -> str:
        """`a bag of words (presence)`."""
        items = "characters" if self.wordless else "words"
        return f"a bag of {items if self.run == 1 else f'1 to {self.run} {items}'} ({self.weigh})"


def has_no_words(texts: Sequence[Text]) -> bool:
    """Whether texts are strings like ACCGTA; lists of tokens are cut already."""
    plain = [len(text.split()) for text in texts if isinstance(text, str) and text]
    return bool(plain) and len(plain) <= sum(plain) < WORDS_OF_A_TEXT * len(plain)


FREEDOM = 10.0  # how little weights are pulled to zero, chosen on questions in six classes
MOST_STEPS = 1000


class LinearLabels:
    """One label a text: multinomial logistic regression over a bag."""

    def __init__(self, bag: Bag, *, name: str, freedom: float = FREEDOM) -> None:
        self.bag, self.name, self.freedom = bag, name, require_freedom(freedom)
        self.summary = f"linear model over {bag}"
        self.usual: str | None = None
        self.model: Any = None  # None: there is nothing to tell labels apart by

    def fit(self, sources: Sequence[Text], targets: Sequence[str]) -> "LinearLabels":
        """Choose the terms, then weigh them."""
        require_pairs(self.name, sources, targets)
        features = self.bag.fit(sources).transform(sources)
        self.summary = f"linear model over {self.bag}"
        self.usual = Counter(targets).most_common(1)[0][0]
        self.model = logistic_regression(features, targets, freedom=self.freedom)
        return self

    def predict(self, sources: Sequence[Text]) -> list[str]:
        """The likeliest label of each."""
        require_fitted(self.name, self.usual)
        if self.model is None or not len(sources):
            return [str(self.usual)] * len(sources)
        return [str(label) for label in self.model.predict(self.bag.transform(sources))]


class LinearLabelSets:
    """Several labels a text: a logistic regression for each label, whose yes weighs as much as its no."""

    def __init__(self, bag: Bag, *, name: str, freedom: float = FREEDOM) -> None:
        self.bag, self.name, self.freedom = bag, name, require_freedom(freedom)
        self.summary = f"for each label a linear model over {bag}"
        self.shares: dict[str, float] | None = None  # of the training texts, label by label
        self.models: dict[str, Any] = {}

    def fit(self, sources: Sequence[Text], targets: Sequence[Sequence[str]]) -> "LinearLabelSets":
        """Choose the terms, then weigh them for each label."""
        require_pairs(self.name, sources, targets)
        features = self.bag.fit(sources).transform(sources)
        self.summary = f"for each label a linear model over {self.bag}"
        self.shares, self.models = {}, {}
        for label in sorted({label for target in targets for label in target}):
            truth = [label in target for target in targets]
            self.shares[label] = sum(truth) / len(truth)
            self.models[label] = logistic_regression(features, truth, freedom=self.freedom, balanced=True)
        return self

    def predict(self, sources: Sequence[Text]) -> list[list[str]]:
        """Every label that is likelier than not, the likeliest first."""
        return [said for said, _ in self.rank(sources)]

    def rank(self, sources: Sequence[Text]) -> list[tuple[list[str], list[str]]]:
        """For each text the labels that are likelier than not, and all labels, the likeliest first."""
        require_fitted(self.name, self.shares)
        features = self.bag.transform(sources)
        answers: list[list[tuple[float, str]]] = [[] for _ in sources]
        for label, share in (self.shares or {}).items():
            model = self.models[label]
            fixed = model is None or not len(sources)
            chances = [share] * len(sources) if fixed else model.predict_proba(features)[:, 1].tolist()
            for answer, chance in zip(answers, chances, strict=True):
                answer.append((-chance, label))
        ordered = [sorted(answer) for answer in answers]
        return [([label for less, label in one if less < -0.5], [label for _, label in one]) for one in ordered]


def logistic_regression(features: Any, targets: Sequence[Any], *, freedom: float, balanced: bool = False) -> Any:
    """Scikit-learn's model, fitted; None where all targets are alike or there is no feature."""
    from sklearn.exceptions import ConvergenceWarning  # slow to load
    from sklearn.linear_model import LogisticRegression

    if len(set(targets)) == 1 or not features.shape[1]:
        return None
    model = LogisticRegression(C=freedom, max_iter=MOST_STEPS, class_weight="balanced" if balanced else None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # after so many steps it is near enough
        return model.fit(features, list(targets))


def require_freedom(freedom: float) -> float:
    """More than none."""
    if not freedom > 0:
        raise InputError("freedom must be more than 0.", found=f"freedom={freedom}", fix=f"freedom={FREEDOM}")
    return freedom
