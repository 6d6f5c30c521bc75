"""The latent path of a trained autoencoder, beside windows and what it writes from their latents."""

from typing import Any

import numpy as np

from atento.api.run import Run
from atento.data.series import Past, Series
from atento.errors import InputError
from atento.looking.latent_view import latent_view
from atento.metrics.latents import foretell_steps
from atento.tasks.autoencode_codec import WindowCodec
from atento.tasks.autoencode_metrics import NEIGHBOURS
from atento.tasks.latent_paths import latent_path

WINDOWS = 6  # shown beside what is written from them
MOST = 20_000  # places of a path


def presses(run: Run) -> bool:
    """Whether it is an autoencoder's run."""
    return isinstance(run.predictor.bundle.codec, WindowCodec)


def look_at_latents(run: Run) -> dict[str, Any]:
    """The path of the first series in the training and in the test time, as plain data."""
    bundle = run.predictor.bundle
    codec = bundle.codec
    reading = bundle.read()
    questions = reading.test or reading.valid
    if not len(questions):
        raise InputError(
            "there is nothing to look at.", found="no test part", fix="train with a test part: data.split=70/15/15"
        )
    first = questions[0].source.series
    held = [question.source for question in questions if question.source.series == first][:MOST]
    series = next((one for one, _ in reading.train if one.name == first), reading.train[0][0])
    before = latent_path(run.module, codec, windows_of(series, codec.frame.look_back))
    after = latent_path(run.module, codec, held)
    some = held[:: -(-len(held) // WINDOWS)]
    answers = run.predictor.answer(some)
    windows = np.stack([past.values for past in some])
    recreated = np.stack(
        [
            answer.value[: past.values.size].reshape(past.values.shape)
            for past, answer in zip(some, answers, strict=True)
        ]
    )
    scores = {name: value for name, (value, *_) in run.metrics["scores"].items() if name in ("mse", "r2")}
    return latent_view(
        before,
        after,
        windows,
        recreated,
        frame=codec.sizes.frame,
        channels=codec.frame.channels,
        facts={**scores, "next step": foretell_steps([before], [after], neighbours=NEIGHBOURS).r2},
        model=bundle.recipe.model.name,
        data=reading.name,
    )


def windows_of(series: Series, rows: int) -> list[Past]:
    """Every window of a series; of a very long one its last."""
    return [
        Past(
            series.name, series.when(end - 1), series.values[end - rows : end], np.zeros((rows, 0)), series.start + end
        )
        for end in range(max(rows, len(series) - MOST), len(series) + 1)
    ]
