"""A module of the user's own: trained, validated and tested by the same loop, kept without pickle."""

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

import atento
from atento.errors import InputError

SETTINGS = {"train.epochs": 6, "train.lr": 0.05, "train.warmup": 3, "train.threads": 1, "train.validations": 3}
INPUTS = torch.randn(211, 5, generator=torch.Generator().manual_seed(0))
TARGETS = (INPUTS[:, 0] > 0).long()
LOSS = nn.CrossEntropyLoss()


def module(width=7):
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(5, width), nn.Tanh(), nn.Linear(width, 2))


def test_it_learns_and_leaves_its_best_weights(tmp_path):
    model = module()
    run = atento.fit((INPUTS, TARGETS), model=model, loss=LOSS, settings=SETTINGS, out=tmp_path / "run")
    assert run.module is model
    assert (run.predict(INPUTS).argmax(1) == TARGETS).float().mean() > 0.9
    assert run.history[0]["mean_loss"] > run.history[-1]["mean_loss"] and len(run.history) == 3
    assert {event["event"] for event in run.events} >= {"start", "step", "validation", "finished"}
    value, low, high = run.metrics["scores"]["mean_loss"]
    assert low < value < high and run.metrics["examples"] == 11
    with torch.no_grad():
        expected = LOSS(model(INPUTS), TARGETS).item()
    assert run.evaluate((INPUTS, TARGETS), LOSS) == pytest.approx(expected, rel=1e-4)

    again = atento.load(tmp_path / "run", module=module())
    assert torch.equal(again.predict(INPUTS), run.predict(INPUTS))
    with pytest.raises(InputError, match="does not fit"):
        atento.load(tmp_path / "run", module=module(width=3))
    with pytest.raises(InputError, match="a module of your own") as caught:
        atento.load(tmp_path / "run")
    assert "module=module" in caught.value.fix


class Squares(Dataset):
    """Examples of unlike lengths, two inputs each."""

    def __len__(self):
        return 41

    def __getitem__(self, number):
        return torch.ones(1 + number % 3), torch.tensor([float(number)]), torch.tensor([number / 7])


def padded(examples):
    first, second, target = zip(*examples, strict=True)
    return nn.utils.rnn.pad_sequence(first, batch_first=True), torch.stack(second), torch.stack(target)


class Sums(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))

    def forward(self, first, second):
        return self.weight * (second + 0 * first.sum(1, keepdim=True))


def test_a_loader_brings_its_own_batches(tmp_path):
    loader = DataLoader(Squares(), batch_size=4, collate_fn=padded)
    seen = []

    def loss(output, target):
        seen.append(len(target))
        return nn.functional.mse_loss(output, target)

    settings = {**SETTINGS, "train.epochs": 1}
    run = atento.fit(loader, model=Sums(), loss=loss, settings=settings, out=tmp_path / "run")
    assert max(seen) == 4 and run.module.weight.item() > 0
    assert run.recipe.data.train.endswith("/Squares") and run.recipe.train.batch_tokens == 4


@pytest.mark.parametrize(
    "data",
    [TensorDataset(INPUTS, TARGETS), list(zip(INPUTS, TARGETS, strict=True)), (INPUTS.numpy(), TARGETS.tolist())],
)
def test_the_same_examples_the_same_weights(data, tmp_path):
    weights = [
        atento.fit(one, model=module(), loss=LOSS, settings={**SETTINGS, "train.epochs": 1}, out=tmp_path / name)
        .module.state_dict()["0.weight"]
        for name, one in (("a", data), ("b", (INPUTS, TARGETS)))
    ]  # fmt: skip
    assert torch.equal(*weights)


def test_stopped_and_resumed_bit_for_bit(tmp_path):
    def stop(event):
        if event["event"] == "validation":
            raise KeyboardInterrupt

    settings = {**SETTINGS, "train.checkpoint_every": 1}
    call = {"loss": LOSS, "settings": settings}
    with pytest.raises(KeyboardInterrupt):
        atento.fit((INPUTS, TARGETS), model=module(), out=tmp_path / "a", on_event=stop, **call)
    with pytest.raises(InputError, match="another recipe"):
        atento.fit((INPUTS + 1, TARGETS), model=module(), out=tmp_path / "a", resume=True, **call)
    resumed = atento.fit((INPUTS, TARGETS), model=module(), out=tmp_path / "a", resume=True, **call)
    whole = atento.fit((INPUTS, TARGETS), model=module(), out=tmp_path / "b", **call)
    assert torch.equal(resumed.predict(INPUTS), whole.predict(INPUTS))


class Endless(IterableDataset):
    def __iter__(self):
        yield INPUTS[0], TARGETS[0]


@pytest.mark.parametrize(
    "data, keywords, problem",
    [
        ((INPUTS, TARGETS), {"loss": None}, "needs a loss"),
        ((INPUTS, TARGETS[:-1]), {}, "different lengths"),
        ((INPUTS, ["sí"] * 211), {}, "takes tensors or numbers"),
        (Endless(), {}, "can be counted"),
        (TensorDataset(INPUTS), {}, "not an input and a target"),
        ([(torch.ones(1 + at % 2), at) for at in range(9)], {}, "cannot be stacked"),
        ((INPUTS, TARGETS), {"loss": nn.CrossEntropyLoss(reduction="none")}, "one number"),
        ((INPUTS, TARGETS), {"settings": {"model.hidden": 3}}, "no meaning for a module"),
        ((INPUTS, TARGETS), {"settings": {"train.word_dropout": 0.1}}, "no meaning"),
        ((INPUTS, TARGETS), {"settings": {"train.label_smoothing": 0.1}}, "no meaning"),
        ((INPUTS, TARGETS), {"task": "classify"}, "no task"),
    ],
)
def test_what_it_cannot_learn_from_is_refused(data, keywords, problem, tmp_path):
    call = {"loss": LOSS, "settings": {"train.steps": 1, "train.threads": 1}, **keywords}
    with pytest.raises(InputError, match=problem):
        atento.fit(data, model=module(), out=tmp_path / "run", **call)


def test_a_step_follows_the_mean_loss_of_its_batch(tmp_path):
    settings = {"train.steps": 1, "train.batch_tokens": 211, "train.threads": 1, "data.split": "100/0/0"}
    with torch.no_grad():
        expected = LOSS(module()(INPUTS), TARGETS).item()
    run = atento.fit((INPUTS, TARGETS), model=module(), loss=LOSS, settings=settings, out=tmp_path / "run")
    (step,) = [event for event in run.events if event["event"] == "step"]
    assert step["loss"] == pytest.approx(expected, rel=1e-4)
    assert "no test part" in repr(run)
