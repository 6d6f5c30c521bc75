"""Match: say how two texts stand to each other, or answer a question about a passage by yes or no.

What a matcher looked at in the first text while it read the second: the evidence for its answer.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from atento.attention.distributions.hard import recorded_draws, score_function_loss
from atento.baselines.catalogue import find_baseline
from atento.baselines.frequent import Majority
from atento.baselines.text_pairs import Overlap
from atento.blocks.pooling import AttentionPooling
from atento.data.examples.batches import like_lengths, pad
from atento.data.text.vocabulary import UNKNOWN
from atento.data.text.words import sentences
from atento.layers.losses import Loss, precise
from atento.metrics.labels import ACCURACY
from atento.models.build.matcher import build_matcher
from atento.models.heads import LabelHead
from atento.models.matcher import MatchBatch, Matcher, TwoTowers, as_matcher
from atento.spec import DecodeRecipe, ModelRecipe
from atento.tasks.classify.defaults import TWO_TEXT_MODELS, two_text_defaults, two_text_sizes
from atento.tasks.classify.labels import metrics, weigh
from atento.tasks.classify.text_codec import prepare
from atento.tasks.classify.two_texts_codec import EncodedMatch, MatchCodec, trace_match, two_texts
from atento.tasks.pretrained import adopt_match
from atento.tasks.reading.text import MATCHES
from atento.tasks.recognising.text import match_texts
from atento.tasks.task import Alignment, Answer, Task

# Axes: L layers, H heads, N tokens of the second text, T of the first.

WORDS = 3  # shown where the first text is one sentence


def evidence_of(codec: MatchCodec, source: str, weights: Tensor) -> str:
    """The sentence of the first text that was looked at most; of a single sentence its words, as they stand.

    weights (L, H, N, T): all layers, heads and tokens of the second text count alike; they are squared, so that a look
    at one place counts for more than one that spreads over many.
    """
    text = prepare(two_texts(source)[0], lower=False)
    mass = weights.square().mean(dim=(0, 1, 2)).tolist()  # (T,)
    places = codec.vocabulary.offsets(text)[: len(mass)]
    parts = sentence_spans(text)
    if len(parts) < 2:
        words = [at for at, (start, end) in enumerate(places) if any(map(str.isalnum, text[start:end]))]
        best = sorted(sorted(words, key=lambda at: -mass[at])[:WORDS])
        return " … ".join(text[slice(*places[at])] for at in best)
    looked = [sum(mass[at] for at in tokens_within(places, part)) for part in parts]
    start, end = parts[max(range(len(parts)), key=lambda at: looked[at])]
    return text[start:end]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where each sentence of a text begins and ends."""
    spans, at = [], 0
    for sentence in sentences(text):
        start = text.index(sentence, at)
        at = start + len(sentence)
        spans.append((start, at))
    return spans


def tokens_within(places: Sequence[tuple[int, int]], part: tuple[int, int]) -> list[int]:
    """The tokens that begin inside a stretch of the text."""
    return [at for at, (start, _) in enumerate(places) if part[0] <= start < part[1]]


# Axes: B batch, T items of the first text, N of the second, C labels.

TOKENS_AT_ONCE = 16_384


def batch(examples: Sequence[EncodedMatch]) -> MatchBatch:
    """Token lists -> padded tensors."""
    first, first_valid = pad([example.first for example in examples])
    second, second_valid = pad([example.second for example in examples])
    first_echo, _ = pad([example.first_echo for example in examples])
    second_echo, _ = pad([example.second_echo for example in examples])
    truth = torch.tensor([example.label for example in examples])
    return MatchBatch(first, first_valid, first_echo, second, second_valid, second_echo, truth)


def length(example: EncodedMatch) -> int:
    """Tokens of both texts."""
    return len(example.first) + len(example.second)


def build(recipe: ModelRecipe, codec: MatchCodec) -> Matcher:
    """Sizes that follow from data are filled in here."""
    return build_matcher(recipe, len(codec.vocabulary), LabelHead, len(codec.labels))


def forget_words(rows: MatchBatch, share: float) -> MatchBatch:
    """A share of the tokens becomes unknown; what the other text has of them stays known."""
    return rows._replace(
        first=forgotten(rows.first, rows.first_valid, share), second=forgotten(rows.second, rows.second_valid, share)
    )


def forgotten(tokens: Tensor, valid: Tensor, share: float) -> Tensor:
    """Tokens (B, T) with about this share of the real ones unknown."""
    return tokens.masked_fill((torch.rand(tokens.shape, device=tokens.device) < share) & valid, UNKNOWN)


