"""Fit: one model, from a file to a folder. Read from `fit` downwards."""

import platform
import resource
import shlex
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import torch

from atento.api.folders import held, new_folder, require_free
from atento.api.prepare import Prepared, assemble, facts_of, gather_values, prepare, read_data, tell
from atento.api.run import Run, load
from atento.api.warm_start import continue_model
from atento.bundle import (
    EVENTS,
    RECIPE,
    VOCABULARY,
    Bundle,
    Json,
    is_finished,
    load_bundle,
    read_json,
    save_bundle,
    write_atomically,
    write_json,
)
from atento.data.tables.table import parsed_once
from atento.errors import InputError, Interrupted
from atento.models.builders.encoder_decoder import count_parameters
from atento.predictor import Judged, Predictor, find_device, save_outputs
from atento.spec import Recipe, read_recipe
from atento.spec.recipe import Settings
from atento.tasks.encoding import encode_all
from atento.tasks.task import Dataset, EvaluationExample
from atento.training.checkpoints import CHECKPOINT, load_checkpoint, save_checkpoint
from atento.training.events import EventCallback, EventLog, no_callback, read_events
from atento.training.learner import Learner, new_learner
from atento.training.loop import Plan, train
from atento.training.threads import choose_threads
from atento.version import __version__

WORST = 8
TRIED = 32  # examples of a step for the clock


def fit(
    data: str | Path,
    *,
    task: str = "auto",
    model: str = "auto",
    settings: Settings = (),
    seed: int | None = None,
    budget: str | float | None = None,
    device: str = "auto",
    out: str | Path | None = None,
    resume: bool = False,
    start_from: str | Path | None = None,
    on_event: EventCallback = no_callback,
) -> Run:
    """Learn one model and leave it in a folder."""
    where = find_device(device)
    values = gather_values(str(data), task=task, model=model, settings=settings, seed=seed, budget=budget)
    before = load_bundle(Path(start_from)) if start_from else None
    if before is not None:
        values = continue_model(values, before)
    with parsed_once():  # the guess and the reading look at one file
        chosen = assemble(values, where=str(data) if str(data).endswith(".toml") else "")
        folder = Path(out) if out else new_folder(chosen.recipe.data.train, chosen.recipe.model.name)
        require_free(folder, "run", resume=resume)
        if resume and is_finished(folder):
            tell([f"{folder} is already finished"], on_event)
            return load(folder, device=device)
        found = read_data(chosen, values, device=where.type)
    resumed = resume and is_begun(folder)  # with its own codec, which may have come from a run before it
    codec = found.task.learning.load(read_json(folder, VOCABULARY)) if resumed else None
    prepared = prepare(found, codec=codec, before=before, on_event=on_event)  # what fails here leaves no folder behind
    with held(folder):
        open_run(folder, prepared, resume=resume)
        try:
            teach(prepared, folder, where, resume=resume, on_event=on_event)
        except Interrupted as stop:
            again = resume_command(folder, device)
            raise Interrupted(stop.exit_code - 128, stop.problem, fix=f"go on with: {again}") from None
        (folder / CHECKPOINT).unlink(missing_ok=True)
    return load(folder, device=device)


def teach(prepared: Prepared, folder: Path, device: torch.device, *, resume: bool, on_event: EventCallback) -> None:
    """Train the model to its end, test it once, and complete the folder."""
    log = EventLog(folder, on_event)
    plan, learner = begin(prepared, folder, device, log, resume=resume)
    if prepared.started and not (folder / CHECKPOINT).exists():
        save_checkpoint(folder, learner, fingerprint=plan.fingerprint)  # the run before may be gone one day
    train(plan, learner, log)
    notes = list(prepared.notes)
    if prepared.solved and learner.best_weights and not learner.progress.best_step:
        notes.append("no step was better than the closed form by more than chance: it stays as it began")
        tell(notes[-1:], on_event)
    if prepared.task.learning.calibrate is not None:
        prepared.task.learning.calibrate(learner.module.eval(), prepared.codec, prepared.reading.valid)
    log.add("finished", step=learner.progress.step, why=learner.progress.stop_reason)
    finish(plan, learner, prepared.reading, notes=notes)


def is_begun(folder: Path) -> bool:
    """Whether a run wrote down what it would do; the recipe comes after the vocabulary."""
    return (folder / RECIPE).exists() and (folder / VOCABULARY).exists()


def open_run(folder: Path, prepared: Prepared, *, resume: bool) -> None:
    """Write down what the run will do, or check that it is the run that was begun."""
    if resume and is_begun(folder):
        require_same_recipe(folder, prepared.recipe)
        return
    (folder / CHECKPOINT).unlink(missing_ok=True)  # of a run that never wrote its recipe
    (folder / EVENTS).unlink(missing_ok=True)
    write_json(folder / VOCABULARY, prepared.codec.to_json())
    write_atomically(folder / RECIPE, prepared.recipe.to_toml().encode())


def require_same_recipe(folder: Path, recipe: Recipe, *, fix: str = "") -> None:
    """A run goes on as it began; the first key that differs is named."""
    then = read_recipe(folder / RECIPE).flat()
    for key, value in recipe.flat().items():
        if value != then[key]:
            raise InputError(
                f"--resume: this is another recipe than {folder} began with.",
                found=f"{key} is {value!r} now, was {then[key]!r}",
                fix=fix or resume_command(folder),
            )


