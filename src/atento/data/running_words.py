"""Words of running text, of which nothing may be lost: line breaks and odd spaces are tokens too."""

import re

from atento.data.vocabulary import TokenList, Words

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
