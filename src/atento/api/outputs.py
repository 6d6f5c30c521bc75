"""What a run leaves in its folder beside the weights: its answers on the test part, and its model card."""

import json
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save

from atento.bundle import OUTPUTS, PREDICTIONS, write_atomically
from atento.data.records import LIST_SEPARATOR
from atento.errors import InputError
from atento.predictor import Judged
from atento.spec import Recipe
from atento.tasks.task import EvaluationExample
from atento.version import __version__

SHOWN = 8  # numbers of an array that are written out


def save_outputs(
    folder: Path, questions: Sequence[EvaluationExample], answers: Sequence[Judged]
) -> list[dict[str, Any]]:
    """Write the answers as lines of JSON, arrays of numbers beside them; return the lines."""
    lines = [line_of(question, answer) for question, answer in zip(questions, answers, strict=True)]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    write_atomically(folder / PREDICTIONS, text.encode())
    outputs = [answer.output for answer in answers]
    if outputs and isinstance(outputs[0], np.ndarray):
        write_atomically(folder / OUTPUTS, save({"outputs": np.stack(outputs).astype(np.float32)}))
    return lines


def line_of(question: EvaluationExample, answer: Judged) -> dict[str, Any]:
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


def read_lines(folder: Path) -> list[dict[str, Any]]:
    """The lines that `save_outputs` wrote; none where a run has no test part."""
    path = folder / PREDICTIONS
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def require_lines(folder: Path) -> list[dict[str, Any]]:
    """The same for those who need one at least."""
    lines = read_lines(folder)
    if not lines:
        raise InputError("there is no text to look at.", found="no test part", fix='give one: atento look RUN "a text"')
    return lines


def read_outputs(folder: Path) -> list[Any]:
    """The answers a run gave on the test part, as metrics take them."""
    if (folder / OUTPUTS).exists():
        return list(load_arrays((folder / OUTPUTS).read_bytes())["outputs"])
    return [line["output"] for line in read_lines(folder)]


def worst_of(metrics: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The worst answers of a run as a person reads them; `asked` is the source as a model reads it."""
    found = []
    for line in metrics["worst"]:
        shown = {**line, "output": line.get("text", line["output"]), "reference": ", ".join(line["references"])}
        texts = {key: shown[key] for key in ("source", "output", "reference") if isinstance(shown[key], str)}
        readable = {key: text.replace(LIST_SEPARATOR, " · ") for key, text in texts.items()}
        found.append({**shown, "asked": line["source"], **readable})
    return found


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
