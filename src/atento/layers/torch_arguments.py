"""Arguments of torch's layers that the layers here do not take, each answered with what to write instead."""

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from atento.errors import InputError

# Axes: B batch, T time, D features.

PADDING = "valid=~{name}: here True means a real item, where torch's mask has True at padding"
MASK = "the extent Masked(~{name}) of the attention: here True means visible, where torch's boolean mask hides by True"
CAUSAL = "the extent Causal() of the attention: Attention(ScaledDot(), Softmax(), Causal())"

INSTEAD = {
    "key_padding_mask": PADDING,
    "src_key_padding_mask": PADDING,
    "tgt_key_padding_mask": PADDING,
    "memory_key_padding_mask": PADDING,
    "attn_mask": MASK,
    "mask": MASK,
    "src_mask": MASK,
    "tgt_mask": MASK,
    "memory_mask": MASK,
    "is_causal": CAUSAL,
    "tgt_is_causal": CAUSAL,
    "memory_is_causal": CAUSAL,
    "need_weights": "the method weights, with the same arguments: it returns the weights of every head",
    "average_attn_weights": "the method weights, and .mean(dim=1) of what it returns",
    "dropout_p": "torch.nn.Dropout on what the layer returns",
    "scale": "the score Dot() for no scale, or ScaledDot() for 1/√d",
    "hx": "state=hx",
    "batch_first": "nothing: values are always (B, T, D)",
    "bias": "nothing: the layer always has biases",
}


def refuse_arguments(layer: str, arguments: Mapping[str, object]) -> None:
    """Refuse keyword arguments that a layer does not have; one that torch's layers have, with what to write instead."""
    for name in arguments:
        if name not in INSTEAD:
            raise TypeError(f"{layer} got an unexpected keyword argument {name!r}")
        raise InputError(
            f"{layer} has no argument {name}.", found=f"{name}=...", fix=f"write {INSTEAD[name].format(name=name)}"
        )


def require_tensor(argument: str, values: object) -> None:
    """Values must be a tensor: a packed sequence is refused with how to unpack it."""
    if isinstance(values, PackedSequence):
        raise InputError(
            f"{argument} must be a padded tensor (B, T, D), with valid (B, T) for its padding.",
            found="a PackedSequence",
            fix=f"{argument}, lengths = torch.nn.utils.rnn.pad_packed_sequence(packed, batch_first=True), "
            f"and valid=atento.layers.valid_from_lengths(lengths, {argument}.size(1))",
        )
    if not isinstance(values, Tensor):
        raise InputError(
            f"{argument} must be a tensor.", found=type(values).__name__, fix=f"give torch.as_tensor({argument})"
        )


def require_prepared(layer: str, source: object) -> None:
    """A source must be prepared keys, not the tensor that torch's layers take."""
    if isinstance(source, Tensor):
        raise InputError(
            f"{layer} takes the prepared keys of its source, which are computed once for all steps.",
            found=f"a tensor {tuple(source.shape)}",
            fix="layer(values, layer.cross_attention.prepare(source, valid=valid))",
        )


def mask_fix(valid: Tensor, shape: torch.Size) -> str:
    """How to make a mask of the shape (..., T) of one that is not boolean or has other axes."""
    if valid.dtype != torch.bool and valid.shape == shape:
        hides_by_infinity = valid.is_floating_point() and bool((valid == -torch.inf).any())
        return "valid=valid > -torch.inf" if hides_by_infinity else "valid=valid.bool(), if 1 means a real item"
    if valid.dim() == 2 and len(shape) == 2 and valid.shape == shape[::-1]:
        return "both batch first: valid=valid.mT if it is (T, B), or the values transposed if they are (T, B, D)"
    return f"give a boolean tensor of the shape {tuple(shape)}, True for real items"
