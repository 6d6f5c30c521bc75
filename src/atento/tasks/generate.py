"""Generate: model plain text, character by character, word by word or in subwords: complete, score, fill a blank."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from torch import Tensor, nn

from atento.baselines.ngrams import CharacterCounts
from atento.data.vocabulary import Vocabulary
from atento.metrics.metric import Metric
from atento.metrics.perplexity import BITS, MASKED_NATS, NATS, PERPLEXITY
from atento.models.build_language_model import build_language_model, build_masked_model
from atento.models.language_model import LanguageModel
from atento.models.masked import MaskedModel
from atento.spec import DecodeRecipe, ModelRecipe, Recipe, TokensRecipe
from atento.tasks.generate_blanks import fill, has_blank
from atento.tasks.generate_defaults import MODELS, defaults
from atento.tasks.generate_scoring import judge_texts, log_probabilities
from atento.tasks.generate_steps import SHOWN, pieces_of, self_attention, trace_text
from atento.tasks.generate_training import STRETCHES, as_language_model, batch_rows, cut_windows, text_loss
from atento.tasks.generate_writing import go_on
from atento.tasks.read_documents import DOCUMENTS
from atento.tasks.recognising import plain_text
from atento.tasks.task import Alignment, Answer, Task
from atento.tasks.text_codec import TextCodec, prepare_text


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
