"""Windows standardised by the mean and standard deviation of the training part; all pixels of a film share one std."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from torch import Tensor

from atento.data.images.videos import frame_shape
from atento.data.records import counted
from atento.data.series import Past, Series
from atento.data.series.series import Numbers
from atento.errors import InputError
from atento.models.autoencoder import WindowSizes
from atento.spec import Recipe, TokensRecipe
from atento.tasks.forecast.codec import (
    MOST_CHANNELS,
    frequency,
    mean_and_std,
    numbers,
    refusing,
    tensor_of,
    texts,
    whole,
)
from atento.tasks.forecast.windows import EncodedSeries, Pairs, WindowSpec
from atento.tasks.task import Saved

# Axes: N windows, T time, L rows of a window, C channels.


@dataclass(frozen=True, eq=False)
class WindowCodec:
    """Windows <-> tensors; every series is on the same scale, so that their latents can be compared."""

    frame: WindowSpec
    mean: Numbers  # (C,)
    std: Numbers  # (C,)
    noise: float = 0.0  # on what is read while training, in standard deviations
    notes: tuple[str, ...] = ()

    @classmethod
    def learn(cls, recipe: TokensRecipe, pairs: Pairs) -> "WindowCodec":
        """The scale from the training parts alone."""
        frame = pairs[0][1]
        film = all(frame_shape(frame.channels))  # a pixel that hardly ever changes is not made as loud as the others
        mean, std = mean_and_std([series.values for series, _ in pairs], shared=film)
        windows = sum(max(0, len(series) - frame.look_back + 1) for series, _ in pairs)
        note = (
            f"{counted(windows, 'window')} to train, of {counted(frame.look_back, 'step')} and "
            f"{counted(len(frame.channels), 'channel')}, on the scale of the training part"
        )
        return cls(frame, mean, std, notes=(note,))

    def suited(self, recipe: Recipe) -> "WindowCodec":
        """The codec with the noise that the recipe adds in training."""
        return replace(self, noise=recipe.train.noise)

    @classmethod
    def load(cls, saved: Saved) -> "WindowCodec":
        """What `to_json` wrote; anything else is refused."""
        with refusing("this file holds no scale of windows."):
            channels = texts(saved["channels"], MOST_CHANNELS)
            look_back, season = (whole(saved[key], least=1) for key in ("look_back", "season"))
            frame = WindowSpec(look_back, 0, channels, (), frequency(saved["step"]), season)
            mean, std = (numbers(saved[key], (len(channels),)) for key in ("mean", "std"))
            noise = float(numbers(saved["noise"], ()))
            if not channels or (std <= 0).any():
                raise ValueError("no channels, or a standard deviation that is not above zero")
        return cls(frame, mean, std, noise)

    def answer_facts(self) -> dict[str, object]:
        """Windows as they are restored."""
        return {"output": "window", "channels": list(self.frame.channels), "look_back": self.frame.look_back}

    def to_json(self) -> dict[str, object]:
        """The frame and the scale of each channel."""
        return {
            "look_back": self.frame.look_back,
            "season": self.frame.season,
            "step": [self.frame.step.count, self.frame.step.unit],
            "channels": list(self.frame.channels),
            "mean": self.mean.tolist(),
            "std": self.std.tolist(),
            "noise": self.noise,
        }

    @property
    def sizes(self) -> WindowSizes:
        """What a model is built for."""
        return WindowSizes(len(self.frame.channels), self.frame.look_back, frame_shape(self.frame.channels))

    def encode(self, pair: tuple[Series, WindowSpec]) -> EncodedSeries:
        """A training part on scale."""
        values = tensor_of(self.to_scale(pair[0].values))
        return EncodedSeries(values, values.new_zeros(len(values), 0))

    def read(self, pasts: Sequence[Past]) -> Tensor:
        """Windows (N, L, C) on scale; of a longer past its last rows."""
        return tensor_of(self.to_scale(np.stack([self.require_window(past) for past in pasts])))

    def to_scale(self, values: Numbers) -> Numbers:
        """(..., C) onto the scale."""
        return np.asarray((values - self.mean) / self.std)

    def from_scale(self, values: Numbers) -> Numbers:
        """(..., C) off the scale."""
        return np.asarray(values * self.std + self.mean)

    def require_window(self, past: Past) -> Numbers:
        """Its last rows (L, C)."""
        look_back, channels = self.frame.look_back, len(self.frame.channels)
        if past.values.ndim != 2 or past.values.shape[1] != channels or len(past) < look_back:
            raise InputError(
                f"{past}: this model reads {look_back} rows of {channels} channels.",
                found=f"{past.values.shape[0]} rows of {past.values.shape[-1]} channels",
                fix="give the same channels as in training, and enough rows",
            )
        return past.values[-look_back:]
