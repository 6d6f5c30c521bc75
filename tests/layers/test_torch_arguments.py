"""What people know from torch's layers is answered with what to write here."""

import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence

from atento.attention import Attention, Everything, MultiHead, ScaledDot, Softmax
from atento.blocks import TransformerDecoderLayer, TransformerEncoderLayer, TransformerStack
from atento.errors import InputError
from atento.layers import FeedForward
from atento.recurrent import GRU, LSTM, RNN, GRUCell, Stack

BATCH, STEPS, SIZE = 2, 5, 6
VALUES = torch.randn(BATCH, STEPS, SIZE)
REAL = torch.arange(STEPS) < torch.tensor([[5], [3]])
PACKED = pack_padded_sequence(VALUES, torch.tensor([5, 3]), batch_first=True)
INFINITE = torch.zeros(BATCH, STEPS).masked_fill(~REAL, -torch.inf)


def attention():
    return Attention(ScaledDot(), Softmax(), Everything())


def heads():
    return MultiHead(SIZE, 2, attention())


def layer():
    return TransformerEncoderLayer(heads(), FeedForward(SIZE, 7))


def decoder_layer():
    return TransformerDecoderLayer(heads(), heads(), FeedForward(SIZE, 7))


HABITS = {
    "key_padding_mask": (lambda: heads()(VALUES, VALUES, key_padding_mask=~REAL), "valid=~key_padding_mask"),
    "attn_mask": (lambda: heads()(VALUES, attn_mask=torch.ones(STEPS, STEPS)), "Masked(~attn_mask)"),
    "is_causal": (lambda: attention()(VALUES, VALUES, VALUES, is_causal=True), "Causal()"),
    "need_weights": (lambda: heads()(VALUES, VALUES, need_weights=True), "the method weights"),
    "query, key, value": (lambda: heads()(VALUES, VALUES, VALUES), "layer(query, source)"),
    "src_key_padding_mask": (lambda: layer()(VALUES, src_key_padding_mask=~REAL), "valid=~src_key_padding_mask"),
    "src_mask": (lambda: TransformerStack([layer()])(VALUES, src_mask=torch.ones(STEPS, STEPS)), "Masked(~src_mask)"),
    "memory": (lambda: decoder_layer()(VALUES, VALUES), "layer.cross_attention.prepare(source, valid=valid)"),
    "tgt_mask": (lambda: decoder_layer()(VALUES, VALUES, tgt_mask=None), "Masked(~tgt_mask)"),
    "packed into a layer": (lambda: LSTM(SIZE, 3)(PACKED), "pad_packed_sequence(packed, batch_first=True)"),
    "packed into a stack": (lambda: Stack(GRUCell, SIZE, 3)(PACKED), "valid_from_lengths"),
    "packed with a state": (lambda: GRU(SIZE, 3)(PACKED, state=torch.zeros(1, BATCH, 3)), "pad_packed_sequence"),
    "packed into heads": (lambda: heads()(PACKED), "pad_packed_sequence"),
    "batch_first": (lambda: RNN(SIZE, 3, batch_first=True), "always (B, T, D)"),
    "a state second": (lambda: LSTM(SIZE, 3)(VALUES, (torch.zeros(1, BATCH, 3),) * 2), "state=state"),
    "one state second": (lambda: GRU(SIZE, 3)(VALUES, torch.zeros(1, BATCH, 3)), "state=state"),
    "hx": (lambda: GRU(SIZE, 3)(VALUES, hx=torch.zeros(1, BATCH, 3)), "state=hx"),
    "time first": (lambda: GRU(SIZE, 3)(VALUES.transpose(0, 1), REAL), "batch first"),
    "time first, a state": (lambda: GRU(SIZE, 3)(VALUES.transpose(0, 1), state=torch.zeros(1, BATCH, 3)), "0, 1"),
    "time first in heads": (lambda: heads()(VALUES.transpose(0, 1), valid=REAL), "batch first"),
    "minus infinity": (lambda: layer()(VALUES, valid=INFINITE), "valid=valid > -torch.inf"),
    "minus infinity over keys": (lambda: attention()(VALUES, VALUES, VALUES, valid=INFINITE), "valid > -torch.inf"),
    "whole numbers": (lambda: Stack(GRUCell, SIZE, 3)(VALUES, valid=REAL.long()), "valid=valid.bool()"),
    "lengths": (lambda: heads()(VALUES, valid=torch.tensor([5, 3])), "of the shape (2, 5)"),
    "a list": (lambda: LSTM(SIZE, 3)(VALUES.tolist()), "torch.as_tensor"),
}


@pytest.mark.parametrize("name", HABITS)
def test_a_habit_is_answered_with_what_to_write(name):
    call, answer = HABITS[name]
    with pytest.raises(InputError) as caught:
        call()
    assert answer in caught.value.fix


def test_an_argument_that_nobody_knows_is_a_type_error():
    with pytest.raises(TypeError, match="unexpected keyword argument 'vald'"):
        heads()(VALUES, vald=REAL)
    with pytest.raises(TypeError, match="'layers'"):
        GRU(SIZE, 3, layers=2)


def test_what_the_answers_say_can_be_written():
    """Of a packed sequence, of torch's masks, and of values with time first."""
    from atento.layers import valid_from_lengths

    values, lengths = torch.nn.utils.rnn.pad_packed_sequence(PACKED, batch_first=True)
    valid = valid_from_lengths(lengths, values.size(1))
    assert torch.equal(valid, REAL) and torch.equal(-torch.inf < INFINITE, REAL)
    theirs = torch.nn.MultiheadAttention(SIZE, 2, batch_first=True).to(VALUES)
    expected, _ = theirs(VALUES, VALUES, VALUES, key_padding_mask=~REAL)
    torch.testing.assert_close(MultiHead.from_torch(theirs)(VALUES, valid=REAL), expected)
