"""Which short runs of words occur, wherever they stand: read beside a sequence, they need no order to be learned."""

import torch
from torch import Tensor, nn

from atento.errors import InputError
from atento.layers.padding import clean
from atento.recurrent.unroll import real_first

# Axes: B batch, N time, G runs, D size.

BUCKETS = 50_021  # a prime; runs that fall into the same one share a vector
FACTORS = (1, 1_000_003, 998_244_353)  # of the words of a run
PACE = 10.0  # a run is met seldom, so what it says grows so much faster than other weights


class RunsOfWords(nn.Module):
    """Σ of a vector for each run of one to `longest` tokens, times `PACE` over √runs.

    tokens (B, N), valid (B, N) -> (B, D). Runs are hashed (Joulin et al., 2017, sec. 2.1); what they say is added to
    what a deep model says (Cheng et al., 2016). The vectors begin at zero: at first nothing is added.
    """

    def __init__(self, longest: int, size: int, *, dropout: float = 0.0, buckets: int = BUCKETS) -> None:
        super().__init__()
        if not 1 <= longest <= len(FACTORS):
            raise InputError(
                f"runs of words are 1 to {len(FACTORS)} words long.", found=f"longest={longest}", fix="longest=2"
            )
        self.longest, self.size = longest, size
        self.table = nn.Embedding(buckets, size)  # 0 is no run
        nn.init.zeros_(self.table.weight)
        self.dropout = dropout

    def forward(self, tokens: Tensor, valid: Tensor) -> Tensor:
        """One vector a text; a text of nothing gives zeros."""
        runs = self.numbers(tokens, valid)  # (B, G)
        real = runs > 0
        if self.training and self.dropout:
            real = real & (torch.rand(runs.shape, device=runs.device) >= self.dropout)
        found = clean(self.table(runs), real).sum(dim=1)
        kept = PACE * found / real.sum(dim=1, keepdim=True).clamp(min=1).sqrt()
        return torch.as_tensor(kept)

    def numbers(self, tokens: Tensor, valid: Tensor) -> Tensor:
        """The bucket (B, G) of each run, 0 where there is none."""
        order = real_first(valid)
        tokens, valid = tokens.gather(1, order), valid.gather(1, order)
        tokens = tokens.masked_fill(~valid, 0)
        found = []
        for length in range(1, min(self.longest, tokens.size(1)) + 1):
            parts = [tokens[:, at : tokens.size(1) - length + 1 + at] * FACTORS[at] for at in range(length)]
            run = torch.stack(parts).sum(dim=0)
            number = (run + length) % (self.table.num_embeddings - 1) + 1
            found.append(number.masked_fill(~valid[:, length - 1 :], 0))
        return torch.cat(found, dim=1)
