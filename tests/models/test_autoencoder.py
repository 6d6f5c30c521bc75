"""Autoencoders: every part by a loop in float64, and the linear one against principal components."""

import numpy as np
import pytest
import torch
from torch import nn

from atento.errors import InputError
from atento.models import Autoencoder, AutoencoderBatch, WindowSizes
from atento.models.autoencoder import FrameDecoder, FrameEncoder, RecurrentWindowDecoder, halved_sizes
from atento.models.builders import build_autoencoder
from atento.recurrent import GRUCell, Stack
from atento.spec import ModelRecipe

BATCH, ROWS, CHANNELS, LATENT = 3, 5, 2, 4
FRAME = (7, 5)  # odd sides: halved to 4 × 3, then 2 × 2
FAMILIES = ["linear", "mlp", "rnn", "gru", "lstm", "transformer", "transformer+additive"]


def build(name, sizes=None, **choices):
    recipe = ModelRecipe(name=name, **{"hidden": 10, "heads": 2, "latent": LATENT, "dropout": 0.0, **choices})
    return build_autoencoder(recipe, sizes or WindowSizes(CHANNELS, ROWS))


@pytest.mark.spec("D07")
def test_a_trained_linear_autoencoder_is_principal_components():
    """The same error and the same plane as numpy's singular vectors, from 12 numbers to 3."""
    chance = np.random.default_rng(0)
    turned = np.linalg.qr(chance.normal(size=(12, 12)))[0]
    mixed = chance.normal(size=(211, 12)) * [3, 2.5, 2, *[0.7] * 9] @ turned
    windows = torch.tensor(mixed - mixed.mean(axis=0)).reshape(211, 4, 3)
    model = build("linear", WindowSizes(3, 4), latent=3)
    weights = list(model.parameters())
    speeds = [torch.zeros_like(weight) for weight in weights]
    for _ in range(400):  # gradient descent with momentum
        loss = model.loss(AutoencoderBatch(windows)).mean
        for weight, speed, slope in zip(weights, speeds, torch.autograd.grad(loss, weights), strict=True):
            speed.mul_(0.9).sub_(0.2 * slope)
            weight.data.add_(speed)
    flat = windows.reshape(211, 12).numpy()
    components = np.linalg.svd(flat, full_matrices=False)[2][:3]
    best = flat @ components.T @ components
    found = model(windows).detach().reshape(211, 12).numpy()
    assert model.loss(AutoencoderBatch(windows)).mean.item() == pytest.approx(np.square(flat - best).mean(), rel=1e-6)
    np.testing.assert_allclose(found, best, atol=1e-3 * np.abs(flat).max())


@pytest.mark.parametrize("name", FAMILIES)
def test_windows_become_latents_and_windows_again(name):
    values = torch.randn(BATCH, ROWS, CHANNELS)
    for model in (build(name, directions=1), build(name, directions=2)):
        latent = model.encode(values)
        assert latent.shape == (BATCH, LATENT)
        torch.testing.assert_close(model(values), model.decode(latent), rtol=0, atol=0)
        loss = model.loss(AutoencoderBatch(values))
        assert loss.items == values.numel()
        assert loss.total.item() == pytest.approx(((model(values) - values) ** 2).sum().item())
        loss.mean.backward()
        assert all(parameter.grad is not None for parameter in model.parameters()), "every weight has a part in it"
        alone = torch.cat([model(row[None]) for row in values])
        torch.testing.assert_close(alone, model(values), rtol=0, atol=1e-12)


def test_the_latent_is_all_that_is_written_from():
    """Numerically: the map from window to window has no more than Z directions at any place."""
    model = build("mlp", latent=2)
    values = torch.randn(1, ROWS, CHANNELS)
    jacobian = torch.autograd.functional.jacobian(lambda x: model(x).flatten(), values).reshape(10, 10)
    assert torch.linalg.matrix_rank(jacobian, rtol=1e-9) == 2


def test_noise_falls_on_what_is_read_only_while_training():
    model = build("mlp")
    model.noise = 0.5
    batch = AutoencoderBatch(torch.randn(BATCH, ROWS, CHANNELS))
    clean = model.eval().loss(batch).total
    torch.testing.assert_close(clean, (model(batch.values) - batch.values).square().sum())
    torch.manual_seed(3)
    noisy = model.train().loss(batch).total
    torch.manual_seed(3)
    read = batch.values + 0.5 * torch.randn_like(batch.values)
    torch.testing.assert_close(noisy, (model(read) - batch.values).square().sum())


def test_a_recurrent_writer_by_hand():
    """Every step reads the latent and the state before it."""
    writer = RecurrentWindowDecoder(Stack(GRUCell, LATENT, 7), CHANNELS, ROWS)
    latent = torch.randn(BATCH, LATENT)
    cell, found = writer.network.stack.cell(0), []
    state = cell.start(latent)
    for _ in range(ROWS):
        state = cell(latent, state)
        found.append(state.hidden @ writer.network.output.weight.mT + writer.network.output.bias)
    torch.testing.assert_close(writer(latent), torch.stack(found, dim=1), rtol=0, atol=1e-13)


