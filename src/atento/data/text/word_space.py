"""Words as points: which stand near each other, sums and differences of them, and a map of two dimensions."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.errors import InputError, nearest

# Axes: V words, D numbers of each.

Points = NDArray[np.float64]
SIGNS = {"+": 1.0, "-": -1.0, "−": -1.0}
SHOWN = 10
PERPLEXITY = 30.0  # t-SNE: about how many neighbours each word has


class Neighbour(NamedTuple):
    """A word and how near it is."""

    word: str
    cosine: float


class Term(NamedTuple):
    """One word of a sum."""

    sign: float
    word: str


class WordSpace:
    """Words and a vector for each: words (V,), vectors (V, D)."""

    def __init__(self, words: Sequence[str], vectors: Any) -> None:
        self.words = tuple(words)
        self.vectors: Points = np.asarray(vectors, dtype=np.float64)
        self.places = {word: place for place, word in enumerate(self.words)}
        if self.vectors.shape[:1] != (len(self.words),) or self.vectors.ndim != 2 or not self.vectors.size:
            raise InputError(
                "every word has one vector.", found=f"{len(words)} words, vectors {self.vectors.shape}", fix="as many"
            )
        if len(self.places) < len(self.words):
            raise InputError("a word has two vectors.", found=f"{len(self.places)} distinct words", fix="keep one")
        self.directions = unit(self.vectors)

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.places

    def vector(self, word: str) -> Points:
        """The numbers (D,) of a word."""
        return np.asarray(self.vectors[self.place(word)])

    def place(self, word: str) -> int:
        """Which row a word has; an unknown one names what is spelled most like it."""
        if word not in self.places:
            raise InputError(
                f"there is no vector for {word!r}.",
                found=f"{len(self)} words, {word!r} not among them",
                fix=f"did you mean {nearest(word, self.words)!r}?",
            )
        return self.places[word]

    def cosine(self, one: str, other: str) -> float:
        """x · y / (‖x‖ ‖y‖): 1 where two words point the same way."""
        return float(self.directions[self.place(one)] @ self.directions[self.place(other)])

    def nearest(self, asked: str, count: int = SHOWN) -> list[Neighbour]:
        """The words nearest to a word, or to a sum such as `king - man + woman`; those asked with are left out.

        Words are added as directions, all equally long (Mikolov et al., 2013, sec. 4 of "Efficient estimation").
        """
        return self.around(terms_of(asked, self.places), count)

    def analogy(self, one: str, instead_of: str, other: str, count: int = SHOWN) -> list[Neighbour]:
        """What is to `other` as `one` is to `instead_of`: one − instead_of + other."""
        return self.around([Term(1.0, one), Term(-1.0, instead_of), Term(1.0, other)], count)

    def around(self, terms: Sequence[Term], count: int = SHOWN) -> list[Neighbour]:
        """The words nearest to a sum of words, the nearest first."""
        places = [self.place(term.word) for term in terms]
        total = sum(term.sign * self.directions[place] for term, place in zip(terms, places, strict=True))
        cosines = self.directions @ unit(np.atleast_2d(total))[0]  # (V,)
        order = [place for place in np.argsort(-cosines, kind="stable").tolist() if place not in places]
        return [Neighbour(self.words[place], float(cosines[place])) for place in order[:count]]

    def map(self, method: Literal["pca", "tsne"] = "pca") -> Points:
        """Two coordinates (V, 2) for each word: along the directions in which words differ most, or by t-SNE."""
        if method == "tsne" and len(self) > 3:
            from sklearn.manifold import TSNE

            perplexity = min(PERPLEXITY, (len(self) - 1) / 3)
            flat = TSNE(perplexity=perplexity, init="pca", random_state=0).fit_transform(self.directions)
            return np.asarray(flat, dtype=np.float64)
        return principal(self.directions)


def unit(vectors: Points) -> Points:
    """Vectors (V, D) of length 1; those of length 0 stay so."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0))


def principal(vectors: Points) -> Points:
    """The two principal components (V, 2), each so turned that its largest number is positive."""
    centred = vectors - vectors.mean(axis=0)
    left, spread, _ = np.linalg.svd(centred, full_matrices=False)
    flat = np.zeros((len(vectors), 2))
    kept = min(2, len(spread))
    flat[:, :kept] = left[:, :kept] * spread[:kept]
    largest = (np.abs(flat) >= (1 - 1e-9) * np.abs(flat).max(axis=0)).argmax(axis=0)  # of equal ones the first
    return np.asarray(flat * np.where(flat[largest, [0, 1]] < 0, -1.0, 1.0))


def terms_of(asked: str, known: Any) -> list[Term]:
    """`king - man + woman` as words with signs; what is known as it stands is one word, signs and all."""
    if asked.strip() in known:
        return [Term(1.0, asked.strip())]
    terms: list[Term] = []
    sign, words = 1.0, list[str]()
    for part in [*asked.split(), "+"]:
        if part not in SIGNS:
            words.append(part)
            continue
        if words:
            terms.append(Term(sign, " ".join(words)))
            words = []
        elif terms:
            raise InputError("a sum has a word after each sign.", found=asked, fix="write e.g. king - man + woman")
        sign = SIGNS[part]
    if not terms:
        raise InputError("there is no word to look for.", found=repr(asked), fix="write e.g. king - man + woman")
    return terms
