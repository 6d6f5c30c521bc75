"""Memory: a model that cannot fit is refused by its figures before it is built."""

import resource

import pytest
import torch
from torch import nn

from atento import fit, system
from atento.errors import InputError
from atento.spec import ModelRecipe, TrainRecipe
from atento.training import machine as memory
from atento.training.machine import COPIES, bytes_of, memory_of, require_memory
from atento.training.optimizers import OPTIMIZERS


def square(model):
    """A model with hidden² weights in each layer, and 7 more."""
    return nn.ModuleList([*(nn.Linear(model.hidden, model.hidden, bias=False) for _ in range(model.layers)),
                          nn.Linear(7, 1, bias=False)])  # fmt: skip


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_what_an_optimizer_keeps(name):
    """As many numbers for each weight as the table says, measured after a step."""
    module = nn.Linear(5, 3, bias=False)
    optimizer = OPTIMIZERS[name](module, TrainRecipe(optimizer=name))
    module(torch.ones(5)).sum().backward()
    optimizer.step()
    kept = [part for part in optimizer.state[module.weight].values() if part is not None and part.numel() == 15]
    assert len(kept) == COPIES[name]
    assert bytes_of(square, ModelRecipe(hidden=5), TrainRecipe(optimizer=name)) == 4 * (25 + 7) * (2 + COPIES[name])


@pytest.mark.parametrize("size", [{"hidden": 40_000}, {"hidden": 4000, "layers": 100}, {"hidden": 1_000_000}])
def test_a_model_that_does_not_fit(monkeypatch, size):
    monkeypatch.setattr(memory, "memory_of", lambda device: 10**9)
    state = torch.get_rng_state()
    with pytest.raises(InputError, match="does not fit into the memory") as caught:
        require_memory(square, ModelRecipe(**size), TrainRecipe())
    assert "parameters, which take" in caught.value.found and caught.value.found.endswith("there are 1.0 GB")
    assert torch.equal(torch.get_rng_state(), state)
    hidden = int(caught.value.fix.removeprefix("--set model.hidden="))
    require_memory(square, ModelRecipe(**{**size, "hidden": hidden}), TrainRecipe())
    assert bytes_of(square, ModelRecipe(**{**size, "hidden": hidden}), TrainRecipe()) > 10**8  # not far too small


def test_where_no_hidden_size_fits(monkeypatch):
    monkeypatch.setattr(memory, "memory_of", lambda device: 100)
    with pytest.raises(InputError, match="lower the sizes"):
        require_memory(square, ModelRecipe(hidden=8, layers=50), TrainRecipe())


def test_the_memory_that_a_process_may_have(monkeypatch, tmp_path):
    monkeypatch.setattr(system, "CGROUP_LIMITS", ())
    whole = memory_of("cpu")
    assert whole > 10**8
    for text, expected in (("max\n", whole), (f"{10**15}\n", whole), ("5000000\n", 5_000_000)):
        (tmp_path / "memory.max").write_text(text)
        monkeypatch.setattr(system, "CGROUP_LIMITS", (str(tmp_path / "memory.max"), str(tmp_path / "none")))
        assert memory_of("cpu") == expected
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (4_000_000, 4_000_000))
    assert memory_of("cpu") == 4_000_000


def test_a_training_is_refused_before_its_folder_is_made(tiny_pairs, tmp_path):
    with pytest.raises(InputError, match="does not fit into the memory"):
        fit(tiny_pairs, model="gru", settings={"model.hidden": 10**6}, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
