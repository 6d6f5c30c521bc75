"""Which examples a report shows, and where each model looked.

How the gradient travels through time in a module or a trained run.
What a run makes of words: their vectors, what context does to them, and how a text is cut.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from atento.api.run import Run
from atento.api.run import plain as written
from atento.bundle import PREDICTIONS
from atento.errors import InputError
from atento.models.diagnostics.gradients import GradientFlow
from atento.models.diagnostics.gradients import gradient_flow as flow_of_module
from atento.predictor import Predictor
from atento.tasks.task import Alignment, Question
from atento.views.context import look_in_context
from atento.views.embeddings import view_of
from atento.views.gradients import flow_picture, render_flow
from atento.views.saving import save_view
from atento.views.tokens import look_at_tokens

PLACES = (0.05, 0.4, 0.7, 0.97)  # among the test sources, by length
WORST = 2


def alignments(folder: Path, rows: Sequence[dict[str, Any]], questions: Sequence[Question]) -> list[dict[str, Any]]:
    """For every model with attention: the same few examples, then its own worst ones."""
    if not questions:
        return []
    ordered = sorted(questions, key=lambda question: len(question.source))
    chosen = [ordered[at] for at in sorted({int(place * (len(ordered) - 1)) for place in PLACES})]
    found = []
    for row in rows:
        if row["baseline"]:
            continue
        predictor = Predictor.load(folder / row["folder"])
        if not predictor.look(chosen[0].source).weights.numel():
            continue
        wrong = [questions[line["number"]] for line in row["worst"][:WORST]]
        for kind, asked in (("chosen", chosen), ("worst", wrong)):
            found += [
                {**plain(predictor.look(question.source), question.references), **named(question, row["model"], kind)}
                for question in asked
            ]
    return found


def named(question: Question, model: str, kind: str) -> dict[str, str]:
    """Whose look it is, and of what; a source that is no text goes by its name, for its pieces are called alike."""
    name = {} if isinstance(question.source, str) else {"name": str(question.source)}
    return {**name, "model": model, "kind": kind}


def is_right(text: str, references: Sequence[Any]) -> bool | None:
    """Whether a text is one of those that are right; None where nobody knows, or numbers are near or far instead."""
    texts = [one.replace("\t", " ") for one in references if isinstance(one, str)]
    return text in texts if texts else None


def plain(alignment: Alignment, references: Sequence[Any] = ()) -> dict[str, Any]:
    """An alignment as JSON; weights to three digits."""
    return {
        "source": alignment.source,
        "output": alignment.output,
        **({"picture": alignment.picture, "grid": list(alignment.grid)} if alignment.picture else {}),
        "text": alignment.text,
        "score": alignment.score,
        "reference": written(references[0]) if references else "",
        "correct": is_right(alignment.text, references),
        "weights": [
            [[[round(weight, 3) for weight in row] for row in head] for head in layer]
            for layer in alignment.weights.tolist()
        ],
    }


SOURCES = 8  # of the test part, the longest


def gradient_flow(model: nn.Module | Run, batch: Any = None) -> GradientFlow:
    """Norms of ∂s_t/∂s_k against lag, singular values, gates, a verdict in words and a remedy.

    Of any module with a `Stack`, a cell or layers of attention, on what it reads (several batches: a list); a run
    reads some of its own test sources when no batch is given.
    """
    if batch is None:
        if not isinstance(model, Run):
            raise InputError("gradient_flow needs a batch.", found=f"a {type(model).__name__} alone", fix="give one")
        batch = batches_of(model)
    return flow_of_module(model.module if isinstance(model, Run) else model, batch)


def batches_of(run: Run, text: str = "") -> list[Any]:
    """One batch a source, so that nothing is padded: the given text with its answer, or the longest test sources."""
    bundle = run.predictor.bundle
    pairs = [(text, run.predict(text)[0])] if text.strip() else longest_pairs(run)
    device = next(run.module.parameters()).device
    batches = [bundle.task.batch([bundle.task.encode(bundle.codec, pair)]) for pair in pairs]
    return [
        type(batch)(*(part.to(device) if isinstance(part, torch.Tensor) else part for part in batch))
        for batch in batches
    ]


def longest_pairs(run: Run) -> list[tuple[str, str]]:
    """Sources of the test part with a right answer each."""
    path = run.folder / PREDICTIONS
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    found = sorted((json.loads(line) for line in lines), key=lambda line: -len(str(line["source"])))[:SOURCES]
    if not found:
        raise InputError("there is no text to look at.", found="no test part", fix='give one: atento look RUN "a text"')
    return [(line["source"], line["references"][0]) for line in found]


def look_at_gradients(run: Run, text: str = "") -> dict[str, Any]:
    """The whole diagnosis as plain data."""
    return {"model": run.recipe.model.name, **gradient_flow(run, batches_of(run, text)).to_json()}


def save_flow(flow: dict[str, Any], out: Path) -> None:
    """A page, a picture or the numbers, by the name given."""
    save_view(flow, out, page=render_flow, picture=flow_picture)


def look_at_embeddings(run: Run, asked: str = "") -> dict[str, Any]:
    """The neighbours of a word or a sum of words, and a map, as plain data."""
    return view_of(run.embeddings(), spelled_for(run, asked), model=run.recipe.model.name)


def save_embeddings(run: Run, asked: str, out: Path) -> None:
    """A page, a picture, JSON or a file of vectors, by the name given."""
    run.embeddings().save(out, asked=spelled_for(run, asked), model=run.recipe.model.name)


def spelled_for(run: Run, asked: str) -> str:
    """In small letters where the model reads them so."""
    return asked.lower() if getattr(run.predictor.bundle.codec, "lower", False) else asked


def look_at_context(run: Run, asked: str) -> dict[str, Any]:
    """The same word in two sentences, stage by stage."""
    return {"model": run.recipe.model.name, "words": look_in_context(run.module, run.predictor.bundle.codec, asked)}


def look_at_pieces(run: Run, text: str) -> dict[str, Any]:
    """One text at every level, with offsets."""
    return {"model": run.recipe.model.name, **look_at_tokens(run.predictor.bundle.codec, text)}
