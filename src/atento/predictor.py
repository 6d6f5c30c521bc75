"""A trained model at work: answers, attention weights and scores, for the command line and for Python."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from atento.bundle import Bundle, load_bundle
from atento.metrics.bootstrap import evaluate_runs
from atento.spec import DecodeRecipe
from atento.tasks.task import Alignment, Answer, EvaluationExample, bands_of, judged


class Judged(NamedTuple):
    """An answer as metrics take it, and as a person reads it."""

    output: Any
    text: str
    score: float | None  # log-probability; None: the model cannot say


class Predictor:
    """Answers with a bundle's model, in evaluation mode, on one device."""

    def __init__(self, bundle: Bundle, *, device: torch.device | None = None) -> None:
        self.bundle = bundle
        self.module = bundle.module.to(device or torch.device("cpu")).eval()

    @classmethod
    def load(cls, folder: Path, *, device: torch.device | None = None) -> "Predictor":
        """From a run's folder."""
        return cls(load_bundle(folder), device=device)

    def answer(self, sources: Sequence[Any], *, decode: DecodeRecipe | None = None) -> list[Answer]:
        """An answer for each source, with its log-probability."""
        recipe = decode or self.bundle.recipe.decode
        return self.bundle.task.answering.answer(self.module, self.bundle.codec, sources, recipe)

    def look(self, source: Any, *, decode: DecodeRecipe | None = None) -> Alignment:
        """The answer, and what the model attended to."""
        recipe = decode or self.bundle.recipe.decode
        return self.bundle.task.answering.look(self.module, self.bundle.codec, source, recipe)

    def examine(
        self, questions: Sequence[EvaluationExample], *, decode: DecodeRecipe | None = None
    ) -> tuple[dict[str, Any], list[Judged]]:
        """Every metric with its interval, quality against length, speed, and what was judged."""
        task, codec = self.bundle.task, self.bundle.codec
        sources = [question.source for question in questions]
        started = time.perf_counter()
        outputs, answers = judged(task, self.module, codec, sources, decode or self.bundle.recipe.decode)
        took = time.perf_counter() - started
        references = [question.references for question in questions]
        found = evaluate_runs(task.judging.metrics(codec), sources, [outputs], references, bands=bands_of(task, codec))
        found["predictions_per_second"] = len(questions) / max(took, 1e-9)
        if task.judging.exposure is not None and answers is not None:
            found["exposure"] = task.judging.exposure(self.module, codec, questions, answers)
        if answers is None:
            return found, [Judged(output, str(output), None) for output in outputs]
        return found, [Judged(answer.judged, answer.text, answer.score) for answer in answers]