def make_plan(prepared: Prepared, device: torch.device, folder: Path) -> Plan:
    """Encode the training part and pick what validations will ask."""
    task, recipe, codec, reading = prepared.task, prepared.recipe, prepared.codec, prepared.reading
    stride = -(-len(reading.valid) // recipe.train.validation_examples) or 1
    encoded = encode_all(task, codec, reading.train)
    windows = task.learning.windows(encoded, recipe.train, codec) if task.learning.windows is not None else None
    return Plan(
        task=task,
        recipe=recipe,
        codec=codec,
        examples=encoded if windows is None else windows.examples,
        validation=reading.valid[::stride],
        fingerprint=reading.fingerprint,
        device=device,
        folder=folder,
        order=None if windows is None else windows.order,
        stateful=windows is not None and windows.carried,
        gather=None if windows is None else windows.gather,
        closed_form=prepared.solved,
    )


def begin(
    prepared: Prepared, folder: Path, device: torch.device, log: EventLog, *, resume: bool
) -> tuple[Plan, Learner]:
    """From the last checkpoint where there is one; else from the start, with a thread count that was measured."""
    plan = make_plan(prepared, device, folder)
    learner = new_learner(prepared.module.to(device), prepared.recipe)
    if resume and (folder / CHECKPOINT).exists():
        load_checkpoint(folder, learner, fingerprint=plan.fingerprint)
        log.rewind(learner.progress.step)
        return plan, learner
    log.rewind(-1)
    random_state = torch.get_rng_state()
    threads = plan.recipe.train.threads or choose_threads(lambda: try_step(plan, learner))
    torch.set_num_threads(threads)
    torch.set_rng_state(random_state)
    log.add("start", step=0, threads=threads, device=str(device), parameters=count_parameters(learner.module))
    return plan, learner


def try_step(plan: Plan, learner: Learner) -> None:
    """A forward and backward pass that changes nothing, for the clock."""
    batch = plan.batch(range(min(TRIED, len(plan.examples))))
    plan.task.learning.loss(learner.module, batch, 0.0).mean.backward()  # type: ignore[no-untyped-call]
    learner.optimizer.zero_grad(set_to_none=True)


def finish(plan: Plan, learner: Learner, reading: Dataset, *, notes: list[str]) -> None:
    """Touch the test part, once, and complete the folder."""
    bundle = Bundle(plan.folder, plan.task, plan.recipe, plan.codec, learner.module, {})
    found, answers = Predictor(bundle, device=plan.device).examine(reading.test)
    lines = save_outputs(plan.folder, reading.test, answers)
    wrong, worst = mistakes(plan, reading.test, answers, lines)
    progress, name = learner.progress, found["metric"]
    metrics = {
        "model": plan.recipe.model.name,
        "task": plan.task.name,
        "data": facts_of(reading, notes),
        **found,
        "parameters": count_parameters(learner.module),
        "seconds": progress.elapsed,
        "examples_per_second": progress.examples / max(progress.elapsed, 1e-9),
        "peak_mb": peak_memory(plan.device),
        "steps": progress.step,
        "epochs": progress.examples / max(1, len(plan.examples if plan.order is None else plan.order)),
        "best_step": progress.best_step,
        "ended": progress.stop_reason,
        "seed": plan.recipe.train.seed,
        "device": str(plan.device),
        "threads": torch.get_num_threads(),
        "versions": versions(),
        "command": shlex.join(["atento", "train", str(plan.folder / RECIPE), "--out", f"{plan.folder}-again"]),
        "curve": curve(plan.folder, name),
        "mistakes": wrong,
        "worst": worst,
    }
    weights = learner.module.state_dict()
    save_bundle(plan.folder, weights=weights, metrics=metrics, card=model_card(metrics, plan.recipe))


def mistakes(
    plan: Plan, questions: Sequence[EvaluationExample], answers: Sequence[Judged], lines: Sequence[Json]
) -> tuple[int, list[Json]]:
    """How many answers are mistakes, and the worst of them with their numbers in the test part; of equally wrong ones
    those that seemed least likely.
    """
    examples = zip(questions, answers, lines, strict=True)
    judged = [
        (plan.task.judging.error(plan.codec, answer.output, question.references), {**line, "number": number})
        for number, (question, answer, line) in enumerate(examples)
    ]
    wrong = sorted((one for one in judged if one[0] > 0), key=lambda one: (-one[0], one[1]["score"] or 0.0))
    return sum(how >= 1 for how, _ in wrong), [line for _, line in wrong[:WORST]]


def curve(folder: Path, metric: str) -> list[Json]:
    """One point a validation: time, step, the loss before it, the metrics."""
    points, loss = [], None
    for event in read_events(folder / EVENTS):
        loss = event.get("loss", loss)
        if event["event"] == "validation":
            scores = event["metrics"]
            point = {"elapsed": event["elapsed"], "step": event["step"], "loss": loss, "value": scores[metric]}
            points.append({**point, **scores})
    return points


def peak_memory(device: torch.device) -> float:
    """Most megabytes held: of the GPU where there is one, else of the process."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def resume_command(folder: Path, device: str = "auto") -> str:
    """What a user types to go on."""
    where = ["--device", device] if device != "auto" else []
    return shlex.join(["atento", "train", str(folder / RECIPE), "--out", str(folder), "--resume", *where])


def versions() -> dict[str, str]:
    """What a run was made with."""
    return {"atento": __version__, "torch": version("torch"), "python": platform.python_version()}


def model_card(metrics: Json, recipe: Recipe) -> str:
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
