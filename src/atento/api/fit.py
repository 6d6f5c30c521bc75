"""Fit: one model, from a file to a folder. Read from `fit` downwards."""

import shlex
import time
from pathlib import Path

import torch

from atento.api.finish import finish, finish_simple
from atento.api.folders import find_model, held, new_folder, require_free
from atento.api.prepare import Prepared, assemble, gather_values, prepare, read_data, tell
from atento.api.run import Run, load
from atento.api.simple import fit_quick
from atento.api.warm_start import continue_model
from atento.bundle import (
    EVENTS,
    RECIPE,
    VOCABULARY,
    is_finished,
    load_bundle,
    read_json,
    write_atomically,
    write_json,
)
from atento.data.tables.table import parsed_once
from atento.errors import InputError, Interrupted
from atento.models.builders.encoder_decoder import count_parameters
from atento.predictor import find_device
from atento.spec import Recipe, read_recipe
from atento.spec.recipe import Settings
from atento.tasks.baselines import BaselineModule
from atento.tasks.encoding import encode_all
from atento.tasks.sealed import final_examination
from atento.training.checkpoints import CHECKPOINT, load_checkpoint, save_checkpoint
from atento.training.events import EventCallback, EventLog, no_callback
from atento.training.learner import Learner, new_learner
from atento.training.loop import Plan, train
from atento.training.threads import choose_threads

TRIED = 32  # examples of a step for the clock
NO_CLOSED_FORM = "--set train.closed_form=no"


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
    before = load_bundle(find_model(Path(start_from)).folder) if start_from else None
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
    if isinstance(prepared.module, BaselineModule):
        fit_simple(prepared, prepared.module, folder, on_event)
        return
    log = EventLog(folder, on_event)
    plan, learner = begin(prepared, folder, device, log, resume=resume)
    if prepared.started and not (folder / CHECKPOINT).exists():
        save_checkpoint(folder, learner, fingerprint=plan.fingerprint)  # the run before may be gone one day
    train(plan, learner, log)
    notes = list(prepared.notes)
    if prepared.solved and learner.best_weights and not learner.progress.best_step:
        notes.append(
            f"training did not improve on the ridge solution it starts from; {NO_CLOSED_FORM} starts at random"
        )
        tell(notes[-1:], on_event)
    if prepared.task.learning.calibrate is not None:
        prepared.task.learning.calibrate(learner.module.eval(), prepared.codec, prepared.reading.valid)
    log.add("finished", step=learner.progress.step, why=learner.progress.stop_reason)
    beside = fit_quick(prepared.task, prepared.codec, prepared.reading) if prepared.recipe.train.baselines else []
    test = final_examination(prepared.reading)
    finish(plan, learner.module, learner.progress, prepared.reading, test, notes=notes, beside=beside)


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


def fit_simple(prepared: Prepared, module: BaselineModule, folder: Path, on_event: EventCallback) -> None:
    """Fit a baseline, test it once, and complete the folder."""
    started = time.perf_counter()
    module.fit(prepared.reading.train)
    seconds = time.perf_counter() - started
    finish_simple(prepared, folder, final_examination(prepared.reading), seconds=seconds, on_event=on_event)


def resume_command(folder: Path, device: str = "auto") -> str:
    """What a user types to go on."""
    where = ["--device", device] if device != "auto" else []
    return shlex.join(["atento", "train", str(folder / RECIPE), "--out", str(folder), "--resume", *where])
