import pytest
import torch

from atento.attention import Attention, Everything, ScaledDot, Softmax

BATCH, SIZE = 2, 7


@pytest.mark.parametrize("left_padded", [False, True])
@pytest.mark.parametrize("right_padded", [False, True])
def test_appended_keys_keep_their_padding(left_padded, right_padded):
    attention = Attention(ScaledDot(), Softmax(), Everything())
    key, query = torch.randn(BATCH, 5, SIZE), torch.randn(BATCH, 11, SIZE)
    valid = torch.ones(BATCH, 5, dtype=torch.bool)
    valid[0, 1] = not left_padded
    valid[1, 4] = not right_padded
    parts = [
        attention.prepare(key[:, place], key[:, place], valid=valid[:, place] if padded else None)
        for place, padded in ((slice(0, 3), left_padded), (slice(3, 5), right_padded))
    ]
    joined = parts[0].append(parts[1])
    assert (joined.valid is None) is not (left_padded or right_padded)
    whole = attention(query, key, key, valid=valid)
    torch.testing.assert_close(attention.read(query, joined), whole, rtol=0, atol=1e-14)
