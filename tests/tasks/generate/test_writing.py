"""Going on with a text: the searches go on where the prefix ended."""

import pytest
import torch

from atento.data.text.vocabulary import END, PAD, START, UNKNOWN
from atento.models.builders import build_language_model
from atento.spec import DecodeRecipe, ModelRecipe, TokensRecipe, TrainRecipe
from atento.tasks.generate.codec import TextCodec
from atento.tasks.generate.writing import go_on

TEXT = "to be, or not to be: that is the question"
PREFIXES = ("to b", "that", "is the quest")


def make(name, *, documents=True, window=64):
    pairs = [(TEXT, "")] * (25 if documents else 1)
    codec = TextCodec.learn(TokensRecipe(source="char"), pairs).suited(TrainRecipe(sequence_length=window))
    torch.manual_seed(3)
    recipe = ModelRecipe(name=name, hidden=12, layers=1, heads=2, dropout=0.0)
    return build_language_model(recipe, len(codec.vocabulary)).double().eval(), codec


@torch.no_grad()
def by_hand(model, row, longest, *, forbidden, end):
    """The likeliest token at every step, all of the text read anew each time."""
    written, score = [], 0.0
    while len(written) < longest:
        tokens = torch.cat([row, torch.tensor(written, dtype=torch.long)])
        logits = model.decoder(tokens[None], model.empty_source(1))[0, -1]
        logits[list(forbidden)] = -torch.inf
        chances = logits.log_softmax(-1)
        best = int(chances.argmax())
        score += chances[best].item()
        if best == end:
            break
        written.append(best)
    return tuple(written), score


@pytest.mark.spec("K06")
@pytest.mark.parametrize("name", ["gru", "lstm", "transformer"])
@pytest.mark.parametrize("documents", [False, True])
def test_greedy_goes_on_from_the_prefix(name, documents):
    model, codec = make(name, documents=documents)
    rows = [codec.row(prefix, whole=False) for prefix in PREFIXES]
    found = go_on(model, codec, rows, DecodeRecipe(max_tokens=9))
    forbidden = (PAD, UNKNOWN, START) if documents else (PAD, UNKNOWN, START, END)
    for row, one in zip(rows, found, strict=True):
        tokens, score = by_hand(model, row, 9, forbidden=forbidden, end=END)
        assert one.tokens == tokens
        assert one.score == pytest.approx(score, abs=1e-5)


@pytest.mark.spec("K06")
@pytest.mark.parametrize("name", ["lstm", "transformer"])
def test_a_beam_of_one_is_greedy_and_a_wider_one_no_worse(name):
    model, codec = make(name, documents=False)
    rows = [codec.row(prefix, whole=False) for prefix in PREFIXES]
    greedy, one, wide = (go_on(model, codec, rows, DecodeRecipe(max_tokens=6, beam=width)) for width in (1, 1, 7))
    assert greedy == one
    assert all(best.score >= first.score - 1e-6 for best, first in zip(wide, greedy, strict=True))


@pytest.mark.spec("K06")
def test_draws_follow_from_seed_and_prefix_alone():
    model, codec = make("gru", documents=False)
    rows = [codec.row(prefix, whole=False) for prefix in PREFIXES]
    drawn = go_on(model, codec, rows, DecodeRecipe(max_tokens=20, temperature=1.0, seed=1))
    alone = [go_on(model, codec, [row], DecodeRecipe(max_tokens=20, temperature=1.0, seed=1))[0] for row in rows]
    assert [one.tokens for one in drawn] == [one.tokens for one in alone]
    other = go_on(model, codec, rows, DecodeRecipe(max_tokens=20, temperature=1.0, seed=2))
    assert [one.tokens for one in drawn] != [one.tokens for one in other]
    narrow = go_on(model, codec, rows, DecodeRecipe(max_tokens=20, temperature=1.0, top_k=1))
    greedy = go_on(model, codec, rows, DecodeRecipe(max_tokens=20))
    assert [one.tokens for one in narrow] == [one.tokens for one in greedy]


@pytest.mark.spec("K06")
def test_a_transformer_never_stands_later_than_it_learned(monkeypatch):
    """Window 8: 30 tokens are written in rounds, from the last 4 tokens each."""
    model, codec = make("transformer", documents=False, window=8)
    latest = []
    place = model.decoder.embedding.forward
    monkeypatch.setattr(
        model.decoder.embedding, "forward", lambda tokens, at: latest.append(int(at.max())) or place(tokens, at)
    )
    (found,) = go_on(model, codec, [codec.row("to be, or not", whole=False)], DecodeRecipe(max_tokens=30))
    assert len(found.tokens) == 30
    assert max(latest) < 8
