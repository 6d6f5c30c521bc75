"""The wide part of a tagger: a linear model of word features, learned first, weighed by the validation part.

With a CRF the linear model is a CRF itself, whose tags are predicted jointly (Lafferty et al., 2001); else each tag is
by itself. How both go together stands in docs/decisions/0034-wide-and-deep.md.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.data.examples.batches import like_lengths
from atento.data.records import counted
from atento.data.text.vocabulary import SPECIAL_TOKENS
from atento.layers.crf import LinearChainCRF, Transitions
from atento.layers.losses import token_cross_entropy
from atento.layers.uncompiled import without_compiler
from atento.models.tagger import Tagger
from atento.models.wide_words import TEMPLATES, WideWords
from atento.tasks.inputs.words import WordList

# Axes: B batch, N words, C tags, S features of a word, F features of the table.

LEAST_WORDS = 2  # that have a feature of the table
EPOCHS, AVERAGED = 6, 3  # of the linear model, and the last of them whose weights are averaged
RATE = 0.3  # of Adagrad
FEATURE_DROPOUT = 0.1
BATCH_WORDS = 800
READ_WORDS = 20_000  # whose features are computed at once
MOST_WEIGHED = 300  # validation examples by which the parts are weighed


class TaggedRows(NamedTuple):
    """Sentences of like length: rows of the table and tags of each word."""

    features: Tensor  # (B, N, S)
    tags: Tensor  # (B, N)
    valid: Tensor  # (B, N)


def solve_wide_words(tagger: Tagger, input: WordList, sources: Sequence[Tensor], tags: Sequence[Tensor]) -> str:
    """Learn the wide part from encoded sentences and their tags; a note of it, empty without a wide part.

    The random state stays as it was.
    """
    wide = tagger.wide
    if wide is None:
        return ""
    wide.learn_letters(input.letters, len(SPECIAL_TOKENS))
    keys = frequent_keys(wide, input, sources)
    wide.table.fill(keys, torch.zeros(len(keys), wide.table.width))
    # gradients of a table are sparse
    unchecked = torch.sparse.check_sparse_tensor_invariants(enable=False)  # type: ignore[no-untyped-call]
    with torch.random.fork_rng(devices=[]), unchecked:
        torch.manual_seed(0)
        learn(wide, tagger.chain, list(tagged_rows(wide, input, sources, tags)))
    kind = "linear CRF" if tagger.chain is not None else "linear model"
    return f"beside the network stands a {kind} of {counted(len(keys), 'word feature')}; answers begin as its own"


def frequent_keys(wide: WideWords, input: WordList, sources: Sequence[Tensor]) -> Tensor:
    """The features that several words have, at most as many as the table holds, the most frequent ones."""
    found = [wide.keys(words, valid)[valid].flatten() for _, words, valid in padded(input, sources)]
    keys, counts = torch.unique(torch.cat(found), return_counts=True)
    keys, counts = keys[counts >= LEAST_WORDS], counts[counts >= LEAST_WORDS]
    return keys[counts.argsort(descending=True, stable=True)[: wide.table.capacity]]


def padded(
    input: WordList, sources: Sequence[Tensor], words: int = READ_WORDS
) -> Iterator[tuple[list[int], Tensor, Tensor]]:
    """Sentences of like length in batches: their places, words (B, N, 1 + L) and valid (B, N)."""
    for places in like_lengths([len(source) for source in sources], batch_tokens=words):
        yield places, *input.tensors([sources[place] for place in places])


def tagged_rows(
    wide: WideWords, input: WordList, sources: Sequence[Tensor], tags: Sequence[Tensor]
) -> Iterator[TaggedRows]:
    """Batches of a step."""
    for places, words, valid in padded(input, sources, BATCH_WORDS):
        truth = nn.utils.rnn.pad_sequence([tags[place] for place in places], batch_first=True)
        yield TaggedRows(wide.table.find(wide.keys(words, valid)), truth, valid)


def learn(wide: WideWords, like: LinearChainCRF | None, batches: Sequence[TaggedRows]) -> None:
    """Weights of features and transitions by Adagrad (Duchi et al., 2011), averaged over the last epochs."""
    held, width = wide.table.capacity, wide.table.width
    weights = nn.Parameter(torch.zeros(held + 1, width))
    bias = nn.Parameter(torch.zeros(width))
    chain = LinearChainCRF(width)
    if like is not None:  # what is forbidden
        chain.added_start, chain.added_between, chain.added_end = like.added_start, like.added_between, like.added_end
    optimizer = without_compiler(torch.optim.Adagrad)([weights, bias, *chain.parameters()], lr=RATE)
    sums = [torch.zeros_like(part) for part in (weights, bias, *chain.parameters())]
    for epoch in range(EPOCHS):
        for place in torch.randperm(len(batches)).tolist():
            features, tags, valid = batches[place]
            dropped = features.masked_fill(torch.rand(features.shape) < FEATURE_DROPOUT, held)
            bags = dropped.view(-1, TEMPLATES)
            scores = nn.functional.embedding_bag(bags, weights, mode="sum", sparse=True, padding_idx=held) + bias
            scores = scores.view(*valid.shape, width)
            if like is None:
                loss = token_cross_entropy(scores[valid], tags[valid])
            else:
                loss = chain.loss(scores, tags, valid=valid)
            optimizer.zero_grad()
            loss.mean.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        if epoch >= EPOCHS - AVERAGED:
            for total, part in zip(sums, (weights, bias, *chain.parameters()), strict=True):
                total += part.detach() / AVERAGED
    wide.table.rows.copy_(sums[0])
    wide.bias.copy_(sums[1])
    for own, found in zip((wide.start, wide.between, wide.end), sums[2:], strict=True):
        own.copy_(found)


@torch.no_grad()
def weigh_both_taggers(tagger: Tagger, input: WordList, sources: Sequence[Tensor], tags: Sequence[Tensor]) -> None:
    """Choose the weights of linear model and network by the mean loss of some validation sentences."""
    wide, chain = tagger.wide, tagger.chain
    stride = -(-len(sources) // MOST_WEIGHED) or 1
    sources, tags = sources[::stride], tags[::stride]
    if wide is None or not sources:
        return
    device, parts = wide.bias.device, []
    for places, words, valid in padded(input, sources):
        words, valid = words.to(device), valid.to(device)
        truth = nn.utils.rnn.pad_sequence([tags[place] for place in places], batch_first=True)
        linear, network = wide(words, valid), tagger.network_scores(words, valid)
        parts.append((linear.double().cpu(), network.double().cpu(), truth, valid.cpu()))
    judge = LinearChainCRF(wide.table.width).double()
    own = Transitions(*(part.double().cpu() for part in wide.transitions()))
    learned = own
    if chain is not None:
        learned = Transitions(*(part.detach().double().cpu() for part in (chain.start, chain.between, chain.end)))
        judge.added_start.copy_(chain.added_start)
        judge.added_between.copy_(chain.added_between)
        judge.added_end.copy_(chain.added_end)

    def loss(a: Tensor, b: Tensor) -> Tensor:
        total, items = torch.zeros((), dtype=torch.float64), 0
        judge.beside = lambda zeros: Transitions(*(a * x + b * y for x, y in zip(own, learned, strict=True)))
        for linear, network, truth, valid in parts:
            scores = a * linear + b * network
            if chain is None:
                found = token_cross_entropy(scores[valid], truth[valid])
            else:
                found = judge.eval().loss(scores, truth, valid=valid)
            total, items = total + found.total, items + found.items
        return total / max(1, items)

    wide.weigh(loss, examples=sum(int(valid.sum()) for *_, valid in parts))
