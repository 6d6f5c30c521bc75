"""Forecasts and compressed windows: series on scale, graphs, and numbers in the units of the file again."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from atento.data.series import Past
from atento.errors import InputError
from atento.exporting.folder import Json
from atento.exporting.runtime.graphs import Array, OnnxGraph
from atento.exporting.runtime.judged import ExportedAnswer
from atento.spec import DecodeRecipe

# Axes: N pasts, L look-back, H horizon, C channels, K covariates, Q quantiles, Z latent.

ROWS_AT_ONCE = 1024
FLAT = 1e-12  # a standard deviation this small beside the numbers themselves is none
SHOWN = 3  # numbers at either end of an answer that are written out


class Forecasts:
    """The next values of series."""

    def __init__(self, graph: OnnxGraph, saved: Json, point: Sequence[float], offsets: Any = None) -> None:
        self.graph, self.point = graph, np.asarray(point)
        self.offsets = None if offsets is None else np.asarray(offsets, dtype=np.float32)  # (H, C, Q)
        self.look_back, self.horizon = int(saved["look_back"]), int(saved["horizon"])
        self.channels, self.covariates = list(saved["channels"]), list(saved["covariates"])
        self.places = {name: at for at, name in enumerate(saved["names"])}
        shape = (len(self.places), len(self.channels))
        self.mean, self.std = (np.array(saved[key], dtype=np.float64).reshape(shape) for key in ("mean", "std"))
        self.known = np.array(saved["known"], dtype=np.float64).reshape(2, len(self.covariates))
        self.levels = {f"{level:g}": level for level in saved["levels"]} or None

    def __call__(self, sources: Sequence[Past], recipe: DecodeRecipe) -> list[ExportedAnswer]:
        """A forecast (H, C, Q) for each past, in the units of its series."""
        steps, found = recipe.horizon or self.horizon, list[ExportedAnswer]()
        for first in range(0, len(sources), ROWS_AT_ONCE):
            some = sources[first : first + ROWS_AT_ONCE]
            scales = [self.scale(past) for past in some]
            mean, std = (np.stack([one[at] for one in scales]) for at in (0, 1))  # (N, C)
            values = np.stack([require_past(past, self.look_back, self.channels) for past in some])
            known = np.stack([self.covariates_of(past, steps) for past in some])
            outputs = self.conformal(self.rollout((values - mean[:, None]) / std[:, None], known, steps))
            back = outputs.astype(np.float64) * std[:, None, :, None] + mean[:, None, :, None]
            found += [self.answer(value) for value in back.astype(np.float32)]
        return found

    def answer(self, value: Array) -> ExportedAnswer:
        """The first and last steps of the first channel as text."""
        numbers = [f"{number:.4g}" for number in value[:, 0, value.shape[2] // 2]]
        shown = numbers if len(numbers) <= 2 * SHOWN else [*numbers[:SHOWN], "…", *numbers[-SHOWN:]]
        return ExportedAnswer(", ".join(shown), None, value, self.levels)

    def scale(self, past: Past) -> tuple[Array, Array]:
        """Mean and standard deviation (C,) of a series of the training; of another, of its own numbers."""
        place = self.places.get(past.series)
        if place is not None:
            return self.mean[place], self.std[place]
        mean, std = past.values.mean(axis=0), past.values.std(axis=0)
        return mean, np.where(std > FLAT * np.maximum(1.0, np.abs(mean)), std, 1.0)

    def covariates_of(self, past: Past, steps: int) -> Array:
        """Covariates on scale (L + steps, K) of the rows read and forecast; missing ones are refused."""
        wanted = self.look_back + steps
        if not self.covariates:
            return np.zeros((wanted, 0))
        known = past.future_covariates[len(past) - self.look_back :]
        if known.shape[-1] != len(self.covariates) or len(known) < wanted:
            names = ", ".join(self.covariates)
            raise InputError(
                f"{past}: a forecast of {steps} steps needs the future covariates {names} of these steps.",
                found=f"{len(known) - self.look_back} rows of {known.shape[-1]} such columns after the last value",
                fix=f"add rows with {names} and an empty value, or --set decode.horizon= fewer steps",
            )
        return np.asarray((known[:wanted] - self.known[0]) / self.known[1])

    def rollout(self, past: Array, known: Array, steps: int) -> Array:
        """past (N, L, C), known (N, L + steps, K) -> (N, steps, C, Q); beyond one pass it reads its own forecasts."""
        look_back, horizon = self.look_back, self.horizon
        unread = max(0, look_back + horizon - known.shape[1])
        known = np.concatenate([known, np.repeat(known[:, -1:], unread, axis=1)], axis=1)
        path, found, done = past, list[Array](), 0
        while done < steps:
            first = min(done, max(0, steps - horizon))
            last = path.shape[1] - (done - first)
            outputs = self.graph(
                {
                    "past": path[:, last - look_back : last].astype(np.float32),
                    "known": known[:, first : first + look_back + horizon].astype(np.float32),
                }
            )["forecast"]
            found.append(outputs[:, done - first :])
            path = np.concatenate([path[:, -look_back - horizon :], found[-1] @ self.point], axis=1)
            done = first + horizon
        return np.concatenate(found, axis=1)[:, :steps]

    def conformal(self, quantiles: Array) -> Array:
        """Quantiles (N, steps, C, Q) with their offsets; steps beyond the horizon have those of its last."""
        if self.offsets is None:
            return quantiles
        return quantiles + self.offsets[np.minimum(np.arange(quantiles.shape[1]), len(self.offsets) - 1)]


class WindowCoder:
    """Windows of series, compressed and restored."""

    def __init__(self, graphs: Mapping[str, OnnxGraph], saved: Json) -> None:
        self.encoder, self.decoder = graphs["encoder"], graphs["decoder"]
        self.look_back, self.channels = int(saved["look_back"]), list(saved["channels"])
        self.mean, self.std = (np.array(saved[key], dtype=np.float64) for key in ("mean", "std"))

    def __call__(self, sources: Sequence[Past]) -> list[ExportedAnswer]:
        """The latent of each window as text; its value is the window, restored, then the latent."""
        found: list[ExportedAnswer] = []
        for first in range(0, len(sources), ROWS_AT_ONCE):
            some = sources[first : first + ROWS_AT_ONCE]
            values = np.stack([require_past(past, self.look_back, self.channels) for past in some])
            latents = self.encoder({"values": ((values - self.mean) / self.std).astype(np.float32)})["latent"]
            windows = self.decoder({"latent": latents})["values"].astype(np.float64) * self.std + self.mean
            for window, latent in zip(windows, latents.astype(np.float64), strict=True):
                text = " ".join(f"{number:.4g}" for number in latent)
                found.append(ExportedAnswer(text, None, np.concatenate([window.ravel(), latent])))
        return found


def require_past(past: Any, look_back: int, channels: Sequence[str]) -> Array:
    """The last rows (L, C) of a past; anything else is refused."""
    if not isinstance(past, Past):
        raise InputError(
            "this model goes on from the end of a series, not from a text.",
            found=repr(past)[:80],
            fix="give a file of series: atento predict EXPORTED FILE",
        )
    if past.values.ndim != 2 or past.values.shape[1] != len(channels) or len(past) < look_back:
        raise InputError(
            f"{past}: this model reads {look_back} rows of {len(channels)} channels.",
            found=f"{past.values.shape[0]} rows of {past.values.shape[-1]} channels",
            fix=f"give the columns {', '.join(channels)}, and enough rows",
        )
    return np.asarray(past.values[-look_back:])
