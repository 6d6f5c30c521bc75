"""Autoencoders from a recipe.

`linear` maps a window linearly, as principal components do; `mlp` has hidden layers; `rnn`, `gru`, `lstm` and
`transformer` read the window step by step; `conv` reads the frames of a video.
"""

from collections.abc import Callable
from itertools import pairwise

from torch import nn

from atento.errors import InputError, unknown_name
from atento.layers.products import Linear
from atento.models.autoencoder import (
    Autoencoder,
    FrameDecoder,
    FrameEncoder,
    WindowEncoder,
    WindowSizes,
    halved_sizes,
)
from atento.models.builders.choices import (
    OF_LANGUAGE_MODELS,
    one_part,
    require_defaults,
    require_no_attention,
    require_no_linformer,
)
from atento.models.builders.encoder_decoder import family_of
from atento.models.names import FAMILIES, ModelName
from atento.spec import ModelRecipe

LATENT = 3  # where model.latent is not given
SMALLEST = 4  # pixels on a side to which frames are halved

EncoderAndDecoder = tuple[nn.Module, nn.Module]


def build_autoencoder(recipe: ModelRecipe, sizes: WindowSizes, *, noise: float = 0.0) -> Autoencoder:
    """The autoencoder of a recipe; `noise` is added to the inputs in training."""
    latent, numbers = recipe.latent or LATENT, sizes.channels * sizes.look_back
    if latent >= numbers:
        raise InputError(
            "an autoencoder needs a latent smaller than its input.",
            found=f"model.latent={latent}, windows of {numbers} numbers",
            fix=f"--set model.latent={max(1, min(LATENT, numbers - 1))}, or a longer data.look_back",
        )
    require_defaults(recipe, "context", "attend", *OF_LANGUAGE_MODELS)
    require_autoencoder(ModelName.parse(recipe.name))
    encoder, decoder = PLAIN.get(recipe.name, sequential)(recipe, sizes, latent)
    return Autoencoder(encoder, decoder, sizes, noise=noise)


def require_autoencoder(name: ModelName) -> None:
    """Refuse a name that is neither in `PLAIN` nor a family of sequences, recurrent ones without attention."""
    text = str(name)
    if text in PLAIN:
        return
    if name.alone and name.family not in FAMILIES:
        raise unknown_name("autoencoder", text, [*PLAIN, *FAMILIES])
    part = one_part(name, "an autoencoder")
    require_no_attention(part, text, "a recurrent autoencoder encodes the window as its last state, without attention")
    require_no_linformer(part, text, "a window is short, so that linformer would save nothing")


def linear(recipe: ModelRecipe, sizes: WindowSizes, latent: int) -> EncoderAndDecoder:
    """One linear map each way."""
    numbers = sizes.channels * sizes.look_back
    return (
        nn.Sequential(nn.Flatten(), Linear(numbers, latent)),
        nn.Sequential(Linear(latent, numbers), nn.Unflatten(1, (sizes.look_back, sizes.channels))),
    )


def perceptron(recipe: ModelRecipe, sizes: WindowSizes, latent: int) -> EncoderAndDecoder:
    """Two hidden layers each way, model.hidden and half of it wide."""
    widths = [sizes.channels * sizes.look_back, recipe.hidden, max(1, recipe.hidden // 2), latent]
    decoder = perceptron_layers(widths[::-1])
    return (
        nn.Sequential(nn.Flatten(), *perceptron_layers(widths)),
        nn.Sequential(*decoder, nn.Unflatten(1, (sizes.look_back, sizes.channels))),
    )


def perceptron_layers(widths: list[int]) -> list[nn.Module]:
    """Linear maps of these widths with SiLU between them."""
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        layers += [Linear(before, after), nn.SiLU()]
    return layers[:-1]


def convolutions(recipe: ModelRecipe, sizes: WindowSizes, latent: int) -> EncoderAndDecoder:
    """Convolutions that halve frames down to a few pixels; their channels double up to model.hidden / 4."""
    if not all(sizes.frame):
        raise InputError(
            "model 'conv' reads the frames of a video, and this is none.",
            found=f"{sizes.channels} channels without height and width",
            fix="--model mlp, or a video: an array of time × height × width",
        )
    times = 1
    while min(halved_sizes(sizes.frame, times)[-1]) > SMALLEST:
        times += 1
    widths = [max(1, recipe.hidden // 4 >> (times - 1 - place)) for place in range(times)]
    return FrameEncoder(sizes, widths, latent), FrameDecoder(sizes, widths, latent, recipe.hidden)


def sequential(recipe: ModelRecipe, sizes: WindowSizes, latent: int) -> EncoderAndDecoder:
    """A recurrent or a Transformer encoder of numbers, and a decoder of the same family."""
    part = ModelName.parse(recipe.name).decoder
    family = family_of(part)
    encoder = WindowEncoder(family.number_encoder(part, recipe, sizes.channels), latent)
    return encoder, family.window_decoder(part, recipe, sizes, latent)


PLAIN: dict[str, Callable[[ModelRecipe, WindowSizes, int], EncoderAndDecoder]] = {
    "linear": linear,
    "mlp": perceptron,
    "conv": convolutions,
}
