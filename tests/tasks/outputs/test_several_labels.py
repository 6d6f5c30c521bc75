"""The label task: any number of labels a text, thresholds of their own, one network for all against one a label."""

import json
import random

import numpy as np
import pytest
import torch
from sklearn.metrics import f1_score, hamming_loss
from torch.nn import functional

import atento
from atento.data.records import split_items
from atento.models import MultiLabelHead
from atento.spec import DecodeRecipe, ModelRecipe, TokensRecipe
from atento.tasks.catalogue import LABEL
from atento.tasks.filling import fill_defaults
from atento.tasks.outputs.several_labels import LabelSetBaseline, SeveralLabels
from atento.tasks.task import EvaluationExample

PAIRS = [("one two three", "x\ty"), ("three two", ""), ("four five six", "z"), ("two", "x")]
SIGNS = {"joy": "yay", "anger": "grr", "fear": "eek"}
SMALL = {"train.threads": 1, "train.batch_tokens": 512, "train.warmup": 10, "model.dropout": 0.0, "train.ema": 0}
NAMES = ["gru", "gru+additive", "gru+one-each", "transformer"]


@pytest.fixture(scope="module")
def codec():
    return LABEL.learning.learn(TokensRecipe(), PAIRS)


@pytest.fixture(scope="module", params=NAMES)
def module(request, codec):
    torch.manual_seed(0)
    return LABEL.learning.build(ModelRecipe(name=request.param, hidden=8, heads=2, dropout=0.0), codec).eval()


@pytest.mark.parametrize("power, expected", [(1.0, [1.0, 3.0, 3.0]), (2.0, [1.0, 9.0, 9.0])])
@pytest.mark.parametrize("name", ["gru", "gru+one-each"])
def test_the_yes_of_a_rare_label_weighs_more(codec, name, power, expected):
    """((n − n_c) / n_c)^power with n = 4 texts and n_c = 2, 1, 1."""
    built = LABEL.learning.build(ModelRecipe(name=name, hidden=8, heads=2, dropout=0.0), codec)
    LABEL.learning.class_weights(built, codec, power)
    weights = torch.cat([head.weights for head in built.modules() if isinstance(head, MultiLabelHead)])
    torch.testing.assert_close(weights, torch.tensor(expected))


@pytest.mark.spec("L04")
def test_the_loss_is_a_yes_or_no_for_each_label(codec, module):
    batch = LABEL.learning.batch(codec, [LABEL.learning.encode(codec, pair) for pair in PAIRS])
    assert batch.truth.tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 1], [1, 0, 0]]
    loss = LABEL.learning.loss(module, batch, 0.0)
    assert loss.items == 12
    expected = functional.binary_cross_entropy(module(batch).sigmoid(), batch.truth, reduction="sum")
    torch.testing.assert_close(loss.total, expected)
    smoothed = functional.binary_cross_entropy(module(batch).sigmoid(), 0.8 * batch.truth + 0.1, reduction="sum")
    torch.testing.assert_close(LABEL.learning.loss(module, batch, 0.2).total, smoothed)


@pytest.mark.spec("K03")
def test_an_answer_is_what_is_above_its_threshold_and_a_ranking(codec, module):
    (answer,) = LABEL.answering.answer(module, codec, ["two three"], DecodeRecipe())
    batch = LABEL.learning.batch(codec, [LABEL.learning.encode(codec, ("two three", ""))])
    chances = dict(zip(codec.output.labels, module(batch).sigmoid()[0].tolist(), strict=True))
    assert answer.probabilities == pytest.approx(chances, abs=1e-5)
    said, ranked = answer.value
    assert ranked == sorted(chances, key=lambda label: -chances[label])
    assert said == [label for label in ranked if chances[label] > 0.5]
    assert answer.text == (", ".join(said) or "–")
    several = LABEL.answering.answer(module, codec, ["two three", "", "one " * 30], DecodeRecipe())
    assert several[0].score == pytest.approx(answer.score, abs=1e-5)


def test_thresholds_are_settled_by_the_validation_part_and_saved(codec):
    torch.manual_seed(0)
    for name in ("gru", "gru+one-each"):
        module = LABEL.learning.build(ModelRecipe(name=name, hidden=8, dropout=0.0), codec).eval()
        before = LABEL.answering.answer(module, codec, ["two"], DecodeRecipe())[0].probabilities
        questions = [EvaluationExample("two", ("x",))] * 12 + [EvaluationExample("one", ())] * 3
        LABEL.learning.calibrate(module, codec, questions)
        saved = torch.cat([value for key, value in module.state_dict().items() if key.endswith("thresholds")])
        assert saved.shape == (3,)
        (answer,) = LABEL.answering.answer(module, codec, ["two"], DecodeRecipe())
        assert answer.probabilities == before
        assert answer.value[0] == [
            label for label in answer.value[1] if before[label] > saved[codec.output.numbers[label]]
        ]
        assert "x" in answer.value[0], "twelve times true: the best threshold lets it through"
        LABEL.learning.calibrate(module, codec, [])
        assert torch.cat([head.thresholds for head in module.modules() if hasattr(head, "thresholds")]).eq(0.5).all()


def test_a_yes_weighs_by_how_rare_it_is():
    output = SeveralLabels(["a", "b"], [1, 3], examples=4)
    head = MultiLabelHead(3, 2)
    for power, weights in ((1.0, [3.0, 1 / 3]), (0.5, [3**0.5, 3**-0.5])):
        output.weigh(head, power)
        assert head.weights.tolist() == pytest.approx(weights)


