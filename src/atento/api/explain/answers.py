"""What a trained model can show of itself: attention weights, gradients, vectors of words, context, tokens.

`alignments` chooses the examples of a report. Every function takes the `Predictor` of a run.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from atento.api.explain.maps import examine, forward_pass
from atento.api.explain.series import source_of
from atento.bundle import Json, read_predictions
from atento.errors import InputError
from atento.models.diagnostics.gradients import gradient_flow
from atento.models.language_model import LanguageModel
from atento.predictor import Predictor, plain
from atento.tasks.baselines import is_baseline, no_network
from atento.tasks.embed.vectors import table_of, vectors_in
from atento.tasks.task import EvaluationExample
from atento.views.attention.alignment import AlignmentView
from atento.views.attention.page import compact
from atento.views.context import ContextView, context_view
from atento.views.embeddings import ENDINGS as MAP_ENDINGS
from atento.views.embeddings import Embeddings
from atento.views.gradients import GradientFlowView
from atento.views.report.board import Row
from atento.views.saving import ENDINGS
from atento.views.steps import ENDINGS as STEPS_ENDINGS
from atento.views.tokens import TokensView, tokens_view
from atento.views.word_map import EmbeddingsView, embeddings_view

PLACES = (0.05, 0.4, 0.7, 0.97)  # among the test sources, by length
WORST = 2
LONGEST = 8  # sources of the test part that gradients are taken on
FILES = {  # each view, and how a file that holds it may end
    "attention": ENDINGS,
    "steps": STEPS_ENDINGS,
    "attribution": ENDINGS,
    "states": ENDINGS,
    "model": ENDINGS,
    "positions": ENDINGS,
    "schedule": ENDINGS,
    "histograms": ENDINGS,
    "gradients": ENDINGS,
    "embeddings": MAP_ENDINGS,
    "context": (".json",),
    "tokens": (".json",),
    "forecast": ENDINGS,
    "phase": ENDINGS,
}


def alignments(folder: Path, rows: Sequence[Row], questions: Sequence[EvaluationExample]) -> list[AlignmentView]:
    """For every model with attention: the same few examples, then its own worst ones."""
    if not questions:
        return []
    ordered = sorted(questions, key=lambda question: len(question.source))
    chosen = [ordered[at] for at in sorted({int(place * (len(ordered) - 1)) for place in PLACES})]
    found = []
    for row in rows:
        if row.baseline:
            continue
        predictor = Predictor.load(folder / row.folder)
        if predictor.bundle.task.answering.forward_pass is None or not examine(predictor, chosen[0].source).maps:
            continue
        wrong = [questions[line["number"]] for line in row.worst[:WORST]]
        for kind, asked in (("chosen", chosen), ("worst", wrong)):
            found += [judged(predictor, question, model=row.model, kind=kind) for question in asked]
    return found


def judged(predictor: Predictor, question: EvaluationExample, *, model: str, kind: str) -> AlignmentView:
    """An alignment with what is right; a source that is no text has its name, since its tokens are named alike."""
    alignment, references = predictor.look(question.source), question.references
    return AlignmentView(
        **alignment.to_json(),
        reference=plain(references[0]) if references else "",
        correct=is_right(alignment.text, references),
        name="" if isinstance(question.source, str) else str(question.source),
        model=model,
        kind=kind,
        viewed=compact(examine(predictor, question.source).to_json()),
    )


def is_right(text: str, references: Sequence[Any]) -> bool | None:
    """Whether a text is one of those that are right; None where nobody knows, or where numbers are near or far."""
    texts = [one.replace("\t", " ") for one in references if isinstance(one, str)]
    return text in texts if texts else None


def batches_of(predictor: Predictor, text: str = "") -> list[Any]:
    """One batch per source, so that nothing is padded: the given text with its answer, or the longest test sources. Of
    series and language models, whose batches hold windows, a function that calls the model on each source.
    """
    bundle = predictor.bundle
    if is_baseline(predictor.module):
        raise no_network(predictor.module, "gradients")
    if bundle.task.reading.kind == "series" or isinstance(predictor.module, LanguageModel):
        return passes_of(predictor, text)
    if text.strip():
        pairs = [(text, predictor.answer([text])[0].text)]
    else:
        longest = sorted(require_predictions(bundle.folder), key=lambda line: -len(str(line["source"])))[:LONGEST]
        pairs = [(line["source"], line["references"][0]) for line in longest]
    device = next(predictor.module.parameters()).device
    learning = bundle.task.learning
    batches = [learning.batch(bundle.codec, [learning.encode(bundle.codec, pair)]) for pair in pairs]
    return [
        type(batch)(*(part.to(device) if isinstance(part, torch.Tensor) else part for part in batch))
        for batch in batches
    ]


def passes_of(predictor: Predictor, text: str) -> list[Callable[[], torch.Tensor]]:
    """The forward pass of the given source, or of the test source that is taken where none is given."""
    asked = text if predictor.bundle.task.reading.kind == "series" else text or sample_source(predictor)
    passed = forward_pass(predictor, source_of(predictor, asked), "gradients")
    return [lambda: passed.score(passed.values)]


def require_predictions(folder: Path) -> list[Json]:
    """The answers on the test part, one at least."""
    lines = read_predictions(folder)
    if not lines:
        raise InputError("there is no text to look at.", found="no test part", fix='give one: atento look RUN "a text"')
    return lines


def sample_source(predictor: Predictor) -> str:
    """A source of the test part, for those who name none."""
    return str(require_predictions(predictor.bundle.folder)[0]["source"])


def look_at_gradients(predictor: Predictor, text: str = "") -> GradientFlowView:
    """How far back gradients reach: on a text, or on the longest sources of the test part."""
    flow = gradient_flow(predictor.module, batches_of(predictor, text))
    return GradientFlowView(model=predictor.bundle.recipe.model.name, flow=flow)


def embeddings_of(predictor: Predictor, *, outputs: bool = False) -> Embeddings:
    """The vectors of the words it reads; with `outputs` those of its output layer."""
    if is_baseline(predictor.module):
        raise no_network(predictor.module, "vectors of words")
    found = table_of(predictor.module, predictor.bundle.codec, outputs=outputs)
    return Embeddings(found.words, vectors_in(found))


def look_at_embeddings(predictor: Predictor, asked: str = "") -> EmbeddingsView:
    """The neighbours of a word or a sum of words, and a map."""
    space, asked = embeddings_of(predictor), spelled_for(predictor, asked)
    return embeddings_view(space, asked, model=first_name(predictor))


def save_embeddings(predictor: Predictor, asked: str, out: Path) -> None:
    """A page, an image, JSON or a file of vectors, by the name given."""
    embeddings_of(predictor).save(out, asked=spelled_for(predictor, asked), model=first_name(predictor))


def first_name(predictor: Predictor) -> str:
    """The name of the network whose vectors are shown: of an ensemble the first, as vectors have no mean."""
    recipe = predictor.bundle.recipe.model
    return recipe.name if recipe.members == 1 else f"{recipe.name}, member 1 of {recipe.members}"


def spelled_for(predictor: Predictor, asked: str) -> str:
    """In lower case where the model reads it so."""
    return asked.lower() if getattr(predictor.bundle.codec, "lower", False) else asked


def look_at_context(predictor: Predictor, asked: str) -> ContextView:
    """The same word in two sentences, before and after each layer."""
    bundle = predictor.bundle
    if is_baseline(predictor.module):
        raise no_network(predictor.module, "layers to follow a word through")
    return context_view(predictor.module, bundle.codec, asked, model=first_name(predictor))


def look_at_tokens(predictor: Predictor, text: str) -> TokensView:
    """The tokens of a text at every level, with their places."""
    return tokens_view(predictor.bundle.codec, text, model=predictor.bundle.recipe.model.name)
