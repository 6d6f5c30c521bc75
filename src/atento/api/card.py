"""The model card: what a stranger should know before using a model."""

import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from atento.spec import Recipe
from atento.version import __version__


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
