"""Autoencoders by the names of a recipe.

`linear` presses a window by one linear map, as principal components do; `mlp` bends on the way; `rnn`, `gru`, `lstm`
and `transformer` read the window step by step; `conv` sees the frames of a film."""

from collections.abc import Callable
from itertools import pairwise

from torch import nn

from atento.blocks.transformer import TransformerStack
from atento.errors import InputError, unknown_name
from atento.models.autoencoder import (
    Autoencoder,
    FrameReader,
    FrameWriter,
    RecurrentWriter,
    SummaryReader,
    TransformerWriter,
    WindowSizes,
    halved,
)
from atento.models.backbones.numbers import build_number_encoder
from atento.models.build.encoder_decoder import cells_of
from atento.models.build.one_sided import one_part, require_defaults, require_no_attention, require_no_linformer
from atento.models.build.transformer import ADDED, own_layers
from atento.models.names import FAMILIES, ModelName
from atento.recurrent.stack import Stack
from atento.spec import ModelRecipe

LATENT = 3  # where nobody says
SMALLEST = 4  # pixels a side to which frames are halved

Halves = tuple[nn.Module, nn.Module]  # what reads, what writes


def build_autoencoder(recipe: ModelRecipe, sizes: WindowSizes, *, noise: float = 0.0) -> Autoencoder:
    """The autoencoder of a recipe."""
    latent, numbers = recipe.latent or LATENT, sizes.channels * sizes.look_back
    if latent >= numbers:
        raise InputError(
            "an autoencoder presses its input to fewer numbers.",
            found=f"model.latent={latent}, windows of {numbers} numbers",
            fix=f"--set model.latent={max(1, min(LATENT, numbers - 1))}, or a longer data.look_back",
        )
    require_defaults(recipe, "handover", "attend")
    require_autoencoder(ModelName.parse(recipe.name))
    reader, writer = PLAIN[recipe.name](recipe, sizes) if recipe.name in PLAIN else in_time(recipe, sizes)
    return Autoencoder(reader, writer, sizes, noise=noise)


def require_autoencoder(name: ModelName) -> None:
    """Refuse a name that is neither one of `PLAIN` nor a family of sequences, recurrent ones without attention."""
    text = str(name)
    if text in PLAIN:
        return
    if name.alone and name.family not in FAMILIES:
        raise unknown_name("autoencoder", text, [*PLAIN, *FAMILIES])
    part = one_part(name, "an autoencoder")
    require_no_attention(part, text, "a recurrent autoencoder presses the window to its last state")
    require_no_linformer(part, text, "a window is short")


def linear(recipe: ModelRecipe, sizes: WindowSizes) -> Halves:
    """One linear map in, one out."""
    numbers, latent = sizes.channels * sizes.look_back, recipe.latent or LATENT
    return (
        nn.Sequential(nn.Flatten(), nn.Linear(numbers, latent)),
        nn.Sequential(nn.Linear(latent, numbers), nn.Unflatten(1, (sizes.look_back, sizes.channels))),
    )


def perceptron(recipe: ModelRecipe, sizes: WindowSizes) -> Halves:
    """Two layers that bend on the way in, hidden and half of it wide, and the same on the way out."""
    numbers, latent = sizes.channels * sizes.look_back, recipe.latent or LATENT
    widths = [numbers, recipe.hidden, max(1, recipe.hidden // 2), latent]
    writer = bending(widths[::-1])
    return (
        nn.Sequential(nn.Flatten(), *bending(widths)),
        nn.Sequential(*writer, nn.Unflatten(1, (sizes.look_back, sizes.channels))),
    )


def bending(widths: list[int]) -> list[nn.Module]:
    """Linear maps of these widths with a bend between any two."""
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        layers += [nn.Linear(before, after), nn.SiLU()]
    return layers[:-1]


def convolutions(recipe: ModelRecipe, sizes: WindowSizes) -> Halves:
    """Frames are halved while they are larger than a few pixels; planes double up to hidden / 4."""
    if not all(sizes.frame):
        raise InputError(
            "model 'conv' sees frames, and this is no film.",
            found=f"{sizes.channels} channels without height and width",
            fix="--model mlp, or a film: an array of time × height × width",
        )
    latent, times = recipe.latent or LATENT, 1
    while min(halved(sizes.frame, times)[-1]) > SMALLEST:
        times += 1
    widths = [max(1, recipe.hidden // 4 >> (times - 1 - place)) for place in range(times)]
    return FrameReader(sizes, widths, latent), FrameWriter(sizes, widths, latent, recipe.hidden)


def in_time(recipe: ModelRecipe, sizes: WindowSizes) -> Halves:
    """A recurrent or a Transformer encoder of numbers, and a writer of the same family."""
    part, latent = ModelName.parse(recipe.name).decoder, recipe.latent or LATENT
    reader = SummaryReader(build_number_encoder(part, recipe, sizes.channels), latent)
    if part.family != "transformer":
        stack = Stack(
            cells_of(part.family, recipe), latent, recipe.hidden, layers=recipe.layers, dropout=recipe.dropout
        )
        return reader, RecurrentWriter(stack, sizes.channels, sizes.look_back)
    layers = own_layers(part.compose(), recipe, causal=False)
    positions = ADDED.get(recipe.positions, ADDED["sinusoidal"])(recipe)
    writer = TransformerWriter(latent, positions, TransformerStack(layers), sizes.channels, sizes.look_back)
    return reader, writer


PLAIN: dict[str, Callable[[ModelRecipe, WindowSizes], Halves]] = {
    "linear": linear,
    "mlp": perceptron,
    "conv": convolutions,
}
