"""Filling blanks on untrained models: the best word by the formula, every word tried."""

import pytest
import torch

from atento.models.builders import build_language_model, build_masked_model
from atento.spec import ModelRecipe, TokensRecipe, TrainRecipe
from atento.tasks.generate.codec import MASK, TextCodec
from atento.tasks.generate.scoring import fill, has_blank

WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
TEXT = " ".join(WORDS) + "."


def make(level, objective):
    codec = TextCodec.learn(TokensRecipe(source=level, vocab_size=40), [(TEXT, "")]).suited(
        TrainRecipe(objective=objective)
    )
    build = build_masked_model if objective == "masked" else build_language_model
    torch.manual_seed(1)
    name = "lstm" if objective == "next" else "transformer"
    model = build(ModelRecipe(name=name, hidden=12, heads=2, dropout=0.0), len(codec.vocabulary))
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(3)  # far from equal chances
    return model.double().eval(), codec


def test_what_a_blank_is():
    assert has_blank("one ___ three") and has_blank("one <blank>") and has_blank("one _____")
    assert not has_blank("one __ three") and not has_blank("snake_case")


@pytest.mark.spec("K06")
@pytest.mark.parametrize("level", ["char", "word"])
@torch.no_grad()
def test_a_model_that_writes_keeps_what_makes_the_text_likeliest(level):
    model, codec = make(level, "next")
    scores = {}
    for word in WORDS:
        row = codec.row(f"one {word} three.")
        logits = model.decoder(row[None, :-1], model.empty_source(1))[0].log_softmax(-1)
        scores[word] = logits[torch.arange(len(row) - 1), row[1:]].sum().item()
    best = max(scores, key=scores.get)
    answer = fill(model, codec, "one ___ three.")
    assert answer.text == f"one {best} three."
    assert answer.value == [best]
    assert answer.score == pytest.approx(scores[best], abs=1e-6)


@pytest.mark.spec("K06", "T10")
@pytest.mark.parametrize("level", ["char", "word"])
@torch.no_grad()
def test_a_masked_model_keeps_what_is_likeliest_behind_its_masks(level):
    """As many masks as the word has tokens; the mean log-probability of them."""
    model, codec = make(level, "masked")
    means = {}
    for word in WORDS:
        row = codec.row(f"one {word} three.")
        begin = 1 + len(codec.vocabulary.encode("one")) + (level == "char")
        count = len(codec.vocabulary.encode(word))
        masked = row.clone()
        masked[begin : begin + count] = MASK
        states = model.encoder.encode(masked[None], torch.ones(1, len(row), dtype=torch.bool)).states[0]
        chances = model.to_logits(states).log_softmax(-1)
        means[word] = sum(chances[at, row[at]].item() for at in range(begin, begin + count)) / count
    best = max(means, key=means.get)
    assert fill(model, codec, "one ___ three.").text == f"one {best} three."
    both = fill(model, codec, "one ___ three ___.")
    assert len(both.value) == 2 and "___" not in both.text
