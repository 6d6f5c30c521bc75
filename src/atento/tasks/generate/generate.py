"""Generate: model plain text, character by character, word by word or in subwords: complete, score, fill a blank.

Looking into a model of plain text: where each token looked, and one pass matrix by matrix.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from atento.baselines.ngrams import CharacterCounts
from atento.data.text.vocabulary import END, Vocabulary
from atento.metrics.language_model import BITS, MASKED_NATS, NATS, PERPLEXITY
from atento.metrics.metric import Metric
from atento.models.backbones.transformer import TransformerEncoder
from atento.models.build.language_model import build_language_model, build_masked_model
from atento.models.language_model import LanguageModel, MaskedModel
from atento.spec import DecodeRecipe, ModelRecipe, Recipe, TokensRecipe
from atento.tasks.generate.codec import TextCodec, prepare_text
from atento.tasks.generate.defaults import MODELS, defaults
from atento.tasks.generate.scoring import fill, has_blank, judge_texts, log_probabilities
from atento.tasks.generate.training import STRETCHES, as_language_model, batch_rows, cut_windows, text_loss
from atento.tasks.generate.writing import go_on
from atento.tasks.reading.text import DOCUMENTS
from atento.tasks.recognising.text import plain_text
from atento.tasks.seq2seq.translate import LIKELIEST
from atento.tasks.task import Alignment, Answer, Task
from atento.tasks.traces import entry

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


def build(recipe: ModelRecipe, codec: TextCodec) -> LanguageModel | MaskedModel:
    """Sizes that follow from data are filled in here."""
    make = build_masked_model if codec.objective == "masked" else build_language_model
    return make(recipe, len(codec.vocabulary))


def encode(codec: TextCodec, pair: tuple[str, str]) -> Tensor:
    """A text as a row of token numbers."""
    return codec.row(pair[0])


def suit(codec: TextCodec, recipe: Recipe) -> TextCodec:
    """The codec, told of window and objective."""
    return codec.suited(recipe.train)


def adopt(recipe: TokensRecipe, pairs: Sequence[tuple[str, str]], vocabulary: Vocabulary) -> TextCodec:
    """Other text with a vocabulary that is there already."""
    return TextCodec.over(vocabulary, pairs, reason="of the run started from")


def complete(module: nn.Module, codec: TextCodec, sources: Sequence[str], recipe: DecodeRecipe) -> list[Answer]:
    """Each text gone on with; one with blanks (`___`) filled. A masked model without blanks says how likely it is."""
    blank = [has_blank(source) for source in sources]
    filled = {at: fill(module, codec, source) for at, source in enumerate(sources) if blank[at]}
    others = [at for at in range(len(sources)) if not blank[at]]
    rows = [codec.row(sources[at], whole=False) for at in others]
    if isinstance(module, MaskedModel):
        scored = log_probabilities(module, codec, rows)
        answers = [Answer(prepare_text(sources[at]), float(one.sum())) for at, one in zip(others, scored, strict=True)]
        return in_order({**filled, **dict(zip(others, answers, strict=True))})
    written = go_on(as_language_model(module), codec, rows, recipe)
    for at, row, more in zip(others, rows, written, strict=True):
        text = codec.vocabulary.decode([*row.tolist(), *more.tokens])
        added = text[len(codec.vocabulary.decode(row.tolist())) :]
        filled[at] = Answer(prepare_text(sources[at]) + added, more.score, value=added)
    return in_order(filled)


def in_order(answers: dict[int, Answer]) -> list[Answer]:
    """By place."""
    return [answers[at] for at in range(len(answers))]


def look_at(module: nn.Module, codec: TextCodec, source: str, recipe: DecodeRecipe) -> Alignment:
    """Complete the text, then show where its last tokens looked among themselves; a recurrent model looks nowhere."""
    (answer,) = complete(module, codec, [source], recipe)
    row = codec.row(answer.text, whole=False)[-SHOWN:]
    pieces = pieces_of(codec, row)
    return Alignment(pieces, pieces, self_attention(module, row), answer.text, answer.score)


def trace(module: nn.Module, codec: TextCodec, source: str, recipe: DecodeRecipe) -> list[dict[str, Any]]:
    """One pass over the text, matrix by matrix."""
    return trace_text(module, codec, codec.row(source, whole=False)[-SHOWN:])


def metrics(codec: TextCodec) -> tuple[Metric, ...]:
    """Nats a character first, so that all levels compare."""
    return (MASKED_NATS,) if codec.objective == "masked" else (NATS, BITS, PERPLEXITY)


def no_mistake(codec: TextCodec, output: Any, references: Sequence[str]) -> float:
    """A text is more or less likely, never wrong."""
    return 0.0


GENERATE = Task(
    name="generate",
    summary="Model plain text: complete it, score it, fill its blanks.",
    recognise=plain_text,
    read=DOCUMENTS.read,
    ask=DOCUMENTS.ask,
    open=DOCUMENTS.open_file,
    learn=TextCodec.learn,
    suit=suit,
    adopt=adopt,
    load=TextCodec.load,
    encode=encode,
    length=len,
    windows=cut_windows,
    batch=batch_rows,
    build=build,
    loss=text_loss,
    stretches=STRETCHES,
    answer=complete,
    judge=judge_texts,
    look=look_at,
    steps=trace,
    wrong=no_mistake,
    selects=NATS,
    metrics=metrics,
    baselines=(CharacterCounts, partial(CharacterCounts, 1)),
    models=MODELS,
    default_model="lstm",
    defaults=defaults,
)
