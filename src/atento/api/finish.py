"""The end of a run: the model is tested once, its answers and its metrics are written down, the folder is complete."""

import platform
import shlex
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import torch
from torch import nn

from atento.api.comparison.simple import compare_with
from atento.api.prepare import Prepared, facts_of
from atento.bundle import (
    EVENTS,
    OWN_MODULE,
    RECIPE,
    Bundle,
    Json,
    save_bundle,
)
from atento.data.files.memory import is_in_memory
from atento.models.builders.encoder_decoder import count_parameters
from atento.predictor import Judged, Predictor, save_outputs
from atento.spec import Recipe
from atento.system import peak_memory
from atento.tasks.task import Baseline, Dataset, EvaluationExample
from atento.training.events import EventCallback, EventLog, no_callback, read_events
from atento.training.gradients import arithmetic_of
from atento.training.learner import Progress
from atento.training.loop import Plan
from atento.version import __version__
from atento.views.wording import beside_baselines, interval, score

WORST = 8
PROBABLE = 5  # labels of a wrong answer whose probabilities are kept


def finish(
    plan: Plan,
    module: nn.Module,
    progress: Progress,
    reading: Dataset,
    test: Sequence[EvaluationExample],
    *,
    notes: list[str],
    beside: Sequence[Baseline] = (),
) -> None:
    """Test a model on the opened test part, with the simple baselines `beside` it, and complete the folder."""
    bundle = Bundle(plan.folder, plan.task, plan.recipe, plan.codec, module, {})
    found, answers = Predictor(bundle, device=plan.device).examine(test)
    lines = save_outputs(plan.folder, test, answers)
    wrong, worst = mistakes(plan, test, answers, lines)
    name, headline = found["metric"], plan.task.judging.metrics(plan.codec)[0]
    metrics = {
        "model": plan.recipe.model.name,
        "task": plan.task.name,
        "data": facts_of(reading, notes),
        **found,
        "baselines": compare_with(beside, test, [answer.output for answer in answers], headline),
        "parameters": count_parameters(module),
        "seconds": progress.elapsed,
        "examples_per_second": progress.examples / max(progress.elapsed, 1e-9),
        "peak_mb": most_memory(plan.device),
        "steps": progress.step,
        "epochs": progress.examples / max(1, len(plan.examples if plan.order is None else plan.order)),
        "best_step": progress.best_step,
        "gain_step": progress.gain_step,
        "ended": progress.stop_reason,
        "seed": plan.recipe.train.seed,
        "device": str(plan.device),
        "threads": torch.get_num_threads(),
        **arithmetic_of(plan.recipe.train.precision, plan.device),
        "versions": versions(),
        "command": repeat_command(plan),
        "curve": curve(plan.folder, name),
        "mistakes": wrong,
        "worst": worst,
    }
    save_bundle(plan.folder, module=module, metrics=metrics, card=model_card(metrics, plan.recipe))


def finish_simple(
    prepared: Prepared,
    folder: Path,
    test: Sequence[EvaluationExample],
    *,
    seconds: float,
    on_event: EventCallback = no_callback,
) -> None:
    """Test a baseline that took so long to fit, and complete the folder."""
    reading = prepared.reading
    progress = Progress(elapsed=seconds, examples=len(reading.train), stop_reason="fitted")
    log = EventLog(folder, on_event)
    log.rewind(-1)
    log.add("finished", step=0, why=progress.stop_reason)
    plan = Plan(
        task=prepared.task,
        recipe=prepared.recipe,
        codec=prepared.codec,
        examples=reading.train,
        validation=(),
        fingerprint=reading.fingerprint,
        device=torch.device("cpu"),
        folder=folder,
    )
    finish(plan, prepared.module, progress, reading, test, notes=list(prepared.notes))


