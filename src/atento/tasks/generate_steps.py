"""Looking into a model of plain text: where each token looked, and one pass matrix by matrix."""

from typing import Any

import torch
from torch import Tensor, nn

from atento.data.vocabulary import END
from atento.models.language_model import LanguageModel
from atento.models.masked import MaskedModel
from atento.models.transformer import TransformerEncoder
from atento.tasks.generate_training import as_language_model
from atento.tasks.text_codec import TextCodec
from atento.tasks.traces import entry
from atento.tasks.translate_steps import LIKELIEST

SHOWN = 48  # tokens of a text, the last ones


def pieces_of(codec: TextCodec, tokens: Tensor) -> list[str]:
    """As a person reads them: marks by name, a line break as a sign."""
    names = codec.vocabulary.pieces(tokens.tolist())
    return [
        "<end>" if token == END else name.replace("\n", "⏎") for token, name in zip(tokens.tolist(), names, strict=True)
    ]


@torch.no_grad()
def self_attention(module: nn.Module, row: Tensor) -> Tensor:
    """Where the tokens of a row (N,) looked: (L, H, N, N); of a recurrent model nothing, (0, 0, N, N)."""
    tokens = row.unsqueeze(0).to(next(module.parameters()).device)
    if isinstance(module, LanguageModel) and module.decoder.attends:
        return module.decoder.weights(tokens, module.begin(1))[0].float().cpu()
    if isinstance(module, MaskedModel) and isinstance(module.encoder, TransformerEncoder):
        return module.encoder.weights(tokens, torch.ones_like(tokens, dtype=torch.bool))[0].float().cpu()
    return torch.zeros(0, 0, len(row), len(row))


@torch.no_grad()
def trace_text(module: nn.Module, codec: TextCodec, row: Tensor) -> list[dict[str, Any]]:
    """Tokens, their vectors, the states, the weights, and what may come next (or stand in each place)."""
    tokens = row.unsqueeze(0).to(next(module.parameters()).device)
    pieces = pieces_of(codec, row)
    traces = [entry("tokens", "each piece is a number", pieces, row.unsqueeze(1).float(), columns=["number"])]
    if isinstance(module, MaskedModel):
        states = module.encoder.encode(tokens, torch.ones_like(tokens, dtype=torch.bool)).states[0]
        logits, asked = module.to_logits(states), "what stands in this place?"
    else:
        model = as_language_model(module)
        states = model.decoder.features(tokens, model.begin(1))[0]
        logits, asked = model.decoder.to_logits(states), "what comes next?"
    traces.append(entry("states", "one vector a piece", pieces, states))
    for layer, heads in enumerate(self_attention(module, row)):
        for head, matrix in enumerate(heads):
            title = f"weights, layer {layer + 1}, head {head + 1}"
            traces.append(entry(title, "softmax(q · k / √d)", pieces, matrix, columns=pieces))
    best = logits.softmax(dim=-1).topk(min(LIKELIEST, logits.size(-1)), dim=-1)
    for place, piece in enumerate(pieces):
        names = pieces_of(codec, best.indices[place].cpu())
        title = f"step {place + 1}: at {piece!r}, {asked}"
        traces.append(entry(title, "softmax of the logits", ["p"], best.values[place][None], columns=names))
    return traces
