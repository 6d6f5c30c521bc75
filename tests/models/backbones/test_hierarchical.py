"""A text in two levels: cut as by hand, read as sentence after sentence, whatever the padding."""

import pytest
import torch

from atento.blocks import AttentionPooling
from atento.layers import valid_from_lengths
from atento.models import LabelHead, LabelledBatch
from atento.models.backbones.hierarchical import MAX_SENTENCE_WORDS, split_sentences
from atento.models.builders import build_classifier
from atento.models.builders.classifier import END
from atento.spec import ModelRecipe

BATCH, STEPS, TOKENS, LABELS = 3, 11, 17, 5
NAMES = ["gru+hierarchical", "lstm+dot+sparsemax+hierarchical", "transformer+hierarchical"]


def build(name, **choices):
    torch.manual_seed(0)
    recipe = ModelRecipe(name=name, **{"hidden": 10, "heads": 2, "feed_forward": 7, "dropout": 0.0, **choices})
    return build_classifier(recipe, TOKENS, LabelHead, LABELS)


def some_batch():
    """Sentences of 3, 2 and 4 words, with marks in a row, at the front and at the end; then fewer; then one word."""
    rows = [[END, 5, 6, 7, END, END, 8, 9, END, 4, END], [10, 11, END, 12, 13, 14, 15, 0, 0, 0, 0], [16] + [0] * 10]
    return LabelledBatch(
        torch.tensor(rows), valid_from_lengths(torch.tensor([11, 7, 1]), STEPS), torch.tensor([4, 0, 2])
    )


def by_hand(tokens, valid, longest):
    """Lists of sentences, by a loop."""
    cut = []
    for row, real in zip(tokens.tolist(), valid.tolist(), strict=True):
        sentences, sentence = [], []
        for token, is_real in zip(row, real, strict=True):
            if not is_real:
                continue
            if token != END:
                sentence.append(token)
            if sentence and (token == END or len(sentence) == longest):
                sentences.append(sentence)
                sentence = []
        cut.append([*sentences, sentence] if sentence else sentences)
    return cut


@pytest.mark.parametrize("longest", [2, 3, MAX_SENTENCE_WORDS])
def test_sentences_end_at_marks_and_where_they_are_long(longest):
    torch.manual_seed(3)
    tokens = torch.randint(2, 7, (13, 29))
    valid = torch.rand(13, 29) < 0.8
    valid[0] = False
    sentence, place = split_sentences(tokens, valid, end=END, longest=longest)
    found = [[] for _ in range(13)]
    for row in range(13):
        for number, at, token in zip(sentence[row].tolist(), place[row].tolist(), tokens[row].tolist(), strict=True):
            if at < 0:
                continue
            while len(found[row]) <= number:
                found[row].append([])
            assert len(found[row][number]) == at
            found[row][number].append(token)
    assert found == by_hand(tokens, valid, longest)


@pytest.mark.parametrize("name", NAMES)
def test_it_reads_sentence_by_sentence(name):
    """Each sentence by itself through the words' level, then their vectors through the other: equations 5 to 10."""
    model, batch = build(name), some_batch()
    levels, embedding = model.encoder.levels, model.encoder.embedding
    expected = []
    for row in by_hand(batch.source, batch.valid, MAX_SENTENCE_WORDS):
        vectors = []
        for sentence in row:
            read = levels.word_encoder(embedding(torch.tensor([sentence])), valid=None)
            vectors.append(pooled_by_hand(levels.word_pooling, read[0]))
        states = levels.sentence_encoder(torch.stack(vectors).unsqueeze(0), valid=None)
        expected.append(pooled_by_hand(levels.sentence_pooling, states[0]))
    torch.testing.assert_close(model(batch), model.head(torch.stack(expected)))


def pooled_by_hand(pooling: AttentionPooling, states):
    """Σ softmax or sparsemax(score) x."""
    scores = pooling.attention.score(pooling.query.view(1, 1, -1), states.unsqueeze(0))  # (1, 1, T)
    weights = pooling.attention.distribution(scores, torch.ones_like(scores, dtype=torch.bool))
    return (weights[0, 0, :, None] * states).sum(0)


@pytest.mark.parametrize("name", NAMES)
def test_neither_padding_nor_neighbours_matter(name):
    model, batch = build(name), some_batch()
    weights = list(model.parameters())
    expected = model(batch)
    slopes = torch.autograd.grad(model.loss(batch).total, weights)
    other = batch._replace(source=batch.source.masked_fill(~batch.valid, END))
    assert torch.equal(model(other), expected)
    for ours, theirs in zip(torch.autograd.grad(model.loss(other).total, weights), slopes, strict=True):
        assert torch.equal(ours, theirs)
    for row in range(BATCH):
        length = int(batch.valid[row].sum())
        pad = (2, 1)
        alone = LabelledBatch(
            torch.nn.functional.pad(batch.source[row : row + 1, :length], pad, value=5),
            torch.nn.functional.pad(batch.valid[row : row + 1, :length], pad),
            batch.truth,
        )
        torch.testing.assert_close(model(alone), expected[row : row + 1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_a_text_of_marks_alone_gives_finite_numbers(name):
    model, batch = build(name), some_batch()
    nothing = batch._replace(source=torch.full_like(batch.source, END))
    for given in (nothing, batch._replace(valid=torch.zeros_like(batch.valid))):
        loss = model.loss(given).total
        slopes = torch.autograd.grad(loss, list(model.parameters()), allow_unused=True)
        assert loss.isfinite()
        assert all(slope is None or slope.isfinite().all() for slope in slopes)


def test_weights_of_both_levels():
    model, batch = build("gru+hierarchical"), some_batch()
    weights = model.encoder.weights(batch.source, batch.valid)
    assert weights.shape == (BATCH, 2, STEPS)
    words = batch.valid & (batch.source != END)
    assert (weights.transpose(1, 2)[~words] == 0).all()
    inside, whole = weights[0]
    torch.testing.assert_close(inside[1:4].sum(), torch.tensor(1.0))
    torch.testing.assert_close(inside[6:8].sum(), torch.tensor(1.0))
    torch.testing.assert_close(whole[1] + whole[6] + whole[9], torch.tensor(1.0))
    assert whole[1] == whole[2] == whole[3]
