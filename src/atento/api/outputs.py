"""What a run answered on the test part, kept in its folder: lines of JSON, and arrays of numbers beside them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load, save

from atento.bundle import OUTPUTS, PREDICTIONS, write_atomically
from atento.predictor import Judged
from atento.tasks.task import Question

SHOWN = 8  # numbers of an array that are written out


def save_outputs(folder: Path, questions: Sequence[Question], answers: Sequence[Judged]) -> list[dict[str, Any]]:
    """Write them down; the lines as they were written."""
    lines = [line_of(question, answer) for question, answer in zip(questions, answers, strict=True)]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    write_atomically(folder / PREDICTIONS, text.encode())
    outputs = [answer.output for answer in answers]
    if outputs and isinstance(outputs[0], np.ndarray):
        write_atomically(folder / OUTPUTS, save({"outputs": np.stack(outputs).astype(np.float32)}))
    return lines


def line_of(question: Question, answer: Judged) -> dict[str, Any]:
    """A question and its answer as JSON."""
    output = plain(answer.output)
    return {
        "source": plain(question.source),
        "output": output,
        **({"text": answer.text} if answer.text != output else {}),
        "references": [plain(reference) for reference in question.references],
        "score": answer.score,
    }


def plain(value: Any) -> Any:
    """Lists and texts as they are; the first numbers of an array, a window by its name."""
    if isinstance(value, np.ndarray):
        numbers = ", ".join(f"{number:.4g}" for number in value.ravel()[:SHOWN])
        return numbers if value.size <= SHOWN else f"{numbers}, … ({' × '.join(map(str, value.shape))} numbers)"
    return value if isinstance(value, str | list | int | float | bool | None) else str(value)


def read_outputs(folder: Path) -> list[Any]:
    """The answers a run gave on the test part, as metrics take them."""
    if (folder / OUTPUTS).exists():
        return list(load((folder / OUTPUTS).read_bytes())["outputs"])
    lines = (folder / PREDICTIONS).read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["output"] for line in lines]
