"""Words, then sentences: against the two levels written out, on ragged documents."""

import pytest
import torch

from atento.attention import Additive, Attention, Everything, MultiHead, ScaledDot, Softmax
from atento.blocks import (
    AttentionPooling,
    HierarchicalAttention,
    IdentityEncoder,
    StackEncoder,
    TransformerEncoderLayer,
)
from atento.errors import InputError
from atento.layers import FeedForward
from atento.recurrent import GRUCell, Stack

BATCH, SENTENCES, WORDS, SIZE, QUERY_SIZE, HIDDEN = 2, 3, 5, 6, 7, 11
LENGTHS = [[5, 2, 4], [1, 3]]  # words in each sentence; the second document has one sentence less


def pooling(size):
    return AttentionPooling(
        QUERY_SIZE, Attention(Additive(QUERY_SIZE, size, hidden_size=HIDDEN), Softmax(), Everything())
    )


def gru(size):
    return StackEncoder(Stack(GRUCell, size, SIZE // 2, bidirectional=True))


def layer(size):
    heads = MultiHead(size, 2, Attention(ScaledDot(), Softmax(), Everything()))
    return TransformerEncoderLayer(heads, FeedForward(size, HIDDEN))


encoders = pytest.mark.parametrize(
    "encoder", [lambda size: IdentityEncoder(), gru, layer], ids=["none", "gru", "transformer"]
)


def document():
    words = torch.randn(BATCH, SENTENCES, WORDS, SIZE)
    valid = torch.zeros(BATCH, SENTENCES, WORDS, dtype=torch.bool)
    for row, lengths in enumerate(LENGTHS):
        for sentence, length in enumerate(lengths):
            valid[row, sentence, :length] = True
    return words.requires_grad_(), valid


def summed_up(pooling, items):
    """u_t = tanh(W h_t + b), α = softmax(u_t · u), Σ α_t h_t (eq. 5–7, 8–10); b is W_q times the learned query."""
    score = pooling.attention.score
    bias = score.project_query.weight @ pooling.query
    powers = [(score.collapse.weight[0] @ torch.tanh(score.project_key.weight @ item + bias)).exp() for item in items]
    shares = torch.stack(powers) / sum(powers)
    return shares, sum(share * item for share, item in zip(shares, items, strict=True))


@pytest.mark.spec("A28")
@encoders
def test_both_levels_one_sentence_at_a_time(encoder):
    module = HierarchicalAttention(encoder(SIZE), pooling(SIZE), encoder(SIZE), pooling(SIZE))
    words, valid = document()
    expected, in_words, in_sentences = [], torch.zeros(BATCH, SENTENCES, WORDS), torch.zeros(BATCH, SENTENCES)
    for row, lengths in enumerate(LENGTHS):
        sentences = []
        for at, length in enumerate(lengths):
            read = module.word_encoder(words[row : row + 1, at, :length], valid=None)[0]
            in_words[row, at, :length], sentence = summed_up(module.word_pooling, read)
            sentences.append(sentence)
        read = module.sentence_encoder(torch.stack(sentences)[None], valid=None)[0]
        in_sentences[row, : len(lengths)], whole = summed_up(module.sentence_pooling, read)
        expected.append(whole)
    actual, expected = module(words, valid=valid), torch.stack(expected)
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-12)
    leaves, upstream = [words, *module.parameters()], torch.randn_like(expected)
    gradients = [torch.autograd.grad(side, leaves, upstream, retain_graph=True) for side in (actual, expected)]
    torch.testing.assert_close(*gradients, rtol=0, atol=1e-12)
    weights = module.weights(words, valid=valid)
    torch.testing.assert_close(weights.words, in_words, rtol=0, atol=1e-13)
    torch.testing.assert_close(weights.sentences, in_sentences, rtol=0, atol=1e-13)


@encoders
def test_an_empty_sentence_is_no_sentence(encoder):
    module, (words, valid) = (
        HierarchicalAttention(encoder(SIZE), pooling(SIZE), encoder(SIZE), pooling(SIZE)),
        document(),
    )
    expected = module(words, valid=valid)
    gap = [0, 1, 1, 2]  # the second place is a copy that holds no word
    empty = valid[:, gap].clone()
    empty[:, 1] = False
    torch.testing.assert_close(module(words[:, gap], valid=empty), expected, rtol=0, atol=1e-12)
    assert (module.weights(words[:, gap], valid=empty).words[:, 1] == 0).all()


def test_what_does_not_fit_is_named():
    module, (words, valid) = (
        HierarchicalAttention(IdentityEncoder(), pooling(SIZE), IdentityEncoder(), pooling(SIZE)),
        document(),
    )
    with pytest.raises(InputError, match=r"words must have the shape \(B, S, W, D\)"):
        module(words[0])
    with pytest.raises(InputError, match="valid says of each item of words"):
        module(words, valid=valid.any(dim=-1))
