"""The next-word network, against eq. 1 of Bengio et al. (2003) written out."""

import numpy as np
import pytest
import torch

from atento.data.examples.batches import pad
from atento.models import NextWord, WordsBatch

VOCABULARY, SIZE, WINDOW = 13, 5, 3
TEXTS = [[4, 5, 6, 7, 12], [9, 1, 10, 4], [5]]


def logits_by_hand(model, before):
    """y = b + U tanh(d + H x); x holds the nearest word first, zeros before the start."""
    table = model.embedding.table.weight.detach().numpy()
    output = table if model.outputs is None else model.outputs.table.weight.detach().numpy()
    nearest_first = [*before[::-1], *[0] * WINDOW][:WINDOW]
    x = np.concatenate([table[word] if word else np.zeros(SIZE) for word in nearest_first])
    hidden = np.tanh(model.mix.bias.detach().numpy() + model.mix.weight.detach().numpy() @ x)
    return model.bias.detach().numpy() + output @ hidden


@pytest.mark.spec("S01")
@pytest.mark.parametrize("tied", [True, False])
def test_every_word_is_predicted_by_equation_1(tied):
    model = NextWord(VOCABULARY, SIZE, window=WINDOW, tied=tied)
    torch.nn.init.normal_(model.bias)
    total, words = 0.0, 0
    for text in TEXTS:
        scores = model.predict(torch.tensor([text]))[0].detach().numpy()
        for at, word in enumerate(text):
            wanted = logits_by_hand(model, text[:at])
            np.testing.assert_allclose(scores[at], wanted, rtol=1e-10)
            if word >= 4:
                total -= wanted[word] - np.log(np.exp(wanted).sum())
                words += 1
    loss = model.loss(WordsBatch(*pad(TEXTS)))
    assert loss.items == words
    assert loss.total.item() == pytest.approx(total, rel=1e-10)


def test_no_word_sees_itself_or_what_follows():
    model = NextWord(VOCABULARY, SIZE, window=WINDOW)
    one, other = model.predict(torch.tensor([[4, 5, 6, 7], [4, 5, 9, 8]]))
    torch.testing.assert_close(one[:3], other[:3], rtol=0, atol=0)
    assert not torch.equal(one[3], other[3])


def test_dropout_falls_on_what_is_read_and_on_the_layer_before_the_last():
    model = NextWord(VOCABULARY, SIZE, window=WINDOW, dropout=0.5)
    tokens = torch.tensor([[4, 5, 6]])
    assert not torch.equal(model.predict(tokens), model.predict(tokens))
    model.eval()
    assert torch.equal(model.predict(tokens), model.predict(tokens))


def test_untied_there_are_two_tables():
    tied, apart = (NextWord(VOCABULARY, SIZE, window=WINDOW, tied=tied) for tied in (True, False))
    assert len(list(apart.parameters())) == len(list(tied.parameters())) + 1
    loss = apart.loss(WordsBatch(*pad(TEXTS))).mean
    loss.backward()
    assert apart.outputs.table.weight.grad.abs().sum() > 0
