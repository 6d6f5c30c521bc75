"""How likely a text is: against one step at a time, on untrained models in float64."""

import itertools

import pytest
import torch

from atento.models.builders import build_language_model, build_masked_model
from atento.spec import DecodeRecipe, ModelRecipe, TokensRecipe, TrainRecipe
from atento.tasks.generate.codec import MASK, TextCodec
from atento.tasks.generate.scoring import FRESH, judge_texts, log_probabilities, slide

TEXT = "to be, or not to be: that is the question. whether 'tis nobler in the mind to suffer"


def make(name, *, documents=False, window=12, objective="next", level="char"):
    pairs = [(f"{TEXT} {number}", "") for number in range(25)] if documents else [(TEXT, "")]
    codec = TextCodec.learn(TokensRecipe(source=level), pairs)
    codec = codec.suited(TrainRecipe(sequence_length=window, objective=objective))
    build = build_masked_model if objective == "masked" else build_language_model
    torch.manual_seed(0)
    recipe = ModelRecipe(name=name, hidden=14, layers=2, heads=2, dropout=0.0)
    return build(recipe, len(codec.vocabulary)).double().eval(), codec


@torch.no_grad()
def step_by_step(model, row):
    state, chances = model.decoder.start(model.empty_source(1)), []
    for token, following in itertools.pairwise(row):
        logits, state = model.decoder.step(token[None], state)
        chances.append(logits[0].log_softmax(-1)[following].item())
    return chances


@pytest.mark.spec("K06", "R16")
@pytest.mark.parametrize("name", ["rnn", "gru", "lstm"])
@pytest.mark.parametrize("documents", [False, True])
def test_a_state_goes_through_the_whole_text(name, documents, monkeypatch):
    monkeypatch.setattr("atento.tasks.generate.scoring.NUMBERS_AT_ONCE", 900)  # several stretches
    model, codec = make(name, documents=documents)
    rows = [codec.row(text) for text in (TEXT, "to be", TEXT[7:40])]
    for row, found in zip(rows, log_probabilities(model, codec, rows), strict=True):
        assert found.tolist() == pytest.approx(step_by_step(model, row), abs=1e-9)


@pytest.mark.spec("K06", "R16")
@torch.no_grad()
def test_a_context_slides_along():
    """Each token from the window that its part of the text was scored in, one pass a token."""
    model, codec = make("transformer")
    row = codec.row(TEXT)
    found = log_probabilities(model, codec, [row, codec.row("to be"), row[:20]])
    expected = []
    for segment in slide(0, len(row) - 1, codec.window, codec.window // FRESH):
        for at in range(segment.fresh, segment.end):
            logits = model.decoder(row[None, segment.begin : at + 1], model.empty_source(1))[0, -1]
            expected.append(logits.log_softmax(-1)[row[at + 1]].item())
    assert found[0].tolist() == pytest.approx(expected, abs=1e-9)
    assert found[1].tolist() == pytest.approx(step_by_step(model, codec.row("to be")), abs=1e-9)
    alone = log_probabilities(model, codec, [row])
    torch.testing.assert_close(alone[0], found[0], rtol=0, atol=1e-12)


def test_a_sliding_window_leaves_nothing_out():
    for tokens, window, step in ((30, 12, 3), (12, 12, 3), (5, 12, 3), (31, 7, 1), (29, 7, 7)):
        segments = list(slide(0, tokens, window, step))
        scored = [at for segment in segments for at in range(segment.fresh, segment.end)]
        assert scored == list(range(tokens))
        assert all(0 <= one.begin <= one.fresh and one.end - one.begin <= window for one in segments)
        assert all(one.fresh - one.begin >= window - step for one in segments[1:])


@pytest.mark.spec("T10")
@pytest.mark.parametrize("name", ["transformer", "lstm"])
@torch.no_grad()
def test_hidden_tokens_are_judged_from_both_sides(name):
    """Of 9 tokens every seventh is hidden at a time; by the formula, one pass for each group."""
    model, codec = make(name, objective="masked", window=40)
    row = codec.row("to be, or")
    (found,) = log_probabilities(model, codec, [row])
    for place in range(1, len(row)):
        hidden = [at for at in range(len(row)) if at % 7 == place % 7 and at > 0]
        read = row.clone()
        read[hidden] = MASK
        states = model.encoder.encode(read[None], torch.ones(1, len(row), dtype=torch.bool)).states[0]
        expected = model.to_logits(states[place]).log_softmax(-1)[row[place]]
        torch.testing.assert_close(found[place - 1], expected, rtol=0, atol=1e-12)


@pytest.mark.spec("K06")
@pytest.mark.parametrize("level", ["char", "word", "subword"])
def test_what_is_judged_adds_up(level):
    model, codec = make("lstm", level=level)
    text = TEXT + " Ω zeal"
    (judged,) = judge_texts(model, codec, [text], DecodeRecipe())
    row = codec.row(text)
    nats = sum(step_by_step(model, row)) - codec.spelling(text, row).sum().item()
    assert judged[0] == pytest.approx(nats, abs=1e-8)
    assert judged[1:3] == [len(text), len(text.split())]
    assert sum(judged[3]) == pytest.approx(judged[0])
