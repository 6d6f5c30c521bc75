"""Continuous attention against numerical integrals of its definition."""

import math

import numpy as np
import pytest
import torch

from atento.attention import (
    Attention,
    Causal,
    Distribution,
    Everything,
    Linformer,
    ScaledDot,
    Score,
    Softmax,
    Sparsemax,
)
from atento.blocks import ContinuousAttention, GaussianBasis, GaussianDensity, ParabolaDensity
from atento.errors import InputError

BATCH, QUERIES, KEYS, SIZE, VALUE_SIZE, CENTRES, RIDGE = 2, 3, 7, 5, 11, 13, 0.05
VALID = torch.tensor([[True, False, True, True, True, True, False], [False, True, True, True, True, False, False]])
NODES, SHARES = (torch.from_numpy(part) for part in np.polynomial.legendre.leggauss(200))

densities = pytest.mark.parametrize("density", [GaussianDensity(), ParabolaDensity()], ids=["gaussian", "parabola"])


def definition(density, place, mean, variance):
    """The density of the paper, written out: exp(f) / ∫ exp(f), or max(f − τ, 0), for f = −(t − μ)² / 2σ²."""
    score = -((place - mean) ** 2) / (2 * variance)
    if isinstance(density, GaussianDensity):
        return score.exp() / math.sqrt(2 * math.pi * variance)
    threshold = -0.5 * (3 / (2 * math.sqrt(variance))) ** (2 / 3)
    return (score - threshold).clamp(min=0)


def integral(density, mean, variance, function):
    """∫ p(t) f(t) dt by Gauss and Legendre, as far as there is weight."""
    far = 12 * math.sqrt(variance) if isinstance(density, GaussianDensity) else (1.5 * variance) ** (1 / 3)
    place = mean + far * NODES
    weight = far * SHARES * definition(density, place, mean, variance)
    return sum(one * function(at) for one, at in zip(weight, place, strict=True))


@pytest.mark.spec("A18")
@densities
@pytest.mark.parametrize("mean, deviation", [(0.3, 0.2), (0.9, 0.05), (0.0, 0.6)])
def test_a_density_is_one(density, mean, deviation):
    """It is what the paper defines, and integrates to 1."""
    place = torch.linspace(-2, 3, 1001)
    expected = definition(density, place, mean, deviation**2)
    given = density(place, torch.tensor(mean), torch.tensor(deviation**2))
    torch.testing.assert_close(given, expected, rtol=1e-12, atol=1e-12)
    assert integral(density, mean, deviation**2, lambda at: 1.0).item() == pytest.approx(1, abs=1e-12)


@pytest.mark.spec("A18")
@pytest.mark.parametrize(
    "density, discrete, scale",
    [(GaussianDensity(), Softmax(), lambda step: 1.0), (ParabolaDensity(), Sparsemax(), lambda step: step)],
    ids=["softmax", "sparsemax"],
)
def test_it_is_the_limit_of_the_discrete_one(density, discrete, scale):
    """Scores at ever more places: softmax(f) / h, and sparsemax(h f) / h, for a grid of step h."""
    mean, variance, errors = torch.tensor(0.4), torch.tensor(0.01), []
    for count in (200, 2000):
        place = torch.linspace(-1, 2, count)
        step = (place[1] - place[0]).item()
        scores = -(place - mean).square() / (2 * variance) * scale(step)
        weights = discrete(scores.unsqueeze(0), torch.ones(1, count, dtype=torch.bool))[0]
        errors.append((weights / step - density(place, mean, variance)).abs().max().item())
    assert errors[1] < 1e-4 and errors[1] <= errors[0]


@pytest.mark.spec("A18")
def test_the_parabola_ends():
    """Weight up to a = (3σ²/2)^⅓ from the mean, none beyond."""
    mean, variance = torch.tensor(0.4), torch.tensor(0.02)
    reach = ParabolaDensity().half_width(variance).item()
    assert reach == pytest.approx(0.03 ** (1 / 3))
    place = 0.4 + reach * torch.tensor([-5.0, -1.001, -0.999, 0.0, 0.999, 1.001, 5.0])
    assert (ParabolaDensity()(place, mean, variance) > 0).tolist() == [False, False, True, True, True, False, False]
    assert (GaussianDensity()(place, mean, variance) > 0).all()


