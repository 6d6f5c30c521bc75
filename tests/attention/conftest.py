"""What tests of the algebra share."""

import pytest
import torch

BATCH, QUERIES, KEYS, QUERY_SIZE, KEY_SIZE = 2, 3, 5, 7, 11


@pytest.fixture
def follows():
    """`follows(score, formula, key_size=...)`: values and gradients, one query and one key at a time."""

    def check(score, formula, *, key_size=KEY_SIZE):
        for weight in score.parameters():
            torch.nn.init.normal_(weight)  # a bias that starts at 0 could be forgotten
        query = torch.randn(BATCH, QUERIES, QUERY_SIZE, requires_grad=True)
        key = torch.randn(BATCH, KEYS, key_size, requires_grad=True)
        leaves = [query, key, *score.parameters()]
        expected = torch.stack(
            [
                formula(score, query[row, asked], key[row, answered], answered)
                for row in range(BATCH)
                for asked in range(QUERIES)
                for answered in range(KEYS)
            ]
        ).view(BATCH, QUERIES, KEYS)
        scores = score(query, key)
        torch.testing.assert_close(scores, expected, rtol=0, atol=1e-12)
        upstream = torch.randn(BATCH, QUERIES, KEYS)
        found, wanted = (
            torch.autograd.grad(side, leaves, upstream, allow_unused=True, materialize_grads=True)
            for side in (scores, expected)
        )
        torch.testing.assert_close(found, wanted, rtol=0, atol=1e-11)

    return check
