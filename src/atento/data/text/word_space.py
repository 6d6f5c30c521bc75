"""Word vectors as a vector space: nearest neighbours, analogies, and projections to two dimensions."""

from collections.abc import Container, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from atento.errors import InputError, nearest

# Axes: V words, D dimensions.

Points = NDArray[np.float64]
SIGNS = {"+": 1.0, "-": -1.0, "−": -1.0}
DEFAULT_COUNT = 10
PERPLEXITY = 30.0  # t-SNE: about how many neighbours each word has


class Neighbour(NamedTuple):
    """A word and its cosine similarity to a query."""

    word: str
    cosine: float


class Term(NamedTuple):
    """A word and its sign in a sum of vectors."""

    sign: float
    word: str


class WordSpace:
    """Words (V,) and their vectors (V, D)."""

    def __init__(self, words: Sequence[str], vectors: ArrayLike) -> None:
        self.words = tuple(words)
        self.vectors: Points = np.asarray(vectors, dtype=np.float64)
        self.rows = {word: row for row, word in enumerate(self.words)}
        if self.vectors.shape[:1] != (len(self.words),) or self.vectors.ndim != 2 or not self.vectors.size:
            raise InputError(
                "every word has one vector.", found=f"{len(words)} words, vectors {self.vectors.shape}", fix="as many"
            )
        if len(self.rows) < len(self.words):
            raise InputError("a word has two vectors.", found=f"{len(self.rows)} distinct words", fix="keep one")
        self.directions = unit_vectors(self.vectors)

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.rows

    def vector(self, word: str) -> Points:
        """The vector (D,) of a word."""
        return np.asarray(self.vectors[self.row(word)])

    def row(self, word: str) -> int:
        """The row of a word; the error for an unknown one names the word spelled most like it."""
        if word not in self.rows:
            raise InputError(
                f"there is no vector for {word!r}.",
                found=f"{len(self)} words, {word!r} not among them",
                fix=f"did you mean {nearest(word, self.words)!r}?",
            )
        return self.rows[word]

    def cosine(self, one: str, other: str) -> float:
        """The cosine similarity of two words: x · y / (‖x‖ ‖y‖)."""
        return float(self.directions[self.row(one)] @ self.directions[self.row(other)])

    def nearest(self, asked: str, count: int = DEFAULT_COUNT) -> list[Neighbour]:
        """The words nearest to a word, or to a sum such as `king - man + woman`, whose own words are left out.

        Words are added as vectors of length 1 (Mikolov et al., 2013, sec. 4 of "Efficient estimation").
        """
        return self.nearest_to(parse_terms(asked, self.rows), count)

    def analogy(self, one: str, instead_of: str, other: str, count: int = DEFAULT_COUNT) -> list[Neighbour]:
        """The words that are to `other` as `one` is to `instead_of`: nearest to one − instead_of + other."""
        return self.nearest_to([Term(1.0, one), Term(-1.0, instead_of), Term(1.0, other)], count)

    def nearest_to(self, terms: Sequence[Term], count: int = DEFAULT_COUNT) -> list[Neighbour]:
        """The words nearest to a sum of words, by descending cosine similarity."""
        rows = [self.row(term.word) for term in terms]
        total = sum(term.sign * self.directions[row] for term, row in zip(terms, rows, strict=True))
        cosines = self.directions @ unit_vectors(np.atleast_2d(total))[0]  # (V,)
        order = [row for row in np.argsort(-cosines, kind="stable").tolist() if row not in rows]
        return [Neighbour(self.words[row], float(cosines[row])) for row in order[:count]]

    def project(self, method: Literal["pca", "tsne"] = "pca") -> Points:
        """Two coordinates (V, 2) for each word, by principal components or by t-SNE."""
        if method == "tsne" and len(self) > 3:
            from sklearn.manifold import TSNE

            perplexity = min(PERPLEXITY, (len(self) - 1) / 3)
            flat = TSNE(perplexity=perplexity, init="pca", random_state=0).fit_transform(self.directions)
            return np.asarray(flat, dtype=np.float64)
        return principal_components(self.directions)


def unit_vectors(vectors: Points) -> Points:
    """The vectors (V, D) scaled to length 1; zero vectors stay zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0))


def principal_components(vectors: Points) -> Points:
    """The first two principal components (V, 2), each with the sign that makes its largest entry positive."""
    centred = vectors - vectors.mean(axis=0)
    left, singular, _ = np.linalg.svd(centred, full_matrices=False)
    flat = np.zeros((len(vectors), 2))
    kept = min(2, len(singular))
    flat[:, :kept] = left[:, :kept] * singular[:kept]
    largest = (np.abs(flat) >= (1 - 1e-9) * np.abs(flat).max(axis=0)).argmax(axis=0)  # of equal ones the first
    return np.asarray(flat * np.where(flat[largest, [0, 1]] < 0, -1.0, 1.0))


def parse_terms(asked: str, known: Container[str]) -> list[Term]:
    """`king - man + woman` as words with signs; a text that is itself a known word is one term."""
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