def label_loss(module: nn.Module, rows: MatchBatch, smoothing: float) -> Loss:
    """Cross-entropy of the true label; keys that were drawn are judged by the cost of their pair."""
    matcher = as_matcher(module)
    with recorded_draws() as draws:
        outputs = matcher(rows)
    loss = matcher.head.loss(outputs, rows.truth, smoothing=smoothing)
    if not draws:
        return loss
    costs = nn.functional.cross_entropy(precise(outputs.detach()), rows.truth, reduction="none")  # (B,)
    expected = (costs.sum() - costs) / max(1, len(costs) - 1)  # what the other pairs cost
    estimates = [score_function_loss(draw, beside(draw, expected - costs)) for draw in draws]
    surplus = torch.stack(estimates).sum()
    return loss._replace(total=loss.total + surplus - surplus.detach())  # a gradient, not a cost


def beside(draw: Tensor, worth: Tensor) -> Tensor:
    """What each draw (B, ..., Q) was worth (B,), with as many axes."""
    return worth.view(-1, *[1] * (draw.dim() - 1))


@torch.no_grad()
def answer(module: nn.Module, codec: MatchCodec, sources: Sequence[str], recipe: DecodeRecipe) -> list[Answer]:
    """Validation, evaluation, prediction and serving all answer through here."""
    matcher, device = as_matcher(module), next(module.parameters()).device
    pairs = [codec.read(source) for source in sources]
    lengths = [length(pair) for pair in pairs]
    found: dict[int, Answer] = {}
    for indices in like_lengths(lengths, batch_tokens=TOKENS_AT_ONCE):
        rows = on_device(batch([pairs[index] for index in indices]), device)
        logs = precise(matcher(rows)).log_softmax(dim=-1).cpu()  # (B, C)
        looked = matcher.weights(rows).float().cpu() if matcher.attends else None
        for place, index in enumerate(indices):
            evidence = None
            if looked is not None:
                weights = looked[place][..., : len(pairs[index].second), : len(pairs[index].first)]
                evidence = evidence_of(codec, sources[index], weights)
            found[index] = codec.likeliest(logs[place], evidence=evidence)
    return [found[index] for index in range(len(sources))]


@torch.no_grad()
def look_at(module: nn.Module, codec: MatchCodec, source: str, recipe: DecodeRecipe) -> Alignment:
    """Where each token of the second text looked in the first; what towers took of both, where attention pools."""
    matcher, device = as_matcher(module), next(module.parameters()).device
    (said,) = answer(module, codec, [source], recipe)
    rows = on_device(batch([codec.read(source)]), device)
    first, second = codec.pieces(source)
    if isinstance(matcher, TwoTowers) and isinstance(matcher.pooling, AttentionPooling):
        both = [matcher.taken(*rows[0:2]), matcher.taken(*rows[3:5])]
        weights = torch.cat(both, dim=-1)[None, None]  # (1, 1, 1, T + N)
        return Alignment([*first, *second], [said.text], weights.float().cpu(), said.text, said.score)
    return Alignment(first, second, matcher.weights(rows)[0].float().cpu(), said.text, said.score)


@torch.no_grad()
def trace(module: nn.Module, codec: MatchCodec, source: str, recipe: DecodeRecipe) -> list[dict[str, Any]]:
    """One pass, matrix by matrix."""
    rows = on_device(batch([codec.read(source)]), next(module.parameters()).device)
    return trace_match(as_matcher(module), codec, rows, codec.pieces(source))


def on_device(rows: MatchBatch, device: torch.device) -> MatchBatch:
    """The same batch, there."""
    return MatchBatch(*(part.to(device) for part in rows))


def bag_of_both() -> Any:
    """Both texts as one bag of words."""
    return find_baseline("tf-idf")


MATCH = Task(
    name="match",
    summary="Say how two texts stand to each other, or answer yes or no about a passage.",
    recognise=match_texts,
    read=MATCHES.read,
    ask=MATCHES.ask,
    open=MATCHES.open_file,
    learn=MatchCodec.learn,
    adopt=adopt_match,
    load=MatchCodec.load,
    encode=MatchCodec.encode,
    length=length,
    batch=batch,
    build=build,
    blur=forget_words,
    weigh=weigh,
    loss=label_loss,
    answer=answer,
    look=look_at,
    steps=trace,
    selects=ACCURACY,
    metrics=metrics,
    baselines=(Majority, Overlap, bag_of_both),
    models=TWO_TEXT_MODELS,
    default_model="lstm+dot+sparsemax+co",
    defaults=two_text_defaults,
    sized=two_text_sizes,
)
