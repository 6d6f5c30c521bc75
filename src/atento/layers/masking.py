"""Padding and shapes: sequences of a batch have different lengths, and what pads them must not affect any result."""

import torch
from torch import Tensor, nn

from atento.errors import InputError
from atento.layers.torch_arguments import mask_fix, require_tensor

# Axes: B batch, T time, D features. `valid` is (B, T) and True means a real item.


def clean(values: Tensor, valid: Tensor | None) -> Tensor:
    """Values with zeros at padding, so that a NaN there cannot spread as 0 * NaN. None: nothing is padding."""
    return values if valid is None else values.masked_fill(~valid.unsqueeze(-1), 0.0)


def valid_from_lengths(lengths: Tensor, max_length: int) -> Tensor:
    """Lengths (B,) -> valid (B, max_length), padding on the right."""
    return torch.arange(max_length, device=lengths.device) < lengths.unsqueeze(-1)


def valid_positions(valid: Tensor) -> Tensor:
    """The position of each real item among the real ones of its row, from 0: valid (B, T) -> (B, T)."""
    return (valid.cumsum(dim=-1) - 1).clamp(min=0)


def valid_first(valid: Tensor) -> Tensor:
    """An order (B, T) of the items: the real ones from left to right, then the padding."""
    return torch.argsort(valid.logical_not().to(torch.uint8), dim=1, stable=True)


def left_aligned(tokens: Tensor, valid: Tensor) -> tuple[Tensor, Tensor]:
    """Tokens (B, T) with the real ones first and 0 at padding, and `valid` in that order."""
    order = valid_first(valid)
    tokens, valid = tokens.gather(1, order), valid.gather(1, order)
    return tokens.masked_fill(~valid, 0), valid


def masked_mean(values: Tensor, valid: Tensor) -> Tensor:
    """The mean over real items: (B, T, D) -> (B, D); a row without any gives zeros."""
    count = valid.sum(dim=-1, keepdim=True).clamp(min=1)
    return clean(values, valid).sum(dim=-2) / count


def masked_max(values: Tensor, valid: Tensor) -> Tensor:
    """The maximum of each feature over real items: (B, T, D) -> (B, D); a row without any gives zeros."""
    floor = torch.finfo(values.dtype).min
    largest = values.masked_fill(~valid.unsqueeze(-1), floor).amax(dim=-2)
    return largest.masked_fill(~valid.any(dim=-1, keepdim=True), 0.0)


def is_known(*sizes: object) -> bool:
    """Whether all sizes are numbers; not while torch.export records a call whose sizes may vary."""
    return all(isinstance(size, int) for size in sizes)


def checked_linear(layer: nn.Linear, part: str, argument: str, items: Tensor) -> Tensor:
    """The linear layer applied to items; a wrong width is refused with the names of the part and its argument."""
    require_width(part, argument, items, layer.in_features)
    found: Tensor = layer(items)
    return found


def require_width(part: str, argument: str, items: Tensor, width: int) -> None:
    """Items must have the shape (..., width)."""
    require_tensor(argument, items)
    if items.size(-1) != width:
        raise InputError(
            f"{part}: {argument} is of another width than it was made for.",
            found=f"{argument} {tuple(items.shape)}",
            fix=f"give {argument} of the shape (..., {width})",
        )


def require_items(argument: str, values: Tensor, valid: Tensor | None, *, width: int = 0, axes: str = "..., T") -> None:
    """Values must have the shape (`axes`, width), 0 for any width, and valid must be boolean of the shape (`axes`)."""
    require_tensor(argument, values)
    lead = len([axis for axis in axes.split(", ") if axis != "..."])
    if values.dim() < lead + 1 or (width and values.size(-1) != width):
        raise InputError(
            f"{argument} must have the shape ({axes}, {width or 'D'}).",
            found=f"{argument} {tuple(values.shape)}",
            fix=f"give items of width {width}" if width else f"give {lead + 1} axes, features last",
        )
    if valid is not None and (valid.dtype != torch.bool or valid.shape != values.shape[:-1]):
        raise InputError(
            f"valid says of each item of {argument} whether it is real: boolean, of the shape ({axes}).",
            found=f"valid {tuple(valid.shape)} of {valid.dtype}, {argument} {tuple(values.shape)}",
            fix=mask_fix(valid, values.shape[:-1]),
        )


def require_keys(key: Tensor, value: Tensor, valid: Tensor | None) -> None:
    """There must be as many values as keys, and an entry of `valid` for each; leading axes may broadcast."""
    require_tensor("key", key)
    require_tensor("value", value)
    if key.size(-2) != value.size(-2):
        raise InputError(
            "there must be a value for each key.",
            found=f"key {tuple(key.shape)}, value {tuple(value.shape)}",
            fix=f"give {key.size(-2)} values, on the axis before the last",
        )
    if valid is not None and (valid.dtype != torch.bool or valid.size(-1) != key.size(-2)):
        raise InputError(
            "valid says of each key whether it is real: boolean, (..., K).",
            found=f"valid {tuple(valid.shape)} of {valid.dtype}, key {tuple(key.shape)}",
            fix=mask_fix(valid, key.shape[:-1]),
        )


def require_same_items(key: Tensor, value: Tensor) -> None:
    """Keys and values must have the same axes but for the last; nothing broadcasts."""
    if key.shape[:-1] != value.shape[:-1]:
        raise InputError(
            "key and value must have the same items.",
            found=f"key {tuple(key.shape)}, value {tuple(value.shape)}",
            fix="give as many values as keys, in the same batch",
        )
