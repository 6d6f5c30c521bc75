"""Which examples a report shows, and where each model looked."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from atento.predictor import Predictor
from atento.tasks.task import Alignment, Question

PLACES = (0.05, 0.4, 0.7, 0.97)  # among the test sources, by length
WORST = 2


def alignments(folder: Path, rows: Sequence[dict[str, Any]], questions: Sequence[Question]) -> list[dict[str, Any]]:
    """For every model with attention: the same few examples, then its own worst ones."""
    if not questions:
        return []
    ordered = sorted(questions, key=lambda question: len(question.source))
    chosen = [ordered[int(place * (len(ordered) - 1))] for place in PLACES]
    found = []
    for row in rows:
        if row["baseline"]:
            continue
        predictor = Predictor.load(folder / row["folder"])
        if not predictor.look(chosen[0].source).weights.numel():
            continue
        wrong = [questions[line["number"]] for line in row["worst"][:WORST]]
        for kind, asked in (("chosen", dict.fromkeys(chosen)), ("worst", dict.fromkeys(wrong))):
            found += [
                {**plain(predictor.look(question.source), question.references), "model": row["model"], "kind": kind}
                for question in asked
            ]
    return found


def plain(alignment: Alignment, references: Sequence[str] = ()) -> dict[str, Any]:
    """An alignment as JSON; weights to three digits."""
    return {
        "source": alignment.source,
        "output": alignment.output,
        **({"picture": alignment.picture, "grid": list(alignment.grid)} if alignment.picture else {}),
        "text": alignment.text,
        "score": alignment.score,
        "reference": references[0] if references else "",
        "correct": alignment.text in [one.replace("\t", " ") for one in references] if references else None,
        "weights": [
            [[[round(weight, 3) for weight in row] for row in head] for head in layer]
            for layer in alignment.weights.tolist()
        ],
    }
