"""A module under check, whatever it is: values and a mask of valid items in, outputs out."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor, nn

from atento.checks.finding import Finding, difference, tried
from atento.errors import InputError
from atento.layers.masking import valid_from_lengths
from atento.lines import lines_of

# Axes: B rows, T time. Sizes are distinct primes, so that a swapped axis cannot pass.

ROWS, TIME = 3, 7
LENGTHS = (7, 4, 2)
CUTS = (0, 1, 4, TIME)  # steps of 1, 3 and the rest
SEED = 0

Some = TypeVar("Some", bound=nn.Module)
Draw = Callable[[int, int], Tensor]  # rows, time -> random values
Law = Callable[[Any], Finding]  # a contract of a module


class Outputs(NamedTuple):
    """The outputs of a module: one for each item, one for each row, or both."""

    items: Tensor | None = None  # (B, T, ...)
    whole: Tensor | None = None  # (B, ...)

    def real(self, valid: Tensor) -> list[Tensor]:
        """The outputs that count: those at valid items, and those of whole rows."""
        found = [] if self.items is None else [self.items[valid]]
        return found if self.whole is None else [*found, self.whole]

    def rows(self, order: Tensor) -> "Outputs":
        """The same rows in another order."""
        return Outputs(*(None if part is None else part[order] for part in self))

    def cut(self, length: int) -> "Outputs":
        """The outputs of the first items only, and those of whole rows."""
        return self._replace(items=None if self.items is None else self.items[:, :length])


@dataclass(frozen=True)
class Subject:
    """values (B, T, ...), valid (B, T) -> outputs. Values are numbers (B, T, D) or tokens (B, T).

    Each contract gets a subject of its own, with a copy of the module that was not called before.
    """

    module: nn.Module
    call: Callable[[Any, Tensor, Tensor], Outputs]  # module, values, valid
    draw: Draw
    unmasked: str = ""  # why contracts of padding do not apply; empty: it takes a mask of valid items
    side_matters: str = ""  # why the side of padding may change outputs
    not_causal: str = ""  # why contracts of the future do not apply; empty: no output may depend on later items
    zeros: bool = False  # whether a row without valid items must give zeros

    def read(self, values: Tensor, valid: Tensor) -> Outputs:
        """The outputs for some values."""
        return self.call(self.module, values, valid)

    def values(self, rows: int = ROWS, time: int = TIME) -> Tensor:
        """Random values, the same each time."""
        with seeded():
            return self.draw(rows, time)

    @property
    def is_tokens(self) -> bool:
        """Whether values are token numbers, which have no NaN and no gradient."""
        return not self.values(1, 1).is_floating_point()

    def fillings(self) -> list[float]:
        """The values that padding is filled with, zeros first."""
        return [0.0, 1.0, 2.0] if self.is_tokens else [0.0, 1e3, torch.nan, torch.inf, -torch.inf]


def output_difference(actual: Outputs, expected: Outputs, valid: Tensor) -> float:
    """The largest difference of the outputs that count."""
    return max(difference(*pair) for pair in zip(actual.real(valid), expected.real(valid), strict=True))


def ragged() -> Tensor:
    """A mask valid (B, T) of rows of unequal lengths, padding on the right."""
    return valid_from_lengths(torch.tensor(LENGTHS), TIME)


def with_padding(values: Tensor, valid: Tensor, filling: float) -> Tensor:
    """The values, with the padding filled."""
    mask = ~valid if values.dim() == 2 else ~valid.unsqueeze(-1)
    return values.masked_fill(mask, filling)


def numbers_of(size: int) -> Draw:
    """A function that draws numbers (B, T, size)."""
    return lambda rows, time: torch.randn(rows, time, size, dtype=torch.float64)


def tokens_of(vocabulary: int, *, least: int = 0) -> Draw:
    """A function that draws tokens (B, T) from `least` on."""
    return lambda rows, time: torch.randint(min(least, vocabulary - 1), vocabulary, (rows, time))


@contextmanager
def seeded(seed: int = SEED) -> Iterator[None]:
    """A fixed random seed inside the block; the state of the caller's generator is restored."""
    before = torch.get_rng_state()
    torch.manual_seed(seed)
    try:
        yield
    finally:
        torch.set_rng_state(before)


def some_numbers(*sizes: int, seed: int = SEED) -> Tensor:
    """Random numbers in float64, the same each time."""
    with seeded(seed):
        return torch.randn(*sizes, dtype=torch.float64)


def exact_copy(module: Some) -> Some:
    """A copy on the CPU, in float64 and evaluation mode; the user's module is not changed."""
    try:
        return deepcopy(module).cpu().double().eval()
    except RuntimeError as error:
        raise InputError(
            f"{type(module).__name__} cannot be copied.",
            found=lines_of(str(error))[0],
            fix="keep no tensor on the module that carries a gradient: detach it, or make it a buffer",
        ) from None


def check_laws(module: nn.Module, laws: Mapping[str, Law]) -> list[Finding]:
    """Every contract of a table, each on a fresh copy of the module."""
    return [tried(name, partial(law, exact_copy(module))) for name, law in laws.items()]


def vocabulary_of(module: nn.Module) -> int:
    """The size of the first embedding table; 0 where there is none."""
    return next((part.num_embeddings for part in module.modules() if isinstance(part, nn.Embedding)), 0)


def widths_that_fit(module: nn.Module, attempt: Callable[..., object], *, sizes: int) -> tuple[int, ...]:
    """So many input widths with which the attempt succeeds, found among the sizes of the weights."""
    weights = [*module.parameters(), *module.buffers()]
    known = sorted({size for weight in weights for size in weight.shape}, reverse=True)
    known = [*(size for size in known if size > 1), 8, 1]  # a width of 1 fits by broadcasting, so it comes last
    for widths in product(known, repeat=sizes):
        try:
            with torch.no_grad():
                attempt(*widths)
        except (RuntimeError, InputError, ValueError, IndexError):
            continue
        return widths
    raise InputError(
        f"no width of values fits {type(module).__name__}.",
        found=f"tried {', '.join(map(str, known))}",
        fix="give an example: atento.check(module, values=torch.randn(rows, time, width))",
    )
