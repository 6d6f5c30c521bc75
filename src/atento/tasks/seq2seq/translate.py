"""Translate: turn one text into another, at the level of characters, words or subwords.

One pass of an encoder–decoder, part by part, with its matrices: for teaching.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from atento.baselines.text_pairs import Nearest, Rewrite
from atento.data.examples.batches import like_lengths, pad
from atento.data.text.vocabulary import START, UNKNOWN, Vocabulary
from atento.decoding import Hypothesis, search
from atento.metrics.metric import Metric
from atento.metrics.text import BLEU4, CHARACTER_ERROR, CHRF2, EDITS, EXACT, SYMBOL_ERROR
from atento.models.backbones.recurrent import RecurrentDecoder
from atento.models.backbones.transformer import TransformerDecoder
from atento.models.build.encoder_decoder import Vocabularies, build_translator
from atento.models.protocols import Encoded
from atento.models.translator import Translator, as_translator
from atento.spec import DecodeRecipe, ModelRecipe
from atento.tasks.reading.text import PAIRS
from atento.tasks.recognising.text import translate_texts
from atento.tasks.seq2seq.codec import PairCodec, prepare_text
from atento.tasks.seq2seq.defaults import TRANSLATE_MODELS, translate_defaults, translate_sizes
from atento.tasks.seq2seq.training import (
    MARKS,
    STRETCHES,
    forget_tokens,
    measure_exposure,
    mix_own_tokens,
    next_token_loss,
    pad_pairs,
    pair_length,
)
from atento.tasks.task import Alignment, Answer, Task
from atento.tasks.traces import Trace, entry

LIKELIEST = 4


@torch.no_grad()
def trace_translation(module: Translator, codec: PairCodec, row: list[int], written: Sequence[int]) -> list[Trace]:
    """From the tokens read to the tokens written: each entry has a title, a formula, labels and a matrix."""
    device = next(module.parameters()).device
    tokens, valid = pad([row])
    encoded = module.encode(tokens.to(device), valid.to(device))
    pieces = codec.source.pieces(row)
    return [
        entry("tokens", "each piece is a number", pieces, tokens[0].unsqueeze(1).float(), columns=["number"]),
        entry("encoder states", f"{type(module.encoder).__name__}: one vector a piece", pieces, encoded.states[0]),
        entry("summary", "the whole source in one vector", ["summary"], encoded.summary),
        *trace_writing(module, encoded, codec.target, pieces, written),
    ]


@torch.no_grad()
def trace_writing(
    module: Translator, encoded: Encoded, vocabulary: Vocabulary, pieces: Sequence[str], written: Sequence[int]
) -> list[Trace]:
    """From the states of a source, whatever it is, to the tokens written."""
    outputs = [*vocabulary.pieces(written), "<end>"]
    previous = torch.tensor([[START, *written]], device=encoded.states.device)
    traces = trace_attention(module, previous, encoded, pieces, outputs)
    probabilities = module.decoder(previous, encoded)[0].softmax(dim=-1)  # (T, V)
    for time, output in enumerate(outputs):
        best = probabilities[time].topk(min(LIKELIEST, probabilities.size(-1)))
        names = vocabulary.pieces(best.indices.tolist())
        title = f"step {time + 1}: after {(['<start>', *outputs])[time]!r}, what comes next?"
        traces.append(
            entry(title, f"softmax of the logits; written: {output!r}", ["p"], best.values[None], columns=names)
        )
    return traces


def trace_attention(
    module: Translator, previous: Tensor, encoded: Encoded, pieces: Sequence[str], outputs: Sequence[str]
) -> list[Trace]:
    """Scores, weights and contexts of a decoder that attends."""
    decoder = module.decoder
    if isinstance(decoder, RecurrentDecoder):
        state = decoder.start(encoded)
        asked = decoder.walk(decoder.inputs(previous, state), state).asked
        traces = [entry("decoder states", decoder.equation, outputs, asked[0])]
        if decoder.attention is None:
            return traces
        scores = decoder.attention.score.compare(asked, state.source.key).flatten(0, -3)  # one matrix, or a pair
        weights = decoder.attention.share(asked, state.source)[0]
        context = decoder.attention.read(asked, state.source)[0]
        traces += [
            *(
                entry("scores", f"{type(decoder.attention.score).__name__}: a(k_i, q_t)", outputs, one, columns=pieces)
                for one in scores
            ),
            entry(
                "weights", f"{type(decoder.attention.distribution).__name__}: p(a)", outputs, weights, columns=pieces
            ),
            entry("contexts", "c_t = Σ p_i v_i", outputs, context),
        ]
        return traces
    if isinstance(decoder, TransformerDecoder):
        every = decoder.weights(previous, encoded)[0]  # (L, H, T, N)
        return [
            entry(
                f"weights, layer {layer + 1}, head {head + 1}", "softmax(q · k / √d)", outputs, matrix, columns=pieces
            )
            for layer, heads in enumerate(every)
            for head, matrix in enumerate(heads)
        ]
    return []


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
    models=TRANSLATE_MODELS,
    default_model="lstm+additive",
    defaults=translate_defaults,
    sized=translate_sizes,
)
