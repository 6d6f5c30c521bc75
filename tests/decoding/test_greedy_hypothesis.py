import math

import torch

from atento.decoding.greedy import Marks, log_probabilities


def test_the_tokens_that_may_be_written_share_all_probability():
    marks = Marks(start=2, end=3, forbidden=(0, 1, 2))
    logits = torch.tensor([[9.0, 9.0, 9.0, 1.0, 2.0]])
    chances = log_probabilities(logits, marks)
    assert chances[0, :3].tolist() == [-math.inf] * 3
    total = math.exp(1) + math.exp(2)
    torch.testing.assert_close(chances[0, 3:].exp().tolist(), [math.exp(1) / total, math.exp(2) / total])
    assert log_probabilities(logits.bfloat16(), marks).dtype == torch.float32
