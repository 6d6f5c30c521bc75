"""The classify task: one label a text, from a file to an answer, with words and without."""

import random

import pytest
import torch
from torch.nn import functional

import atento
from atento.baselines.catalogue import BASELINES
from atento.data.text.vocabulary import END, MARKS, UNKNOWN
from atento.errors import InputError
from atento.models.classifier import LabelledBatch
from atento.spec import DecodeRecipe, ModelRecipe, TokensRecipe, TrainRecipe
from atento.tasks.classify.text import CLASSIFY
from atento.tasks.classify.text_codec import LabelCodec
from atento.tasks.task import fill_defaults
from atento.training.loop import require_sense

PAIRS = [("one two three", "x"), ("three two", "y"), ("four\nfive six", "x"), ("two", "z")]
SMALL = {"train.threads": 1, "train.batch_tokens": 512, "train.warmup": 10, "model.dropout": 0.0, "train.average": 0}
NAMES = ["gru", "gru+additive", "gru+additive+hierarchical", "transformer"]


@pytest.fixture(scope="module")
def codec():
    return LabelCodec.learn(TokensRecipe(), PAIRS, several=False)


@pytest.fixture(scope="module", params=NAMES)
def module(request, codec):
    torch.manual_seed(0)
    recipe = ModelRecipe(name=request.param, hidden=8, heads=2, dropout=0.0, runs=2)
    built = CLASSIFY.build(recipe, codec).eval()
    torch.nn.init.normal_(built.runs.table.weight)
    return built


def test_the_loss_is_the_mean_log_probability_of_the_labels(codec, module):
    batch = CLASSIFY.batch([CLASSIFY.encode(codec, pair) for pair in PAIRS])
    answers = CLASSIFY.answer(module, codec, [source for source, _ in PAIRS], DecodeRecipe())
    chances = [answer.chances[label] for answer, (_, label) in zip(answers, PAIRS, strict=True)]
    loss = CLASSIFY.loss(module, batch, 0.0)
    assert loss.items == len(PAIRS)
    assert loss.total.item() == pytest.approx(-torch.tensor(chances).log().sum().item(), rel=1e-4)
    smooth = functional.cross_entropy(module(batch), batch.truth, label_smoothing=0.2, reduction="sum")
    torch.testing.assert_close(CLASSIFY.loss(module, batch, 0.2).total, smooth)


def test_an_answer_is_the_likeliest_label_alone_or_in_company(codec, module):
    sources = ["two three", "", "five " * 40, "one\ntwo\n\nthree"]
    together = CLASSIFY.answer(module, codec, sources, DecodeRecipe())
    for source, answer in zip(sources, together, strict=True):
        (alone,) = CLASSIFY.answer(module, codec, [source], DecodeRecipe())
        assert (answer.text, answer.score) == (alone.text, pytest.approx(alone.score, abs=1e-5))
        assert sum(answer.chances.values()) == pytest.approx(1, abs=1e-5)
        assert answer.text == max(answer.chances, key=answer.chances.get)
        assert answer.score == pytest.approx(torch.tensor(answer.chances[answer.text]).log().item(), abs=1e-5)
    assert CLASSIFY.answer(module, codec, [], DecodeRecipe()) == []


def test_a_look_is_where_the_label_was_taken_from(codec, module):
    look = CLASSIFY.look(module, codec, "one two\nthree", DecodeRecipe())
    assert look.source == ["one", "two", "¶", "three"]
    name = type(module.encoder).__name__
    if name == "HierarchicalEncoder":
        assert look.weights.shape == (2, 1, 1, 4)
        assert look.weights[0, 0, 0, :2].sum().item() == pytest.approx(1, abs=1e-5)
        assert look.weights[1, 0, 0, 2] == 0
    elif module.pooling is not None:
        tokens = torch.tensor([codec.read("one two\nthree")])
        batch = LabelledBatch(tokens, torch.ones_like(tokens, dtype=torch.bool), tokens)
        torch.testing.assert_close(look.weights[0, 0], module.weights(batch).detach())
        assert look.output == [look.text]
    elif name == "TransformerEncoder":
        assert look.weights.shape == (1, 2, 4, 4)
        assert look.output == look.source
    else:
        assert look.weights.numel() == 0
    steps = {step["title"]: step for step in CLASSIFY.steps(module, codec, "one two\nthree", DecodeRecipe())}
    assert list(steps["outputs"]["columns"]) == ["x", "y", "z"]
    assert ("weights" in steps) == (look.weights.size(2) == 1 and look.weights.numel() > 0)


