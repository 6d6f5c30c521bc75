"""The match task: two texts in, how they stand to each other out, with the evidence for it."""

import json
import random

import pytest
import torch

from atento.data.builtin.language import evidence
from atento.models import ModelName
from atento.spec import DataRecipe, DecodeRecipe, ModelRecipe, TokensRecipe
from atento.tasks.catalogue import MATCH, TASKS
from atento.tasks.inputs.two_texts import sentence_spans

PAIRS = [
    ("A man walks.\tThe man is walking", "yes"),
    ("A dog sleeps on the sofa\tNo dog sleeps", "no"),
    ("Two cats\tA cat", "yes"),
    ("Birds. Many of them.\tFish", "unclear"),
]
SOURCES = [source for source, _ in PAIRS]


@pytest.fixture(scope="module")
def codec():
    return MATCH.learning.learn(TokensRecipe(lowercase=True), PAIRS)


@pytest.fixture(scope="module", params=["gru", "gru+additive", "lstm+dot+co", "transformer", "transformer+co"])
def module(request, codec):
    return built(request.param, codec)


def built(name, codec, **choices):
    torch.manual_seed(0)
    return MATCH.learning.build(
        ModelRecipe(name=name, **{"hidden": 8, "heads": 2, "dropout": 0.0, **choices}), codec
    ).eval()


def test_batches_are_padded_on_the_right(codec):
    batch = MATCH.learning.batch(codec, [MATCH.learning.encode(codec, pair) for pair in PAIRS])
    assert batch.first_valid.sum(1).tolist() == [4, 6, 2, 6]
    assert batch.second_valid.sum(1).tolist() == [4, 3, 2, 1]
    assert (batch.first[~batch.first_valid] == 0).all()
    assert (batch.first_overlap[~batch.first_valid] == 0).all()
    assert batch.truth.tolist() == [codec.output.labels.index(label) for _, label in PAIRS]
    assert MATCH.learning.length(codec, MATCH.learning.encode(codec, PAIRS[1])) == 9


def test_the_loss_is_that_of_the_answers(codec, module):
    loss = MATCH.learning.loss(
        module, MATCH.learning.batch(codec, [MATCH.learning.encode(codec, pair) for pair in PAIRS]), 0.0
    )
    answers = MATCH.answering.answer(module, codec, SOURCES, DecodeRecipe())
    total = -sum(
        torch.tensor(answer.probabilities[label]).log() for answer, (_, label) in zip(answers, PAIRS, strict=True)
    )
    assert loss.items == 4
    assert loss.total.item() == pytest.approx(float(total), rel=1e-5)
    for answer in answers:
        assert sum(answer.probabilities.values()) == pytest.approx(1)
        assert answer.score == pytest.approx(float(torch.tensor(answer.probabilities[answer.text]).log()), abs=1e-5)
        assert answer.text == max(answer.probabilities, key=answer.probabilities.get)


def test_neighbours_do_not_change_an_answer(codec, module):
    together = MATCH.answering.answer(module, codec, SOURCES, DecodeRecipe())
    alone = [MATCH.answering.answer(module, codec, [source], DecodeRecipe())[0] for source in SOURCES]
    for one, other in zip(together, alone, strict=True):
        assert (one.text, one.evidence) == (other.text, other.evidence)
        assert one.score == pytest.approx(other.score, abs=1e-5)
    assert MATCH.answering.answer(module, codec, [], DecodeRecipe()) == []


def test_a_look_is_from_the_second_text_at_the_first(codec, module):
    look = MATCH.answering.look(module, codec, SOURCES[0], DecodeRecipe())
    kind = type(module).__name__
    if kind == "TwoTowers" and module.pooling is None:
        assert look.weights.numel() == 0
    elif kind == "TwoTowers":
        assert look.source == ["A", "man", "walks", ".", "The", "man", "is", "walking"]
        assert look.output == [look.text]
        assert look.weights.sum().item() == pytest.approx(2)  # each tower shares out one
    else:
        assert (look.source, look.output) == (["A", "man", "walks", "."], ["The", "man", "is", "walking"])
        assert look.weights.shape[2:] == (4, 4)
    titles = [step.title for step in MATCH.answering.trace(module, codec, SOURCES[0], DecodeRecipe())]
    assert titles[0] == "first text" and titles[-3:] == ["summaries", "outputs", "probabilities"]
    assert any(title.startswith("weights") for title in titles) == module.attends


def test_only_who_looks_across_has_evidence(codec, module):
    answers = MATCH.answering.answer(module, codec, SOURCES, DecodeRecipe())
    assert all((answer.evidence is None) != module.attends for answer in answers)
    if module.attends:
        assert answers[3].evidence in ("Birds.", "Many of them.")


