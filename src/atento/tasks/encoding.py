"""What a run makes of its recipe and its training part: a codec, a model, and the examples encoded, all at once or one
at a time where the pairs are on disk.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from atento.data.examples.batches import Order, Sampler, sample_of
from atento.data.examples.stored import PooledSampler, StoredPairs
from atento.errors import InputError
from atento.spec import ModelRecipe, Recipe
from atento.system import garbage_kept
from atento.tasks.task import B, C, M, P, Task, X

SAMPLE = 1000  # examples whose lengths tell how many tokens a byte is


@garbage_kept()
def learn_codec(task: Task[C, X, B, M], recipe: Recipe, pairs: Sequence[Any]) -> C:
    """The codec of the training part, with what the recipe decides."""
    return suited(task, task.learning.learn(recipe.tokens, sample_of(pairs)), recipe)


def suited(task: Task[C, X, B, M], codec: C, recipe: Recipe) -> C:
    """The codec with what the recipe decides, where the task needs that."""
    return codec if task.learning.bind is None else task.learning.bind(codec, recipe)


def build_module(task: Task[C, X, B, M], recipe: ModelRecipe, codec: C) -> M:
    """The model of a recipe: one network, or the mean of `model.members` of them."""
    if recipe.members == 1:
        return task.learning.build(recipe, codec)
    if task.learning.ensemble is None:
        raise InputError(
            "there is no mean of such models.",
            found=f"task {task.name}, model {recipe.name}, model.members={recipe.members}",
            fix="--set model.members=1",
        )
    one = recipe.model_copy(update={"members": 1})
    return task.learning.ensemble([task.learning.build(one, codec) for _ in range(recipe.members)])


class EncodedOnDemand(Sequence[X]):
    """Encodes an example each time it is asked for; its length is estimated from its bytes."""

    def __init__(self, task: Task[C, X, B, M], codec: C, pairs: StoredPairs) -> None:
        self.encode, self.pairs = partial(task.learning.encode, codec), pairs
        some = range(0, len(pairs), max(1, len(pairs) // SAMPLE))
        tokens = sum(task.learning.length(codec, self[at]) for at in some)
        self.tokens_a_byte = tokens / max(1, sum(int(pairs.bytes_of(at, at + 1)[0]) for at in some))

    def __len__(self) -> int:
        return len(self.pairs)

    @overload
    def __getitem__(self, at: int) -> X: ...

    @overload
    def __getitem__(self, at: slice) -> list[X]: ...

    def __getitem__(self, at: int | slice) -> X | list[X]:
        """One example, or several."""
        if isinstance(at, slice):
            return [self[index] for index in range(*at.indices(len(self)))]
        return self.encode(self.pairs[at])

    def lengths(self, first: int, last: int) -> NDArray[np.int32]:
        """About how many tokens each example from `first` to before `last` has."""
        sizes = self.pairs.bytes_of(first, last).astype(np.float32)
        return np.maximum(sizes * np.float32(self.tokens_a_byte), 1).astype(np.int32)


@garbage_kept()
def encode_all(task: Task[C, X, B, M], codec: C, pairs: Sequence[P]) -> Sequence[X]:
    """What a run learns from."""
    if isinstance(pairs, StoredPairs):
        return EncodedOnDemand(task, codec, pairs)
    return [task.learning.encode(codec, pair) for pair in pairs]


def order_by_length(task: Task[C, X, B, M], codec: C, examples: Sequence[X], *, batch_tokens: int, seed: int) -> Order:
    """Batches of examples of similar length."""
    if isinstance(examples, EncodedOnDemand):
        return PooledSampler(examples.lengths, len(examples), batch_tokens=batch_tokens, seed=seed)
    lengths = [task.learning.length(codec, example) for example in examples]
    return Sampler(lengths, batch_tokens=batch_tokens, seed=seed)
