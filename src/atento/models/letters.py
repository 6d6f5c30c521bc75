"""Words by their letters: what a model knows of a word it never met."""

import torch
from torch import Tensor, nn

from atento.layers.embeddings import TokenEmbedding
from atento.layers.padding import clean

# Axes: B batch, N words, L letters, W distinct words, C channels, D size.

WIDTHS = (1, 2, 3, 4)  # letters that a filter sees at once
LETTER_SIZE = 32


class LetterReader(nn.Module):
    """Letters (W, L), 0 after the last one -> (W, width): filters over 1 to 4 letters, the strongest answer of each.

    (Kim et al., 2016, sec. 2.2.) A mark before the first letter and one after the last make prefixes and suffixes
    visible; a word of no letters gives zeros.
    """

    def __init__(self, alphabet: int, width: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.alphabet, self.width = alphabet, width
        self.table = nn.Embedding(alphabet + 2, LETTER_SIZE, padding_idx=0)  # the last two are the marks
        shares = [width // len(WIDTHS) + (place < width % len(WIDTHS)) for place in range(len(WIDTHS))]
        self.filters = nn.ModuleList(
            nn.Linear(letters * LETTER_SIZE, share) for letters, share in zip(WIDTHS, shares, strict=True) if share
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, letters: Tensor) -> Tensor:
        """Each word by itself."""
        marked, real = self.mark(letters)
        vectors = self.dropout(clean(self.table(marked), real))  # (W, L + 2, C)
        answers = [self.strongest(vectors, real, filter_) for filter_ in self.filters if isinstance(filter_, nn.Linear)]
        return torch.cat(answers, dim=-1).masked_fill((letters == 0).all(dim=-1, keepdim=True), 0.0)

    def mark(self, letters: Tensor) -> tuple[Tensor, Tensor]:
        """^letters$ and which places of them are real."""
        first, last = self.table.num_embeddings - 2, self.table.num_embeddings - 1
        lengths = (letters != 0).sum(dim=-1, keepdim=True)
        marked = nn.functional.pad(letters, (1, 1))
        marked = torch.cat([torch.full_like(marked[:, :1], first), marked[:, 1:]], dim=-1)
        marked = marked.scatter(1, lengths + 1, last)
        return marked, torch.arange(marked.size(1), device=letters.device) < lengths + 2

    def strongest(self, vectors: Tensor, real: Tensor, filter_: nn.Linear) -> Tensor:
        """The largest of relu(W x + b) over all windows that begin at a real place; others are not computed."""
        letters = filter_.in_features // LETTER_SIZE
        padded = nn.functional.pad(vectors, (0, 0, 0, letters - 1))
        windows = padded.unfold(1, letters, 1)[real].transpose(1, 2).flatten(1)  # (real places, letters · C)
        said = filter_(windows).relu()
        answers = said.new_zeros(*real.shape, said.size(-1)).masked_scatter(real.unsqueeze(-1), said)
        return answers.amax(dim=1)


class WordEmbedding(TokenEmbedding):
    """A word's own vector plus what its letters say: (B, N, 1 + L), the word's number and its letters -> (B, N, size).

    Letters are read once for each distinct word of a batch; None: they are not read.
    """

    def __init__(self, vocabulary_size: int, size: int, *, letters: LetterReader | None, dropout: float = 0.0) -> None:
        super().__init__(vocabulary_size, size, dropout=dropout)
        self.letters = letters
        self.map = None if letters is None else nn.Linear(letters.width, size, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Both, added."""
        vectors = self.table(tokens[..., 0])
        if self.letters is not None and self.map is not None:
            spelled = nn.functional.pad(tokens[..., 1:], (0, 1)).flatten(0, -2)  # (B · N, L + 1): never empty
            distinct, place = torch.unique(spelled, dim=0, return_inverse=True)  # (W, L + 1), (B · N,)
            vectors = vectors + self.map(self.letters(distinct))[place].view_as(vectors)
        dropped: Tensor = self.dropout(vectors)
        return dropped
