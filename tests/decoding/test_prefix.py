"""A primed decoder goes on as the decoder itself would after the same tokens."""

import pytest
import torch

from atento.data.text.vocabulary import END, PAD, START, UNKNOWN
from atento.decoding import PrefixedDecoder, SpecialTokens, beam, greedy
from atento.models.builders import build_language_model
from atento.models.protocols import reorder
from atento.spec import ModelRecipe

SPECIAL_TOKENS = SpecialTokens(start=END, end=END, forbidden=(PAD, UNKNOWN, START))


@pytest.mark.spec("K06")
@pytest.mark.parametrize("name", ["gru", "lstm", "transformer"])
@torch.no_grad()
def test_step_by_step(name):
    torch.manual_seed(2)
    model = build_language_model(ModelRecipe(name=name, hidden=10, layers=2, heads=2, dropout=0.0), 11).double().eval()
    texts = torch.tensor([[3, 5, 7, 9], [3, 8, 4, 6]])
    nothing = model.empty_source(2)
    features, state = model.resume(texts, model.decoder.start(nothing))
    primed = PrefixedDecoder(model.decoder, model.decoder.to_logits(features[:, -1]), state)
    more, state = torch.tensor([[10, 4, 5], [6, 7, 8]]), primed.start(nothing)
    whole = model.decoder(torch.cat([texts, more], dim=1), nothing)
    for at, token in enumerate([torch.tensor([END, END]), *more.unbind(1)]):
        logits, state = primed.step(token, state)
        torch.testing.assert_close(logits, whole[:, 3 + at], rtol=0, atol=1e-12)
        if at == 1:
            state = reorder(state, torch.tensor([0, 1]))
    first = greedy(primed, nothing, special_tokens=SPECIAL_TOKENS, max_tokens=5)
    assert first == [found[0] for found in beam(primed, nothing, special_tokens=SPECIAL_TOKENS, max_tokens=5, width=1)]
