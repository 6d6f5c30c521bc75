"""What keeps a language model from learning its text by heart (Merity, Keskar & Socher, 2018, sec. 4).

Dropout with one mask for all steps, dropout of whole words, and penalties on large and on restless activations. The
fourth part, dropped recurrent weights, is in `atento.recurrent.stack`.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.errors import InputError
from atento.layers.dropout import drop

# Axes: B batch, T time, D size, V vocabulary.


class Regularizer(NamedTuple):
    """A line of `atento parts`."""

    formula: str
    paper: str
    cost: str


REGULARIZERS = {  # by the key of a recipe
    "model.locked_dropout": Regularizer("m ∘ x_t, one m for all t", "Gal & Ghahramani 2016", "D"),
    "model.recurrent_dropout": Regularizer("(M ∘ U) h", "Wan et al. 2013; Merity et al. 2018", "D² for a sequence"),
    "model.embedding_dropout": Regularizer("m_w e_w, one m_w for a word", "Gal & Ghahramani 2016", "V for a batch"),
    "model.activation_penalty": Regularizer("α mean((m ∘ h_t)²)", "Merity et al. 2017", "D"),
    "model.temporal_penalty": Regularizer("β mean((h_{t+1} − h_t)²)", "Merity et al. 2017", "D"),
    "model.sampled_softmax": Regularizer("e^{s_y} + 1/S Σ e^{s_k} / Q(k)", "Bengio & Senécal 2008", "S D, not V D"),
}


class LockedDropout(nn.Module):
    """Dropout whose mask (B, 1, D) is drawn once for all steps of a sequence (Gal & Ghahramani, 2016, sec. 4.1).

    A single step (B, D) has a mask of its own.
    """

    def __init__(self, probability: float) -> None:
        super().__init__()
        require_probability(probability)
        self.p = probability

    def forward(self, values: Tensor) -> Tensor:
        """(B, T, D) or (B, D), unchanged in evaluation."""
        if not self.training or not self.p:
            return values
        return values * drop(torch.ones_like(values[:, :1] if values.dim() == 3 else values), self.p)

    def extra_repr(self) -> str:
        """The probability."""
        return f"p={self.p}"


class WordDropout(nn.Module):
    """Embedding dropout: a word is zero everywhere in a batch, and the others are scaled by 1/(1 − p) (sec. 4.3)."""

    def __init__(self, probability: float) -> None:
        super().__init__()
        require_probability(probability)
        self.p = probability

    def forward(self, vectors: Tensor, tokens: Tensor, vocabulary_size: int) -> Tensor:
        """Vectors (..., D) of tokens (...) of a vocabulary (V,)."""
        if not self.training or not self.p:
            return vectors
        kept = drop(vectors.new_ones(vocabulary_size), self.p)  # (V,)
        return vectors * kept[tokens].unsqueeze(-1)

    def extra_repr(self) -> str:
        """The probability."""
        return f"p={self.p}"


class ActivationPenalty(nn.Module):
    """AR and TAR: α mean((m ∘ h_t)²) + β mean((h_{t+1} − h_t)²), with m the mask of the dropout (sec. 4.5).

    The means of squares are those of the authors' program. Training adds `penalty()` to its loss, once a batch.
    """

    def __init__(self, activation: float, temporal: float) -> None:
        super().__init__()
        self.activation, self.temporal = activation, temporal  # α, β
        self.found: Tensor | None = None

    def forward(self, dropped: Tensor, hidden: Tensor) -> None:
        """Note the penalty of the last layer's outputs (B, T, D), after dropout and before it."""
        if not self.training:
            return
        total = self.activation * dropped.float().square().mean()
        if self.temporal and hidden.size(1) > 1:
            total = total + self.temporal * hidden.float().diff(dim=1).square().mean()
        self.found = total

    def penalty(self) -> Tensor | float:
        """What the last batch adds to the loss; 0 where none was read since."""
        found, self.found = self.found, None
        return 0.0 if found is None else found

    def extra_repr(self) -> str:
        """α and β."""
        return f"activation={self.activation}, temporal={self.temporal}"


def require_probability(probability: float) -> None:
    """Refuse a probability outside of 0 ≤ p < 1."""
    if not 0.0 <= probability < 1.0:
        raise InputError("a dropout probability is at least 0 and below 1.", found=f"{probability}", fix="0.5")