def test_words_are_forgotten_and_labels_weighed(codec):
    batch = MATCH.learning.batch(codec, [MATCH.learning.encode(codec, pair) for pair in PAIRS])
    torch.manual_seed(0)
    blurred = MATCH.learning.word_dropout(batch, 0.5)
    moved = blurred.first != batch.first
    assert 0 < moved.sum() < batch.first_valid.sum()
    assert (blurred.first[moved] == 1).all()
    assert not (moved & ~batch.first_valid).any()
    assert torch.equal(blurred.first_overlap, batch.first_overlap)
    module = built("gru", codec)
    plain = MATCH.learning.loss(module, batch, 0.0).total
    MATCH.learning.class_weights(module, codec, 1.0)
    costs = torch.nn.functional.cross_entropy(module(batch), batch.truth, reduction="none")
    weighed = (costs * module.head.weights[batch.truth]).sum()
    torch.testing.assert_close(MATCH.learning.loss(module, batch, 0.0).total, weighed)
    assert not torch.isclose(plain, weighed)


def test_keys_that_are_drawn_are_judged_by_the_cost_of_their_pair(codec):
    module = built("gru+additive+hard-reinforce+co", codec).train()
    torch.manual_seed(0)
    loss = MATCH.learning.loss(
        module, MATCH.learning.batch(codec, [MATCH.learning.encode(codec, pair) for pair in PAIRS]), 0.0
    )
    (slope,) = torch.autograd.grad(loss.total, module.attention.score.project_query.weight)
    assert slope.isfinite().all() and slope.any()


@pytest.fixture(scope="module")
def questions():
    """Passages of three or four facts."""
    parts = evidence(DataRecipe(train="evidence", length=4), 0)
    return parts._replace(train=parts.train[:2000], test=parts.test[:200])


def taught(name, questions, *, steps):
    """A model after so many batches, and its answers to the test part."""
    codec = MATCH.learning.learn(TokensRecipe(lowercase=True), questions.train)
    examples = [MATCH.learning.encode(codec, pair) for pair in questions.train]
    module, chance = built(name, codec, hidden=40).train(), random.Random(0)
    optimiser = torch.optim.Adam(module.parameters(), lr=0.01)
    for _ in range(steps):
        optimiser.zero_grad()
        MATCH.learning.loss(module, MATCH.learning.batch(codec, chance.sample(examples, 32)), 0.0).mean.backward()
        optimiser.step()
    answers = MATCH.answering.answer(module.eval(), codec, [source for source, _ in questions.test], DecodeRecipe())
    right = sum(answer.text == label for answer, (_, label) in zip(answers, questions.test, strict=True))
    return module, codec, answers, right / len(answers)


@pytest.fixture(scope="module")
def reader(questions):
    return taught("lstm+dot+sparsemax+co", questions, steps=170)


@pytest.mark.spec("K09")
def test_co_attention_learns_what_two_towers_do_not(questions, reader):
    """The same data, steps and rate; of towers those without and with attention."""
    assert reader[3] > 0.95
    for towers in ("gru", "lstm+additive"):
        assert taught(towers, questions, steps=170)[3] < 0.75, towers


def deciding_sentence(source):
    """The sentence of a passage about the person and the thing of its question; empty where there is none."""
    text, question = source.split("\t")
    person, _, thing = question.removeprefix("Does ").rstrip("?").split(maxsplit=2)
    about = [text[start:end] for start, end in sentence_spans(text)]
    return next((line for line in about if line.startswith(f"{person} ") and line.endswith(f" {thing}.")), "")


@pytest.mark.spec("K10")
def test_yes_or_no_with_the_sentence_that_decides(questions, reader):
    module, codec, answers, _ = reader
    asked = [source for source, _ in questions.test]
    told = [(answer, deciding_sentence(source)) for answer, source in zip(answers, asked, strict=True)]
    found = [answer.evidence == sentence for answer, sentence in told if sentence]
    assert sum(found) / len(found) > 0.9  # a guess finds one of three or four
    source = next(source for source in asked if deciding_sentence(source))
    look = MATCH.answering.look(module, codec, source, DecodeRecipe())
    text = source.split("\t")[0]
    places = codec.input.vocabulary.offsets(text)
    shares = {
        text[start:end]: sum(
            look.weights[..., at].sum().item() for at, (first, _) in enumerate(places) if start <= first < end
        )
        for start, end in sentence_spans(text)
    }
    assert max(shares, key=shares.get) == deciding_sentence(source)


def test_the_task_is_known_and_its_defaults_are_plain():
    assert TASKS["match"] is MATCH
    for name in MATCH.defaults.models:
        assert json.loads(json.dumps(MATCH.defaults.values("some.tsv", ModelName.parse(name))))
        assert MATCH.learning.build(
            ModelRecipe(name=name, hidden=8, heads=2), MATCH.learning.learn(TokensRecipe(), PAIRS)
        )
