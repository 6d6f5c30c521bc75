"""Skip-gram, against eq. 4 written out word by word, and on words that are used alike."""

import random

import numpy as np
import pytest
import torch

from atento.data import Words, WordSpace
from atento.data.examples.batches import pad
from atento.errors import InputError
from atento.models import NextWord, SkipGram, WordsBatch
from atento.models.embedder import noise_distribution, preceding_words

VOCABULARY, SIZE, WINDOW = 11, 5, 2
COUNTS = [0, 0, 0, 0, 1, 2, 3, 5, 7, 11, 13]
TEXTS = [[4, 5, 6, 7, 8], [9, 10, 4], [5], [1, 6, 1, 9]]


def sigmoid(number):
    return 1 / (1 + np.exp(-number))


def noise_by_hand():
    shares = np.array([0.0 if place < 4 else count**0.75 for place, count in enumerate(COUNTS)])
    return shares / shares.sum()


def make():
    model = SkipGram(noise_distribution(COUNTS), SIZE, window=WINDOW, negatives=3)
    torch.nn.init.normal_(model.contexts.table.weight)
    return model


def batch_of(rows):
    return WordsBatch(*pad(rows))


def loss_by_hand(model, rows):
    """Minus eq. 4 with the expectation in full, pair by pair; marks are no words."""
    own = model.embedding.table.weight.detach().numpy()
    context = model.contexts.table.weight.detach().numpy()
    noise, total, pairs = noise_by_hand(), 0.0, 0
    for row in rows:
        for at, word in enumerate(row):
            for other in range(max(0, at - WINDOW), min(len(row), at + WINDOW + 1)):
                if other == at or word < 4 or row[other] < 4:
                    continue
                drawn = sum(noise[n] * np.log(sigmoid(-context[n] @ own[word])) for n in range(VOCABULARY))
                total -= np.log(sigmoid(context[row[other]] @ own[word])) + model.negatives * drawn
                pairs += 1
    return total, pairs


@pytest.mark.spec("S01")
def test_the_loss_is_equation_4():
    model = make().eval()
    loss = model.loss(batch_of(TEXTS))
    total, pairs = loss_by_hand(model, TEXTS)
    assert loss.items == pairs
    assert loss.total.item() == pytest.approx(total, rel=1e-10)


@pytest.mark.spec("S01")
def test_drawn_words_have_the_same_loss_and_gradient_on_average():
    model, batch = make(), batch_of(TEXTS)
    assert model.train().loss(batch).total == model.eval().loss(batch).total  # so few words are all taken
    exact = torch.autograd.grad(model.loss(batch).total, list(model.parameters()))
    value = model.loss(batch).total.item()
    model.train().negative_term = lambda words, vectors: model.sampled_negatives(vectors)
    losses = [model.loss(batch).total for _ in range(400)]
    mean = torch.stack(losses).mean()
    error = torch.stack(losses).std().item() / 20
    assert 0 < abs(mean.item() - value) < 4 * error
    drawn = torch.autograd.grad(mean, list(model.parameters()))
    for one, other in zip(drawn, exact, strict=True):
        assert (one - other).norm() < 0.1 * other.norm()


def test_the_gradient_is_that_of_the_formula():
    model = make().eval()
    batch = batch_of([[4, 6, 9], [5, 10]])
    weights = model.embedding.table.weight
    (gradient,) = torch.autograd.grad(model.loss(batch).total, weights)
    for word, feature in ((4, 0), (6, 3), (10, 4)):
        values = []
        for step in (1e-6, -1e-6):
            with torch.no_grad():
                weights[word, feature] += step
                values.append(model.loss(batch).total.item())
                weights[word, feature] -= step
        assert gradient[word, feature].item() == pytest.approx((values[0] - values[1]) / 2e-6, rel=1e-5)


def test_where_words_are_many_they_are_drawn():
    model, batch = SkipGram(noise_distribution([*COUNTS, *[1] * 5000]), SIZE, window=WINDOW), batch_of(TEXTS)
    torch.nn.init.normal_(model.contexts.table.weight)
    assert model.loss(batch).total != model.loss(batch).total
    model.eval()
    assert model.loss(batch).total == model.loss(batch).total


