"""A feed-forward network applied to each step by itself: what can be said of a step without its neighbours."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from atento.baselines.fitted import require_fitted, require_steps
from atento.errors import InputError
from atento.layers.losses import token_cross_entropy

# Axes: M steps of all sequences, I numbers of a step, C labels.

BATCH = 1024
LEAST_UPDATES, LEAST_EPOCHS = 300, 4
RATE = 0.01


class EachStep:
    """Labels of steps from a network of one hidden layer that sees one step at a time: no order, no memory.

    A step is a token or a list of numbers. Tokens met once teach what to expect of unknown ones.
    """

    name = "each-step"
    summary = "feed-forward network that sees one step at a time"

    def __init__(self, *, hidden_size: int = 64, seed: int = 0) -> None:
        if hidden_size < 1:
            raise InputError(
                "a hidden layer has one unit at least.", found=f"hidden_size={hidden_size}", fix="hidden_size=64"
            )
        self.hidden_size, self.seed = hidden_size, seed
        self.network: nn.Module | None = None
        self.tokens: dict[str, int] = {}  # 0 stands for all others
        self.width = 0  # numbers of a step; 0: steps are tokens
        self.labels: list[str] = []

    def fit(self, sources: Sequence[Sequence[Any]], targets: Sequence[Sequence[str]]) -> "EachStep":
        """Learn from the steps of all sequences together: to this network they are one heap."""
        require_steps(self.name, sources, targets)
        steps = [step for source in sources for step in source]
        truth = [label for target in targets for label in target]
        if not steps:
            raise InputError(f"{self.name} needs a step to learn from.", found="empty sequences", fix="add steps")
        self.labels = sorted(set(truth))
        numbers = {label: number for number, label in enumerate(self.labels)}
        with torch.random.fork_rng(devices=[]):  # nobody else's chance is touched
            torch.manual_seed(self.seed)
            self.network = self.build(steps)
            self.learn(self.network, self.encode(steps), torch.tensor([numbers[label] for label in truth]))
        return self

    def build(self, steps: Sequence[Any]) -> nn.Module:
        """One hidden layer; a token is a one-hot vector, so its product with the first matrix is looked up."""
        last = nn.Linear(self.hidden_size, len(self.labels))
        self.width = 0 if isinstance(steps[0], str) else len(steps[0])
        self.require_kind(steps)
        if not self.width:
            counts = Counter(steps)
            often = [token for token in counts if counts[token] > 1]
            self.tokens = {token: number for number, token in enumerate(often, 1)}
            return nn.Sequential(nn.Embedding(len(often) + 1, self.hidden_size), nn.Tanh(), last)
        return nn.Sequential(nn.Linear(self.width, self.hidden_size), nn.Tanh(), last)

    def learn(self, network: nn.Module, steps: Tensor, truth: Tensor) -> None:
        """Some steps at a time, in a random order."""
        optimiser = torch.optim.Adam(network.parameters(), lr=RATE)
        for _ in range(max(LEAST_EPOCHS, -(-LEAST_UPDATES * BATCH // max(len(steps), BATCH)))):
            for chosen in torch.split(torch.randperm(len(steps)), BATCH):
                optimiser.zero_grad()
                token_cross_entropy(network(steps[chosen]), truth[chosen]).mean.backward()  # type: ignore[no-untyped-call]
                optimiser.step()

    def predict(self, sources: Sequence[Sequence[Any]]) -> list[list[str]]:
        """The likeliest label of each step."""
        require_fitted(self.name, self.network)
        steps = [step for source in sources for step in source]
        if self.network is None or not steps:
            return [[] for _ in sources]
        with torch.no_grad():
            best = iter(self.network(self.encode(steps)).argmax(dim=-1).tolist())
        return [[self.labels[next(best)] for _ in source] for source in sources]

    def encode(self, steps: Sequence[Any]) -> Tensor:
        """Tokens -> their numbers (M,), lists of numbers -> (M, I)."""
        self.require_kind(steps)
        if not self.width:
            return torch.tensor([self.tokens.get(step, 0) for step in steps])
        return torch.tensor([list(step) for step in steps], dtype=torch.get_default_dtype())

    def require_kind(self, steps: Sequence[Any]) -> None:
        """All steps are tokens, or all have as many numbers."""
        for step in steps:
            if (0 if isinstance(step, str) else len(step)) != self.width:
                raise InputError(
                    f"{self.name} learned steps of {f'{self.width} numbers' if self.width else 'one token'}.",
                    found=repr(step)[:80],
                    fix="give steps of one kind and width",
                )