@pytest.mark.spec("A18")
@densities
@pytest.mark.parametrize("mean, deviation", [(0.3, 0.2), (0.95, 0.02), (0.5, 0.5)])
def test_what_is_expected_of_the_basis(density, mean, deviation):
    """The closed form of ∫ p(t) N(t; c, w²) dt, and its gradient."""
    basis = GaussianBasis(CENTRES, (0.1, 0.5))
    assert len(basis.centres) == 2 * CENTRES
    mean, variance = torch.tensor(mean, requires_grad=True), torch.tensor(deviation**2, requires_grad=True)

    def functions(at):
        far = at - torch.linspace(0, 1, CENTRES)
        wide = [torch.exp(-(far**2) / (2 * width**2)) / (width * math.sqrt(2 * math.pi)) for width in (0.1, 0.5)]
        return torch.cat(wide)

    expected = integral(density, mean.item(), variance.item(), functions)
    torch.testing.assert_close(density.expectation(basis, mean, variance).detach(), expected, rtol=1e-9, atol=1e-10)
    torch.testing.assert_close(basis(torch.tensor(0.37)), functions(0.37))
    assert torch.autograd.gradcheck(lambda *moments: density.expectation(basis, *moments), (mean, variance))


@pytest.mark.spec("A18")
def test_far_from_the_basis_nothing_is_left_in_single_precision():
    """Differences of almost equal numbers must not look like weight."""
    basis = GaussianBasis(CENTRES, (0.02,)).float()
    for density in (GaussianDensity(), ParabolaDensity()):
        expected = density.expectation(basis, torch.tensor(0.0).float(), torch.tensor(1e-6).float())
        assert (expected[3:].abs() < 1e-6).all()
        exact = density.expectation(GaussianBasis(CENTRES, (0.02,)), torch.tensor(0.0), torch.tensor(1e-6))
        torch.testing.assert_close(expected.double(), exact, rtol=0, atol=1e-4)  # of 20 at the centre


def items():
    query, key = torch.randn(BATCH, QUERIES, SIZE), torch.randn(BATCH, KEYS, SIZE)
    return [part.requires_grad_() for part in (query, key, torch.randn(BATCH, KEYS, VALUE_SIZE))]


def continuous(density, distribution=None, extent=None, **options):
    attention = Attention(ScaledDot(), distribution or Softmax(), extent or Everything())
    return ContinuousAttention(attention, density, GaussianBasis(CENTRES, (0.1, 0.3)), ridge=RIDGE, **options)


def fitted(places, values):
    """V(t) by least squares over [Fᵀ; √λ I] B = [H; 0], the other way to write a ridge regression."""
    centres = np.linspace(0, 1, CENTRES)

    def functions(at):
        far = np.asarray(at)[..., None] - centres
        return np.concatenate(
            [np.exp(-(far**2) / (2 * width**2)) / (width * math.sqrt(2 * math.pi)) for width in (0.1, 0.3)], axis=-1
        )

    design = np.concatenate([functions(places), math.sqrt(RIDGE) * np.eye(2 * CENTRES)])
    target = np.concatenate([values, np.zeros((2 * CENTRES, VALUE_SIZE))])
    coefficients = np.linalg.lstsq(design, target, rcond=None)[0]
    return lambda at: torch.from_numpy(functions(float(at)) @ coefficients)


