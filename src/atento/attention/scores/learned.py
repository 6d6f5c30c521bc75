"""Alignment scores with learned networks: additive, deep, location-based, feature-based."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from atento.attention.fast.additive import additive_scores
from atento.attention.requirements import require_positive
from atento.attention.scores.product import Score, require_elementwise
from atento.errors import InputError
from atento.layers.activations import TANH, ActivationFn, expansion, identity
from atento.layers.masking import checked_linear, require_width
from atento.layers.products import Linear

# Axes: B batch (any number of leading axes), Q queries, K keys, H hidden. The last axis is always features.


class Additive(Score):
    """Additive, or concat: v . tanh(W q + U k)  (Bahdanau et al., 2015, app. A.1.2).

    It equals a network of the concatenation: v . act(W [q; k] + b) = v . act(W₁ q + W₂ k + b) for W = [W₁ W₂].
    """

    def __init__(
        self,
        query_size: int,
        key_size: int,
        *,
        hidden_size: int,
        activation: ActivationFn = torch.tanh,
        bias: bool = False,
    ) -> None:
        super().__init__()
        require_positive("Additive", query_size=query_size, key_size=key_size, hidden_size=hidden_size)
        width = hidden_size * expansion(activation)
        self.project_query = Linear(query_size, width, bias=False)
        self.project_key = Linear(key_size, width, bias=bias)
        self.collapse = Linear(hidden_size, 1, bias=False)
        self.activation = activation

    def prepare(self, key: Tensor) -> Tensor:
        """U k, plus b if there is one."""
        return checked_linear(self.project_key, type(self).__name__, "key", key)

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """v . act(W q + U k)."""
        query = checked_linear(self.project_query, type(self).__name__, "query", query)
        recorded = torch.compiler.is_compiling()  # then the formula is fused, or exported
        if query.device.type == "cpu" and not recorded and self.activation in (torch.tanh, TANH):
            return additive_scores(query, key, self.collapse.weight.squeeze(0))
        mixed = self.activation(query.unsqueeze(-2) + key.unsqueeze(-3))  # (B, Q, K, H)
        return mixed @ self.collapse.weight.squeeze(0)


class Deep(Score):
    """Deep: v . E_L + c with E_1 = act(W₀ k + W₁ q + b₁), E_l = act(W_l E_{l−1} + b_l).

    (Pavlopoulos et al., 2017, sec. 3, which uses the key alone; Brauwers & Frasincar, 2021, sec. 3.2, with a query.)
    """

    def __init__(
        self, query_size: int, key_size: int, *, hidden_sizes: Sequence[int], activation: ActivationFn = torch.tanh
    ) -> None:
        super().__init__()
        if not hidden_sizes or min(hidden_sizes) < 1:
            raise InputError(
                "Deep: hidden_sizes must hold the width of at least one layer.",
                found=f"hidden_sizes={tuple(hidden_sizes)}",
                fix="e.g. hidden_sizes=(64, 64)",
            )
        widths = [size * expansion(activation) for size in hidden_sizes]
        self.project_query = Linear(query_size, widths[0], bias=False)
        self.project_key = Linear(key_size, widths[0])
        self.deeper = nn.ModuleList(
            Linear(size, width) for size, width in zip(hidden_sizes[:-1], widths[1:], strict=True)
        )
        self.collapse = Linear(hidden_sizes[-1], 1)
        self.activation = activation

    def prepare(self, key: Tensor) -> Tensor:
        """W₀ k + b₁."""
        return checked_linear(self.project_key, type(self).__name__, "key", key)

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """A network of L layers, applied to every pair of query and key."""
        query = checked_linear(self.project_query, type(self).__name__, "query", query)
        mixed = self.activation(query.unsqueeze(-2) + key.unsqueeze(-3))  # (B, Q, K, H)
        for layer in self.deeper:
            mixed = self.activation(layer(mixed))
        return self.collapse(mixed).squeeze(-1)


class Location(Score):
    """Location-based: score_i = act(W q)_i, which does not depend on the key  (Luong et al., 2015, sec. 3.1).

    i counts all keys from the first on, padding too: padding before the real keys moves them to other rows of W, and
    changes the result. Padding after them changes nothing.
    """

    by_position = True

    def __init__(self, query_size: int, max_length: int, *, activation: ActivationFn = identity) -> None:
        super().__init__()
        require_positive("Location", query_size=query_size, max_length=max_length)
        require_elementwise("Location", activation)
        self.max_length, self.activation = max_length, activation
        self.weight = Linear(query_size, max_length, bias=False)

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """The first K rows of W."""
        keys = key.size(-2)
        if keys > self.max_length:
            raise InputError(
                "Location: there are more keys than positions.",
                found=f"{keys} keys, max_length={self.max_length}",
                fix=f"give max_length={keys} or more",
            )
        require_width("Location", "query", query, self.weight.in_features)
        scores = self.activation(nn.functional.linear(query, self.weight.weight[:keys]))
        return scores.expand(*leading(query, key), *scores.shape[-2:])


class FeatureBased(Score):
    """Feature-based: v . act(W₁ φ₁(k) + W₂ φ₂(k) + b), a score of the key alone.

    φ₁ and φ₂ are any functions of the key; by default the key and its square (Brauwers & Frasincar, 2021, sec. 3.2).
    """

    def __init__(
        self,
        key_size: int,
        hidden_size: int,
        *,
        first: ActivationFn = identity,
        second: ActivationFn = torch.square,
        activation: ActivationFn = torch.tanh,
    ) -> None:
        super().__init__()
        require_positive("FeatureBased", key_size=key_size, hidden_size=hidden_size)
        self.first, self.second, self.activation = first, second, activation
        sizes = [feature(torch.zeros(1, key_size)).size(-1) for feature in (first, second)]
        self.project_first = Linear(sizes[0], hidden_size * expansion(activation))
        self.project_second = Linear(sizes[1], hidden_size * expansion(activation), bias=False)
        self.collapse = Linear(hidden_size, 1, bias=False)

    def prepare(self, key: Tensor) -> Tensor:
        """The scores themselves, (B, K, 1)."""
        first = checked_linear(self.project_first, "FeatureBased", "key", self.first(key))
        mixed = first + self.project_second(self.second(key))
        return self.collapse(self.activation(mixed))

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """The same for every query."""
        return key.mT.expand(*leading(query, key), query.size(-2), key.size(-2))


def leading(query: Tensor, key: Tensor) -> torch.Size:
    """The leading axes of both, broadcast."""
    return torch.broadcast_shapes(query.shape[:-2], key.shape[:-2])  # type: ignore[no-untyped-call]
