"""Encoder-only, decoder-only, encoder–decoder: each learns what its shape allows, and what another cannot."""

import pytest
import torch

from atento.data.text.vocabulary import END, PAD, START, UNKNOWN
from atento.decoding import SpecialTokens, greedy
from atento.layers import token_cross_entropy
from atento.models import LabelHead, LabelledBatch, TextBatch, TranslationBatch
from atento.models.builders import Vocabularies, build_language_model, build_tagger, build_translator
from atento.spec import ModelRecipe

RECIPE = {"name": "transformer", "hidden": 16, "heads": 2, "dropout": 0.0}
CHARACTERS, STEPS, TOKENS = 4, 5, 8
MARKS = SpecialTokens(start=START, end=END, forbidden=(PAD, UNKNOWN, START))


def words(count):
    return torch.randint(4, TOKENS, (count, STEPS))


def learn(model, loss, *, steps, rate=0.01):
    optimiser = torch.optim.Adam(model.parameters(), lr=rate, fused=True)
    for _ in range(steps):
        optimiser.zero_grad()
        loss(model).backward()
        optimiser.step()
    return model.eval()


@pytest.mark.spec("T03")
@pytest.mark.parametrize("directions, learns", [(2, True), (1, False)])
def test_encoder_only_sees_both_sides(directions, learns):
    """The tag of a character is the character after it: known from the right side, a guess of one in four without."""
    torch.manual_seed(0)
    model = build_tagger(ModelRecipe(**RECIPE, directions=directions), TOKENS, LabelHead, CHARACTERS + 1)

    def batch(count):
        source = words(count)
        after = torch.cat([source[:, 1:] - 3, torch.zeros(count, 1, dtype=torch.long)], dim=1)
        return LabelledBatch(source, torch.ones_like(source, dtype=torch.bool), after)

    learn(model, lambda model: model.loss(batch(32)).mean, steps=250)
    asked = batch(200)
    right = (model.head.predict(model(asked)) == asked.truth.flatten()).view(200, STEPS)[:, :-1].double().mean()
    assert (right > 0.99) if learns else (right < 0.4)


@pytest.mark.spec("T03")
def test_decoder_only_goes_on_from_what_is_written():
    """Five characters, then the same five: the second half is certain once the first is known."""
    torch.manual_seed(0)
    model = build_language_model(ModelRecipe(**RECIPE, layers=2), TOKENS)

    def batch(count):
        source = words(count)
        target = torch.cat([source, source], dim=1)
        previous = torch.cat([torch.full((count, 1), START), target[:, :-1]], dim=1)
        return TextBatch(previous, target, torch.ones_like(target, dtype=torch.bool))

    learn(model, lambda model: model.loss(batch(32)).mean, steps=400)
    asked = batch(100)
    best = model(asked).argmax(dim=-1).view(100, 2 * STEPS)
    assert (best[:, STEPS:] == asked.target[:, STEPS:]).double().mean() > 0.97
    assert (best[:, :STEPS] == asked.target[:, :STEPS]).double().mean() < 0.4  # nobody can know these


@pytest.mark.spec("T03")
def test_encoder_decoder_writes_what_it_read_anew():
    """The characters backwards, written by themselves."""
    torch.manual_seed(0)
    model = build_translator(ModelRecipe(**RECIPE), Vocabularies(TOKENS, TOKENS))

    def batch(count):
        source = words(count)
        target = torch.cat([source.flip(1), torch.full((count, 1), END)], dim=1)
        previous = torch.cat([torch.full((count, 1), START), target[:, :-1]], dim=1)
        valid = torch.ones_like(target, dtype=torch.bool)
        return TranslationBatch(source, valid[:, :-1], previous, target, valid)

    def loss(model):
        one = batch(32)
        return token_cross_entropy(model(one), one.target.flatten()).mean

    learn(model, loss, steps=300)
    asked = batch(100)
    written = greedy(
        model.decoder, model.encode(asked.source, asked.source_valid), special_tokens=MARKS, max_tokens=STEPS + 2
    )
    right = [list(one.tokens) == row for one, row in zip(written, asked.source.flip(1).tolist(), strict=True)]
    assert sum(right) > 95
