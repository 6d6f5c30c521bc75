"""Attention written out for one query and a list of keys, for decoders that are walked by hand."""

import pytest
import torch

from atento.attention import Additive, Attention, Everything, General, Softmax, Sparsemax

SIZE, SOURCE_SIZE, TOKENS = 3, 10, 11


def additive(score, query, key):
    return score.collapse.weight[0] @ torch.tanh(score.project_query.weight @ query + score.project_key.weight @ key)


def general(score, query, key):
    return query @ (score.weight.weight @ key)


def softmax(scores):
    raised = [torch.exp(score) for score in scores]
    return [one / sum(raised) for one in raised]


def sparsemax(scores):
    """max(s − τ, 0): of all supports of the k largest, the largest whose smallest score stays above its τ."""
    ordered = sorted(scores, key=torch.Tensor.item, reverse=True)
    kept = max(k for k in range(1, len(scores) + 1) if 1 + k * ordered[k - 1] > sum(ordered[:k]))
    threshold = (sum(ordered[:kept]) - 1) / kept
    return [torch.clamp(score - threshold, min=0.0) for score in scores]


KINDS = {
    "additive, softmax": (lambda: Additive(SIZE, SOURCE_SIZE, hidden_size=13), Softmax, additive, softmax),
    "additive, sparsemax": (lambda: Additive(SIZE, SOURCE_SIZE, hidden_size=13), Sparsemax, additive, sparsemax),
    "general, softmax": (lambda: General(SIZE, SOURCE_SIZE), Softmax, general, softmax),
    "general, sparsemax": (lambda: General(SIZE, SOURCE_SIZE), Sparsemax, general, sparsemax),
}


@pytest.fixture(params=KINDS)
def attention(request):
    """An attention, and the same by hand: query, keys -> weights and context."""
    make, distribution, compare, share = KINDS[request.param]
    made = Attention(make(), distribution(), Everything())

    def by_hand(query, keys):
        weights = share([compare(made.score, query, key) for key in keys])
        return torch.stack(weights), sum(weight * key for weight, key in zip(weights, keys, strict=True))

    return made, by_hand