def test_a_transformer_writes_each_place_from_its_position():
    model = build("transformer")
    values = torch.randn(BATCH, ROWS, CHANNELS)
    written = model(values)
    assert not torch.allclose(written[:, 0], written[:, 1]), "places differ by their positions"
    latent = torch.randn(1, LATENT)
    writer = model.decoder
    vectors = writer.from_latent(latent)[:, None] + writer.positions(torch.arange(ROWS))
    torch.testing.assert_close(writer.write(writer.stack(vectors)), model.decode(latent))


def silu(value):
    return value / (1 + np.exp(-value))


def convolve(image, kernel, bias):
    """out[o, r, c] = b_o + Σ w[o, i, u, v] image[i, 2r + u − 1, 2c + v − 1], zeros outside."""
    planes, height, width = image.shape
    outer = (height + 1) // 2, (width + 1) // 2
    out = np.zeros((len(kernel), *outer))
    for o, r, c in np.ndindex(*out.shape):
        out[o, r, c] = bias[o]
        for i, u, v in np.ndindex(planes, 3, 3):
            row, column = 2 * r + u - 1, 2 * c + v - 1
            if 0 <= row < height and 0 <= column < width:
                out[o, r, c] += kernel[o, i, u, v] * image[i, row, column]
    return out


def spread_out(image, kernel, bias, shape):
    """The other way round: every pixel of the image adds a 3 × 3 spot at twice its place."""
    out = np.zeros((kernel.shape[1], *shape)) + bias[:, None, None]
    for i, r, c in np.ndindex(*image.shape):
        for o, u, v in np.ndindex(len(out), 3, 3):
            row, column = 2 * r + u - 1, 2 * c + v - 1
            if 0 <= row < shape[0] and 0 <= column < shape[1]:
                out[o, row, column] += kernel[i, o, u, v] * image[i, r, c]
    return out


def numbers_of(module):
    return {name: tensor.detach().numpy() for name, tensor in module.named_parameters()}


@pytest.mark.spec("D07")
def test_frames_are_read_and_written_by_the_formulas():
    sizes = WindowSizes(FRAME[0] * FRAME[1], 2, FRAME)
    reader, writer = FrameEncoder(sizes, [3, 4], LATENT), FrameDecoder(sizes, [3, 4], LATENT, 11)
    values = torch.randn(1, 2, 35)
    w = numbers_of(reader)
    seen = values[0].numpy().reshape(2, *FRAME)
    for layer in (0, 1):
        seen = silu(convolve(seen, w[f"convolutions.{layer}.weight"], w[f"convolutions.{layer}.bias"]))
    latent = w["to_latent.weight"] @ seen.ravel() + w["to_latent.bias"]
    np.testing.assert_allclose(reader(values)[0].detach().numpy(), latent, atol=1e-12)
    w = numbers_of(writer)
    hidden = silu(w["from_latent.weight"] @ latent + w["from_latent.bias"])
    seen = (w["to_maps.weight"] @ hidden + w["to_maps.bias"]).reshape(4, 2, 2)
    for layer, shape in ((0, (4, 3)), (1, FRAME)):
        seen = spread_out(silu(seen), w[f"convolutions.{layer}.weight"], w[f"convolutions.{layer}.bias"], shape)
    written = writer(torch.tensor(latent)[None])
    assert written.shape == (1, 2, 35)
    np.testing.assert_allclose(written[0].detach().numpy(), seen.reshape(2, 35), atol=1e-12)


@pytest.mark.parametrize("frame", [(24, 24), (7, 5), (16, 9), (2, 3)])
def test_frames_of_any_shape_come_back_in_it(frame):
    model = build("conv", WindowSizes(frame[0] * frame[1], 1, frame), hidden=16)
    values = torch.randn(BATCH, 1, frame[0] * frame[1])
    assert model(values).shape == values.shape
    assert halved_sizes(frame, 2)[2] == (-(-frame[0] // 4), -(-frame[1] // 4))


@pytest.mark.parametrize(
    "name, choices, sizes, message",
    [
        ("conv", {}, WindowSizes(2, 5), "reads the frames of a video, and this is none"),
        ("gru+dot", {}, None, "encodes the window as its last state"),
        ("transformer+linformer", {}, None, "a window is short"),
        ("gru/lstm", {}, None, "has one part"),
        ("lineer", {}, None, "linear"),
        ("mlp", {"latent": 10}, None, "latent smaller than its input"),
        ("gru", {"attend": "bahdanau"}, None, r"model\.attend has no meaning"),
    ],
)
def test_what_makes_no_autoencoder(name, choices, sizes, message):
    with pytest.raises(InputError, match=message):
        build(name, sizes, **choices)


def test_other_windows_are_refused():
    model = Autoencoder(nn.Identity(), nn.Identity(), WindowSizes(CHANNELS, ROWS))
    with pytest.raises(InputError, match=r"give values \(B, 5, 2\)"):
        model(torch.zeros(BATCH, ROWS + 1, CHANNELS))
