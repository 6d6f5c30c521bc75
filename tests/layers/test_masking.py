import math

import torch

from atento.layers import clean, masked_mean, valid_from_lengths

VALID = torch.tensor([[True, False, True], [False, False, False]])


def test_clean_zeroes_padding_and_only_padding():
    values = torch.randn(2, 3, 5)
    filled = values.masked_fill(~VALID.unsqueeze(-1), math.nan)
    cleaned = clean(filled, VALID)
    assert torch.equal(cleaned[VALID], values[VALID])
    assert (cleaned[~VALID] == 0).all()
    assert clean(values, None) is values


def test_valid_from_lengths():
    assert valid_from_lengths(torch.tensor([2, 0, 3]), 3).tolist() == [[True, True, False], [False] * 3, [True] * 3]


def test_mean_of_real_items():
    values = torch.randn(2, 3, 5).masked_fill(~VALID.unsqueeze(-1), math.inf)
    mean = masked_mean(values, VALID)
    torch.testing.assert_close(mean[0], (values[0, 0] + values[0, 2]) / 2)
    assert (mean[1] == 0).all()  # a row with no items
