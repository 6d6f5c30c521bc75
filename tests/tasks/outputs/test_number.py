"""The estimate task: numeric sequences in, a number out, from a file to an answer."""

import json
import math
import random

import pytest
import torch

import atento
from atento.data.evidence.evidence import gather
from atento.errors import InputError
from atento.models import LabelledBatch, ModelName
from atento.spec import DataRecipe, DecodeRecipe, ModelRecipe, TokensRecipe
from atento.tasks.catalogue import ESTIMATE
from atento.tasks.filling import compared, fill_defaults
from atento.tasks.finding import find_task, recognise

PAIRS = [("0.5,0 0.25,1", "1.5"), ("0.1,1", "-2"), ("0.9,0 0.8,0 0.7,1", "0.25")]


@pytest.fixture(scope="module")
def codec():
    return ESTIMATE.learning.learn(TokensRecipe(), PAIRS)


@pytest.fixture(scope="module", params=["gru", "gru+additive", "transformer"])
def module(request, codec):
    torch.manual_seed(0)
    return ESTIMATE.learning.build(ModelRecipe(name=request.param, hidden=8, heads=2, dropout=0.0), codec).eval()


@pytest.fixture(scope="module")
def waves(tmp_path_factory):
    """Waves of unequal length in one channel; the number is how strong each is."""
    chance = random.Random(0)
    path = tmp_path_factory.mktemp("waves") / "waves.tsv"
    rows = ["signal\tstrength"]
    for _ in range(300):
        strength, steps = chance.uniform(0.5, 3), chance.randint(6, 14)
        signal = " ".join(f"{strength * math.sin(step + chance.random() / 9):.3f}" for step in range(steps))
        rows.append(f"{signal}\t{strength:.4f}")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_targets_are_standardised_and_written_again(codec):
    output = codec.output
    assert output.scale == pytest.approx((-1 / 12, (6.3125 / 3 - 1 / 144) ** 0.5))
    assert [output.write(output.encode(target)) for _, target in PAIRS] == ["1.5", "-2", "0.25"]
    assert output.notes == ("targets of mean -0.0833 and standard deviation 1.45",)
    assert ESTIMATE.learning.load(codec.to_json()).to_json() == codec.to_json()
    with pytest.raises(InputError, match="no scales of numbers"):
        ESTIMATE.learning.load({**codec.to_json(), "output": {"scale": [0.0, 0.0]}})


def test_batches_are_padded_on_the_right(codec):
    batch = ESTIMATE.learning.batch(codec, [ESTIMATE.learning.encode(codec, pair) for pair in PAIRS])
    assert batch.source.shape == (3, 3, 2)
    assert batch.valid.sum(1).tolist() == [2, 1, 3]
    assert (batch.source[~batch.valid] == 0).all()
    assert batch.truth.shape == (3, 1)
    assert [ESTIMATE.learning.length(codec, ESTIMATE.learning.encode(codec, pair)) for pair in PAIRS] == [2, 1, 3]


def test_the_loss_is_the_squared_error_on_the_targets_scale(codec, module):
    batch = ESTIMATE.learning.batch(codec, [ESTIMATE.learning.encode(codec, pair) for pair in PAIRS])
    loss = ESTIMATE.learning.loss(module, batch, 0.0)
    answers = ESTIMATE.answering.answer(module, codec, [source for source, _ in PAIRS], DecodeRecipe())
    errors = [float(answer.text) - float(target) for (_, target), answer in zip(PAIRS, answers, strict=True)]
    total = sum((error / codec.output.scale.std) ** 2 for error in errors)
    assert loss.items == 3
    assert loss.total.item() == pytest.approx(total, rel=1e-3)


def test_neighbours_do_not_change_an_answer(codec, module):
    sources = ["0.5,0", "0.1,1 0.2,0 0.3,0 0.4,1 0.5,0", "9,9 -9,9"]
    together = ESTIMATE.answering.answer(module, codec, sources, DecodeRecipe())
    alone = [ESTIMATE.answering.answer(module, codec, [source], DecodeRecipe())[0] for source in sources]
    assert [float(one.text) for one in together] == pytest.approx([float(one.text) for one in alone], rel=1e-4)
    assert all(one.score is None for one in together)
    assert ESTIMATE.answering.answer(module, codec, [], DecodeRecipe()) == []


