"""Validation of the arguments of baselines."""

from collections.abc import Sized
from typing import Any, TypeVar

from atento.errors import InputError

Learned = TypeVar("Learned")


def require_pairs(name: str, sources: Sized, targets: Sized) -> None:
    """Refuse unequal numbers of sources and targets, and none at all."""
    if len(sources) != len(targets) or not len(sources):
        raise InputError(
            f"{name} learns from pairs of a source and a target, at least one.",
            found=f"{len(sources)} sources, {len(targets)} targets",
            fix="give as many of each",
        )


def require_fitted(name: str, learned: Learned | None) -> Learned:
    """What was learned; refuse a prediction before `fit`, where it is still None."""
    if learned is None:
        raise InputError(f"{name} has not learned yet.", found="predict before fit", fix="call fit first")
    return learned


def require_aligned(name: str, sources: Any, targets: Any) -> None:
    """Refuse pairs in which a step has no target, or a target no step."""
    require_pairs(name, sources, targets)
    for place, (source, target) in enumerate(zip(sources, targets, strict=True)):
        if len(source) != len(target):
            raise InputError(
                f"{name} learns a target for each step.",
                found=f"sequence {place + 1} has {len(source)} steps and {len(target)} targets",
                fix="give as many targets as steps",
            )


def require_at_least_one(**numbers: int) -> None:
    """Refuse an argument below 1."""
    for name, number in numbers.items():
        if number < 1:
            raise InputError(f"{name} must be at least 1.", found=f"{name}={number}", fix=f"{name}=1 or more")
