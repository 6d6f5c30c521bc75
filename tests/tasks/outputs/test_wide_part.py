"""Wide parts from a file of texts to an answer: solved from the training part, weighed, explained, saved and loaded."""

import random

import numpy as np
import pytest
import torch

import atento
from atento.baselines.log_count_ratios import solve_best
from atento.errors import InputError
from atento.spec import DecodeRecipe, ModelRecipe, TokensRecipe
from atento.tasks.catalogue import CLASSIFY, ESTIMATE_TEXT, LABEL, TAG
from atento.tasks.outputs.wide_part import keys_of, presence_of
from atento.tasks.task import EvaluationExample

ANIMALS, TOOLS, FILLED = ("cat", "dog", "owl"), ("saw", "axe", "pen"), ("the", "a", "my", "one", "old", "new")


def texts(count=90, seed=0):
    """A text names an animal or a tool; `not` before it turns the label."""
    draw, found = random.Random(seed), []
    for _ in range(count):
        word, no = draw.choice(ANIMALS + TOOLS), draw.random() < 0.4
        label = "animal" if (word in ANIMALS) != no else "tool"
        words = draw.choices(FILLED, k=draw.randint(1, 4))
        found.append((" ".join([*words, *(["not"] if no else []), word]), label))
    return found


def learned(task, pairs, name):
    torch.manual_seed(0)
    codec = task.learning.learn(TokensRecipe(), pairs)
    return codec, task.learning.build(ModelRecipe(name=name, hidden=8, characters=4 if task is TAG else 0), codec)


def test_answers_begin_as_those_of_the_linear_model():
    pairs = texts()
    codec, module = learned(CLASSIFY, pairs, "gru+wide")
    note = CLASSIFY.learning.closed_form(module, codec, pairs)
    assert note.startswith("beside the network stands a linear model of ")
    wide, module = module.wide, module.eval()
    had = [np.unique(keys_of(wide, codec.input.encode(text))) for text, _ in pairs]
    keys = np.unique(np.concatenate(had))
    truth = np.array([[label == one for one in codec.output.labels] for _, label in pairs])
    presence = presence_of(had, keys)
    solution, _ = solve_best(presence, truth, several=False)
    batch = codec.batch([codec.encode(pair) for pair in pairs])
    np.testing.assert_allclose(module(batch).detach().numpy(), solution.scores(presence), atol=1e-5)
    answers = CLASSIFY.answering.answer(module, codec, [text for text, _ in pairs], DecodeRecipe())
    assert sum(answer.text == label for answer, (_, label) in zip(answers, pairs, strict=True)) > 80
    shown = CLASSIFY.answering.look(module, codec, "the old not cat", DecodeRecipe())
    assert shown.explanation.startswith("what adds to the linear score of tool, and what takes away:")
    assert "not cat" in shown.explanation


def test_the_validation_part_weighs_a_network_that_knows_nothing_little():
    pairs = texts()
    codec, module = learned(CLASSIFY, pairs, "gru+wide")
    CLASSIFY.learning.closed_form(module, codec, pairs)
    torch.nn.init.normal_(module.head.map.weight, std=20.0)
    asked = [EvaluationExample(text, (label,)) for text, label in texts(60, seed=1)]
    CLASSIFY.learning.calibrate(module.eval(), codec, [*asked, EvaluationExample("the cat", ("never seen",))])
    linear, network = module.wide.weights_of_both.tolist()
    assert network < 0.2 < linear


def test_several_labels_have_a_regression_each_and_one_each_is_refused():
    pairs = [(text, "\t".join(sorted({label, "short"} if len(text) < 12 else {label}))) for text, label in texts()]
    codec, module = learned(LABEL, pairs, "transformer+wide")
    assert LABEL.learning.closed_form(module, codec, pairs)
    asked = [EvaluationExample(text, tuple(labels.split("\t"))) for text, labels in pairs]
    LABEL.learning.calibrate(module.eval(), codec, asked)
    answers = LABEL.answering.answer(module, codec, [one.source for one in asked], DecodeRecipe())
    right = [set(answer.judged[0]) == set(one.references) for answer, one in zip(answers, asked, strict=True)]
    assert sum(right) > 70
    with pytest.raises(InputError, match="one network for all labels"):
        LABEL.learning.check_name(atento.models.ModelName.parse("gru+one-each+wide"))


def test_a_number_has_no_wide_part():
    assert not any("wide" in name for name in (*ESTIMATE_TEXT.defaults.models, ESTIMATE_TEXT.defaults.model))
    with pytest.raises(InputError, match="a linear model of labels"):
        ESTIMATE_TEXT.learning.check_name(atento.models.ModelName.parse("gru+wide"))


def test_a_model_without_a_wide_part_begins_at_random():
    pairs = texts(20)
    for task, name, rows in ((CLASSIFY, "gru", pairs), (TAG, "lstm+crf", [("a cat", "X\tY"), ("a dog", "X\tY")])):
        codec, module = learned(task, rows, name)
        assert task.learning.closed_form(module, codec, rows) == ""
        task.learning.calibrate(module.eval(), codec, [EvaluationExample(*rows[0][:1], (rows[0][1],))])


@pytest.mark.parametrize("name", ["lstm+wide", "lstm+crf+wide"])
def test_a_tagger_begins_as_its_linear_model(name):
    pairs = [("\t".join(text.split()), "\t".join(tags_of(text))) for text, _ in texts(60)]
    codec, module = learned(TAG, pairs, name)
    kind = "linear CRF" if "crf" in name else "linear model"
    before = torch.get_rng_state()
    assert f"stands a {kind} of " in TAG.learning.closed_form(module, codec, pairs)
    assert torch.equal(torch.get_rng_state(), before)
    asked = [EvaluationExample(source, (tags,)) for source, tags in pairs]
    TAG.learning.calibrate(module.eval(), codec, asked)
    answers = TAG.answering.answer(module, codec, [source for source, _ in pairs], DecodeRecipe())
    right = [answer.value == tags.split("\t") for answer, (_, tags) in zip(answers, pairs, strict=True)]
    assert sum(right) > 55


def tags_of(text):
    """D before the noun, N the noun, and V a noun after `not`."""
    words = text.split()
    return ["D" if word in FILLED else "X" if word == "not" else "V" if "not" in words else "N" for word in words]


def test_a_run_is_saved_loaded_and_goes_back_to_its_start(tmp_path):
    file = tmp_path / "things.tsv"
    file.write_text("text\tlabel\n" + "".join(f"{text} {at}\t{label}\n" for at, (text, label) in enumerate(texts(120))))
    run = atento.fit(
        str(file),
        task="classify",
        model="gru+wide",
        settings={"train.steps": 2, "model.hidden": 8},
        out=tmp_path / "run",
    )
    assert run.metrics["best_step"] == 0  # two steps teach nothing
    again = atento.load(tmp_path / "run")
    asked = [text for text, _ in texts(9, seed=3)]
    first, second = ([answer.score for answer in one.predictor.answer(asked)] for one in (run, again))
    assert first == second
