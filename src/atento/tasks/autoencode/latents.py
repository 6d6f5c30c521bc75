"""The path of a trained model's latents: of an autoencoder, or the states of a recurrent forecaster."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from atento.data.series import Past
from atento.data.series.series import Numbers
from atento.errors import InputError
from atento.models.autoencoder import Autoencoder
from atento.models.forecaster import Forecaster
from atento.recurrent.stack import Stack
from atento.tasks.autoencode.codec import WindowCodec
from atento.tasks.forecast.codec import SeriesCodec, tensor_of
from atento.tasks.forecast.rollout import require_past

# Axes: N windows, L rows of a window, C channels, Z latent.

AT_ONCE = 2**20  # numbers read in one pass


@torch.no_grad()
def latent_path(module: nn.Module, codec: Any, pasts: Sequence[Past]) -> Numbers:
    """The latents (N, Z) of windows, in their order."""
    size = max(1, AT_ONCE // (codec.frame.look_back * len(codec.frame.channels)))
    if isinstance(module, Autoencoder) and isinstance(codec, WindowCodec):
        return in_batches(lambda some: encode_windows(module, codec, some), pasts, size)
    if isinstance(module, Forecaster) and isinstance(codec, SeriesCodec):
        return in_batches(lambda some: last_states(module, codec, some), pasts, size)
    raise InputError(
        "an autoencoder or a recurrent forecaster has a latent path.",
        found=type(module).__name__,
        fix="give a run of the task autoencode, or of forecast with rnn, gru or lstm",
    )


def in_batches(latents: Callable[[Sequence[Past]], Tensor], pasts: Sequence[Past], size: int) -> Numbers:
    """The latents (N, Z) of all windows, computed so many windows at a time."""
    parts = [latents(pasts[first : first + size]) for first in range(0, len(pasts), size)]
    return np.asarray(torch.cat(parts).double().cpu().numpy())


def encode_windows(module: Autoencoder, codec: WindowCodec, pasts: Sequence[Past]) -> Tensor:
    """The latents (N, Z) of an autoencoder."""
    return module.encode(codec.read(pasts).to(next(module.parameters())))


def last_states(module: Forecaster, codec: SeriesCodec, pasts: Sequence[Past]) -> Tensor:
    """The last outputs (N, Z) of a recurrent forecaster's first stack; of channels read alone, concatenated."""
    stack = next((part for part in module.modules() if isinstance(part, Stack)), None)
    if stack is None:
        raise InputError(
            "this forecaster has no recurrent state.", found=type(module.network).__name__, fix="train rnn, gru or lstm"
        )
    outputs: list[Tensor] = []
    like, frame = next(module.parameters()), codec.frame
    values = np.stack([require_past(past, codec) for past in pasts])  # (N, L, C)
    known = np.stack(
        [past.future_covariates[len(past) - frame.look_back :][: frame.look_back + module.horizon] for past in pasts]
    )
    watching = stack.register_forward_hook(lambda part, given, found: outputs.append(found.outputs[:, -1]))
    try:
        module(tensor_of(codec.scales_of(pasts).to(values)).to(like), tensor_of(codec.scale_known(known)).to(like))
    finally:
        watching.remove()
    return outputs[0].reshape(len(pasts), -1)
