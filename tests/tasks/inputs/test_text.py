"""The classify task: one label a text, from a file to an answer, with words and without."""

import json
import random

import pytest
import torch
from torch.nn import functional

import atento
from atento.baselines import BASELINES
from atento.data import SPECIAL_TOKENS
from atento.data.text.vocabulary import END, UNKNOWN
from atento.errors import InputError
from atento.models import LabelledBatch
from atento.spec import DecodeRecipe, ModelRecipe, TokensRecipe, TrainRecipe
from atento.tasks.catalogue import CLASSIFY, LABEL
from atento.tasks.filling import fill_defaults
from atento.tasks.outputs.output import UNSEEN
from atento.training import validate_training

PAIRS = [("one two three", "x"), ("three two", "y"), ("four\nfive six", "x"), ("two", "z")]
SMALL = {"train.threads": 1, "train.batch_tokens": 512, "train.warmup": 10, "model.dropout": 0.0, "train.ema": 0}
NAMES = ["gru", "gru+additive", "gru+additive+hierarchical", "transformer"]


@pytest.fixture(scope="module")
def codec():
    return CLASSIFY.learning.learn(TokensRecipe(), PAIRS)


@pytest.fixture(scope="module", params=NAMES)
def module(request, codec):
    torch.manual_seed(0)
    recipe = ModelRecipe(name=request.param, hidden=8, heads=2, dropout=0.0, ngrams=2)
    built = CLASSIFY.learning.build(recipe, codec).eval()
    torch.nn.init.normal_(built.ngrams.table.weight)
    return built


def test_the_loss_is_the_mean_log_probability_of_the_labels(codec, module):
    batch = CLASSIFY.learning.batch(codec, [CLASSIFY.learning.encode(codec, pair) for pair in PAIRS])
    answers = CLASSIFY.answering.answer(module, codec, [source for source, _ in PAIRS], DecodeRecipe())
    probabilities = [answer.probabilities[label] for answer, (_, label) in zip(answers, PAIRS, strict=True)]
    loss = CLASSIFY.learning.loss(module, batch, 0.0)
    assert loss.items == len(PAIRS)
    assert loss.total.item() == pytest.approx(-torch.tensor(probabilities).log().sum().item(), rel=1e-4)
    smooth = functional.cross_entropy(module(batch), batch.truth, label_smoothing=0.2, reduction="sum")
    torch.testing.assert_close(CLASSIFY.learning.loss(module, batch, 0.2).total, smooth)


def test_an_answer_is_the_likeliest_label_alone_or_in_company(codec, module):
    sources = ["two three", "", "five " * 40, "one\ntwo\n\nthree"]
    together = CLASSIFY.answering.answer(module, codec, sources, DecodeRecipe())
    for source, answer in zip(sources, together, strict=True):
        (alone,) = CLASSIFY.answering.answer(module, codec, [source], DecodeRecipe())
        assert (answer.text, answer.score) == (alone.text, pytest.approx(alone.score, abs=1e-5))
        assert sum(answer.probabilities.values()) == pytest.approx(1, abs=1e-5)
        assert answer.text == max(answer.probabilities, key=answer.probabilities.get)
        assert answer.score == pytest.approx(torch.tensor(answer.probabilities[answer.text]).log().item(), abs=1e-5)
    assert CLASSIFY.answering.answer(module, codec, [], DecodeRecipe()) == []


def test_a_look_is_where_the_label_was_taken_from(codec, module):
    look = CLASSIFY.answering.look(module, codec, "one two\nthree", DecodeRecipe())
    assert look.source == ["one", "two", "¶", "three"]
    name = type(module.encoder).__name__
    if name == "HierarchicalEncoder":
        assert look.weights.shape == (2, 1, 1, 4)
        assert look.weights[0, 0, 0, :2].sum().item() == pytest.approx(1, abs=1e-5)
        assert look.weights[1, 0, 0, 2] == 0
    elif module.pooling is not None:
        tokens = torch.tensor([codec.input.encode("one two\nthree")])
        batch = LabelledBatch(tokens, torch.ones_like(tokens, dtype=torch.bool), tokens)
        torch.testing.assert_close(look.weights[0, 0], module.weights(batch).detach())
        assert look.output == [look.text]
    elif name == "TransformerEncoder":
        assert look.weights.shape == (1, 2, 4, 4)
        assert look.output == look.source
    else:
        assert look.weights.numel() == 0
    steps = {step.title: step for step in CLASSIFY.answering.trace(module, codec, "one two\nthree", DecodeRecipe())}
    assert list(steps["outputs"].columns) == ["x", "y", "z"]
    assert ("weights" in steps) == (look.weights.size(2) == 1 and look.weights.numel() > 0)


def test_some_words_are_read_as_unknown(codec):
    tokens = torch.randint(0, 9, (50, 40))
    batch = CLASSIFY.learning.word_dropout(LabelledBatch(tokens, tokens > 0, tokens), 0.25)
    changed = batch.source != tokens
    assert (batch.source[changed] == UNKNOWN).all()
    assert not changed[tokens < len(SPECIAL_TOKENS)].any()
    assert (tokens[~changed] == batch.source[~changed]).all()
    assert changed[tokens >= len(SPECIAL_TOKENS)].double().mean().item() == pytest.approx(0.25, abs=0.05)
    assert (batch.source == END).sum() == (tokens == END).sum()


