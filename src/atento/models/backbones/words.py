"""Word embeddings with a character-level encoder, which also gives vectors to words outside the vocabulary."""

import math

import numpy as np
import torch
from torch import Tensor, nn

from atento.errors import InputError
from atento.layers.dropout import Dropout
from atento.layers.embeddings import TokenEmbedding
from atento.layers.products import Linear
from atento.models.summaries import end_states
from atento.recurrent import GRUCell
from atento.recurrent.stack import Stack

# Axes: B batch, N words of a text, L characters of a word, W words.

CHARACTER_SIZE = 32


def distinct_rows(numbers: Tensor) -> tuple[Tensor, Tensor]:
    """The distinct rows of a matrix of small numbers from 0, in their order as numbers, and the place of each row among
    them: `torch.unique` by rows in a quarter of its time, since it compares rows as texts.
    """
    rows = numbers.numpy().astype(">u4")  # the first byte is the largest: texts have the order of the numbers
    text, width = rows.tobytes(), rows.shape[1] * rows.itemsize
    found = [text[first : first + width] for first in range(0, len(text), width)]
    order = {row: place for place, row in enumerate(sorted(set(found)))}
    distinct = np.frombuffer(b"".join(order), rows.dtype).reshape(-1, rows.shape[1]).astype(np.int64)
    return torch.from_numpy(distinct), torch.tensor([order[row] for row in found])


class CharacterEncoder(nn.Module):
    """Characters (W, L), padded with 0 -> (W, width): the last states of a bidirectional GRU (Ling et al., 2015,
    sec. 3.2). A word without characters gives zeros.
    """

    def __init__(self, alphabet: int, width: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        if width < 2 or width % 2:
            raise InputError(
                "CharacterEncoder: width must be even: each direction has half of it.",
                found=f"width={width}",
                fix=f"width={width + 1}",
            )
        self.alphabet, self.width = alphabet, width
        self.table = nn.Embedding(alphabet, CHARACTER_SIZE, padding_idx=0)
        self.stack = Stack(GRUCell, CHARACTER_SIZE, width // 2, bidirectional=True)
        self.dropout = Dropout(dropout)

    def forward(self, characters: Tensor) -> Tensor:
        """One vector for each word."""
        real = characters != 0
        states: Tensor = self.stack(self.dropout(self.table(characters)), valid=real).outputs  # (W, L, width)
        return end_states(states, real)


class WordEmbedding(TokenEmbedding):
    """A word's own vector plus a map of its characters' vector: (B, N, 1 + L), word and characters -> (B, N, size).

    Both have a norm of about 1; `scaled` multiplies by √size, as a Transformer's embedding does (Vaswani et al., 2017,
    sec. 3.4). `characters` None: they are not used.
    """

    def __init__(
        self,
        vocabulary_size: int,
        size: int,
        *,
        characters: CharacterEncoder | None,
        scaled: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(vocabulary_size, size, dropout=dropout)
        self.characters, self.factor = characters, math.sqrt(size) if scaled else 1.0
        self.map = None if characters is None else Linear(characters.width, size, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """The sum of both."""
        vectors = self.table(tokens[..., 0])
        if self.characters is not None and self.map is not None:
            characters = nn.functional.pad(tokens[..., 1:], (0, 1)).flatten(0, -2)  # (B · N, L + 1): never empty
            encoded = self.map(self.encode_characters(self.characters, characters))
            vectors = vectors + encoded.view_as(vectors) / math.sqrt(self.size)
        return self.dropout(vectors * self.factor)

    def encode_characters(self, encoder: CharacterEncoder, characters: Tensor) -> Tensor:
        """The encoding of each word. On a CPU each distinct word is encoded once; on a GPU encoding all of them takes
        less time than sorting, and a recorded program cannot know how many are distinct.
        """
        if characters.device.type != "cpu" or torch.compiler.is_compiling():
            return torch.as_tensor(encoder(characters))
        distinct, place = distinct_rows(characters)  # (W, L + 1), (B · N,)
        encoded: Tensor = encoder(distinct)
        return encoded[place]
