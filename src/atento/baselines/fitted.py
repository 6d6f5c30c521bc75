"""What every simple model asks before it learns or answers."""

from collections.abc import Sized
from typing import Any

from atento.errors import InputError


def require_pairs(name: str, sources: Sized, targets: Sized) -> None:
    """As many targets as sources, and one at least."""
    if len(sources) != len(targets) or not len(sources):
        raise InputError(
            f"{name} learns from pairs of a source and a target, one at least.",
            found=f"{len(sources)} sources, {len(targets)} targets",
            fix="give as many of each",
        )


def require_fitted(name: str, learned: Any) -> None:
    """A simple model that has learned nothing has no answer."""
    if learned is None:
        raise InputError(f"{name} has not learned yet.", found="predict before fit", fix="call fit(sources, targets)")


def require_steps(name: str, sources: Any, targets: Any) -> None:
    """A target for every step of every source."""
    require_pairs(name, sources, targets)
    for place, (source, target) in enumerate(zip(sources, targets, strict=True)):
        if len(source) != len(target):
            raise InputError(
                f"{name} learns a target for each step.",
                found=f"sequence {place + 1} has {len(source)} steps and {len(target)} targets",
                fix="give as many targets as steps",
            )
