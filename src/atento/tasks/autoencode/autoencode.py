"""Autoencode: press windows of a series, or frames of a film, to a few numbers, and write them again from these.

Recipes of the autoencode task, chosen by measurement. How stands in docs/defaults/autoencode.md.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from atento.data.evidence import Evidence
from atento.data.images.films import frame_shape
from atento.data.series import Past
from atento.data.series.series import Numbers
from atento.layers.losses import Loss
from atento.models.autoencoder import Autoencoder, SummaryReader, WindowBatch
from atento.models.backbones.numbers import TransformerNumbers
from atento.models.build.autoencoder import build_autoencoder, require_autoencoder
from atento.models.forecaster import SeriesBatch
from atento.models.names import ModelName
from atento.spec import DecodeRecipe, ModelRecipe, Recipe, TrainRecipe
from atento.tasks.autoencode.codec import WindowCodec
from atento.tasks.autoencode.metrics import PrincipalComponents, mean_window, metrics, pack
from atento.tasks.autoencode.reading import ask_windows, open_windows, read_windows
from atento.tasks.forecast.windows import EncodedSeries, TrainingWindows, rows_of, shuffled
from atento.tasks.task import Alignment, Answer, Opened, Recognition, Task, Windows
from atento.tasks.traces import entry

MODELS = ("linear", "mlp", "gru", "transformer")

Values = dict[str, Any]

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


def sized(recipe: Recipe, train: Sequence[tuple[Any, Any]], device: str) -> Values:
    """A batch is so many windows, however long they are; a run some thousand steps. How long windows are is written
    down, for other files.
    """
    rows = train[0][1].look_back
    windows = sum(max(0, len(series) - rows + 1) for series, _ in train)
    values: Values = {"train.batch_tokens": BATCH_WINDOWS * rows, "data.look_back": rows}
    if not recipe.train.steps and not recipe.train.epochs:
        values["train.epochs"] = max(2, -(-STEPS * BATCH_WINDOWS // max(1, windows)))
    return values


# Axes: N windows, B windows of a batch, L rows of a window, C channels, Z latent.

AT_ONCE = 2**20  # numbers read in one pass


def recognise(evidence: Evidence) -> Recognition:
    """Any series can be pressed together; nothing in a file asks for it."""
    return Recognition(0.0, "ask for it: --task autoencode")


def cut_windows(parts: Sequence[EncodedSeries], recipe: TrainRecipe, codec: WindowCodec) -> Windows:
    """Every window of every series, in a random order."""
    windows = TrainingWindows(parts, codec.frame, steps=0)

    def gather(indices: Any) -> WindowBatch:
        return WindowBatch(windows.gather(indices).past)

    return Windows(windows, shuffled(windows, recipe), carried=False, gather=gather)


def batch(windows: Sequence[SeriesBatch]) -> WindowBatch:
    """Windows one by one -> a batch."""
    return WindowBatch(torch.stack([window.past for window in windows]))


def build(recipe: ModelRecipe, codec: WindowCodec) -> Autoencoder:
    """Sizes that follow from data are filled in here."""
    return build_autoencoder(recipe, codec.sizes, noise=codec.noise)


def squared_loss(module: nn.Module, windows: WindowBatch, smoothing: float) -> Loss:
    """Squared error on scale; there are no labels to smooth."""
    return as_autoencoder(module).loss(windows)


@torch.no_grad()
def recreate(module: nn.Module, codec: WindowCodec, sources: Sequence[Past], recipe: DecodeRecipe) -> list[Answer]:
    """Validation, evaluation, prediction and serving all answer through here: the latent is what is said."""
    autoencoder, like = as_autoencoder(module), next(module.parameters())
    size = max(1, AT_ONCE // (codec.frame.look_back * len(codec.frame.channels)))
    answers: list[Answer] = []
    for first in range(0, len(sources), size):
        latents = autoencoder.encode(codec.read(sources[first : first + size]).to(like))
        windows = codec.from_scale(as_numbers(autoencoder.decode(latents)))
        for window, latent in zip(windows, as_numbers(latents), strict=True):
            answers.append(Answer(" ".join(f"{number:.4g}" for number in latent), None, pack(window, latent)))
    return answers


def as_numbers(values: Tensor) -> Numbers:
    """Numbers in memory, in full precision."""
    return values.double().cpu().numpy()


@torch.no_grad()
def look_at(module: nn.Module, codec: WindowCodec, source: Past, recipe: DecodeRecipe) -> Alignment:
    """Where the steps of a Transformer that reads looked; nothing for other models."""
    autoencoder, like = as_autoencoder(module), next(module.parameters())
    (answer,) = recreate(module, codec, [source], recipe)
    values = codec.read([source]).to(like)
    steps = step_names(codec)
    weights, output = torch.zeros(0, 0, 1, len(steps)), [answer.text]
    reader = autoencoder.reader
    if isinstance(reader, SummaryReader) and isinstance(reader.encoder, TransformerNumbers):
        encoder, valid = reader.encoder, torch.ones(values.shape[:2], dtype=torch.bool, device=values.device)
        weights, output = encoder.stack.weights(encoder.place(values, valid), valid=valid)[0], steps
    return Alignment(steps, output, weights.float().cpu(), answer.text, None)


@torch.no_grad()
def trace(module: nn.Module, codec: WindowCodec, source: Past, recipe: DecodeRecipe) -> list[dict[str, Any]]:
    """One pass, matrix by matrix; a frame as rows and columns of pixels."""
    autoencoder, like = as_autoencoder(module), next(module.parameters())
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
    reader = type(autoencoder.reader).__name__
    return [
        entry("window", "(x − mean) / spread of the training part", labels, shown, columns=columns),
        entry("latent", f"{reader}: the whole window in a few numbers", ["latent"], latent, columns=named),
        entry("recreated", "the window again, from the latent alone", labels, written, columns=columns),
    ]


def step_names(codec: WindowCodec) -> list[str]:
    """The rows of a window, counted back from its last."""
    look_back = codec.frame.look_back
    return [f"{row + 1 - look_back}" for row in range(look_back)]


def tabulate(opened: Opened, answers: Sequence[Answer]) -> dict[str, list[Any]]:
    """The latent path: which series, when each window ends, and a column for each number of its latent."""
    table: dict[str, list[Any]] = {}
    if any(past.series for past in opened.sources):
        table["unique_id"] = [past.series for past in opened.sources]
    table["ds"] = [past.at.removeprefix("row ") for past in opened.sources]
    latents = [answer.value[past.values.size :] for past, answer in zip(opened.sources, answers, strict=True)]
    for number in range(len(latents[0]) if latents else 0):
        table[f"z{number + 1}"] = [float(latent[number]) for latent in latents]
    return table


def how_wrong(codec: WindowCodec, output: Any, references: Sequence[Any]) -> float:
    """The root of the mean squared error, in spreads of the training part."""
    truth = codec.to_scale(references[0])
    said = codec.to_scale(output[: truth.size].reshape(truth.shape))
    return float(((truth - said) ** 2).mean() ** 0.5)


def as_autoencoder(module: nn.Module) -> Autoencoder:
    """The module, typed."""
    if not isinstance(module, Autoencoder):
        raise TypeError(f"autoencode works with an Autoencoder, not {type(module).__name__}")
    return module


AUTOENCODE = Task(
    name="autoencode",
    summary="Press windows of a series, or frames of a film, to a few numbers and write them again.",
    recognise=recognise,
    names=require_autoencoder,
    read=read_windows,
    ask=ask_windows,
    open=open_windows,
    learn=WindowCodec.learn,
    suit=WindowCodec.suited,
    load=WindowCodec.load,
    encode=WindowCodec.encode,
    length=rows_of,
    windows=cut_windows,
    batch=batch,
    build=build,
    loss=squared_loss,
    answer=recreate,
    look=look_at,
    steps=trace,
    tabulate=tabulate,
    wrong=how_wrong,
    metrics=metrics,
    baselines=(mean_window, PrincipalComponents),
    models=MODELS,
    default_model="mlp",
    defaults=defaults,
    sized=sized,
)
