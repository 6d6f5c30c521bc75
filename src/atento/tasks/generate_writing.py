"""Going on with a text: greedy, with a beam, or drawn by chance."""

from collections import defaultdict
from collections.abc import Sequence

import torch
from torch import Tensor

from atento.data.vocabulary import END, PAD, START, UNKNOWN
from atento.decoding import Hypothesis, Marks, beam, greedy, sample
from atento.decoding.primed import Primed
from atento.models.language_model import LanguageModel
from atento.spec import DecodeRecipe
from atento.tasks.generate_training import recurs
from atento.tasks.text_codec import TextCodec
from atento.tasks.translate import seeds_of

ROWS_AT_ONCE = 64

DOCUMENT = Marks(start=END, end=END, forbidden=(PAD, UNKNOWN, START))
RUNNING = DOCUMENT._replace(forbidden=(*DOCUMENT.forbidden, END))  # a long text has no end to write


def go_on(model: LanguageModel, codec: TextCodec, rows: Sequence[Tensor], recipe: DecodeRecipe) -> list[Hypothesis]:
    """What follows each row of tokens; rows of one length are read together, so that none need be padded.

    A Transformer writes in rounds: no position is later than those it learned.
    """
    longest = recipe.longest or codec.longest
    found = [Hypothesis((), 0.0) for _ in rows]
    going = {index: longest for index in range(len(rows))}
    own = seeds_of([row.tolist() for row in rows], recipe.seed)
    while going:
        by_length = defaultdict[int, list[int]](list)
        for index in going:
            by_length[len(seen(model, codec, rows[index], found[index]))].append(index)
        for indices in by_length.values():
            for some in [indices[at : at + ROWS_AT_ONCE] for at in range(0, len(indices), ROWS_AT_ONCE)]:
                texts = torch.stack([seen(model, codec, rows[index], found[index]) for index in some])
                room = longest if recurs(model) else max(1, codec.window - texts.size(1))
                limits = [min(going[index], room) for index in some]
                seeds = [f"{len(found[index].tokens)} {own[index]}" for index in some]
                for index, limit, more in zip(
                    some, limits, write(model, codec, texts, limits, seeds, recipe), strict=True
                ):
                    before = found[index]
                    found[index] = Hypothesis((*before.tokens, *more.tokens), before.score + more.score)
                    going[index] -= len(more.tokens)
                    if len(more.tokens) < limit or going[index] < 1:
                        del going[index]
    return found


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
    nothing = model.begin(len(texts))
    features, state = model.resume(texts, model.decoder.start(nothing))
    decoder = Primed(model.decoder, model.decoder.to_logits(features[:, -1]), state)
    marks = DOCUMENT if codec.ends else RUNNING
    if recipe.temperature:
        return sample(
            decoder,
            nothing,
            marks=marks,
            longest=longest,
            seeds=seeds,
            temperature=recipe.temperature,
            top_k=recipe.top_k,
            top_p=recipe.top_p,
        )
    if recipe.beam == 1:
        return greedy(decoder, nothing, marks=marks, longest=longest)
    penalty = recipe.length_penalty
    kept = beam(decoder, nothing, marks=marks, longest=longest, width=recipe.beam, length_penalty=penalty)
    return [hypotheses[0] for hypotheses in kept]
