"""What any autoencoder must beat: the mean window, and the principal components of the training windows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from atento.baselines.fitted import require_fitted, require_pairs
from atento.data.series import Past, Series
from atento.data.series.series import Numbers
from atento.models.build_autoencoder import LATENT
from atento.spec import TokensRecipe
from atento.tasks.autoencode_codec import WindowCodec
from atento.tasks.autoencode_metrics import pack
from atento.tasks.forecast_frame import Frame

# Axes: N windows, F = L·C numbers of a window, Z latent.

MOST = 20_000  # windows that components are found from


class PrincipalComponents:
    """x̂ = x̄ + VᵀV (x − x̄), V the first Z right singular vectors of the training windows, which are on scale.

    No linear autoencoder of the same width recreates them better (Baldi & Hornik, 1989).
    """

    def __init__(self, latent: int = LATENT) -> None:
        self.latent = latent
        self.name = f"pca-{latent}" if latent else "mean"
        self.summary = f"the first {latent} principal components" if latent else "always the mean window"
        self.codec: WindowCodec | None = None
        self.mean: Numbers = np.zeros(0)  # (F,)
        self.components: Numbers = np.zeros((0, 0))  # (Z, F)

    def fit(self, sources: Sequence[Series], targets: Sequence[Frame]) -> "PrincipalComponents":
        """The mean and the components of the training windows; of very many, of some evenly."""
        require_pairs(self.name, sources, targets)
        codec = WindowCodec.learn(TokensRecipe(), list(zip(sources, targets, strict=True)))
        look_back = targets[0].look_back
        cut = [
            np.lib.stride_tricks.sliding_window_view(codec.to_scale(series.values), look_back, axis=0).swapaxes(1, 2)
            for series in sources
        ]  # (T − L + 1, L, C) each, views
        stride = -(-sum(map(len, cut)) // MOST)
        windows = np.concatenate([some[::stride] for some in cut]).reshape(-1, look_back * len(targets[0].channels))
        self.mean = windows.mean(axis=0)
        centred = windows - self.mean
        self.components = np.linalg.eigh(centred.T @ centred)[1].T[::-1][: self.latent]  # the largest come last
        self.codec = codec
        return self

    def predict(self, sources: Sequence[Past]) -> list[Any]:
        """Each window recreated, and its latent."""
        require_fitted(self.name, self.codec)
        codec = self.codec
        if codec is None:
            return []
        outputs = []
        for past in sources:
            window = codec.to_scale(codec.require_window(past))
            latent = self.components @ (window.ravel() - self.mean)
            said = (self.mean + latent @ self.components).reshape(window.shape)
            outputs.append(pack(codec.from_scale(said), latent))
        return outputs


def mean_window() -> PrincipalComponents:
    """No components at all."""
    return PrincipalComponents(0)