def test_rare_labels_weigh_more_while_learning(codec):
    torch.manual_seed(0)
    module = CLASSIFY.learning.build(ModelRecipe(name="gru", hidden=8, dropout=0.0), codec)
    batch = CLASSIFY.learning.batch(codec, [CLASSIFY.learning.encode(codec, pair) for pair in PAIRS])
    CLASSIFY.learning.class_weights(module, codec, 1.0)
    weights = torch.tensor([4 / 6, 4 / 3, 4 / 3])  # n / (labels · how often): x twice, y and z once
    expected = functional.cross_entropy(module(batch), batch.truth, weight=weights, reduction="sum")
    torch.testing.assert_close(CLASSIFY.learning.loss(module, batch, 0.0).total, expected)
    assert "head.weights" not in module.state_dict()
    with pytest.raises(InputError, match=r"train\.class_weight has no meaning for the task estimate"):
        validate_training(atento.tasks.catalogue.TASKS["estimate"], module, TrainRecipe(class_weight=0.5))


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
    reading = CLASSIFY.reading.read(run.recipe.data, 0)
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
    settings |= {"train.word_dropout": 0, "model.ngrams": 0, "data.header": "no"}
    run = atento.fit(path, task="classify", model="gru", settings=settings, device="cpu", out=tmp_path / "run")
    assert any("strings without words" in note for note in run.metrics["data"]["notes"])
    assert run.metrics["scores"]["accuracy"][0] > 0.95
    assert run.predict(["AAAGATCAA", "AAAGTACAA"]) == ["yes", "no"]


def test_every_default_can_be_built(codec):
    for name in CLASSIFY.defaults.models:
        recipe = fill_defaults(CLASSIFY, {"model.name": name, "model.hidden": 8}, data="some.csv")
        validate_training(CLASSIFY, CLASSIFY.learning.build(recipe.model, codec), recipe.train)


REVIEWS = [("A good film. Very good!", "pos"), ("a bad film\nnot good", "neg"), ("good good", "pos")]
SETS = [("one two", "a\tb"), ("two three", ""), ("three four", "b"), ("five six", "b")]


def learn(pairs=REVIEWS, *, several=False, **choices):
    return (LABEL if several else CLASSIFY).learning.learn(TokensRecipe(**choices), pairs)


def test_words_and_the_ends_of_sentences():
    codec = learn(lowercase=True)
    assert codec.output.labels == ("neg", "pos")
    tokens = codec.input.encode("A GOOD film. Very new!")
    assert codec.input.view(None, "A GOOD film. Very new!").labels == [
        "a",
        "good",
        "film",
        ".",
        "¶",
        "very",
        "<unknown>",
        "!",
    ]
    assert tokens.count(END) == 1
    assert tokens[6] == UNKNOWN
    assert codec.input.encode("  ") == [UNKNOWN]
    assert CLASSIFY.learning.encode(codec, ("good", "pos")).target == 1
    assert CLASSIFY.learning.encode(codec, ("good", "new")).target == UNSEEN
    assert learn().input.encode("A") != learn().input.encode("a")
    assert "lowercased" in codec.notes[0]
    assert codec.notes[1] == "2 labels, most often pos 67%, neg 33%"


@pytest.mark.spec("K12")
def test_strings_without_words_are_cut_into_characters_and_it_is_said():
    codec = learn([("ACGT", "x"), ("ACcA", "y")], lowercase=True)
    assert codec.input.vocabulary.level == "char"
    assert "strings without words, 1.0 per text, capital letters kept" in codec.notes[0]
    assert codec.input.view(None, "AcG").labels == ["A", "c", "G"]
    asked = learn([("ACGT", "x"), ("ACcA", "y")], source="char", lowercase=True)
    assert codec.input.encode("a") == [UNKNOWN] != asked.input.encode("a")
    assert learn(source="subword", vocab_size=20).input.vocabulary.level == "subword"


@pytest.mark.parametrize("several, pairs", [(False, REVIEWS), (True, SETS)])
def test_what_is_saved_is_read_again(several, pairs):
    codec = learn(pairs, several=several, lowercase=True)
    again = (LABEL if several else CLASSIFY).learning.load(json.loads(json.dumps(codec.to_json())))
    assert again.to_json() == codec.to_json() and again.input.lower
    assert again.input.encode(pairs[0][0]) == codec.input.encode(pairs[0][0])


@pytest.mark.parametrize(
    "change",
    [
        {"labels": []},
        {"labels": [1, 2]},
        {"labels": ["a", "a"]},
        {"counts": [1]},
        {"counts": "x"},
        {"lower": 1},
        {"sentences": None},
    ],
)
def test_what_is_damaged_is_refused(change):
    with pytest.raises(InputError):
        saved = learn().to_json()
        half = "input" if "lower" in change or "sentences" in change else "output"
        CLASSIFY.learning.load({**saved, half: {**saved[half], **change}})


def test_one_label_is_nothing_to_tell_apart():
    with pytest.raises(InputError, match="nothing to tell apart") as caught:
        learn([("a", "x"), ("b", "x")])
    assert "1 label: x" in caught.value.found
    assert learn([("a b", "x")], several=True).output.labels == ("x",)
