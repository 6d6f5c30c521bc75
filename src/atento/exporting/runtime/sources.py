"""Sources to arrays: how each kind of input is read, by the vocabularies and scales of an exported folder."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from atento.data.images.loading import load_image
from atento.data.tables.number_lists import require_numbers
from atento.data.text.encoding import EncodedTexts, encode_two_texts, encode_word, two_texts
from atento.data.text.levels import encode_text, load_vocabulary, prepare
from atento.data.text.vocabulary import END, SPECIAL_TOKENS, UNKNOWN
from atento.data.text.words import split_words
from atento.exporting.folder import Json
from atento.exporting.runtime.graphs import Array, Arrays

# Axes: B batch, N items of a source, C channels, S side of an image.

IMAGE_LENGTH = 64  # tokens that an image counts as


class SourceReader(Protocol):
    """How sources of one kind are read."""

    def encode(self, source: str) -> Any:
        """One source."""

    def length(self, encoded: Any) -> int:
        """How many tokens it counts as in a batch."""

    def written_length(self, encoded: Any) -> int | None:
        """The length that bounds what may be written of it; None: it bounds nothing."""

    def seed_key(self, source: str) -> Sequence[object]:
        """What tells sources apart where outputs are sampled."""

    def arrays(self, encoded: Sequence[Any]) -> Arrays:
        """The inputs of a graph."""


def pad(rows: Sequence[Sequence[int]]) -> tuple[Array, Array]:
    """Token lists -> tokens (B, N), zeros on the right, and valid (B, N)."""
    lengths = np.array([len(row) for row in rows])
    tokens = np.zeros((len(rows), int(lengths.max())), dtype=np.int64)
    for place, row in enumerate(rows):
        tokens[place, : len(row)] = row
    return tokens, np.arange(tokens.shape[1]) < lengths[:, None]


class TextReader:
    """One text: {source, valid}."""

    def __init__(self, saved: Json, max_length: int | None) -> None:
        self.vocabulary, self.lower = load_vocabulary(saved.get("vocabulary")), bool(saved.get("lower"))
        self.sentences, self.max_length = bool(saved.get("sentences")), max_length

    def encode(self, source: str) -> list[int]:
        """Token numbers."""
        return encode_text(
            self.vocabulary, source, lower=self.lower, sentences=self.sentences, max_length=self.max_length
        )

    def length(self, encoded: list[int]) -> int:
        """How many tokens."""
        return len(encoded)

    def written_length(self, encoded: list[int]) -> int:
        """How many tokens."""
        return len(encoded)

    def seed_key(self, source: str) -> Sequence[object]:
        """Texts that are read alike are sampled alike."""
        return self.encode(source)

    def arrays(self, encoded: Sequence[list[int]]) -> Arrays:
        """Padded tokens."""
        tokens, valid = pad(encoded)
        return {"source": tokens, "valid": valid}


class PairReader:
    """Two texts: {first, first_valid, first_overlap, second, …}; for a text to be written they are one sequence."""

    def __init__(self, saved: Json, max_length: int | None, *, joined: bool) -> None:
        self.vocabulary, self.lower = load_vocabulary(saved.get("vocabulary")), bool(saved.get("lower"))
        self.max_length, self.joined = max_length, joined

    def encode(self, source: str) -> EncodedTexts:
        """Both texts."""
        return encode_two_texts(self.vocabulary, source, lower=self.lower, max_length=self.max_length)

    def length(self, encoded: EncodedTexts) -> int:
        """Tokens of both."""
        return len(encoded.first) + len(encoded.second)

    def written_length(self, encoded: EncodedTexts) -> int:
        """Tokens of both."""
        return self.length(encoded)

    def seed_key(self, source: str) -> Sequence[object]:
        """The source itself."""
        return [source]

    def arrays(self, encoded: Sequence[EncodedTexts]) -> Arrays:
        """Padded tokens, an end token between both where they are one sequence."""
        if self.joined:
            tokens, valid = pad([[*one.first, END, *one.second] for one in encoded])
            return {"source": tokens, "valid": valid}
        found: Arrays = {}
        for side in ("first", "second"):
            found[side], found[f"{side}_valid"] = pad([getattr(one, side) for one in encoded])
            found[f"{side}_overlap"], _ = pad([getattr(one, f"{side}_overlap") for one in encoded])
        return found


class WordReader:
    """Lists of words: {source (B, N, 1 + letters), valid}."""

    def __init__(self, saved: Json, max_length: int | None) -> None:
        first, self.lower, self.max_length = len(SPECIAL_TOKENS), bool(saved.get("lower")), max_length
        self.words = {word: number for number, word in enumerate(saved["words"], first)}
        self.letters = {letter: number for number, letter in enumerate(saved["letters"], first)}

    def parts(self, source: str) -> list[list[str]]:
        """The words of a source, in parts that are read at a time."""
        words = split_words(source)
        length = self.max_length or max(1, len(words))
        return [words[first : first + length] for first in range(0, max(1, len(words)), length)]

    def encode_words(self, words: Sequence[str]) -> list[list[int]]:
        """The number of each word, then those of its letters; no word at all is one unknown word."""
        return [encode_word(word, self.words, self.letters, lower=self.lower) for word in words] or [[UNKNOWN]]

    def arrays(self, encoded: Sequence[list[list[int]]]) -> Arrays:
        """Padded words and letters."""
        longest, width = max(map(len, encoded)), max(len(word) for words in encoded for word in words)
        source = np.zeros((len(encoded), longest, width), dtype=np.int64)
        for place, words in enumerate(encoded):
            for at, word in enumerate(words):
                source[place, at, : len(word)] = word
        return {"source": source, "valid": np.arange(longest) < np.array([[len(words)] for words in encoded])}


class NumberReader:
    """Sequences of numbers: {source (B, N, C), valid}."""

    def __init__(self, saved: Json) -> None:
        scales = np.array(saved["channels"], dtype=np.float64).reshape(-1, 2)
        self.means, self.stds = scales[:, 0], scales[:, 1]

    def encode(self, source: str) -> Array:
        """The standardised numbers (N, C)."""
        numbers = require_numbers(source, channels=len(self.means))
        return np.asarray((numbers - self.means) / self.stds, dtype=np.float32)

    def length(self, encoded: Array) -> int:
        """How many steps."""
        return len(encoded)

    def written_length(self, encoded: Array) -> None:
        """A long recording may hold a short text."""

    def seed_key(self, source: str) -> Sequence[object]:
        """The source itself."""
        return [source]

    def arrays(self, encoded: Sequence[Array]) -> Arrays:
        """Zeros on the right."""
        lengths = np.array([len(row) for row in encoded])
        source = np.zeros((len(encoded), int(lengths.max()), len(self.means)), dtype=np.float32)
        for place, row in enumerate(encoded):
            source[place, : len(row)] = row
        return {"source": source, "valid": np.arange(source.shape[1]) < lengths[:, None]}


class ImageReader:
    """Images by their paths: {source (B, 3, S, S), valid (B, 1)}."""

    def __init__(self, saved: Json) -> None:
        images = saved["images"]
        self.side, self.upright, self.largest = int(images["side"]), bool(images["upright"]), float(images["largest"])

    def encode(self, source: str) -> str:
        """Its name; it is loaded when its batch is made."""
        return source

    def length(self, encoded: str) -> int:
        """All images count alike."""
        return IMAGE_LENGTH

    def written_length(self, encoded: str) -> int:
        """An image is one item."""
        return 1

    def seed_key(self, source: str) -> Sequence[object]:
        """The source itself."""
        return [source]

    def pixels(self, sources: Sequence[str]) -> Array:
        """Pixels in [−1, 1], (B, 3, S, S)."""
        loaded = [load_image(one, side=self.side, upright=self.upright, largest=self.largest) for one in sources]
        return np.ascontiguousarray(np.stack(loaded).transpose(0, 3, 1, 2)).astype(np.float32) / np.float32(
            127.5
        ) - np.float32(1.0)

    def arrays(self, encoded: Sequence[str]) -> Arrays:
        """An image has no padding."""
        return {"source": self.pixels(encoded), "valid": np.ones((len(encoded), 1), dtype=bool)}


class EncodedPicture(NamedTuple):
    """An image by its name, and the token numbers of a question."""

    image: str
    question: list[int]


class ImageQuestionReader:
    """An image and a question: {pixels, question, valid}."""

    def __init__(self, saved: Json, max_length: int | None) -> None:
        self.images, self.lower, self.max_length = ImageReader(saved), bool(saved.get("lower")), max_length
        self.vocabulary = load_vocabulary(saved.get("vocabulary"))

    def encode(self, source: str) -> EncodedPicture:
        """Never no token at all."""
        image, question = two_texts(source)
        tokens = self.vocabulary.encode(prepare(question, lower=self.lower))[: self.max_length]
        return EncodedPicture(image, tokens or [UNKNOWN])

    def length(self, encoded: EncodedPicture) -> int:
        """All count alike."""
        return IMAGE_LENGTH

    def written_length(self, encoded: EncodedPicture) -> int:
        """An image is one item."""
        return 1

    def seed_key(self, source: str) -> Sequence[object]:
        """The source itself."""
        return [source]

    def arrays(self, encoded: Sequence[EncodedPicture]) -> Arrays:
        """Pixels and padded questions."""
        question, valid = pad([one.question for one in encoded])
        return {"pixels": self.images.pixels([one.image for one in encoded]), "question": question, "valid": valid}


def reader_of(kind: str, saved: Json, max_length: int | None, *, writes: bool) -> SourceReader:
    """The reader of the sources of a kind."""
    match kind:
        case "two texts":
            return PairReader(saved, max_length, joined=writes)
        case "numbers":
            return NumberReader(saved)
        case "image":
            return ImageReader(saved)
        case "image and question":
            return ImageQuestionReader(saved, max_length)
    return TextReader(saved, max_length)
