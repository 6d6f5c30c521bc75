"""The share of true inputs over a run: the paper's formulas, and coins counted in a run."""

import dataclasses
import math

import pytest
import torch

from atento.errors import InputError
from atento.models.builders import Vocabularies, build_translator
from atento.spec import ModelRecipe, TokensRecipe
from atento.tasks.catalogue import TRANSLATE
from atento.tasks.outputs.output import Example
from atento.training import EventLog, Plan, new_learner, train, validate_training
from atento.training.teacher_forcing import teacher_forcing_rate

STEPS = 40
OWN, TRUE = 4, (5, 6, 7, 8)


def linear(step, end):
    """max(ε, k − c i), falling by the same amount each step."""
    return max(end, 1 - (1 - end) / STEPS * step)


def exponential(step, end):
    """k^i, with the k that leaves `end` at the last step."""
    return (end ** (1 / STEPS)) ** step


def inverse_sigmoid(step, end):
    """k / (k + exp(i / k)) with k = 100; i counts so fast that `end` is reached at the last step."""
    k = 100.0
    count = step / STEPS * k * math.log(k * (1 - end) / end)
    return k / (k + math.exp(count / k))


@pytest.mark.spec("E03")
@pytest.mark.parametrize("end", [0.1, 0.5, 0.9])
@pytest.mark.parametrize(
    "teacher, formula", [("linear", linear), ("exponential", exponential), ("inverse-sigmoid", inverse_sigmoid)]
)
def test_the_share_falls_as_in_the_paper(whole_recipe, teacher, formula, end):
    recipe = whole_recipe(teacher_forcing=teacher, teacher_forcing_end=end).train
    shares = [teacher_forcing_rate(recipe, progress=step / STEPS, epoch=0) for step in range(STEPS + 1)]
    assert shares == pytest.approx([formula(step, end) for step in range(STEPS + 1)], abs=1e-12)
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == pytest.approx(1.0, abs=0.01)
    assert shares[-1] == pytest.approx(end)
    assert teacher_forcing_rate(recipe, progress=1.7, epoch=9) == shares[-1]


@pytest.mark.spec("E03")
def test_always_and_until_an_epoch(whole_recipe):
    always = whole_recipe(teacher_forcing_end=0.2).train
    assert {teacher_forcing_rate(always, progress=over, epoch=epoch) for over in (0, 0.5, 1) for epoch in (0, 7)} == {
        1.0
    }
    until = whole_recipe(teacher_forcing="until", teacher_forcing_epochs=3, teacher_forcing_end=0.2).train
    assert [teacher_forcing_rate(until, progress=0.5, epoch=epoch) for epoch in range(5)] == [1.0, 1.0, 1.0, 0.2, 0.2]


@pytest.fixture
def counted_run(tmp_path, whole_recipe):
    """A model that always says the same word, never a true one: its own tokens can be counted in each batch."""

    def run(model, **values):
        recipe = whole_recipe(steps=STEPS, batch_tokens=1500, warmup=0, lr=1e-9, validations=1, **values)
        shares = []

        def mix(module, batch, share, own):
            mixed = TRANSLATE.learning.scheduled_sampling(module, batch, share, own)
            later = batch.target_valid[:, 1:]
            shares.append(((mixed.previous != OWN)[:, 1:][later].float().mean().item(), share, int(later.sum())))
            assert torch.equal(mixed.previous[:, 0], batch.previous[:, 0])
            assert torch.equal(mixed.previous[~batch.target_valid], batch.previous[~batch.target_valid])
            assert mixed._replace(previous=batch.previous) == batch
            return mixed

        words = [TRUE[number % 4] for number in range(12)]
        examples = [Example([5, 6], words[:length]) for length in (12, 11, 10)] * 40
        plan = Plan(
            task=dataclasses.replace(
                TRANSLATE, learning=dataclasses.replace(TRANSLATE.learning, scheduled_sampling=mix)
            ),
            recipe=recipe,
            codec=TRANSLATE.learning.learn(TokensRecipe(), [("ab", "ba")]),
            examples=examples,
            validation=[],
            fingerprint="f",
            device=torch.device("cpu"),
            folder=tmp_path,
        )
        torch.manual_seed(0)
        module = build_translator(ModelRecipe(name=model, hidden=8, heads=2), Vocabularies(9, 9))
        with torch.no_grad():
            module.decoder.bias[OWN] = 100.0
        train(plan, new_learner(module, recipe), EventLog(tmp_path))
        return shares

    return run


@pytest.mark.spec("E03")
@pytest.mark.parametrize("model", ["gru", "lstm+additive", "transformer"])
@pytest.mark.parametrize("teacher, formula", [("linear", linear), ("inverse-sigmoid", inverse_sigmoid)])
def test_the_share_of_true_inputs_in_a_run_follows_the_schedule(counted_run, model, teacher, formula):
    own = {"linear": "argmax", "inverse-sigmoid": "sampled"}[teacher]
    shares = counted_run(model, teacher_forcing=teacher, teacher_forcing_end=0.25, sampled_tokens=own)
    first = STEPS - len(shares)
    assert first == (1 if teacher == "linear" else 0)  # a share of one needs no coins
    for step, (found, share, tokens) in enumerate(shares, start=first):
        expected = formula(step, 0.25)
        assert share == pytest.approx(expected)
        assert abs(found - expected) < 4.5 * math.sqrt(expected * (1 - expected) / tokens) + 1e-9
    assert sum(found for found, _, _ in shares) / len(shares) == pytest.approx(
        sum(formula(step, 0.25) for step in range(first, STEPS)) / len(shares), abs=0.01
    )


def test_until_an_epoch_in_a_run(counted_run):
    """Some batches an epoch: all inputs are true in the first two, a quarter after them."""
    shares = counted_run("gru", teacher_forcing="until", teacher_forcing_epochs=2, teacher_forcing_end=0.25)
    assert 0 < len(shares) < STEPS
    assert {share for _, share, _ in shares} == {0.25}
    assert sum(found for found, _, _ in shares) / len(shares) == pytest.approx(0.25, abs=0.02)


@pytest.mark.parametrize(
    "values, problem",
    [
        ({"teacher_forcing": "exponential", "teacher_forcing_end": 0.0}, "cannot end at 0.0"),
        ({"teacher_forcing": "inverse-sigmoid", "teacher_forcing_end": 0.0}, "cannot end at 0.0"),
        ({"teacher_forcing": "inverse-sigmoid", "teacher_forcing_end": 1.0}, "cannot end at 1.0"),
    ],
)
def test_an_end_that_is_never_reached_is_refused(whole_recipe, values, problem):
    module = build_translator(ModelRecipe(name="gru", hidden=8), Vocabularies(9, 9))
    with pytest.raises(InputError, match=problem) as caught:
        validate_training(TRANSLATE, module, whole_recipe(**values).train)
    assert "train.teacher_forcing=linear" in caught.value.fix
    validate_training(TRANSLATE, module, whole_recipe(teacher_forcing="linear", teacher_forcing_end=0.0).train)
    with pytest.raises(InputError, match="never reads its own predictions"):
        validate_training(
            dataclasses.replace(TRANSLATE, learning=dataclasses.replace(TRANSLATE.learning, scheduled_sampling=None)),
            module,
            whole_recipe(teacher_forcing="linear").train,
        )
    validate_training(
        dataclasses.replace(TRANSLATE, learning=dataclasses.replace(TRANSLATE.learning, scheduled_sampling=None)),
        module,
        whole_recipe().train,
    )
