"""A trained model at work: answers, attention weights and scores, for the command line and for Python.

What it answers on the test part is kept in its folder (`save_outputs`).
"""

import json
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.numpy import save

from atento.bundle import OUTPUTS, PREDICTIONS, Bundle, Json, load_bundle
from atento.data.builtin.catalogue import BUILTIN
from atento.errors import MachineError, unknown_name
from atento.metrics.bootstrap import BandFunction, Interval, evaluate_runs, length_bands, size_bands
from atento.spec import DataRecipe, DecodeRecipe
from atento.tasks.task import Answer, Codec, EvaluationExample, RolloutMetric, Task, judged
from atento.tasks.traces import Alignment
from atento.writing import write_atomically

DEVICES = ("auto", "cpu", "cuda")
SHOWN = 8  # numbers of an array that are written out


def find_device(name: str) -> torch.device:
    """`auto` takes a GPU where there is one; cuda:1 names one of several."""
    kind = name.partition(":")[0]
    if kind not in DEVICES:
        raise unknown_name("choice", name, DEVICES, where="--device")
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if kind == "cuda" and not torch.cuda.is_available():
        raise MachineError("--device cuda: there is no GPU here.", found="torch sees none", fix="--device cpu")
    return torch.device(name)


class Judged(NamedTuple):
    """An answer as metrics take it, and as a person reads it."""

    output: Any
    text: str
    score: float | None  # log-probability; None: the model cannot say
    probabilities: Mapping[str, float] | None = None  # of each label, where there are labels


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

    def measure_rollouts(
        self, metric: RolloutMetric, questions: Sequence[EvaluationExample], decode: DecodeRecipe | None
    ) -> Interval | None:
        """A metric of rollouts, such as the valid time of a forecaster of a built-in dynamical system."""

        def predict(sources: Sequence[Any]) -> list[Any]:
            return [answer.judged for answer in self.answer(sources, decode=decode)]

        return metric.measure(self.bundle.recipe.data.train, self.bundle.codec, questions, predict)

    def examine(
        self, questions: Sequence[EvaluationExample], *, decode: DecodeRecipe | None = None
    ) -> tuple[Json, list[Judged]]:
        """Every metric with its interval, quality against length, speed, and what was judged."""
        task, codec = self.bundle.task, self.bundle.codec
        sources = [question.source for question in questions]
        started = time.perf_counter()
        outputs, answers = judged(task, self.module, codec, sources, decode or self.bundle.recipe.decode)
        took = time.perf_counter() - started
        references = [question.references for question in questions]
        bands = bands_of(task, codec, self.bundle.recipe.data)
        found = evaluate_runs(task.judging.metrics(codec), sources, [outputs], references, bands=bands)
        found["predictions_per_second"] = len(questions) / max(took, 1e-9)
        if task.judging.exposure is not None and answers is not None:
            found["exposure"] = task.judging.exposure(self.module, codec, questions, answers)
        if task.judging.details is not None:
            found |= task.judging.details(codec, questions, outputs, answers)
        rollouts = task.judging.rollouts
        if rollouts is not None and (lasting := self.measure_rollouts(rollouts, questions, decode)) is not None:
            found["metrics"] = second(found["metrics"], rollouts.name, rollouts.summary)
            found["scores"] = second(found["scores"], rollouts.name, lasting.to_json())
        if answers is None:
            return found, [Judged(output, str(output), None) for output in outputs]
        return found, [Judged(answer.judged, answer.text, answer.score, answer.probabilities) for answer in answers]


def bands_of(task: Task, codec: Codec, data: DataRecipe) -> BandFunction:
    """The function that groups test examples for the report: the task's own, by the size that a built-in set has, or
    by length.
    """
    if task.judging.bands is not None:
        return partial(task.judging.bands, codec)
    builtin = BUILTIN.get(data.train)
    size = builtin.size if builtin is not None else None
    if builtin is None or size is None:
        return length_bands
    return partial(size_bands, lambda source: size(source, data), builtin.unit)


def second(values: Json, key: str, value: Any) -> Json:
    """The values with one more in the second place."""
    (first, *rest) = values.items()
    return dict([first, (key, value), *rest])


def save_outputs(folder: Path, questions: Sequence[EvaluationExample], answers: Sequence[Judged]) -> list[Json]:
    """Write the answers as lines of JSON, arrays of numbers beside them; return the lines."""
    lines = [line_of(question, answer) for question, answer in zip(questions, answers, strict=True)]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    write_atomically(folder / PREDICTIONS, text.encode())
    outputs = [answer.output for answer in answers]
    if outputs and isinstance(outputs[0], np.ndarray):
        write_atomically(folder / OUTPUTS, save({"outputs": np.stack(outputs).astype(np.float32)}))
    return lines


def line_of(question: EvaluationExample, answer: Judged) -> Json:
    """An example and its answer as JSON."""
    output = plain(answer.output)
    return {
        "source": plain(question.source),
        "output": output,
        **({"text": answer.text} if answer.text != output else {}),
        "references": [plain(reference) for reference in question.references],
        "score": answer.score,
    }


def plain(value: Any) -> Any:
    """Lists and texts as they are; the first numbers of an array; the name of a window."""
    if isinstance(value, np.ndarray):
        numbers = ", ".join(f"{number:.4g}" for number in value.ravel()[:SHOWN])
        return numbers if value.size <= SHOWN else f"{numbers}, … ({' × '.join(map(str, value.shape))} numbers)"
    return value if isinstance(value, str | list | int | float | bool | None) else str(value)
