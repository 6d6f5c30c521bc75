"""The wide part of a tagger: a linear model of the letters of a word and of its neighbours, with scores of transitions.

Its features are those of the averaged perceptron baseline without tags (Ratnaparkhi, 1996, table 1, with word shapes),
computed from letters: each is a hash of what it says, by which a table finds its row.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from atento.layers.crf import Transitions
from atento.layers.masking import clean, valid_first
from atento.models.wide import FeatureTable, WidePart

# Axes: B batch, N words, L letters, C tags, S features of a word. A hash is a pair of whole numbers, the last axis.

MODULI = (2**31 - 1, 2**31 - 19)  # primes; a pair of remainders is a key below 2^62
FACTORS = (1_103_515_245, 1_812_433_253)
TEMPLATES = 17
LONGEST_SUFFIX = 4
PREFIXES = (1, 3)
CAPITAL, SMALL, DIGIT, FIRST_SIGN = 1, 2, 3, 4
BEGIN, END = 1, 2  # the words before and after a sentence
FARTHEST = 2  # neighbours that are looked at
MOST_LETTERS = 20  # of a word


class WordHashes:
    """Hashes (B, N, 2) of what templates say of each word."""

    def __init__(self, letters: Tensor, small: Tensor, kinds: Tensor) -> None:
        lengths = (letters > 0).sum(dim=-1)  # (B, N)
        self.zero = letters.new_zeros(*letters.shape[:2], 2)
        self.cased, self.small = self.spelled(letters), self.spelled(small)
        self.suffixes = [self.suffix(small, lengths, size) for size in range(1, LONGEST_SUFFIX + 1)]
        self.prefixes = [self.spelled(small[..., :size]) for size in PREFIXES]
        before = torch.cat([torch.zeros_like(kinds[..., :1]), kinds[..., :-1]], dim=-1)
        self.shape = self.spelled(kinds.masked_fill(kinds == before, 0))  # repetitions left out

    def spelled(self, symbols: Tensor) -> Tensor:
        """A hash of the symbols (B, N, L) that are not 0."""
        found = self.zero
        for symbol in symbols.unbind(dim=-1):
            found = torch.where((symbol > 0).unsqueeze(-1), joined(found, symbol.unsqueeze(-1)), found)
        return found

    def suffix(self, letters: Tensor, lengths: Tensor, size: int) -> Tensor:
        """A hash of the last letters; of a shorter word of all."""
        places = lengths.unsqueeze(-1) - size + torch.arange(size, device=letters.device)  # (B, N, size)
        symbols = letters.gather(-1, places.clamp(min=0))
        return self.spelled(symbols.masked_fill(places < 0, 0))


def joined(hashed: Tensor, symbol: Tensor) -> Tensor:
    """The hash after one more symbol (..., 1) or hash (..., 2); products stay below 2^63."""
    factors, moduli = hashed.new_tensor(FACTORS), hashed.new_tensor(MODULI)
    return (hashed * factors + symbol + 1) % moduli


def shifted(hashed: Tensor, valid: Tensor, by: int) -> Tensor:
    """The hash of the word so many places later, real words first; `BEGIN` and `END` outside of the sentence."""
    real = torch.where(valid.unsqueeze(-1), hashed, torch.full_like(hashed, END))
    outside = torch.zeros_like(hashed[:, :1]).expand(-1, FARTHEST, -1)
    around = torch.cat([outside + BEGIN, real, outside + END], dim=1)
    return around[:, FARTHEST + by : FARTHEST + by + hashed.size(1)]


class WideWords(WidePart):
    """W x + b of the features that each word has, and scores of transitions between tags for a chain.

    words (B, N, 1 + L) as numbers of a word and of its letters, valid (B, N) -> (B, N, C).
    """

    def __init__(self, alphabet: int, width: int, *, capacity: int) -> None:
        super().__init__(width)
        self.table = FeatureTable(capacity, width)
        self.small = nn.Buffer(torch.arange(alphabet))  # the small letter of each letter
        self.kinds = nn.Buffer(torch.zeros(alphabet, dtype=torch.long))  # capital, small, digit, or a sign of its own
        self.start = nn.Buffer(torch.zeros(width))
        self.between = nn.Buffer(torch.zeros(width, width))  # from, to
        self.end = nn.Buffer(torch.zeros(width))

    def learn_letters(self, letters: Sequence[str], first: int) -> None:
        """Say which letters are alike; the first letter has the number `first`, smaller ones are special tokens."""
        numbers = {letter: number for number, letter in enumerate(letters, first)}
        self.kinds[:first] = SMALL
        self.kinds[0] = 0
        for letter, number in numbers.items():
            self.small[number] = numbers.get(letter.lower(), number)
            kind = CAPITAL if letter.isupper() else SMALL if letter.isalpha() else DIGIT if letter.isdigit() else 0
            self.kinds[number] = kind or FIRST_SIGN + number

    def forward(self, source: Tensor, valid: Tensor) -> Tensor:
        """The linear scores of each tag of each word; zeros at padding."""
        rows = self.table.rows[self.table.find(self.keys(source, valid))]  # (B, N, S, C)
        return clean(rows.sum(dim=2) + self.bias, valid)

    def keys(self, source: Tensor, valid: Tensor) -> Tensor:
        """The key (B, N, S) of each feature of each word."""
        order = valid_first(valid)
        real = valid.gather(1, order)
        letters = nn.functional.pad(source[..., 1:], (0, MOST_LETTERS))[..., :MOST_LETTERS]  # as many in every batch
        letters = letters.gather(1, order.unsqueeze(-1).expand(-1, -1, MOST_LETTERS))
        letters = letters.masked_fill(~real.unsqueeze(-1), 0)
        words = WordHashes(letters, self.small[letters], self.kinds[letters])

        def near(hashed: Tensor, by: int) -> Tensor:
            return shifted(hashed, real, by)

        around = joined(joined(near(words.shape, -1), words.shape), near(words.shape, 1))
        said = [
            words.zero,
            words.cased,
            words.small,
            *words.suffixes,
            *words.prefixes,
            words.shape,
            *(near(words.small, by) for by in (-1, -2, 1, 2)),
            *(near(words.suffixes[2], by) for by in (-1, 1)),
            around,
        ]
        templates = [joined(one, one.new_tensor([number])) for number, one in enumerate(said)]
        hashes = torch.stack(templates, dim=2)  # (B, N, S, 2)
        keys = hashes[..., 0] * MODULI[1] + hashes[..., 1]
        return keys.gather(1, order.argsort(dim=1).unsqueeze(-1).expand(-1, -1, TEMPLATES))

    def mix_transitions(self, network: Transitions) -> Transitions:
        """a · linear + b · network, of all scores of transitions."""
        return Transitions(*(self.mix(own, other) for own, other in zip(self.transitions(), network, strict=True)))

    def transitions(self) -> Transitions:
        """Those of the linear model."""
        return Transitions(self.start, self.between, self.end)
