"""A linear model over a bag: labels of texts. Often hard to beat where there is little text."""

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

from atento.baselines.bags import Bag, Text
from atento.baselines.fitted import require_fitted, require_pairs
from atento.errors import InputError

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
