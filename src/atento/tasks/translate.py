"""Translate: turn one text into another, at the level of characters, words or subwords."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from atento.baselines.nearest import Nearest
from atento.baselines.rewrite import Rewrite
from atento.data.batches import like_lengths, pad
from atento.data.vocabulary import START, UNKNOWN
from atento.decoding import Hypothesis, search
from atento.metrics.edits import CHARACTER_ERROR, EDITS, SYMBOL_ERROR
from atento.metrics.metric import Metric
from atento.metrics.translation import BLEU4, CHRF2, EXACT
from atento.models.build import Vocabularies, build_translator
from atento.models.translator import Translator, as_translator
from atento.spec import DecodeRecipe, ModelRecipe
from atento.tasks.pair_codec import PairCodec, prepare_text
from atento.tasks.read_pairs import PAIRS
from atento.tasks.recognising import translate_texts
from atento.tasks.task import Alignment, Answer, Task
from atento.tasks.translate_defaults import MODELS, defaults, sized
from atento.tasks.translate_exposure import measure_exposure
from atento.tasks.translate_steps import trace_translation
from atento.tasks.translate_training import (
    MARKS,
    STRETCHES,
    forget_tokens,
    mix_own_tokens,
    next_token_loss,
    pad_pairs,
    pair_length,
)

DECODE_TOKENS = 16_384  # source tokens decoded together
METRICS: dict[str, tuple[Metric, ...]] = {  # by the level of the target, the headline first
    "char": (EXACT, CHARACTER_ERROR, EDITS, CHRF2),
    "word": (EXACT, SYMBOL_ERROR, CHRF2, BLEU4),
    "subword": (CHRF2, BLEU4, EXACT),
}


def build(recipe: ModelRecipe, codec: PairCodec) -> Translator:
    """Sizes that follow from data are filled in here."""
    return build_translator(recipe, Vocabularies(len(codec.source), len(codec.target)))


def write_rows(
    module: Translator, codec: PairCodec, rows: Sequence[list[int]], recipe: DecodeRecipe
) -> list[Hypothesis]:
    """The best output for each source of token numbers; sources of like length are decoded together."""
    device = next(module.parameters()).device
    found: dict[int, Hypothesis] = {}
    seeds = seeds_of(rows, recipe.seed)
    lengths = [max(1, len(row)) for row in rows]
    for indices in like_lengths(lengths, batch_tokens=max(1, DECODE_TOKENS // recipe.beam)):
        tokens, valid = pad([rows[index] or [UNKNOWN] for index in indices])
        longest = [recipe.longest or codec.limits.tokens(lengths[index]) for index in indices]
        with torch.no_grad():
            encoded = module.encode(tokens.to(device), valid.to(device))
        drawn = [seeds[index] for index in indices]
        best = search(module.decoder, encoded, recipe, marks=MARKS, longest=longest, seeds=drawn)
        found.update(zip(indices, best, strict=True))
    return [found[index] for index in range(len(rows))]


def seeds_of(rows: Sequence[Sequence[Any]], seed: int) -> list[str]:
    """A seed for each source: its own tokens and how often it was asked before, so that no other source matters."""
    asked: Counter[tuple[Any, ...]] = Counter()
    seeds = []
    for row in rows:
        seeds.append(f"{seed} {asked[tuple(row)]} {row}")
        asked[tuple(row)] += 1
    return seeds


def write_targets(module: nn.Module, codec: PairCodec, sources: Sequence[str], recipe: DecodeRecipe) -> list[Answer]:
    """Validation, evaluation, prediction and serving all answer through here."""
    translator = as_translator(module)
    rows = [codec.read(source) for source in sources]
    return [Answer(codec.target.decode(one.tokens), one.score) for one in write_rows(translator, codec, rows, recipe)]


def look_at(module: nn.Module, codec: PairCodec, source: str, recipe: DecodeRecipe) -> Alignment:
    """Write the output by the fast path, then ask for the weights of that very output in one pass."""
    translator = as_translator(module)
    row = codec.read(source) or [UNKNOWN]
    best = write_rows(translator, codec, [row], recipe)[0]
    device = next(module.parameters()).device
    tokens, valid = pad([row])
    previous = torch.tensor([[START, *best.tokens]], device=device)
    with torch.no_grad():
        encoded = translator.encode(tokens.to(device), valid.to(device))
        weights: Tensor = translator.decoder.weights(previous, encoded)[0].float().cpu()
    pieces = codec.source.pieces(row)
    source_pieces = (list(prepare_text(source)) if codec.source.level == "char" else pieces) or pieces
    output = [*codec.target.pieces(best.tokens), "<end>"]
    return Alignment(source_pieces, output, weights, codec.target.decode(best.tokens), best.score)


def trace_steps(module: nn.Module, codec: PairCodec, source: str, recipe: DecodeRecipe) -> list[dict[str, Any]]:
    """One pass, matrix by matrix, of the output the search finds."""
    translator = as_translator(module)
    row = codec.read(source) or [UNKNOWN]
    return trace_translation(translator, codec, row, write_rows(translator, codec, [row], recipe)[0].tokens)


def headline_first(codec: PairCodec) -> tuple[Metric, ...]:
    """Exact match where outputs are short or of a closed vocabulary, and beside it the edits they need; characters in
    common for open text.
    """
    return METRICS[codec.target.level]


TRANSLATE = Task(
    name="translate",
    summary="Turn one text into another.",
    recognise=translate_texts,
    read=PAIRS.read,
    ask=PAIRS.ask,
    open=PAIRS.open_file,
    learn=PairCodec.learn,
    load=PairCodec.load,
    encode=PairCodec.encode,
    length=pair_length,
    batch=pad_pairs,
    build=build,
    mix=mix_own_tokens,
    blur=forget_tokens,
    loss=next_token_loss,
    stretches=STRETCHES,
    answer=write_targets,
    look=look_at,
    steps=trace_steps,
    exposure=measure_exposure,
    selects=CHRF2,
    metrics=headline_first,
    baselines=(Nearest, Rewrite),
    models=MODELS,
    default_model="lstm+additive",
    defaults=defaults,
    sized=sized,
)
