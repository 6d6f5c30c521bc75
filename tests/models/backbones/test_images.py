"""Image encoders: by a float64 loop over regions, around any torch module, and held to their places."""

import math

import pytest
import torch
from torch import nn

from atento.errors import InputError
from atento.models.backbones import ImageEncoder, small_convolutions

BATCH, SIDE, CHANNELS, SIZE = 2, 13, 5, 7


class Corners(nn.Module):
    """A body without a parameter: every third pixel, its colours and their mean and largest."""

    def forward(self, pixels):
        picked = pixels[..., ::3, ::3]
        return torch.cat([picked, picked.mean(1, keepdim=True), picked.amax(1, keepdim=True)], dim=1)


BODIES = {
    "our own": lambda: small_convolutions(CHANNELS, halvings=2),
    "hand-made": Corners,
    "one layer": lambda: nn.Conv2d(3, CHANNELS, 4, stride=3),
    "normalised and pooled": lambda: nn.Sequential(
        nn.Conv2d(3, CHANNELS, 3), nn.BatchNorm2d(CHANNELS), nn.GELU(), nn.MaxPool2d(2)
    ),
    "one region": lambda: nn.Sequential(nn.Conv2d(3, CHANNELS, 3), nn.AdaptiveAvgPool2d(1)),
    "wider than high": lambda: nn.Sequential(nn.Conv2d(3, CHANNELS, 3), nn.AdaptiveMaxPool2d((2, 3))),
}


def encoder_around(body, **choices):
    return ImageEncoder(body, channels=CHANNELS, size=SIZE, **choices).eval()


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.spec("K07")
def test_any_module_is_a_body(name):
    """Every region is max(0, W f + b + P [waves of its row; waves of its column]), and the summary their mean."""
    encoder = encoder_around(BODIES[name]())
    pixels = torch.rand(BATCH, 3, SIDE, SIDE)
    encoded = encoder.encode(pixels, torch.ones(BATCH, 1, dtype=torch.bool))
    seen = encoder.body(pixels)
    rows, columns = seen.shape[-2:]
    assert encoder.grid(SIDE) == (rows, columns)
    assert encoded.states.shape == (BATCH, rows * columns, SIZE)
    assert encoded.valid.shape == (BATCH, rows * columns)
    assert encoded.valid.all()

    def waves(place):
        pairs = [place * 10_000 ** (-2 * (feature // 2) / SIZE) for feature in range(SIZE)]
        return [math.cos(angle) if feature % 2 else math.sin(angle) for feature, angle in enumerate(pairs)]

    for row in range(rows):
        for column in range(columns):
            place = torch.tensor(waves(row) + waves(column))
            expected = encoder.read(seen[:, :, row, column]) + place @ encoder.place.weight.mT
            found = encoded.states[:, row * columns + column]
            torch.testing.assert_close(found, expected.clamp(min=0), rtol=0, atol=1e-12)
    torch.testing.assert_close(encoded.summary, encoded.states.mean(dim=1), rtol=0, atol=1e-12)


def test_a_region_sees_its_place_alone():
    """How far a pixel is felt, by the gradient: 2ⁿ⁺¹ − 1 + deep·2ⁿ⁺¹ pixels a side."""
    for halvings, deep in ((1, 0), (2, 0), (2, 1), (3, 0)):
        body = small_convolutions(8, halvings=halvings, deep=deep)
        for layer in body:
            if isinstance(layer, nn.Conv2d):
                nn.init.uniform_(layer.weight, 0.1, 1.0)  # all positive: nothing is cut off
        pixels = torch.rand(1, 3, 64, 64, requires_grad=True)
        seen = body(pixels)
        seen[0, :, seen.size(2) // 2, seen.size(3) // 2].sum().backward()
        felt = pixels.grad.abs().sum(dim=(0, 1)).any(dim=0).sum()
        assert felt == 2 ** (halvings + 1) - 1 + deep * 2 ** (halvings + 1)


def test_neighbours_in_a_batch_and_the_mode_never_matter():
    encoder = encoder_around(small_convolutions(CHANNELS, halvings=2))
    pixels = torch.rand(BATCH, 3, SIDE, SIDE)
    valid = torch.ones(BATCH, 1, dtype=torch.bool)
    together = encoder.encode(pixels, valid).states
    torch.testing.assert_close(encoder.encode(pixels[1:], valid[1:]).states, together[1:], rtol=0, atol=1e-12)
    torch.testing.assert_close(encoder.train().encode(pixels, valid).states, together, rtol=0, atol=1e-12)


def test_asking_for_the_grid_leaves_no_trace():
    """A body that counts what it has seen has seen nothing new."""
    body = nn.Sequential(nn.Conv2d(3, CHANNELS, 3), nn.BatchNorm2d(CHANNELS))
    encoder = encoder_around(body).train()
    body[0].eval()
    encoder.grid(SIDE)
    assert int(body[1].num_batches_tracked) == 0
    assert (body[0].training, body[1].training) == (False, True)


@pytest.mark.parametrize(
    "pixels, message",
    [
        (torch.zeros(BATCH, SIDE, SIDE, 3), "of the shape"),
        (torch.zeros(3, SIDE, SIDE), "of the shape"),
        (torch.zeros(BATCH, 3, SIDE, SIDE, dtype=torch.uint8), "divide bytes by 255"),
    ],
)
def test_pixels_of_another_shape(pixels, message):
    with pytest.raises(InputError, match=message):
        encoder_around(small_convolutions(CHANNELS)).encode(pixels, torch.ones(BATCH, 1, dtype=torch.bool))


@pytest.mark.parametrize(
    "body, found",
    [
        (lambda: nn.Conv2d(3, CHANNELS + 1, 3), r"\(2, 6, 11, 11\) from Conv2d"),
        (lambda: nn.Sequential(nn.Conv2d(3, CHANNELS, 3), nn.Flatten()), r"\(2, 605\) from Sequential"),
    ],
)
def test_a_body_without_a_grid(body, found):
    with pytest.raises(InputError, match=rf"must give \(2, {CHANNELS}, h, w\)[\s\S]*{found}"):
        encoder_around(body()).encode(torch.rand(BATCH, 3, SIDE, SIDE), torch.ones(BATCH, 1, dtype=torch.bool))


def test_sizes_that_make_no_encoder():
    with pytest.raises(InputError, match="channels must be positive"):
        ImageEncoder(nn.Identity(), channels=0, size=3)
    with pytest.raises(InputError, match="halvings must be positive"):
        small_convolutions(8, halvings=0)
