"""Checks of arguments that the parts of attention share."""

from torch import Tensor

from atento.errors import InputError


def require_heads(name: str, query: Tensor, heads: int) -> None:
    """A part with a parameter per head must be used with as many heads; a part with one head fits any query."""
    found = query.size(-3) if query.dim() > 2 else 1
    if heads not in (1, found):
        raise InputError(
            f"{name} was made for another number of heads.",
            found=f"made for {heads} heads, query {tuple(query.shape)} has {found}",
            fix=f"give {name} and MultiHead the same number of heads",
        )


def require_positive(name: str, **sizes: int) -> None:
    """Every size must be 1 or more."""
    for argument, size in sizes.items():
        if size < 1:
            raise InputError(f"{name}: {argument} must be positive.", found=f"{argument}={size}", fix="give 1 or more")


def require_not_negative(name: str, **sizes: int) -> None:
    """Every size must be 0 or more."""
    for argument, size in sizes.items():
        if size < 0:
            raise InputError(
                f"{name}: {argument} must not be negative.", found=f"{argument}={size}", fix="give 0 or more"
            )
