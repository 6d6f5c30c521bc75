"""CTranslate2: a Transformer encoder–decoder in the format of its C++ engine, for models that the engine can express.

The engine computes layers with a norm before or after each sublayer, ReLU, scaled dot products with softmax over all
keys, and positions that are added to embeddings. Whatever else a model has is refused before the attempt.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.attention.distributions.distributions import Softmax
from atento.attention.extents.extents import Causal, Everything, Extent
from atento.attention.heads import MultiHead
from atento.attention.scores.product import ScaledDot
from atento.blocks.transformer import Residual, TransformerDecoderLayer, TransformerEncoderLayer
from atento.bundle import Bundle
from atento.data.text.vocabulary import SPECIAL_TOKENS, UNKNOWN, Vocabulary
from atento.errors import InputError, RunError
from atento.exporting.folder import CODEC, Json
from atento.exporting.int8 import JudgedRows, Measured, loss_of
from atento.exporting.runtime.ctranslate2 import CTranslate2Writer
from atento.exporting.runtime.sources import reader_of
from atento.exporting.tracing import quiet
from atento.layers.embeddings import PositionedEmbedding
from atento.layers.feed_forward import FeedForward
from atento.layers.positions import LearnedPositions
from atento.models.backbones.transformer import TransformerDecoder, TransformerEncoder
from atento.models.translator import Translator
from atento.spec import DecodeRecipe
from atento.tasks.inputs.text import Text
from atento.tasks.inputs.two_texts import TwoTexts

POSITIONS = 2048  # that are written where positions are a formula
COMPARED = 200  # sources whose tokens are compared with ours
LEAST_SAME = 0.98  # of them must give the same text; equal scores may fall out otherwise

Tell = Callable[[str], None]


def refuse_ct2(bundle: Bundle) -> None:
    """Say what CTranslate2 cannot express."""
    problem = problem_of(bundle)
    if problem:
        raise InputError(
            f"CTranslate2 cannot express this model: {problem}.",
            found=f"{bundle.task.name}, {bundle.recipe.model.name}",
            fix="--to onnx exports every model",
        )


def problem_of(bundle: Bundle) -> str:
    """Why the engine cannot compute a model; empty where it can."""
    module, half = bundle.module, getattr(bundle.codec, "input", None)
    if not isinstance(module, Translator) or not isinstance(half, Text | TwoTexts):
        return "it translates texts alone"
    encoder, decoder = module.encoder, module.decoder
    if not isinstance(encoder, TransformerEncoder) or not isinstance(decoder, TransformerDecoder):
        return "it has Transformers alone, as encoder and as decoder"
    layers = [*encoder.stack.each(), *decoder.stack()]
    orders = {part.order for layer in layers for part in layer.modules() if isinstance(part, Residual)}
    if orders not in ({"pre"}, {"post"}):
        return "it has a norm before or after each sublayer, in all layers alike"
    norms = [part.eps for part in module.modules() if isinstance(part, nn.LayerNorm)]
    if any(eps != 1e-5 for eps in norms):
        return "its norms have an epsilon of 1e-5"
    if any(part.activation is not torch.relu for part in module.modules() if isinstance(part, FeedForward)):
        return "its feed-forward layers have ReLU"
    wanted: list[tuple[MultiHead, type[Extent]]] = [
        (layer.self_attention, Everything) for layer in encoder.stack.each()
    ]
    for layer in decoder.stack():
        wanted += [(layer.self_attention, Causal), (layer.cross_attention, Everything)]
    for heads, extent in wanted:
        parts = heads.attention
        plain = type(parts) is Attention and heads.rotary is None and type(parts.extent) is extent
        if not plain or (type(parts.score), type(parts.distribution)) != (ScaledDot, Softmax):
            return "it attends by scaled dot products and softmax, over all keys"
    return ""


def write_ct2(bundle: Bundle, folder: Path, rows: JudgedRows | None, tell: Tell) -> tuple[Json | None, Json]:
    """The model as files of CTranslate2; the loss by int8, and how many sources give the same tokens as torch."""
    from ctranslate2.specs import TransformerSpec
    from ctranslate2.specs.common_spec import Activation
    from ctranslate2.specs.transformer_spec import TransformerDecoderSpec, TransformerEncoderSpec

    encoder, decoder = cast(Any, bundle.module.encoder), cast(Any, bundle.module.decoder)  # as `problem_of` found them
    pre, heads = bundle.recipe.model.norm == "pre", bundle.recipe.model.heads
    sources, targets = encoder.stack.each(), decoder.stack()
    encoder_spec = TransformerEncoderSpec(len(sources), heads, pre_norm=pre, activation=Activation.RELU)
    decoder_spec = TransformerDecoderSpec(len(targets), heads, pre_norm=pre, activation=Activation.RELU)
    fill_embedding(encoder_spec, encoder_spec.embeddings[0], encoder.embedding)
    fill_embedding(decoder_spec, decoder_spec.embeddings, decoder.embedding)
    for spec, layer in zip(encoder_spec.layer, sources, strict=True):
        fill_encoder_layer(spec, layer)
    for spec, layer in zip(decoder_spec.layer, targets, strict=True):
        fill_decoder_layer(spec, layer)
    if pre:
        fill_norm(encoder_spec.layer_norm, encoder.stack.norm)
        fill_norm(decoder_spec.layer_norm, decoder.norm)
    decoder_spec.projection.weight = array(decoder.embedding.tokens.output_weight)
    decoder_spec.projection.bias = array(decoder.bias)
    whole = TransformerSpec(encoder_spec, decoder_spec)
    whole.register_source_vocabulary(names_of(bundle.codec.input.vocabulary))
    whole.register_target_vocabulary(names_of(bundle.codec.output.vocabulary))
    whole.config.bos_token = whole.config.decoder_start_token = SPECIAL_TOKENS[2]
    whole.config.eos_token, whole.config.unk_token = SPECIAL_TOKENS[3], SPECIAL_TOKENS[UNKNOWN]
    whole.validate()
    with quiet():
        whole.save(str(folder))
    compared = compare(bundle, folder, tell)
    if rows is None:
        return None, compared
    before = judge(bundle, folder, rows)
    tell("quality with int8")
    whole.optimize(quantization="int8")
    with quiet():
        whole.save(str(folder))
    return loss_of(before, judge(bundle, folder, rows), rows), compared


def fill_embedding(spec: Any, table: Any, embedding: PositionedEmbedding) -> None:
    """Token vectors times √size, and a table of positions."""
    table.weight = array(embedding.tokens.table.weight)
    spec.scale_embeddings = True
    positions = embedding.positions
    longest = positions.max_length if isinstance(positions, LearnedPositions) else POSITIONS
    with torch.no_grad():
        spec.position_encodings.encodings = array(positions(torch.arange(longest)))


def fill_encoder_layer(spec: Any, layer: TransformerEncoderLayer) -> None:
    """Self-attention and feed-forward."""
    fill_self_attention(spec.self_attention, layer.self_attention, layer.around_attention)
    fill_feed_forward(spec.ffn, layer.feed_forward, layer.around_feed_forward)


def fill_decoder_layer(spec: Any, layer: TransformerDecoderLayer) -> None:
    """Self-attention, attention over the source, feed-forward."""
    fill_self_attention(spec.self_attention, layer.self_attention, layer.around_self)
    heads = layer.cross_attention
    fill_norm(spec.attention.layer_norm, layer.around_cross.norm)
    fill_linear(spec.attention.linear[0], heads.to_query)
    fill_linear(spec.attention.linear[1], heads.to_key, heads.to_value)
    fill_linear(spec.attention.linear[2], heads.combine)
    fill_feed_forward(spec.ffn, layer.feed_forward, layer.around_feed_forward)


def fill_self_attention(spec: Any, heads: MultiHead, around: Residual) -> None:
    """Queries, keys and values in one matrix."""
    fill_norm(spec.layer_norm, around.norm)
    fill_linear(spec.linear[0], heads.to_query, heads.to_key, heads.to_value)
    fill_linear(spec.linear[1], heads.combine)


def fill_feed_forward(spec: Any, layer: FeedForward, around: Residual) -> None:
    """Both linear maps."""
    fill_norm(spec.layer_norm, around.norm)
    fill_linear(spec.linear_0, layer.widen)
    fill_linear(spec.linear_1, layer.narrow)


def fill_norm(spec: Any, norm: nn.Module) -> None:
    """Gain and bias of a layer norm."""
    spec.gamma, spec.beta = array(norm.weight), array(norm.bias)


def fill_linear(spec: Any, *layers: nn.Linear) -> None:
    """One linear map, or several side by side."""
    spec.weight = array(torch.cat([layer.weight for layer in layers]))
    spec.bias = array(torch.cat([layer.bias for layer in layers]))


def array(tensor: Any) -> Any:
    """A tensor as numbers of the engine."""
    return np.ascontiguousarray(tensor.detach().float().numpy()) if isinstance(tensor, Tensor) else np.asarray(tensor)


def names_of(vocabulary: Vocabulary) -> list[str]:
    """A name for each token, the same as in `vocabulary.json` where that is unique."""
    from atento.exporting.runtime.ctranslate2 import token_names

    return token_names(vocabulary)


def writer(bundle: Bundle, folder: Path) -> CTranslate2Writer:
    """The written model at work."""
    from atento.exporting.folder import read_json

    saved = read_json(folder, CODEC)
    reader = reader_of(bundle.task.reading.kind, saved["input"], saved.get("max_length"), writes=True)
    return CTranslate2Writer(folder, reader, saved["output"])


def compare(bundle: Bundle, folder: Path, tell: Tell) -> Json:
    """The texts of some sources by the engine and by torch, greedy and with a beam; too few equal ones are refused."""
    sources = some_sources(bundle)
    tell(f"texts of {len(sources)} sources, by torch and by CTranslate2")
    engine, same = writer(bundle, folder), 0
    for recipe in (DecodeRecipe(), DecodeRecipe(beam=4)):
        ours = bundle.task.answering.answer(bundle.module, bundle.codec, sources, recipe)
        theirs = engine(sources, recipe)
        same += sum(one.text == other.text for one, other in zip(ours, theirs, strict=True))
    if same < LEAST_SAME * 2 * len(sources):
        raise RunError(
            "CTranslate2 does not write what torch writes; nothing was kept.",
            found=f"{same} of {2 * len(sources)} texts are the same",
            fix="--to onnx",
        )
    return {"same": same, "sources": 2 * len(sources)}


def some_sources(bundle: Bundle) -> list[str]:
    """Sources that the run has kept of its test part; else random ones of its vocabulary."""
    from atento.bundle import read_predictions

    kept = [str(line["source"]) for line in read_predictions(bundle.folder)[:COMPARED]]
    if kept:
        return kept
    vocabulary = bundle.codec.input.vocabulary
    chance = np.random.default_rng(0)
    rows = chance.integers(len(SPECIAL_TOKENS), len(vocabulary), (COMPARED // 4, 7))
    texts = [vocabulary.decode(row.tolist()) for row in rows]
    return [f"{text}\t{text}" for text in texts] if isinstance(bundle.codec.input, TwoTexts) else texts


def judge(bundle: Bundle, folder: Path, rows: JudgedRows) -> Measured:
    """The headline metric of the written model."""
    headline = bundle.task.judging.metrics(bundle.codec)[0].for_sources(rows.sources)
    outputs = [answer.judged for answer in writer(bundle, folder)(rows.sources, bundle.recipe.decode)]
    return Measured(headline.name, headline.value(outputs, rows.references), headline.smaller_is_better)
