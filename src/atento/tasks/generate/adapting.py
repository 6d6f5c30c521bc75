"""Language models that adapt to the text they are scored on: a neural cache, and dynamic evaluation.

Both use the tokens already scored, and none that are still to come. What they gain is a property of the held-out text
more than of the model, so it is shown beside the plain figure and never in its place.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from atento.layers.losses import token_cross_entropy
from atento.models.interpolated import InterpolatedLanguageModel, interpolate
from atento.models.language_model import LanguageModel
from atento.recurrent.unroll import chunks, map_state
from atento.tasks.generate.codec import TextCodec
from atento.tasks.generate.scoring import log_probability
from atento.tasks.generate.training import TextModel, recurs

# Axes: N tokens of a text, D size, Q queries of a chunk, K tokens in the cache.

CACHE, FLATNESS, SHARE = 500, 0.3, 0.1  # tokens remembered, θ and λ of the cache
SEGMENT, RATE, LARGEST = 10, 0.05, 1.0  # tokens between two steps of dynamic evaluation, its η, and its gradient's norm
QUERIES = 512  # of the cache at a time


def adapted(module: TextModel, codec: TextCodec, row: Tensor) -> dict[str, Tensor]:
    """The log-probabilities (N,) of a row (N + 1,) after its first token: with a cache, and with dynamic evaluation;
    empty where the model has no recurrent state to carry.
    """
    if not isinstance(module, LanguageModel) or not recurs(module):
        return {}
    return {"cache": with_cache(module, row), "dynamic evaluation": with_dynamic_evaluation(module, row)}


@torch.no_grad()
def with_cache(
    model: LanguageModel, row: Tensor, *, size: int = CACHE, flatness: float = FLATNESS, share: float = SHARE
) -> Tensor:
    """(1 − λ) p(w | h_t) + λ p_cache(w | h_t), where p_cache(w) ∝ Σ exp(θ h_t · h_i) over the last `size` steps i < t
    that were followed by w (Grave, Joulin & Usunier, 2017, eq. 3 to 5).
    """
    device, plain, features = next(model.parameters()).device, list[Tensor](), list[Tensor]()
    tokens = row.to(device)
    state = model.decoder.start(model.empty_source(1))
    for steps in chunks(len(row) - 1, QUERIES):
        found, state = model.resume(tokens[:-1][steps].unsqueeze(0), state)
        features.append(found[0].float())
        plain.append(log_probability(model.decoder.to_logits(found[0]), tokens[1:][steps]))
    keys, targets, logs = torch.cat(features), tokens[1:], list[Tensor]()
    for steps in chunks(len(targets), QUERIES):
        first = max(0, steps.start - size)
        at = torch.arange(first, steps.stop, device=device)  # (K,)
        now = torch.arange(steps.start, steps.stop, device=device).unsqueeze(1)  # (Q, 1)
        seen = (at < now) & (at >= now - size)  # (Q, K)
        scores = flatness * (keys[steps] @ keys[first : steps.stop].T)
        weights = scores.masked_fill(~seen, -torch.inf).softmax(dim=-1).nan_to_num()  # a first token has no past
        logs.append((weights * (targets[at] == targets[steps].unsqueeze(1))).sum(dim=-1).log())
    known = torch.ones(len(targets), device=device).double() * share
    known[0] = 0.0
    return mixed(model, interpolate(torch.cat(logs).double(), torch.cat(plain).double(), known), row)


def with_dynamic_evaluation(model: LanguageModel, row: Tensor, *, rate: float = RATE, segment: int = SEGMENT) -> Tensor:
    """Each segment is scored, then learned by a step of gradient descent, w ← w − η ∇L, before the next one is scored
    (Krause et al., 2018, sec. 2 and 3, without its decay). The model has its own weights again afterwards.
    """
    device, logs = next(model.parameters()).device, list[Tensor]()
    tokens, weights = row.to(device), [weight for weight in model.parameters() if weight.requires_grad]
    with restored(weights), torch.enable_grad():
        state = model.decoder.start(model.empty_source(1))
        for steps in chunks(len(row) - 1, segment):
            targets = tokens[1:][steps]
            found, state = model.resume(tokens[:-1][steps].unsqueeze(0), map_state(Tensor.detach, state))
            logits = model.decoder.to_logits(found[0])
            logs.append(log_probability(logits.detach(), targets))
            gradients = torch.autograd.grad(token_cross_entropy(logits, targets).mean, weights, allow_unused=True)
            norm = torch.linalg.vector_norm(torch.stack([one.norm() for one in gradients if one is not None]))
            step = rate * torch.clamp(LARGEST / norm, max=1.0)
            with torch.no_grad():
                for weight, gradient in zip(weights, gradients, strict=True):
                    if gradient is not None:
                        weight.sub_(step * gradient)
    return mixed(model, torch.cat(logs).double(), row)


@contextmanager
def restored(weights: list[torch.nn.Parameter]) -> Iterator[None]:
    """Within it weights may change; afterwards they are what they were, bit for bit."""
    own = [weight.detach().clone() for weight in weights]
    try:
        yield
    finally:
        with torch.no_grad():
            for weight, before in zip(weights, own, strict=True):
                weight.copy_(before)


def mixed(model: LanguageModel, log_probabilities: Tensor, row: Tensor) -> Tensor:
    """Log-probabilities of the network, with those of the counts where it has any."""
    if isinstance(model, InterpolatedLanguageModel):
        return model.mixed(log_probabilities, row, skipped=1)
    return log_probabilities.cpu()
