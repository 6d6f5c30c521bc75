"""The same questions answered after the true tokens and after the model's own."""

import pytest
import torch

from atento.data.text.vocabulary import END, PAD, START, UNKNOWN
from atento.spec import DecodeRecipe, ModelRecipe, TokensRecipe
from atento.tasks.catalogue import TRANSLATE
from atento.tasks.outputs.exposure import next_tokens
from atento.tasks.task import Answer, EvaluationExample

PAIRS = [("ab", "x y"), ("ba", "y x"), ("aab", "x x y"), ("c", "z"), ("abab", "x y x y")] * 8
ASKED = [EvaluationExample(source, (target,)) for source, target in PAIRS[:5]]


@pytest.fixture(scope="module")
def codec():
    return TRANSLATE.learning.learn(TokensRecipe(source="char", target="word"), PAIRS)


@pytest.fixture(scope="module")
def module(codec):
    """A random model with strong opinions, so that each input matters."""
    torch.manual_seed(3)
    made = TRANSLATE.learning.build(ModelRecipe(name="gru+dot", hidden=16, dropout=0.0), codec).eval()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.mul_(2).add_(0.5 * torch.randn_like(parameter))
    return made


def forced_by_hand(module, codec, source, target):
    """Each next token by itself, from the true ones before it."""
    row, truth = codec.input.encode(source), [*codec.output.encode(target), END]
    encoded = module.encode(torch.tensor([row]), torch.ones(1, len(row), dtype=torch.bool))
    said = []
    for at in range(len(truth)):
        logits = module.decoder(torch.tensor([[START, *truth[:at]]]), encoded)[0, -1]
        logits[[PAD, UNKNOWN, START]] = -torch.inf
        said.append(int(logits.argmax()))
    return said, truth


@pytest.mark.spec("E03")
@torch.no_grad()
def test_both_ways_by_hand(module, codec):
    answers = TRANSLATE.answering.answer(module, codec, [question.source for question in ASKED], DecodeRecipe())
    found = TRANSLATE.judging.exposure(module, codec, ASKED, answers)
    hits = tokens = exact = free_hits = free_exact = 0
    for question, answer in zip(ASKED, answers, strict=True):
        said, truth = forced_by_hand(module, codec, question.source, question.references[0])
        tokens += len(truth)
        hits += sum(one == other for one, other in zip(said, truth, strict=True))
        exact += said == truth
        written = [*codec.output.encode(answer.text), END]
        free_hits += sum(one == other for one, other in zip(written, truth, strict=False))
        free_exact += answer.text == question.references[0]
    assert found["forced"] == {"tokens": pytest.approx(hits / tokens), "exact": exact / 5}
    assert found["free"] == {"tokens": pytest.approx(free_hits / tokens), "exact": free_exact / 5}


def test_the_best_of_several_references_counts(module, codec):
    questions = [EvaluationExample("ab", ("z", "x y", "y y"))]
    found = TRANSLATE.judging.exposure(module, codec, questions, [Answer("x y", 0.0)])
    assert found["free"] == {"tokens": 1.0, "exact": 1.0}
    found = TRANSLATE.judging.exposure(module, codec, questions, [Answer("y y y", 0.0)])
    assert found["free"] == {"tokens": pytest.approx(2 / 3), "exact": 0.0}  # its end is missing


def test_a_batch_changes_no_next_token(module, codec):
    pairs = [TRANSLATE.learning.encode(codec, pair) for pair in PAIRS[:5]]
    together = next_tokens(module, codec.input, codec.output, pairs)
    assert together == [next_tokens(module, codec.input, codec.output, [pair])[0] for pair in pairs]
    assert [len(row) for row in together] == [len(pair.target) + 1 for pair in pairs]


def test_nothing_asked_and_an_empty_source(module, codec):
    nothing = {"tokens": 0.0, "exact": 0.0}
    assert TRANSLATE.judging.exposure(module, codec, [], []) == {"forced": nothing, "free": nothing}
    found = TRANSLATE.judging.exposure(module, codec, [EvaluationExample(" ", ("x",))], [Answer("x", 0.0)])
    assert found["free"] == {"tokens": 1.0, "exact": 1.0}