def mistakes(
    plan: Plan, questions: Sequence[EvaluationExample], answers: Sequence[Judged], lines: Sequence[Json]
) -> tuple[int, list[Json]]:
    """How many answers are mistakes, and the worst of them with their numbers in the test part; of equally wrong ones
    those that seemed least likely.
    """
    examples = zip(questions, answers, lines, strict=True)
    judged = [
        (
            plan.task.judging.error(plan.codec, answer.output, question.references),
            {**line, "number": number, **likeliest(answer)},
        )
        for number, (question, answer, line) in enumerate(examples)
    ]
    wrong = sorted((one for one in judged if one[0] > 0), key=lambda one: (-one[0], one[1]["score"] or 0.0))
    return sum(how >= 1 for how, _ in wrong), [line for _, line in wrong[:WORST]]


def likeliest(answer: Judged) -> Json:
    """The probabilities of the most probable labels, where there are labels."""
    best = sorted((answer.probabilities or {}).items(), key=lambda pair: -pair[1])[:PROBABLE]
    return {"probabilities": {label: round(chance, 4) for label, chance in best}} if best else {}


def curve(folder: Path, metric: str) -> list[Json]:
    """One point a validation: time, step, the loss before it, the metrics."""
    points, loss = [], None
    for event in read_events(folder / EVENTS):
        loss = event.get("loss", loss)
        if event["event"] == "validation":
            scores = event["metrics"]
            point = {"elapsed": event["elapsed"], "step": event["step"], "loss": loss, "value": scores[metric]}
            held_out = event.get("validation_loss")
            points.append({**point, **({} if held_out is None else {"validation loss": held_out}), **scores})
    return points


def most_memory(device: torch.device) -> float | None:
    """Most megabytes held: of the GPU where there is one, else of the process; None where the system does not tell."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**20
    return peak_memory()


def repeat_command(plan: Plan) -> str:
    """What a user types to train the same again; data in memory must be given once more."""
    again = f"{plan.folder}-again"
    if plan.recipe.task == OWN_MODULE:
        return f"atento.fit(data, model=module, loss=loss, out={again!r})"
    if is_in_memory(plan.recipe.data.train):
        return f"atento.fit(data, task={plan.recipe.task!r}, model={plan.recipe.model.name!r}, out={again!r})"
    return shlex.join(["atento", "train", str(plan.folder / RECIPE), "--out", again])


def versions() -> dict[str, str]:
    """What a run was made with."""
    return {"atento": __version__, "torch": version("torch"), "python": platform.python_version()}


def use_of(recipe: Recipe) -> str:
    """What to type with a trained model."""
    if recipe.task == OWN_MODULE:
        return "run = atento.load(FOLDER, module=module)"
    return 'atento predict FOLDER FILE\natento look FOLDER "a text"'


def model_card(metrics: Json, recipe: Recipe) -> str:
    """A short Markdown page."""
    data, parts = metrics["data"], metrics["data"]["parts"]
    made_with = ", ".join(f"{name} {number}" for name, number in metrics["versions"].items())
    scores = "\n".join(
        f"| {name} | {score(value)} | {interval(low, high)} | {metrics['metrics'][name]} |"
        for name, (value, low, high) in metrics["scores"].items()
    )
    notes = "\n".join(f"- {note}" for note in data["notes"])
    beside = beside_baselines(metrics["baselines"])
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
{beside and f"{chr(10)}{beside[0].upper()}{beside[1:]}.{chr(10)}"}
## Use

```
{use_of(recipe)}
```

Made with {made_with}. Repeat with `{metrics["command"]}`.

## Limits
It has seen only data like that above; on anything else its outputs are guesses. Widths: {recipe.model.hidden}.
"""


def still_improving(metrics: Json) -> bool:
    """Whether the time ended a run whose last validation raised its metric, or whose score had not begun to move while
    the loss fell.
    """
    curve, ended = metrics["curve"], metrics["ended"]
    if len(curve) < 2 or not ended.startswith("time budget"):
        return False
    waiting = len({point["value"] for point in curve}) == 1 and metrics["scores"][metrics["metric"]][0] != 1.0
    losses = [point["loss"] for point in curve if point["loss"] is not None]  # none before the first step
    falls = bool(losses) and curve[-1]["loss"] == min(losses)
    gained = metrics.get("gain_step", metrics["best_step"])  # an older run has the latter alone
    return bool(gained == curve[-1]["step"] or (waiting and falls))