@pytest.mark.spec("A18")
@pytest.mark.parametrize("padded", [False, True], ids=["whole", "padded"])
@densities
def test_the_whole_of_it_one_query_at_a_time(density, padded):
    """c = ∫ p(t) V(t) dt, with μ and σ² the mean and variance of l / L under softmax weights."""
    module, (query, key, value), valid = continuous(density), items(), VALID if padded else None
    actual, moments = module(query, key, value, valid=valid), module.moments(query, key, valid=valid)
    for row in range(BATCH):
        real = [at for at in range(KEYS) if valid is None or valid[row, at]]
        places = [(rank + 1) / len(real) for rank in range(len(real))]
        function = fitted(places, value[row, real].detach().numpy())
        for asked in range(QUERIES):
            powers = [math.exp((query[row, asked] @ key[row, at]).item() / math.sqrt(SIZE)) for at in real]
            shares = [power / sum(powers) for power in powers]
            mean = sum(share * place for share, place in zip(shares, places, strict=True))
            variance = sum(share * (place - mean) ** 2 for share, place in zip(shares, places, strict=True)) + 1e-6
            assert moments.mean[row, asked].item() == pytest.approx(mean, abs=1e-13)
            assert moments.variance[row, asked].item() == pytest.approx(variance, abs=1e-13)
            expected = integral(density, mean, variance, function)
            torch.testing.assert_close(actual[row, asked].detach(), expected, rtol=1e-7, atol=1e-9)
    contributions = module.weights(query, key, valid=valid)
    torch.testing.assert_close(contributions @ value, actual, rtol=0, atol=1e-12)
    assert valid is None or (contributions.transpose(1, 2)[~valid] == 0).all()


@pytest.mark.spec("A18")
@densities
def test_gradients(density):
    module, leaves = continuous(density), [part[..., :3].detach().clone().requires_grad_() for part in items()]
    valid = VALID.clone()
    valid[0] = False
    assert torch.autograd.gradcheck(lambda *parts: module(*parts, valid=valid), leaves, fast_mode=True)


class ByPlace(Score):
    """Looks at the first feature, where the task writes what to look for."""

    def compare(self, query, key):
        return 8 * key[..., :1].mT.expand(*key.shape[:-2], query.size(-2), key.size(-2))


def test_it_looks_at_an_interval():
    """Two marked neighbours of 31: the parabola's weight lies around them, and nowhere else."""
    marks = torch.zeros(1, 31, 1)
    marks[0, 19:21] = 1
    module = continuous(ParabolaDensity())
    module.attention = Attention(ByPlace(), Sparsemax(), Everything())
    moments = module.moments(torch.zeros(1, 1, 1), marks)
    assert moments.mean.item() == pytest.approx(20.5 / 31)
    reach = module.density.half_width(moments.variance).item()
    density = module.density(torch.arange(1, 32) / 31, moments.mean.squeeze(), moments.variance.squeeze())
    assert (density[19:21] > 0).all() and (density[: int(31 * (20.5 / 31 - reach)) - 1] == 0).all()
    assert reach < 0.1


def test_the_attention_inside_has_any_extent():
    module, (_, key, value) = continuous(GaussianDensity(), extent=Causal()), items()
    moments = module.moments(key, key)
    assert moments.mean[0, 0].item() == pytest.approx(1 / KEYS)  # the first sees itself alone
    assert moments.variance[0, 0].item() == pytest.approx(1e-6)
    assert module(key, key, value).isfinite().all()


class Signed(Distribution):
    """Weights of either sign."""

    non_negative = False

    def normalize(self, scores, *_):
        return scores.tanh()


def test_what_does_not_fit_is_named():
    query, key, value = items()
    with pytest.raises(InputError, match="may be negative"):
        continuous(GaussianDensity(), distribution=Signed())
    mixed = Linformer(Attention(ScaledDot(), Softmax(), Everything()), KEYS, 3)
    with pytest.raises(InputError, match="may be negative"):
        ContinuousAttention(mixed, GaussianDensity(), GaussianBasis(CENTRES, (0.1,)))
    with pytest.raises(InputError, match="widths must be above 0"):
        GaussianBasis(3, (0.1, 0.0))
    with pytest.raises(InputError, match="count must be positive"):
        GaussianBasis(0, (0.1,))
    with pytest.raises(InputError, match="min_std must be above 0") as caught:
        continuous(GaussianDensity(), min_std=0.0)
    assert caught.value.found == "min_std=0.0"
    with pytest.raises(InputError, match="key and value must have the same items"):
        continuous(GaussianDensity())(query, key[:, 1:], value)
    with pytest.raises(InputError, match="valid says of each item of value"):
        continuous(GaussianDensity())(query, key, value, valid=VALID[:, :3])