def test_a_rare_yes_weighs_more_while_learning(codec):
    torch.manual_seed(0)
    batch = LABEL.learning.batch(codec, [LABEL.learning.encode(codec, pair) for pair in PAIRS])
    for name in ("gru", "gru+one-each"):
        module = LABEL.learning.build(ModelRecipe(name=name, hidden=8, dropout=0.0), codec)
        LABEL.learning.class_weights(module, codec, 1.0)
        weights = torch.tensor([1.0, 3.0, 3.0])  # no over yes: x 2 of 4, y and z 1 of 4
        expected = functional.binary_cross_entropy_with_logits(
            module(batch), batch.truth, pos_weight=weights, reduction="sum"
        )
        torch.testing.assert_close(LABEL.learning.loss(module, batch, 0.0).total, expected)


@pytest.mark.spec("L04")
def test_metrics_agree_with_scikit_learn(codec):
    chance, labels = random.Random(0), list(codec.output.labels)
    said = [[label for label in labels if chance.random() < 0.5] for _ in range(97)]
    true = [tuple(label for label in labels if chance.random() < 0.4) for _ in range(97)]
    ranked = [chance.sample(labels, 3) for _ in range(97)]
    found = {
        metric.name: metric.value(list(zip(said, ranked, strict=True)), true) for metric in LABEL.judging.metrics(codec)
    }
    ours, theirs = (np.array([[label in case for label in labels] for case in cases]) for cases in (said, true))
    assert found["macro_f1"] == pytest.approx(f1_score(theirs, ours, average="macro"))
    assert found["micro_f1"] == pytest.approx(f1_score(theirs, ours, average="micro"))
    assert found["hamming"] == pytest.approx(1 - hamming_loss(theirs, ours))
    assert found["whole_sets"] == pytest.approx(np.mean((ours == theirs).all(axis=1)))
    first = [order[0] in case for order, case in zip(ranked, true, strict=True)]
    assert found["precision_at_1"] == pytest.approx(np.mean(first))
    assert found["precision_at_3"] == pytest.approx(np.mean([len(case) / 3 for case in true]))
    assert next(iter(found)) == "macro_f1"
    assert "precision_at_5" not in found, "there are three labels"
    met_later = LABEL.judging.metrics(codec)[3].value([[["x"], ["x"]]], [("never met",)])
    assert met_later == pytest.approx(2 / 4), "a label that training never met is missed, not refused"


def test_how_wrong_and_the_target_of_a_check(codec):
    assert LABEL.judging.error(codec, [["x", "y"], []], ["y", "z"]) == 2
    assert LABEL.judging.error(codec, [[], ["x"]], []) == 0
    assert LABEL.judging.target(("x", "y")) == "x\ty"
    assert LABEL.judging.target(()) == ""


def test_simple_models_answer_in_the_same_form():
    texts = [text for text, _ in PAIRS] * 4
    targets = [target for _, target in PAIRS] * 4
    for name in ("majority-labels", "tf-idf-labels"):
        said, ranked = LabelSetBaseline(name).fit(texts, targets).predict(["one two"])[0]
        assert set(ranked) == {"x", "y", "z"}
        assert [label for label in ranked if label in said] == said
    usual = LabelSetBaseline("majority-labels").fit(["a"] * 3, ["x\ty", "y\tx", "z"])
    assert usual.predict(["b"]) == [[["x", "y"], ["x", "y", "z"]]]


@pytest.fixture(scope="module")
def moods(tmp_path_factory):
    """Each label has its sign among other words; some texts have none, some all."""
    chance = random.Random(0)
    path = tmp_path_factory.mktemp("moods") / "moods.jsonl"
    rows = []
    for number in range(400):
        labels = [label for label in SIGNS if chance.random() < 0.4]
        words = [SIGNS[label] for label in labels] + chance.choices(["so", "it", "was", "then"], k=4)
        chance.shuffle(words)
        rows.append(json.dumps({"text": " ".join([*words, str(number)]), "labels": labels}))
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.mark.spec("K03", "L04")
@pytest.mark.parametrize("model", ["gru+additive", "gru+one-each"])
def test_from_a_file_to_answers_by_one_network_and_by_one_a_label(moods, tmp_path, model):
    settings = {**SMALL, "train.steps": 80, "train.lr": 0.02, "model.hidden": 16, "train.validations": 3}
    settings |= {"train.word_dropout": 0.0}
    run = atento.fit(moods, model=model, settings=settings, device="cpu", out=tmp_path / "run")
    assert run.metrics["task"] == "label"
    assert run.metrics["scores"]["macro_f1"][0] > 0.95
    again = atento.load(tmp_path / "run", device="cpu")
    some, nothing = again.predictor.answer(["so yay it eek was 5", "it was so"])
    (said, ranked), (none, _) = some.value, nothing.value
    assert sorted(ranked[:2]) == ["fear", "joy"]
    assert set(said) <= {"fear", "joy"}
    assert none == []
    lines = [json.loads(line) for line in (tmp_path / "run" / "predictions.jsonl").read_text().splitlines()]
    assert all(set(line["output"][1]) == set(SIGNS) for line in lines)
    assert atento.check(again)


def test_every_default_can_be_built(codec):
    for name in (*LABEL.defaults.models, "gru+one-each"):
        recipe = fill_defaults(LABEL, {"model.name": name, "model.hidden": 8}, data="some.csv")
        assert LABEL.learning.build(recipe.model, codec)(
            LABEL.learning.batch(codec, [LABEL.learning.encode(codec, PAIRS[0])])
        ).shape == (1, 3)
    assert split_items("") == []
