"""One pass of an encoder–decoder, part by part, with its matrices: for teaching."""

from collections.abc import Sequence

import torch
from torch import Tensor

from atento.data.batches import pad
from atento.data.vocabulary import START, Vocabulary
from atento.models.protocols import Encoded
from atento.models.recurrent import RecurrentDecoder
from atento.models.transformer import TransformerDecoder
from atento.models.translator import Translator
from atento.tasks.pair_codec import PairCodec
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
