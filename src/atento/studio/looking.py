"""What the studio shows of a trained model: an answer with what it rests on, examples to choose from, and its views."""

import math
from functools import lru_cache
from pathlib import Path
from typing import Any

from atento.api.explain.maps import explained
from atento.api.explain.occlusion import occlusions
from atento.api.explain.pages import page_of, views_of
from atento.api.explain.series import source_of
from atento.api.run import Run
from atento.bundle import MANIFEST, Json, read_json, read_predictions
from atento.data.files.archives import split_archive_path
from atento.data.files.image_names import is_drawn
from atento.data.records import LIST_SEPARATOR
from atento.data.text.encoding import TYPED
from atento.errors import InputError
from atento.predictor import Predictor
from atento.studio.workspace import is_inside
from atento.views.attention.page import MAX_WEIGHTS_ALONE, fitting
from atento.views.report.mistakes import in_line
from atento.views.tokens import tokens_view

EXAMPLES = 12
LONGEST_EXAMPLE = 600  # characters of a text that goes on, of which an example is the beginning
TEXTS = ("text", "two texts", "words", "documents")  # kinds of sources that are made of words
IMAGES = ("image", "image and question")  # kinds of sources that name a file
TITLES = {
    "attention": "Attention",
    "attribution": "What moved the answer",
    "steps": "Step by step",
    "states": "Hidden states",
    "model": "Model graph",
    "positions": "Positions",
    "gradients": "Gradient flow",
    "tokens": "Tokens",
    "embeddings": "Embeddings",
    "context": "Words in context",
    "schedule": "Learning rate",
    "histograms": "Gradient histograms",
    "forecast": "Forecast",
    "phase": "Phase portrait",
}


def explain(run: Run, source: str) -> Json:
    """The answer to one source with its probabilities, every attention map, attributions, and the answer without each
    word; `unknown` are words that training never met.
    """
    predictor = run.predictor
    asked = source_of(predictor, allowed_source(predictor, source))
    answer = predictor.answer([asked])[0]
    view = explained(predictor, asked).attributed_view.to_json()
    kept, note = fitting([view], most=MAX_WEIGHTS_ALONE)
    shown = kept[0] if kept else {**view, "maps": []}  # of a text that is too long for its maps
    seen = bool(shown["maps"] or shown.get("attribution") or shown.get("steps"))
    probabilities = None if answer.probabilities is None else dict(answer.probabilities)
    found = {
        "answer": {"text": answer.text, "score": answer.score, "probabilities": probabilities},
        "view": shown if seen else None,
        "attribution": shown.get("attribution"),
        "occlusion": [one.to_json() for one in occlusions(predictor, asked)],
        "unknown": unknown_words(predictor, source),
        "note": " ".join(part for part in (view["explanation"], note) if part),
    }
    return finite(found)


def allowed_source(predictor: Predictor, source: str) -> str:
    """The source; one that is empty, or that names an image outside the workspace, is refused."""
    if not source.strip():
        raise InputError("there is nothing to read.", found="an empty source", fix="type one, or choose an example")
    kind = predictor.bundle.task.reading.kind
    if kind in IMAGES:
        require_image_here(predictor, source)
    return source.replace(TYPED, LIST_SEPARATOR, 1) if kind == "image and question" else source


def require_image_here(predictor: Predictor, source: str) -> None:
    """An image is a file of the workspace, one of the test part, or a drawn scene."""
    name = source.replace(TYPED, LIST_SEPARATOR, 1).partition(LIST_SEPARATOR)[0].strip()
    packed = split_archive_path(name)
    place = Path(name if packed is None else packed[0])
    if is_drawn(name) or is_inside(place):
        return
    tested = {str(line["source"]).partition(LIST_SEPARATOR)[0] for line in read_predictions(predictor.bundle.folder)}
    if name not in tested:
        raise InputError("only images of this workspace can be read.", found=name, fix="drop the file into the page")


def unknown_words(predictor: Predictor, source: str) -> list[str]:
    """The distinct words of a source that are not in the vocabulary, in their order; none of a model of no words."""
    codec = predictor.bundle.codec
    if predictor.bundle.task.reading.kind not in TEXTS:
        return []
    try:
        levels = tokens_view(codec, source.replace(LIST_SEPARATOR, " ").replace(TYPED, " ")).levels
    except InputError:  # a model with a vocabulary of another kind
        return []
    missing = [level.tokens[at] for level in levels if level.own for at in level.unknown if at < len(level.tokens)]
    return list(dict.fromkeys(missing))


def examples(run: Run) -> Json:
    """A dozen sources of the test part, spread over it, with what was expected, and the files the run consists of."""
    predictor = run.predictor
    lines = read_predictions(predictor.bundle.folder)
    kind = predictor.bundle.task.reading.kind
    count = min(EXAMPLES, len(lines))
    chosen = [lines[at * len(lines) // count] for at in range(count)]
    sizes = read_json(predictor.bundle.folder, MANIFEST)["sizes"]
    cut = LONGEST_EXAMPLE if kind == "documents" else None
    return {
        "kind": kind,
        "typed": kind not in (*IMAGES, "series"),
        "sources": list(dict.fromkeys(str(line["source"])[:cut] for line in chosen)),
        "files": [{"name": name, "bytes": size} for name, size in sizes.items()],
        "expected": {str(line["source"])[:cut]: [in_line(one) for one in line["references"]] for line in chosen},
    }


def views(run: Run) -> list[Json]:
    """The views that fit this run, by name and title."""
    return [{"what": what, "title": TITLES[what]} for what in views_of(run.predictor)]


@lru_cache(maxsize=4)
def page(run: Run, what: str, text: str = "") -> str:
    """The page of one view, as the command line writes it; the last few are kept, since a browser asks twice."""
    return page_of(run.predictor, what, text)


def finite(value: Any) -> Any:
    """The same with None for numbers that are not finite, which no JSON holds."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(inside) for key, inside in value.items()}
    return [finite(inside) for inside in value] if isinstance(value, list | tuple) else value
