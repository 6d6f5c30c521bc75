"""A trained run in Python.

What a run answered on the test part, kept in its folder: lines of JSON, and arrays of numbers beside them.
The model card: what a stranger should know before using a model.
"""

import json
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save

from atento.bundle import OUTPUTS, PREDICTIONS, write_atomically
from atento.errors import MachineError
from atento.predictor import Judged, Predictor
from atento.spec import Recipe
from atento.tasks.embed.vectors import table_of, vectors_in
from atento.tasks.task import Alignment, Question
from atento.version import __version__
from atento.views.embeddings import Embeddings
from atento.views.wording import score


class Run:
    """A trained model and what is known of it."""

    def __init__(self, predictor: Predictor) -> None:
        self.predictor = predictor
        self.folder: Path = predictor.bundle.folder
        self.metrics: dict[str, Any] = predictor.bundle.metrics
        self.recipe = predictor.bundle.recipe
        self.module: torch.nn.Module = predictor.module

    def predict(self, sources: str | Sequence[str]) -> list[str]:
        """An answer for each text."""
        texts = [sources] if isinstance(sources, str) else list(sources)
        return [answer.text for answer in self.predictor.answer(texts)]

    def look(self, source: str) -> Alignment:
        """The answer, and where the model looked while writing it."""
        return self.predictor.look(source)

    def embeddings(self, *, outputs: bool = False) -> Embeddings:
        """The vectors of the words it reads; with `outputs` those of the words its last layer says."""
        found = table_of(self.module, self.predictor.bundle.codec, outputs=outputs)
        return Embeddings(found.words, vectors_in(found))

    def __repr__(self) -> str:
        name = self.metrics.get("metric", "")
        value = self.metrics.get("scores", {}).get(name, [float("nan")])[0]
        return f"Run({str(self.folder)!r}, {self.recipe.model.name}, {name} {score(value)})"


def load(folder: str | Path, *, device: str = "auto") -> Run:
    """A trained model from its folder; every file is checked first."""
    return Run(Predictor.load(Path(folder), device=find_device(device)))


def find_device(name: str) -> torch.device:
    """`auto` takes a GPU where there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name == "cuda" and not torch.cuda.is_available():
        raise MachineError("--device cuda: there is no GPU here.", found="torch sees none", fix="--device cpu")
    return torch.device(name)


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
        return list(load_arrays((folder / OUTPUTS).read_bytes())["outputs"])
    lines = (folder / PREDICTIONS).read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["output"] for line in lines]


def versions() -> dict[str, str]:
    """What a run was made with."""
    return {"atento": __version__, "torch": version("torch"), "python": platform.python_version()}


def model_card(metrics: Mapping[str, Any], recipe: Recipe) -> str:
    """A short Markdown page."""
    data, parts = metrics["data"], metrics["data"]["parts"]
    made_with = ", ".join(f"{name} {number}" for name, number in metrics["versions"].items())
    scores = "\n".join(
        f"| {name} | {value:.4f} | {low:.4f} – {high:.4f} | {metrics['metrics'][name]} |"
        for name, (value, low, high) in metrics["scores"].items()
    )
    notes = "\n".join(f"- {note}" for note in data["notes"])
    return f"""# {metrics["model"]} on {data["name"]}

Task: {metrics["task"]}. {metrics["parameters"]:,} parameters, trained for {metrics["seconds"]:.0f} s
({metrics["steps"]:,} steps, {metrics["epochs"]:.1f} epochs) on {metrics["device"]}; seed {metrics["seed"]}.

## Data
{notes}
- {parts["train"]:,} training examples, {parts["valid"]:,} for validation, {parts["test"]:,} for the test.
- fingerprint `{data["fingerprint"]}`

## Quality on the test part, touched once

| metric | value | 95 % interval | what it is |
|---|---|---|---|
{scores}

## Use

```
atento predict FOLDER FILE
atento look FOLDER "a text"
```

Made with {made_with}. Repeat with `atento train recipe.toml`.

## Limits
It has seen only data like that above; on anything else its outputs are guesses. Widths: {recipe.model.hidden}.
"""