def test_some_words_are_read_as_unknown(codec):
    tokens = torch.randint(0, 9, (50, 40))
    batch = CLASSIFY.blur(LabelledBatch(tokens, tokens > 0, tokens), 0.25)
    changed = batch.source != tokens
    assert (batch.source[changed] == UNKNOWN).all()
    assert not changed[tokens < len(MARKS)].any()
    assert (tokens[~changed] == batch.source[~changed]).all()
    assert changed[tokens >= len(MARKS)].double().mean().item() == pytest.approx(0.25, abs=0.05)
    assert (batch.source == END).sum() == (tokens == END).sum()


def test_rare_labels_weigh_more_while_learning(codec):
    torch.manual_seed(0)
    module = CLASSIFY.build(ModelRecipe(name="gru", hidden=8, dropout=0.0), codec)
    batch = CLASSIFY.batch([CLASSIFY.encode(codec, pair) for pair in PAIRS])
    CLASSIFY.weigh(module, codec, 1.0)
    weights = torch.tensor([4 / 6, 4 / 3, 4 / 3])  # n / (labels · how often): x twice, y and z once
    expected = functional.cross_entropy(module(batch), batch.truth, weight=weights, reduction="sum")
    torch.testing.assert_close(CLASSIFY.loss(module, batch, 0.0).total, expected)
    assert "head.weights" not in module.state_dict()
    with pytest.raises(InputError, match=r"train\.balance has no meaning for the task estimate"):
        require_sense(atento.tasks.catalogue.TASKS["estimate"], module, TrainRecipe(balance=0.5))


@pytest.fixture(scope="module")
def denials(tmp_path_factory):
    """`no` before `liked` or before `paid`, in any order, among other words: the words alone say nothing."""
    chance = random.Random(0)
    path = tmp_path_factory.mktemp("denials") / "denials.csv"
    rows = {}
    while len(rows) < 700:
        clauses = [["liked", "it"], ["paid", "much"]]
        denied = chance.randrange(2)
        clauses[denied].insert(0, "no")
        chance.shuffle(clauses)
        aside = [chance.choice(["ana", "eva", "luz", "sol"]) for _ in range(chance.randint(2, 5))]
        rows[" ".join(aside + clauses[0] + clauses[1])] = "against" if denied == 0 else "for"
    path.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in rows.items()), encoding="utf-8")
    return path


@pytest.mark.spec("K01", "B01")
def test_from_a_file_to_an_answer_that_a_bag_of_words_cannot_give(denials, tmp_path):
    settings = {**SMALL, "train.steps": 120, "train.lr": 0.02, "model.hidden": 16, "train.validations": 4}
    run = atento.fit(denials, model="gru", settings=settings, device="cpu", out=tmp_path / "run")
    assert run.metrics["task"] == "classify"
    assert list(run.metrics["scores"]) == ["accuracy", "macro_f1"]
    assert run.metrics["scores"]["accuracy"][0] > 0.95
    reading = CLASSIFY.read(run.recipe.data, 0)
    bag = BASELINES["bag-of-words"].make().fit(*zip(*reading.train, strict=True))
    said = bag.predict([question.source for question in reading.test])
    right = sum(label in question.references for label, question in zip(said, reading.test, strict=True))
    assert right / len(said) < 0.75
    again = atento.load(tmp_path / "run", device="cpu")
    assert again.predict(["luz no liked it paid much", "ana liked it no paid much"]) == ["against", "for"]
    assert atento.check(again)


@pytest.mark.spec("K12")
def test_symbols_without_words_are_classified_character_by_character(tmp_path):
    """Whether the motif GATC stands anywhere in a string."""
    chance, rows = random.Random(1), {}
    while len(rows) < 800:
        text = "".join(chance.choices("ACGT", k=chance.randint(8, 12)))
        if chance.random() < 0.5:
            place = chance.randint(0, len(text) - 4)
            text = text[:place] + "GATC" + text[place + 4 :]
        rows[text] = "yes" if "GATC" in text else "no"
    path = tmp_path / "strings.tsv"
    path.write_text("".join(f"{text}\t{label}\n" for text, label in rows.items()), encoding="utf-8")
    settings = {**SMALL, "train.steps": 220, "train.lr": 0.02, "model.hidden": 24, "train.validations": 6}
    settings |= {"train.word_dropout": 0, "model.runs": 0, "data.header": "no"}
    run = atento.fit(path, task="classify", model="gru", settings=settings, device="cpu", out=tmp_path / "run")
    assert any("strings without words" in note for note in run.metrics["data"]["notes"])
    assert run.metrics["scores"]["accuracy"][0] > 0.95
    assert run.predict(["AAAGATCAA", "AAAGTACAA"]) == ["yes", "no"]


def test_every_default_can_be_built(codec):
    for name in CLASSIFY.models:
        recipe = fill_defaults(CLASSIFY, {"model.name": name, "model.hidden": 8}, data="some.csv")
        require_sense(CLASSIFY, CLASSIFY.build(recipe.model, codec), recipe.train)