def test_a_look_is_where_a_pooling_took_from(codec, module):
    look = ESTIMATE.answering.look(module, codec, "0.5,0 0.25,1 1,0", DecodeRecipe())
    assert look.source == ["0.5,0", "0.25,1", "1,0"]
    kind = type(module.encoder).__name__
    if module.pooling is not None:
        assert look.weights.shape == (1, 1, 1, 3)
        batch = LabelledBatch(codec.input.encode("0.5,0 0.25,1 1,0")[None], torch.ones(1, 3).bool(), torch.zeros(1))
        torch.testing.assert_close(look.weights[0, 0], module.weights(batch).detach())
    elif kind == "TransformerNumberEncoder":
        assert look.weights.shape == (1, 2, 3, 3)
        torch.testing.assert_close(look.weights.sum(-1), torch.ones(1, 2, 3))
        assert look.output == look.source
    else:
        assert look.weights.numel() == 0
    weights = ["weights"] if module.pooling is not None else []
    titles = [step.title for step in ESTIMATE.answering.trace(module, codec, "0.5,0 0.25,1", DecodeRecipe())]
    assert titles == ["numbers", "states", *weights, "summary", "outputs", "estimate"]


def test_how_wrong_an_answer_is(codec):
    assert ESTIMATE.judging.error(codec, "1.5", ["1.5"]) == 0
    assert ESTIMATE.judging.error(codec, "2.5", ["1.5", "9"]) == pytest.approx(1 / codec.output.scale.std)


def test_a_file_of_sequences_and_numbers_is_recognised(waves, tiny_pairs, tmp_path):
    task, reason = find_task("auto", DataRecipe(train=str(waves)))
    assert task is ESTIMATE
    assert "'signal' holds sequences of numbers and 'strength' numbers" in reason
    guesses = recognise(gather(str(tiny_pairs)))
    assert guesses["estimate"].likelihood < 0.5 < guesses["translate"].likelihood
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("text,stars\n" + "".join(f"a text {n},{n % 5}\n" for n in range(30)))
    assert recognise(gather(str(ratings)))["estimate"].likelihood < 0.5
    assert find_task("auto", DataRecipe(train="adding")) == (ESTIMATE, "")


def test_from_a_file_to_an_answer(waves, tmp_path):
    settings = {"train.steps": 250, "train.threads": 1, "train.validations": 5, "model.hidden": 24}
    run = atento.fit(waves, model="gru", settings=settings, device="cpu", out=tmp_path / "run")
    assert run.metrics["task"] == "estimate"
    assert run.metrics["smaller_is_better"]
    assert list(run.metrics["scores"]) == ["mse", "r2"]
    assert run.metrics["scores"]["r2"][0] > 0.9
    curve = [point["value"] for point in run.metrics["curve"]]
    assert curve[-1] < curve[0]
    kept = min(run.metrics["curve"], key=lambda point: point["value"])
    assert run.metrics["best_step"] == kept["step"], "the smallest error is kept"
    again = atento.load(tmp_path / "run", device="cpu")
    strong, weak = (" ".join(f"{size * math.sin(step):.3f}" for step in range(10)) for size in (2.5, 0.8))
    assert [float(text) for text in again.predict([strong, weak])] == pytest.approx([2.5, 0.8], abs=0.5)
    worst = run.metrics["worst"]
    errors = [abs(float(line["output"]) - float(line["references"][0])) for line in worst]
    assert errors == sorted(errors, reverse=True)
    assert atento.check(again)


def test_what_is_typed_is_refused_with_its_place(codec, module):
    with pytest.raises(InputError, match=r"column 7: step 2 is not a number"):
        ESTIMATE.answering.answer(module, codec, ["0.5,0 x,1"], DecodeRecipe())


def test_other_files_are_read_with_the_same_care(waves, tmp_path):
    other = tmp_path / "new.tsv"
    other.write_text("signal\tstrength\n1 2 3\t1\n1 b 3\t2\n")
    with pytest.raises(InputError, match=r"new\.tsv:3:3: step 2 is not a number"):
        ESTIMATE.reading.read_labelled(DataRecipe(train=str(waves)), str(other), 0)
    with pytest.raises(InputError, match=r"new\.tsv:3:3: step 2 is not a number"):
        ESTIMATE.reading.read_unlabelled(DataRecipe(train=str(waves)), str(other), 0)
    opened = ESTIMATE.reading.read_unlabelled(DataRecipe(train=str(waves), bad_rows="skip"), str(other), 0)
    assert opened.sources == ["1 2 3"]
    assert opened.columns == {"signal": ["1 2 3", "1 b 3"], "strength": ["1", "2"]}  # a refused row keeps its place
    assert len(opened.refused) == 1
    asked = ESTIMATE.reading.read_labelled(DataRecipe(train="adding", length=9), "adding", 0)
    assert len(asked.questions) == 1000
    assert len(ESTIMATE.reading.read_unlabelled(DataRecipe(train="adding", length=9), "adding", 0).sources) == 1000


def test_a_built_in_set_may_name_its_own_models():
    assert fill_defaults(ESTIMATE, {}, data="adding").model.name == ESTIMATE.defaults.model
    assert compared(ESTIMATE, "adding") == compared(ESTIMATE, "some.tsv") == ESTIMATE.defaults.models
    assert json.loads(json.dumps(ESTIMATE.defaults.values("adding", ModelName.parse("gru+additive"))))
