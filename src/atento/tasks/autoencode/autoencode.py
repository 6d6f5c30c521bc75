"""The autoencode task: compress windows of a series, or frames of a film, to a small latent and reconstruct them.

The default recipes are chosen by measurement; docs/defaults/autoencode.md says how.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from atento.data.examples.pairs import UnlabelledFile
from atento.data.images.videos import frame_shape
from atento.data.series import Past
from atento.data.series.series import Numbers
from atento.models.autoencoder import Autoencoder, AutoencoderBatch, WindowEncoder
from atento.models.backbones.numbers import TransformerNumberEncoder
from atento.models.builders.autoencoder import build_autoencoder, require_autoencoder
from atento.models.diagnostics.attention_maps import MapPlace
from atento.models.forecaster import SeriesBatch
from atento.models.names import ModelName
from atento.spec import DecodeRecipe, Recipe, TrainRecipe
from atento.tasks.autoencode.codec import WindowCodec
from atento.tasks.autoencode.leaks import require_no_leak
from atento.tasks.autoencode.metrics import PrincipalComponents, mean_window, metrics, pack
from atento.tasks.autoencode.reading import ask_windows, open_windows, read_windows
from atento.tasks.forecast.windows import EncodedSeries, Pairs, TrainingWindows, shuffled
from atento.tasks.task import (
    Answer,
    Answering,
    Baseline,
    Defaults,
    Indices,
    Judging,
    Learning,
    Reading,
    Recognition,
    Task,
    Values,
    Windows,
)
from atento.tasks.traces import Alignment, ForwardPass, TraceMatrix, trace_matrix

# Axes: N windows, B windows of a batch, L rows of a window, C channels, Z latent.

AT_ONCE = 2**20  # numbers read in one pass

MODELS = ("linear", "mlp", "gru", "transformer")

BATCH_WINDOWS = 64  # windows of a batch
STEPS = 2000  # of a run, at least about

COMMON: Values = {
    "data.split": "70/15/15",
    "model.hidden": 64,
    "model.dropout": 0.0,
    "model.latent": 3,
    "model.directions": 1,
    "train.lr": 6e-3,
}

ANY_DATA: dict[str, Values] = {
    "linear": {**COMMON, "train.lr": 3e-3},
    "mlp": {**COMMON, "model.hidden": 128},
    "conv": COMMON,
    "rnn": {**COMMON, "train.lr": 3e-3},
    "gru": {**COMMON, "train.lr": 8e-3},
    "lstm": {**COMMON, "train.lr": 5e-3},
    "transformer": {**COMMON, "model.hidden": 32, "model.directions": 2, "train.lr": 2e-3},
}

BUILTIN: dict[str, Values] = {"film": {"train.budget": 60}}


def defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    return {**ANY_DATA.get(model.family, COMMON), **BUILTIN.get(data, {})}


def sized(recipe: Recipe, train: Pairs, device: str) -> Values:
    """The batch size and epochs that follow from the number of windows, and their length in full, for other files."""
    rows = train[0][1].look_back
    windows = sum(max(0, len(series) - rows + 1) for series, _ in train)
    values: Values = {"train.batch_tokens": BATCH_WINDOWS * rows, "data.look_back": rows}
    if not recipe.train.steps and not recipe.train.epochs:
        values["train.epochs"] = max(2, -(-STEPS * BATCH_WINDOWS // max(1, windows)))
    return values


def cut_windows(
    parts: Sequence[EncodedSeries], recipe: TrainRecipe, codec: WindowCodec
) -> Windows[SeriesBatch, AutoencoderBatch]:
    """Every window of every series, in a random order."""
    windows = TrainingWindows(parts, codec.frame, steps=0)

    def gather(indices: Indices) -> AutoencoderBatch:
        return AutoencoderBatch(windows.gather(indices).past)

    return Windows(windows, shuffled(windows, recipe), carried=False, gather=gather)


@torch.no_grad()
def recreate(
    autoencoder: Autoencoder, codec: WindowCodec, sources: Sequence[Past], recipe: DecodeRecipe
) -> list[Answer]:
    """The reconstruction of each window, with its latent as the text; every command answers through this function."""
    answers: list[Answer] = []
    for latents in encoded(autoencoder, codec, sources):
        windows = codec.from_scale(as_numbers(autoencoder.decode(latents)))
        for window, latent in zip(windows, as_numbers(latents), strict=True):
            answers.append(Answer(" ".join(f"{number:.4g}" for number in latent), None, pack(window, latent)))
    return answers


@torch.no_grad()
def latent_path(autoencoder: Autoencoder, codec: WindowCodec, pasts: Sequence[Past]) -> Numbers:
    """The latents (N, Z) of windows, in their order."""
    return as_numbers(torch.cat(list(encoded(autoencoder, codec, pasts))))


def encoded(autoencoder: Autoencoder, codec: WindowCodec, pasts: Sequence[Past]) -> Iterator[Tensor]:
    """The latents (B, Z) of windows, so many at a time."""
    like = next(autoencoder.parameters())
    size = max(1, AT_ONCE // (codec.frame.look_back * len(codec.frame.channels)))
    for first in range(0, len(pasts), size):
        yield autoencoder.encode(codec.read(pasts[first : first + size]).to(like))


def as_numbers(values: Tensor) -> Numbers:
    """Numbers in memory, in full precision."""
    return values.double().cpu().numpy()


@torch.no_grad()
def look_at(autoencoder: Autoencoder, codec: WindowCodec, source: Past, recipe: DecodeRecipe) -> Alignment:
    """The self-attention of a Transformer encoder over the steps of a window; empty for other models."""
    like = next(autoencoder.parameters())
    (answer,) = recreate(autoencoder, codec, [source], recipe)
    values = codec.read([source]).to(like)
    steps = step_names(codec)
    weights, output = torch.zeros(0, 0, 1, len(steps)), [answer.text]
    reader = autoencoder.encoder
    if isinstance(reader, WindowEncoder) and isinstance(reader.encoder, TransformerNumberEncoder):
        encoder, valid = reader.encoder, torch.ones(values.shape[:2], dtype=torch.bool, device=values.device)
        weights, output = encoder.stack.weights(encoder.place(values, valid), valid=valid)[0], steps
    return Alignment(steps, output, weights.float().cpu(), answer.text, None)


def forward_pass(autoencoder: Autoencoder, codec: WindowCodec, source: Past, recipe: DecodeRecipe) -> ForwardPass:
    """One pass over a window; what is explained is the first number of its latent."""
    (answer,) = recreate(autoencoder, codec, [source], recipe)
    window = codec.read([source]).to(next(autoencoder.parameters()))
    steps = step_names(codec)

    def score(values: Tensor | None) -> Tensor:
        latent = autoencoder.encode(window if values is None else values)
        autoencoder.decode(latent)
        return latent[0, 0]

    places = [
        MapPlace(".encoder.", "encoder self-attention", "self", steps, steps),
        MapPlace(".decoder.", "decoder self-attention", "self", steps, steps),
    ]
    target = "z1, the first number of the latent"
    return ForwardPass(
        score, target, places, steps, answer.text, values=window, by_item=lambda values: values[0].flatten(1).sum(1)
    )


@torch.no_grad()
def trace(autoencoder: Autoencoder, codec: WindowCodec, source: Past, recipe: DecodeRecipe) -> list[TraceMatrix]:
    """The matrices of one forward pass; a frame as rows and columns of pixels."""
    like = next(autoencoder.parameters())
    values = codec.read([source]).to(like)
    latent = autoencoder.encode(values)
    again = autoencoder.decode(latent)
    frame = frame_shape(codec.frame.channels)
    if all(frame) and codec.frame.look_back == 1:
        labels = [f"row {row}" for row in range(frame[0])]
        columns = [str(column) for column in range(frame[1])]
        shown, written = values.view(frame), again.view(frame)
    else:
        labels, columns, shown, written = step_names(codec), list(codec.frame.channels), values[0], again[0]
    named = [f"z{number + 1}" for number in range(latent.size(1))]
    reader = type(autoencoder.encoder).__name__
    return [
        trace_matrix("window", "(x − mean) / std of the training part", labels, shown, columns=columns),
        trace_matrix(
            "latent",
            f"{reader}: the whole window in a few numbers",
            ["latent"],
            latent,
            columns=named,
            made_of=["window"],
        ),
        trace_matrix(
            "recreated", "the window again, from the latent alone", labels, written, columns=columns, made_of=["latent"]
        ),
    ]


def baseline_answers(
    codec: WindowCodec, baseline: Baseline, sources: Sequence[Past], recipe: DecodeRecipe
) -> list[Answer]:
    """The reconstruction of each window, with its latent as the text."""
    answers = []
    for past, output in zip(sources, baseline.predict(sources), strict=True):
        latent = output[past.values.size :]
        answers.append(Answer(" ".join(f"{number:.4g}" for number in latent), None, output))
    return answers


def step_names(codec: WindowCodec) -> list[str]:
    """The rows of a window, counted back from its last."""
    look_back = codec.frame.look_back
    return [f"{row + 1 - look_back}" for row in range(look_back)]


def tabulate(opened: UnlabelledFile, answers: Sequence[Answer]) -> dict[str, list[object]]:
    """The latent path: which series, when each window ends, and a column for each number of its latent.

    The columns of series and time have the file's own names, else `unique_id` and `ds`.
    """
    names = {"series": "unique_id", "time": "ds", **dict(opened.names)}
    table: dict[str, list[object]] = {}
    if any(past.series for past in opened.sources):
        table[names["series"]] = [past.series for past in opened.sources]
    table[names["time"]] = [past.until.removeprefix("row ") for past in opened.sources]
    latents = [answer.value[past.values.size :] for past, answer in zip(opened.sources, answers, strict=True)]
    for number in range(len(latents[0]) if latents else 0):
        table[f"z{number + 1}"] = [float(latent[number]) for latent in latents]
    return table


def distance(codec: WindowCodec, one: Numbers, other: Numbers) -> float:
    """The largest difference of two reconstructions, relative to the largest number of the second."""
    if one.shape != other.shape:
        return float("inf")
    gap = np.abs(np.asarray(one, dtype=np.float64) - np.asarray(other, dtype=np.float64)).max(initial=0.0)
    return float(gap / max(float(np.abs(other).max(initial=0.0)), 1e-12))


def how_wrong(codec: WindowCodec, output: Numbers, references: Sequence[Numbers]) -> float:
    """The root of the mean squared error, in standard deviations of the training part."""
    truth = codec.to_scale(references[0])
    predicted = codec.to_scale(output[: truth.size].reshape(truth.shape))
    return float(((truth - predicted) ** 2).mean() ** 0.5)


AUTOENCODE: Task[WindowCodec, EncodedSeries, AutoencoderBatch, Autoencoder] = Task(
    name="autoencode",
    summary="Press windows of a series, or frames of a film, to a few numbers and write them again.",
    reading=Reading(
        kind="series",
        recognise=lambda evidence: Recognition(0.0, "ask for it: --task autoencode"),  # any series can be compressed
        read=read_windows,
        read_labelled=ask_windows,
        read_unlabelled=open_windows,
    ),
    learning=Learning(
        check_name=require_autoencoder,
        learn=WindowCodec.learn,
        bind=WindowCodec.suited,
        load=WindowCodec.load,
        require_no_leak=require_no_leak,
        encode=WindowCodec.encode,
        length=lambda codec, part: len(part.values),
        windows=cut_windows,
        batch=lambda codec, windows: AutoencoderBatch(torch.stack([window.past for window in windows])),
        build=lambda recipe, codec: build_autoencoder(recipe, codec.sizes, noise=codec.noise),
        loss=lambda module, batch, smoothing: module.loss(batch),  # there are no labels to smooth
    ),
    answering=Answering(
        answer=recreate, look=look_at, trace=trace, forward_pass=forward_pass, tabulate=tabulate, views=("phase",)
    ),
    judging=Judging(
        distance=distance,
        error=how_wrong,
        metrics=metrics,
        baselines=(mean_window, PrincipalComponents),
        baseline_answers=baseline_answers,
    ),
    defaults=Defaults(models=MODELS, model="mlp", values=defaults, data_values=sized),
)