@pytest.mark.spec("S01")
def test_words_are_drawn_by_their_counts_to_three_quarters():
    noise = noise_distribution(COUNTS)
    np.testing.assert_allclose(noise.numpy(), noise_by_hand(), rtol=1e-12)
    drawn = torch.bincount(torch.multinomial(noise, 40_000, replacement=True), minlength=VOCABULARY) / 40_000
    assert (drawn - noise).abs().max() < 0.01
    with pytest.raises(InputError, match="no words"):
        noise_distribution([0, 3, 5, 7])


@pytest.mark.parametrize("make_model", [make, lambda: NextWord(VOCABULARY, SIZE, window=WINDOW)])
def test_padding_of_any_content_and_side_changes_nothing(make_model):
    model = make_model().eval()
    plain = model.loss(batch_of(TEXTS))
    tokens, valid = torch.full((4, 9), 10), torch.zeros(4, 9, dtype=torch.bool)
    for row, (text, start) in enumerate(zip(TEXTS, (4, 0, 8, 2), strict=True)):
        places = [start + at + (at > 1 and row == 1) for at in range(len(text))]  # padding also in the middle
        tokens[row, places], valid[row, places] = torch.tensor(text), True
    padded = model.loss(WordsBatch(tokens, valid))
    assert padded.items == plain.items
    assert padded.total.item() == pytest.approx(plain.total.item(), rel=1e-12)
    alone = [model.loss(batch_of([text])) for text in TEXTS]
    assert sum(loss.total.item() for loss in alone) == pytest.approx(plain.total.item(), rel=1e-12)


@pytest.mark.parametrize("make_model", [make, lambda: NextWord(VOCABULARY, SIZE, window=WINDOW)])
def test_a_text_of_nothing_costs_nothing_and_has_finite_gradients(make_model):
    model = make_model()
    loss = model.loss(WordsBatch(torch.tensor([[1, 1], [3, 2]]), torch.tensor([[True, True], [False, False]])))
    assert (loss.items, loss.total.item()) == (0, 0.0)
    loss.mean.backward()
    assert all(part.grad is None or part.grad.isfinite().all() for part in model.parameters())


def test_the_words_before_each_word():
    found = preceding_words(torch.tensor([[4, 5, 6, 7]]), 3)
    assert found.tolist() == [[[0, 0, 0], [4, 0, 0], [5, 4, 0], [6, 5, 4]]]


@pytest.mark.spec("S01")
def test_the_next_word_is_scored_by_all_words_before():
    model = make().eval()
    scores = model.predict(torch.tensor([[4, 9, 6]]))
    own, context = model.embedding.table.weight, model.contexts.table.weight
    torch.testing.assert_close(scores[0, 2], context @ (own[4] + own[9]))
    assert scores[0, 0].abs().max() == 0


GROUPS = {
    "feed stroke": "cat dog hamster parrot",
    "peel eat": "apple pear plum cherry",
    "drive park": "van bus taxi truck",
}


def corpus():
    """Words of a group share their verbs; nothing else tells them apart."""
    chance = random.Random(0)
    for _ in range(600):
        verbs, words = chance.choice(list(GROUPS.items()))
        verb, word, when = (chance.choice(some.split()) for some in (verbs, words, "today often"))
        yield f"we {verb} the {word} {when}"


@pytest.mark.spec("S01")
@pytest.mark.parametrize("name", ["skip-gram", "next-word"])
def test_words_used_alike_end_up_near(name):
    torch.set_default_dtype(torch.float32)
    torch.manual_seed(1)
    texts = list(corpus())
    words = Words.learn(texts, size=100, least_count=1)
    tokens, valid = pad([words.encode(text) for text in texts])
    counts = torch.bincount(tokens[valid], minlength=len(words)).tolist()
    model = (
        SkipGram(noise_distribution(counts), 16, window=2)
        if name == "skip-gram"
        else NextWord(len(words), 16, window=2)
    )
    optimiser = torch.optim.Adam(model.parameters(), lr=0.05 if name == "skip-gram" else 0.01, fused=True)
    for _ in range(160):
        rows = torch.randint(len(tokens), (64,))
        optimiser.zero_grad()
        model.loss(WordsBatch(tokens[rows], valid[rows])).mean.backward()
        optimiser.step()
    table = model.embedding.table.weight.detach()[4:]
    space = WordSpace(words.tokens(range(4, len(words))), table.numpy())
    for group in GROUPS.values():
        for word in group.split():
            assert {one.word for one in space.nearest(word, 3)} == set(group.split()) - {word}
