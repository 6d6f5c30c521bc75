"""Words by their letters: what a model knows of a word it never met."""

import math

import torch
from torch import Tensor, nn

from atento.errors import InputError
from atento.layers.embeddings import TokenEmbedding
from atento.models.summaries import end_states
from atento.recurrent import GRU
from atento.recurrent.stack import Stack

# Axes: B batch, N words, L letters, W words, C size of a letter, D size.

LETTER_SIZE = 32


class LetterReader(nn.Module):
    """Letters (W, L), 0 after the last one -> (W, width): a GRU in each direction, both where they have read the word.

    (As Ling et al., 2015, sec. 3.2.) The state that ends at the first letter knows how a word begins, the other how it
    ends; a word of no letters gives zeros.
    """

    def __init__(self, alphabet: int, width: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        if width < 2 or width % 2:
            raise InputError(
                "model.characters must be even: letters are read in both directions, each half as wide.",
                found=f"model.characters={width}",
                fix=f"--set model.characters={width + 1}",
            )
        self.alphabet, self.width = alphabet, width
        self.table = nn.Embedding(alphabet, LETTER_SIZE, padding_idx=0)
        self.stack = Stack(GRU, LETTER_SIZE, width // 2, bidirectional=True)
        self.dropout = nn.Dropout(dropout)

    def forward(self, letters: Tensor) -> Tensor:
        """Each word by itself."""
        real = letters != 0
        states: Tensor = self.stack(self.dropout(self.table(letters)), valid=real).outputs  # (W, L, width)
        return end_states(states, real)


class WordEmbedding(TokenEmbedding):
    """A word's own vector plus what its letters say: (B, N, 1 + L), the word's number and its letters -> (B, N, size).

    Both are about as long as 1; `loud` makes them √size as long, as a Transformer's embedding does (Vaswani et al.,
    2017, sec. 3.4). Letters None: they are not read.
    """

    def __init__(
        self,
        vocabulary_size: int,
        size: int,
        *,
        letters: LetterReader | None,
        loud: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(vocabulary_size, size, dropout=dropout)
        self.letters, self.factor = letters, math.sqrt(size) if loud else 1.0
        self.map = None if letters is None else nn.Linear(letters.width, size, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Both, added."""
        vectors = self.table(tokens[..., 0])
        if self.letters is not None and self.map is not None:
            spelled = nn.functional.pad(tokens[..., 1:], (0, 1)).flatten(0, -2)  # (B · N, L + 1): never empty
            vectors = vectors + self.map(self.spell(self.letters, spelled)).view_as(vectors) / math.sqrt(self.size)
        dropped: Tensor = self.dropout(vectors * self.factor)
        return dropped

    def spell(self, reader: LetterReader, letters: Tensor) -> Tensor:
        """What the letters of each word say; on a processor each distinct word is read once, a GPU has read them all
        sooner than sorted them.
        """
        if letters.device.type != "cpu":
            return torch.as_tensor(reader(letters))
        distinct, place = torch.unique(letters, dim=0, return_inverse=True)  # (W, L + 1), (B · N,)
        read: Tensor = reader(distinct)
        return read[place]
