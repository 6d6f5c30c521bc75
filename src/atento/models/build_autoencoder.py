"""Autoencoders by the names of a recipe.

`linear` presses a window by one linear map, as principal components do; `mlp` bends on the way; `rnn`, `gru`, `lstm`
and `transformer` read the window step by step; `conv` sees the frames of a film.
"""

from collections.abc import Callable
from itertools import pairwise

from torch import nn

from atento.attention.presets import Composition
from atento.blocks.stack import TransformerStack
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
from atento.models.build import FAMILIES, Half, cells_of
from atento.models.build_one_sided import parse_one, require_defaults, require_no_attention, require_no_linformer
from atento.models.build_transformer import ADDED, own_layers
from atento.models.estimator import build_number_encoder
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
    known_model(recipe.name)
    reader, writer = PLAIN[recipe.name](recipe, sizes) if recipe.name in PLAIN else in_time(recipe, sizes)
    return Autoencoder(reader, writer, sizes, noise=noise)


def known_model(name: str) -> Half | None:
    """The half of a family's name; None for what is no family. Anything else is refused."""
    if name in PLAIN:
        return None
    if "/" not in name and name.partition("+")[0] not in FAMILIES:
        raise unknown_name("autoencoder", name, [*PLAIN, *FAMILIES])
    half = parse_one(name, "an autoencoder")
    require_no_attention(half, name, "a recurrent autoencoder presses the window to its last state")
    require_no_linformer(half, name, "a window is short")
    return half


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
    half, latent = parse_one(recipe.name, "an autoencoder"), recipe.latent or LATENT
    reader = SummaryReader(build_number_encoder(half, recipe, sizes.channels), latent)
    if half.family != "transformer":
        stack = Stack(
            cells_of(half.family, recipe), latent, recipe.hidden, layers=recipe.layers, dropout=recipe.dropout
        )
        return reader, RecurrentWriter(stack, sizes.channels, sizes.look_back)
    composition = half.attention or Composition("scaled-dot")
    layers = own_layers(composition, recipe, causal=False)
    positions = ADDED.get(recipe.positions, ADDED["sinusoidal"])(recipe)
    writer = TransformerWriter(latent, positions, TransformerStack(layers), sizes.channels, sizes.look_back)
    return reader, writer


PLAIN: dict[str, Callable[[ModelRecipe, WindowSizes], Halves]] = {
    "linear": linear,
    "mlp": perceptron,
    "conv": convolutions,
}
