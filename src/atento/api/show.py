"""Which examples a report shows, and where each model looked."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from atento.api.outputs import plain as written
from atento.predictor import Predictor
from atento.tasks.task import Alignment, Question

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
