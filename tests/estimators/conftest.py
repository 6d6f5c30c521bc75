"""Small training sets that every estimator test shares."""

import random

import pytest

from atento import estimators

SMALL = {
    "model": "rnn",
    "steps": 3,
    "settings": {"model.hidden": 8, "train.threads": 1, "train.validations": 1},
}


def sentences(count, seed=0):
    chance = random.Random(seed)
    words = ["sol", "luna", "mar", "río", "casa", "pan"]
    return [" ".join(chance.choices(words, k=chance.randint(2, 5))) + f" {number}" for number in range(count)]


TEXTS = sentences(29)
WORDS = [text.split() for text in TEXTS]
MONTHS = [
    (name, f"{2015 + at // 12}-{at % 12 + 1:02}-01", round(level + (at % 12) ** 1.5, 3))
    for level, name in enumerate(("norte", "sur"))
    for at in range(60)
]
SCENES = [f"drawn:16 {('red', 'blue')[at % 2]} circle {4 + at % 9} {3 + at // 3} 3" for at in range(29)]
OWN = {"CaptionerEstimator": {"model": "conv/rnn"}}  # an encoder of pictures
CASES = {
    "ClassifierEstimator": (TEXTS, ["sí" if "sol" in text else "no" for text in TEXTS]),
    "LabelSetEstimator": (TEXTS, [[word for word in ("sol", "mar") if word in text] for text in TEXTS]),
    "MatcherEstimator": (
        [(text, other) for text, other in zip(TEXTS, sentences(29, 1), strict=True)],
        [number % 3 for number in range(29)],
    ),
    "TaggerEstimator": (WORDS, [["N" if word.isdigit() else "W" for word in words] for words in WORDS]),
    "TranslatorEstimator": (TEXTS, [text[::-1] for text in TEXTS]),
    "LanguageModelEstimator": (TEXTS, None),
    "ForecasterEstimator": (MONTHS, None),
    "CaptionerEstimator": (SCENES, [f"a {scene.split()[1]} circle" for scene in SCENES]),
}


@pytest.fixture(scope="session")
def cases():
    """Rows and targets by the name of an estimator."""
    return CASES


@pytest.fixture(scope="session")
def made():
    """A small estimator by its name, not yet fitted."""
    return lambda name, **parameters: getattr(estimators, name)(**{**SMALL, **OWN.get(name, {}), **parameters})


@pytest.fixture(scope="session")
def fitted(made):
    """One fitted estimator of each kind."""
    return {name: made(name).fit(*case) for name, case in CASES.items()}
