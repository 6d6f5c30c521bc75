"""The recorder of gradients and updates, counted one number at a time."""

import doctest
import math
from itertools import pairwise

import pytest
import torch
from torch import nn

from atento.models import TranslationBatch
from atento.models.builders import Vocabularies, build_translator
from atento.spec import ModelRecipe
from atento.training import Recorder
from atento.training import recorder as module_under_test
from atento.training.recorder import BINS, bin_edges, gradient_norms, magnitudes


def by_hand(numbers):
    """How many sizes lie in each bin."""
    borders, counts = bin_edges(), [0] * BINS
    for number in numbers:
        if number:
            place = math.log10(abs(number))
            inside = [low <= place < high for low, high in pairwise(borders)]
            counts[inside.index(True) if any(inside) else 0 if place < borders[0] else BINS - 1] += 1
    return counts


@pytest.mark.spec("O08")
def test_sizes_are_counted_one_by_one():
    parts = [torch.randn(5, 7) * 10.0**power for power in range(-15, 7, 3)] + [torch.zeros(3)]
    numbers = torch.cat([part.flatten() for part in parts]).tolist()
    seen = magnitudes(parts)
    assert seen.counts == by_hand(numbers)
    assert seen.zeros == 3
    assert sum(seen.counts) + seen.zeros == len(numbers)
    assert seen.norm == pytest.approx(math.sqrt(sum(number**2 for number in numbers)))
    assert seen.median == pytest.approx(sorted(map(abs, numbers))[(len(numbers) - 1) // 2])


@pytest.mark.spec("O08")
@pytest.mark.parametrize("make, factor", [(torch.optim.SGD, None), (torch.optim.Adam, 1.0)])
def test_gradients_before_a_step_and_what_it_moved(make, factor):
    """SGD moves each weight by lr |g|; Adam's first step moves each by lr."""
    torch.manual_seed(0)
    module = nn.Linear(7, 5).double()
    optimizer, recorder = make(module.parameters(), lr=0.01), Recorder(module)
    for _ in range(3):
        optimizer.zero_grad()
        module(torch.randn(11, 7).double()).square().mean().backward()
        gradients = torch.cat([weight.grad.flatten() for weight in module.parameters()]).tolist()
        with recorder.record():
            optimizer.step()
        assert recorder.steps[-1].gradients.counts == by_hand(gradients)
        if factor is None:
            assert recorder.steps[-1].updates.norm == pytest.approx(0.01 * recorder.steps[-1].gradients.norm)
    assert [seen.step for seen in recorder.steps] == [1, 2, 3]
    if factor is not None:
        assert recorder.steps[0].updates.median == pytest.approx(0.01, rel=1e-3)


def test_frozen_and_unused_weights_are_left_out():
    module = nn.ModuleList([nn.Linear(3, 2), nn.Linear(3, 2), nn.Linear(3, 2)])
    module[1].requires_grad_(False)
    recorder = Recorder(module)
    module[0](torch.ones(1, 3)).sum().backward()
    with recorder.record():
        pass
    seen = recorder.steps[0]
    assert sum(seen.gradients.counts) + seen.gradients.zeros == 8  # the first layer's
    assert (sum(seen.updates.counts), seen.updates.zeros) == (0, 16)  # the first and the last did not move


def test_nothing_is_watched_where_nothing_learns():
    with Recorder(nn.Identity()).record():
        pass


@pytest.mark.parametrize("clip", [0.0, 2.0, 100.0])
def test_the_norms_of_parts_are_those_before_clipping(clip):
    """Two parts, of norms 5 and 12, so that the whole has 13; a part without a gradient is left out."""
    module = nn.ModuleDict({"one": nn.Linear(2, 1), "two": nn.Linear(3, 1), "still": nn.Linear(1, 1)})
    module["one"].weight.grad, module["one"].bias.grad = torch.tensor([[3.0, 0.0]]), torch.tensor([-4.0])
    module["two"].weight.grad = torch.tensor([[0.0, 12.0, 0.0]])
    total = nn.utils.clip_grad_norm_(module.parameters(), clip) if clip else None
    assert gradient_norms(module, total=total) == {"one": 5.0, "two": 12.0}


def test_norms_that_are_no_numbers_or_nothing():
    module = nn.Linear(3, 1)
    assert gradient_norms(module) == {}
    module.weight.grad, module.bias.grad = torch.zeros(1, 3), torch.zeros(1)
    assert gradient_norms(module, total=torch.tensor(0.0)) == {"weight": 0.0, "bias": 0.0}
    module.bias.grad = torch.tensor([math.inf])
    assert gradient_norms(module) == {"weight": 0.0, "bias": None}


def test_the_example_runs():
    assert doctest.testmod(module_under_test).failed == 0


@pytest.mark.spec("O08")
def test_without_a_warm_up_post_norm_s_gradients_shrink_within_twenty_steps():
    """Liu et al. (2020, fig. 2): the first steps of Adam leave small gradients behind, those of a warm-up do not."""
    options = {"hidden": 64, "layers": 4, "heads": 1, "feed_forward": 64, "norm": "post", "init": "xavier"}
    kept = {}
    for warmup in (0, 100):
        torch.manual_seed(0)
        model = build_translator(ModelRecipe(name="transformer", dropout=0.0, **options), Vocabularies(12, 12))
        optimizer, recorder = torch.optim.Adam(model.parameters(), fused=True), Recorder(model)
        for step in range(1, 21):
            source = torch.randint(4, 12, (16, 6))
            valid, previous = torch.ones_like(source, dtype=torch.bool), source.flip(1).roll(1, 1)
            batch = TranslationBatch(source, valid, previous, source.flip(1), valid)
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(batch), batch.target.flatten()).backward()
            optimizer.param_groups[0]["lr"] = 3e-3 * (step / warmup if warmup else 1)
            with recorder.record():
                optimizer.step()
        kept[warmup] = recorder.steps[19].gradients.median / recorder.steps[0].gradients.median
    assert kept[0] < 0.2 * kept[100]
