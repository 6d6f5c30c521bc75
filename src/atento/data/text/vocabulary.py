"""Vocabularies: text to token ids and back. Here: characters and words; `subwords` has byte-pair encoding."""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain

from atento.errors import InputError

SPECIAL_TOKENS = ("<pad>", "<unknown>", "<start>", "<end>")
PAD, UNKNOWN, START, END = range(len(SPECIAL_TOKENS))  # their ids

JOINER = "￭"  # on each side of a punctuation mark without a space to its neighbour: forty ￭-￭ three
TOKEN_SIGNS = f"▁{JOINER}"  # at the ends of tokens: of a subword that begins a word, and of a punctuation mark
ESCAPED_JOINER = f"_{JOINER}_"  # the joiner as a character of the text: no other text gives this token
REMEMBERED = 2**16  # strings between two spaces, with the tokens that they are
WORD_OR_PUNCTUATION = re.compile(r"\w+|[^\w\s]")
EXTRA_WHITESPACE = re.compile(r"(\s{2,}|[^\S ]|\A | \Z)")  # all but a single space between two words


class Vocabulary(ABC):
    """A mapping between text and token ids, learned from training text only."""

    level: str

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def encode(self, text: str) -> list[int]:
        """The token ids of a text, without start and end tokens."""

    @abstractmethod
    def decode(self, ids: Sequence[int]) -> str:
        """The text of token ids; special tokens are left out."""

    @abstractmethod
    def tokens(self, ids: Sequence[int]) -> list[str]:
        """Each token as text, to be shown beside an attention map."""

    def learned(self) -> set[str]:
        """All tokens but the special ones as they stand in texts, without the signs that join or part them."""
        return {token.strip(TOKEN_SIGNS) for token in self.tokens(range(len(SPECIAL_TOKENS), len(self)))} - {""}

    @abstractmethod
    def offsets(self, text: str) -> list[tuple[int, int]]:
        """The start and end of each token of `encode` in the text; only white space may lie between two."""

    @abstractmethod
    def to_json(self) -> dict[str, object]:
        """The vocabulary as JSON, for `load_vocabulary`."""


class TokenList(Vocabulary):
    """A vocabulary that is a list of tokens; subclasses tokenize and detokenize text."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.id_to_token = (*SPECIAL_TOKENS, *tokens)
        self.token_to_id = {token: id for id, token in enumerate(self.id_to_token)}
        if len(self.token_to_id) != len(self.id_to_token):
            raise InputError("a vocabulary holds a token twice.", fix="train the model again")

    def __len__(self) -> int:
        return len(self.id_to_token)

    @abstractmethod
    def tokenize(self, text: str) -> list[str]:
        """The tokens of a text."""

    @abstractmethod
    def detokenize(self, tokens: list[str]) -> str:
        """The text of tokens."""

    def encode(self, text: str) -> list[int]:
        """The id of each token; a token that is not in the list is unknown."""
        id_of = self.token_to_id.get
        return [id_of(token, UNKNOWN) for token in self.tokenize(text)]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of all tokens but the special ones."""
        return self.detokenize([self.id_to_token[id] for id in ids if id >= len(SPECIAL_TOKENS)])

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """Each token as it is written in a text."""
        return [self.detokenize([self.id_to_token[id]]) for id in ids]

    def to_json(self) -> dict[str, object]:
        """The level and the tokens, without special ones."""
        return {"level": self.level, "tokens": list(self.id_to_token[len(SPECIAL_TOKENS) :])}

    @classmethod
    def learn(cls, texts: Iterable[str], *, size: int, least_count: int) -> "TokenList":
        """A vocabulary of the most frequent tokens of the training text, ties in alphabetical order."""
        empty = cls([])
        counts = Counter(chain.from_iterable(map(empty.tokenize, texts)))
        common = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return cls([token for token, count in common if count >= least_count][:size])


class Characters(TokenList):
    """Characters as tokens."""

    level = "char"

    def tokenize(self, text: str) -> list[str]:
        """The characters of a text."""
        return list(text)

    def detokenize(self, tokens: list[str]) -> str:
        """The characters without anything between."""
        return "".join(tokens)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Each character by itself."""
        return [(at, at + 1) for at in range(len(text))]


class Words(TokenList):
    """Words and punctuation marks as tokens; a joiner marks where there was no space."""

    level = "word"

    def tokenize(self, text: str) -> list[str]:
        """`forty-three` gives forty, ￭-￭, three."""
        tokens = []
        for piece in text.split():
            if piece.isalnum():
                tokens.append(piece)
            else:
                tokens += tokens_of(piece)
        return tokens

    def detokenize(self, tokens: list[str]) -> str:
        """The tokens with spaces between, except where there is a joiner."""
        text = " ".join(tokens).replace(f" {JOINER}", "").replace(f"{JOINER} ", "")
        return JOINER.join(part.replace(JOINER, "") for part in text.split(ESCAPED_JOINER))

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """The spans of words and punctuation marks."""
        return [match.span() for match in WORD_OR_PUNCTUATION.finditer(text)]


@lru_cache(maxsize=REMEMBERED)  # words with their punctuation come again and again
def tokens_of(piece: str) -> tuple[str, ...]:
    """The tokens of a text without white space."""
    found = WORD_OR_PUNCTUATION.findall(piece)
    tokens = []
    for at, token in enumerate(found):
        if is_word(token):
            tokens.append(token)
        else:
            before = JOINER if at > 0 else ""
            after = JOINER if at + 1 < len(found) and is_word(found[at + 1]) else ""
            tokens.append(f"{before}{ESCAPED_JOINER if token == JOINER else token}{after}")
    return tuple(tokens)


def is_word(token: str) -> bool:
    """Whether a token is letters or digits rather than punctuation."""
    return token[0].isalnum() or token[0] == "_"


class LosslessWords(TokenList):
    """Words as in `Words`, and each character of any white space but a single space: nothing of a text is lost."""

    level = "lossless"

    def tokenize(self, text: str) -> list[str]:
        """`one two.\\nThree` gives one, two, ￭., line break, Three."""
        words = Words([])
        parts = EXTRA_WHITESPACE.split(text)  # words and white space in turn
        return [token for at, part in enumerate(parts) for token in (part if at % 2 else words.tokenize(part))]

    def detokenize(self, tokens: list[str]) -> str:
        """The words with single spaces between, other white space as it was."""
        text, waiting, words = "", list[str](), Words([])
        for token in tokens:
            if token.isspace():
                text += words.detokenize(waiting) + token
                waiting = []
            else:
                waiting.append(token)
        return text + words.detokenize(waiting)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """The spans of words, punctuation marks and single characters of other white space."""
        spans, before = list[tuple[int, int]](), 0
        for at, part in enumerate(EXTRA_WHITESPACE.split(text)):
            inside = (Characters if at % 2 else Words)([]).offsets(part)
            spans += [(before + start, before + end) for start, end in inside]
            before += len(part)
        return spans
