"""Each contract of sequences fails on a module broken in just that way, and holds on the one it was made from."""

import pytest
import torch
from torch import nn

import atento
from atento.checks.sequences import SEQUENCES
from atento.layers import clean

SIZE = 6


class Sound(nn.Module):
    """A running mean of the real items so far, mapped: it keeps every contract."""

    def __init__(self):
        super().__init__()
        self.map = nn.Linear(SIZE, SIZE)
        self.dropout = nn.Dropout(0.3)

    def forward(self, values, valid):
        return self.dropout(self.map(self.summed(clean(values, valid)) / self.counted(valid)))

    def summed(self, values):
        return values.cumsum(1)

    def counted(self, valid):
        return valid.cumsum(1).clamp(min=1).unsqueeze(-1)


class LooksAtPadding(Sound):
    def forward(self, values, valid):
        hidden = (values * ~valid.unsqueeze(-1)).nan_to_num(0, 0, 0).sum(1, keepdim=True)
        return super().forward(values, valid) + hidden.detach()


class MultipliesPaddingAway(Sound):
    """0 × NaN is NaN."""

    def summed(self, values):
        return values.sum(1, keepdim=True) + super().summed(values) * 0

    def forward(self, values, valid):
        return self.map(self.summed(values * valid.unsqueeze(-1)))


class AveragesPaddingIn(Sound):
    def forward(self, values, valid):
        return super().forward(values, valid) + 1 / values.size(1)


class CountsFromTheEdge(Sound):
    def forward(self, values, valid):
        return super().forward(values, valid) + torch.arange(values.size(1)).unsqueeze(-1)


class NumbersTheRows(Sound):
    def forward(self, values, valid):
        return super().forward(values, valid) + torch.arange(len(values)).view(-1, 1, 1)


class AveragesTheBatch(Sound):
    def forward(self, values, valid):
        found = super().forward(values, valid)
        return found - found.mean(0)


class MaskOneOff(Sound):
    def summed(self, values):
        return torch.cat([values[:, 1:], values[:, :1] * 0], dim=1) + super().summed(values)


class LeaksInTraining(Sound):
    def summed(self, values):
        later = values.flip(1).cumsum(1).flip(1)
        return super().summed(values) + (later if self.training else 0)


class DividesByNothing(Sound):
    def counted(self, valid):
        return valid.cumsum(1).unsqueeze(-1)


class LetsGradientsThrough(Sound):
    def forward(self, values, valid):
        hidden = (values * ~valid.unsqueeze(-1)).nan_to_num(0, 0, 0).sum(1, keepdim=True)
        return super().forward(values, valid) + (hidden - hidden.detach())


class KeepsWhatItSaw(Sound):
    """A stale cache: what was read first is read for ever."""

    def summed(self, values):
        if not hasattr(self, "seen"):
            self.seen = super().summed(values)
        return self.seen if self.seen.shape == values.shape else super().summed(values)


class ForgetsItsScale(Sound):
    def __init__(self):
        super().__init__()
        self.scale = torch.rand(SIZE)  # neither a parameter nor a buffer

    def counted(self, valid):
        return super().counted(valid) / self.scale


BROKEN = {
    LooksAtPadding: {"padding content"},
    MultipliesPaddingAway: {"padding content", "gradients at padding", "future", "future in training"},
    AveragesPaddingIn: {"padding amount"},
    CountsFromTheEdge: {"padding side"},
    NumbersTheRows: {"batch order", "neighbours"},
    AveragesTheBatch: {"neighbours", "padding side"},  # rows stand beside others when they are moved
    MaskOneOff: {"future", "future in training"},
    LeaksInTraining: {"future in training"},
    DividesByNothing: {"no valid items"},
    LetsGradientsThrough: {"gradients at padding"},
    ForgetsItsScale: {"save and load"},
}


def broken(checked):
    return {finding.contract for finding in checked.broken}


@pytest.mark.spec("X01")
def test_a_sound_module_keeps_every_contract():
    checked = atento.check(Sound(), causal=True)
    assert checked
    assert [finding.contract for finding in checked] == list(SEQUENCES)
    assert {finding.verdict for finding in checked} == {"held"}
    assert all(0 <= finding.difference <= finding.tolerance for finding in checked)


@pytest.mark.spec("X01")
@pytest.mark.parametrize("kind", BROKEN, ids=lambda kind: kind.__name__)
def test_a_broken_module_breaks_just_that_contract(kind):
    checked = atento.check(kind(), causal=True)
    assert not checked
    assert broken(checked) == BROKEN[kind]


@pytest.mark.spec("X01")
def test_a_stale_cache_is_seen():
    found = atento.check(KeepsWhatItSaw(), causal=True)
    assert {"independent calls", "batch order"} <= broken(found)


def test_every_contract_was_seen_broken():
    seen = set().union(*BROKEN.values()) | {"independent calls"}
    assert seen == set(SEQUENCES)


def test_what_a_broken_contract_says():
    found = atento.check(ForgetsItsScale(), causal=True)["save and load"]
    assert "register_buffer scale" in found.words
    words = [atento.check(kind())["padding content"].words for kind in (LooksAtPadding, MultipliesPaddingAway)]
    assert [text.split()[0] for text in words] == ["1000", "nan"]


class Pooled(nn.Module):
    """One vector a row: the mean of the items, of all of them when it is broken."""

    def __init__(self, *, padding_counts):
        super().__init__()
        self.padding_counts = padding_counts
        self.map = nn.Linear(SIZE, 11)

    def forward(self, values, valid):
        count = values.size(1) if self.padding_counts else valid.sum(1, keepdim=True).clamp(min=1)
        return self.map(clean(values, valid).sum(1) / count)


@pytest.mark.spec("X01")
def test_padding_averaged_into_a_summary():
    sound = atento.check(Pooled(padding_counts=False))
    assert sound
    assert sound["future"].verdict == "does not apply"
    assert broken(atento.check(Pooled(padding_counts=True))) == {"padding amount"}


def test_the_users_module_and_chance_stay_as_they_are():
    module = Sound().train()
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    atento.check(module)
    assert torch.equal(torch.rand(3), expected)
    assert module.training
    for name, tensor in module.state_dict().items():
        assert tensor.dtype == torch.float32
        assert torch.equal(tensor, before[name])
