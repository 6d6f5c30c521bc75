"""Completions of a text by greedy search, beam search or sampling."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor

from atento.data.text.vocabulary import END, PAD, START, UNKNOWN
from atento.decoding import Hypothesis, SpecialTokens, search
from atento.decoding.prefix import PrefixedDecoder
from atento.models.interpolated import InterpolatedDecoder, InterpolatedLanguageModel, InterpolationState
from atento.models.language_model import LanguageModel
from atento.spec import DecodeRecipe
from atento.tasks.generate.codec import TextCodec
from atento.tasks.generate.training import recurs
from atento.tasks.outputs.written_text import seeds_of

ROWS_AT_ONCE = 64

DOCUMENT = SpecialTokens(start=END, end=END, forbidden=(PAD, UNKNOWN, START))
RUNNING = DOCUMENT._replace(forbidden=(*DOCUMENT.forbidden, END))  # a long text has no end to write


def go_on(model: LanguageModel, codec: TextCodec, rows: Sequence[Tensor], recipe: DecodeRecipe) -> list[Hypothesis]:
    """What follows each row of tokens; rows of one length are read together, so that none need be padded.

    A Transformer writes in rounds: no position is later than those it learned.
    """
    longest = recipe.max_tokens or codec.longest
    found = [Hypothesis((), 0.0) for _ in rows]
    own = seeds_of([row.tolist() for row in rows], recipe.seed)
    going = list(range(len(rows)))
    while going:
        texts = {index: seen(model, codec, rows[index], found[index]) for index in going}
        going = []
        for some in of_one_length(texts):
            reads = torch.stack([texts[index] for index in some])
            room = longest if recurs(model) else max(1, codec.window - reads.size(1))
            limits = [min(longest - len(found[index].tokens), room) for index in some]
            seeds = [f"{len(found[index].tokens)} {own[index]}" for index in some]
            added = write(model, codec, reads, limits, seeds, recipe)
            for index, limit, more in zip(some, limits, added, strict=True):
                found[index] = Hypothesis(found[index].tokens + more.tokens, found[index].score + more.score)
                if len(more.tokens) == limit and len(found[index].tokens) < longest:
                    going.append(index)
    return found


def of_one_length(texts: Mapping[int, Tensor]) -> Iterator[list[int]]:
    """Which texts are read together."""
    by_length = defaultdict[int, list[int]](list)
    for index, text in texts.items():
        by_length[len(text)].append(index)
    for indices in by_length.values():
        for at in range(0, len(indices), ROWS_AT_ONCE):
            yield indices[at : at + ROWS_AT_ONCE]


def seen(model: LanguageModel, codec: TextCodec, row: Tensor, written: Hypothesis) -> Tensor:
    """What the model reads before it goes on: all of it, or the last half of a window."""
    whole = torch.cat([row, torch.tensor(written.tokens, dtype=torch.long)])
    if recurs(model) or len(whole) < codec.window:
        return whole
    return whole[-max(1, codec.window // 2) :]


@torch.no_grad()
def write(
    model: LanguageModel,
    codec: TextCodec,
    texts: Tensor,
    longest: Sequence[int],
    seeds: Sequence[str],
    recipe: DecodeRecipe,
) -> list[Hypothesis]:
    """After texts (B, T): sampling, greedy search or a beam, as the recipe says."""
    texts = texts.to(next(model.parameters()).device)
    nothing = model.empty_source(len(texts))
    features, state = model.resume(texts, model.decoder.start(nothing))
    logits = model.decoder.to_logits(features[:, -1])
    decoder = PrefixedDecoder(model.decoder, logits, state)
    if isinstance(model, InterpolatedLanguageModel):
        past = model.last_tokens(texts)
        logits, state = model.following(logits, past), InterpolationState(past, state)
        decoder = PrefixedDecoder(InterpolatedDecoder(model), logits, state)
    special_tokens = DOCUMENT if codec.ends else RUNNING
    return search(decoder, nothing, recipe, special_tokens=special_tokens, max_tokens=longest, seeds=seeds)
