"""Vocabularies: text to token numbers and back, at the level of characters, words or subwords.

Words of running text, of which nothing may be lost: line breaks and odd spaces are tokens too.
"""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from atento.errors import InputError

PAD, UNKNOWN, START, END = 0, 1, 2, 3
MARKS = ("<pad>", "<unknown>", "<start>", "<end>")

JOIN = "￭"  # stands on the side of a punctuation mark that touches its neighbour: forty ￭-￭ three
WRITTEN_JOIN = f"_{JOIN}_"  # the sign itself, where a text has it: no other text is cut into such a token
WORDS = re.compile(r"\w+|[^\w\s]")


class Vocabulary(ABC):
    """Text <-> token numbers. Learned from training text only."""

    level: str

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def encode(self, text: str) -> list[int]:
        """Token numbers, without start and end marks."""

    @abstractmethod
    def decode(self, numbers: Sequence[int]) -> str:
        """Text; marks are left out."""

    @abstractmethod
    def pieces(self, numbers: Sequence[int]) -> list[str]:
        """Each token as a person reads it, e.g. beside an attention map."""

    @abstractmethod
    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Where each token of `encode` begins and ends in the text; only white space may lie between two."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """All that `load_vocabulary` needs."""


class TokenList(Vocabulary):
    """A vocabulary that is a list of tokens; leaves say how text is cut and joined."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens = (*MARKS, *tokens)
        self.numbers = {token: number for number, token in enumerate(self.tokens)}
        if len(self.numbers) != len(self.tokens):
            raise InputError("a vocabulary holds a token twice.", fix="train the model again")

    def __len__(self) -> int:
        return len(self.tokens)

    @abstractmethod
    def cut(self, text: str) -> list[str]:
        """Text to tokens."""

    @abstractmethod
    def join(self, tokens: list[str]) -> str:
        """Tokens to text."""

    def encode(self, text: str) -> list[int]:
        """Look each token up."""
        return [self.numbers.get(token, UNKNOWN) for token in self.cut(text)]

    def decode(self, numbers: Sequence[int]) -> str:
        """Join all but the marks."""
        return self.join([self.tokens[number] for number in numbers if number >= len(MARKS)])

    def pieces(self, numbers: Sequence[int]) -> list[str]:
        """Each token as it stands in a text."""
        return [self.join([self.tokens[number]]) for number in numbers]

    def to_json(self) -> dict[str, Any]:
        """The level and the tokens."""
        return {"level": self.level, "tokens": list(self.tokens[len(MARKS) :])}

    @classmethod
    def learn(cls, texts: Iterable[str], *, most: int, least_count: int) -> "TokenList":
        """The commonest tokens of the training text, ties in alphabetical order."""
        bare = cls([])
        counts = Counter(token for text in texts for token in bare.cut(text))
        common = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return cls([token for token, count in common if count >= least_count][:most])


class Characters(TokenList):
    """One token a character."""

    level = "char"

    def cut(self, text: str) -> list[str]:
        """Every character."""
        return list(text)

    def join(self, tokens: list[str]) -> str:
        """Side by side."""
        return "".join(tokens)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """One after another."""
        return [(place, place + 1) for place in range(len(text))]


class Words(TokenList):
    """One token a word or punctuation mark; a join sign remembers where no space was."""

    level = "word"

    def cut(self, text: str) -> list[str]:
        """`forty-three` -> forty, ￭-￭, three."""
        found = list(WORDS.finditer(text))
        tokens = []
        for place, match in enumerate(found):
            token = match.group()
            if not is_word(token):
                touches_left = place > 0 and found[place - 1].end() == match.start()
                touches_word = (
                    place + 1 < len(found)
                    and found[place + 1].start() == match.end()
                    and is_word(found[place + 1].group())
                )
                token = WRITTEN_JOIN if token == JOIN else token
                token = JOIN * touches_left + token + JOIN * touches_word
            tokens.append(token)
        return tokens

    def join(self, tokens: list[str]) -> str:
        """Spaces, except where a join sign stands."""
        text = " ".join(tokens).replace(f" {JOIN}", "").replace(f"{JOIN} ", "")
        return JOIN.join(part.replace(JOIN, "") for part in text.split(WRITTEN_JOIN))

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Where the words and punctuation marks stand."""
        return [match.span() for match in WORDS.finditer(text)]


def is_word(token: str) -> bool:
    """Letters and digits, not punctuation."""
    return token[0].isalnum() or token[0] == "_"


APART = re.compile(r"(\s{2,}|[^\S ]|\A | \Z)")  # white space other than one space between two words


class RunningWords(TokenList):
    """One token a word or punctuation mark as in `Words`; any white space but a single space is cut sign by sign."""

    level = "running"

    def cut(self, text: str) -> list[str]:
        """`one two.\\nThree` -> one, two, ￭., line break, Three."""
        cutter = Words([])
        pieces = APART.split(text)  # words and white space in turn
        return [token for place, piece in enumerate(pieces) for token in (piece if place % 2 else cutter.cut(piece))]

    def join(self, tokens: list[str]) -> str:
        """Single spaces between words, white space as it is."""
        text, waiting, joiner = "", list[str](), Words([])
        for token in tokens:
            if token.isspace():
                text += joiner.join(waiting) + token
                waiting = []
            else:
                waiting.append(token)
        return text + joiner.join(waiting)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Where the words, punctuation marks and odd spaces stand."""
        places, at = list[tuple[int, int]](), 0
        for place, piece in enumerate(APART.split(text)):
            inside = [(sign, sign + 1) for sign in range(len(piece))] if place % 2 else Words([]).offsets(piece)
            places += [(at + start, at + end) for start, end in inside]
            at += len(piece)
        return places
