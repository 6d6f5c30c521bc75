"""Fit: one model, from a file to a folder. Read from `fit` downwards."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import torch
from torch import nn

from atento.api.comparison.simple import fit_quick
from atento.api.finish import finish, finish_simple
from atento.api.folders import find_model, held, require_free
from atento.api.prepare import Prepared, assemble, gather_values, prepare, read_data, tell
from atento.api.run import Run, load
from atento.api.starting.launch import ONE, FitRequest, Processes, launch
from atento.api.starting.moved import require_present
from atento.api.starting.opening import choose_folder, is_saved, open_run, resume_command
from atento.api.starting.warm_start import continue_model
from atento.bundle import CHECKPOINT, EVENTS, VOCABULARY, is_finished, load_bundle, read_json
from atento.data.examples.stored import SharedReading, shared_reading
from atento.data.tables.table import parsed_once
from atento.errors import InputError, Interrupted
from atento.layers.products import bf16_products
from atento.models.builders.encoder_decoder import count_parameters
from atento.native.library import ThisProcess
from atento.predictor import find_device
from atento.spec.recipe import Settings
from atento.system import keep_freed_memory, usable_cores
from atento.tasks.baselines import BaselineModule
from atento.tasks.encoding import encode_all
from atento.tasks.sealed import final_examination
from atento.training.callbacks import Callback, CallbackError, require_callbacks
from atento.training.checkpoints import load_checkpoint, save_checkpoint
from atento.training.distributed.ranks import ALONE, Ranks, is_rank, is_restarted, join, local_device
from atento.training.distributed.strategies import Together
from atento.training.events import Event, EventCallback, EventLog, no_callback, read_events
from atento.training.gradients import ONE_PROCESS, Arithmetic, arithmetic_of, rounds_products
from atento.training.learner import Learner, new_learner
from atento.training.loop import Plan, train
from atento.training.machine import choose_threads
from atento.training.trackers import TrackedRun, require_trackers, tracked

TRIED = 32  # examples of a step for the clock
RANK_SEED = 1_000_003  # between the seeds of two processes
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
    devices: int | None = None,
    nodes: int | None = None,
    strategy: str = "ddp",
    out: str | Path | None = None,
    resume: bool = False,
    start_from: str | Path | None = None,
    track: str | Sequence[str] = (),
    callbacks: Sequence[Callback] = (),
    on_event: EventCallback = no_callback,
) -> Run:
    """Learn one model and leave it in a folder, with as many processes as there are devices."""
    where, callbacks, track = find_device(device), require_callbacks(callbacks), require_trackers(track)
    together = is_rank() or devices is not None or nodes is not None or strategy != ONE.strategy
    chosen = Processes.of(devices, nodes, strategy) if together else ONE
    values = gather_values(str(data), task=task, model=model, settings=settings, seed=seed, budget=budget)
    request = FitRequest(str(data), values, device, str(out or ""), str(start_from or ""), list(track), resume=resume)
    if callbacks and chosen != ONE:
        raise InputError(
            "callbacks are called in one process.",
            found=f"{len(callbacks)} callbacks for {chosen.devices * chosen.nodes} processes",
            fix="leave callbacks out, or devices and nodes",
        )
    if chosen.to_launch:
        return load(launch(request, chosen, on_event=on_event), device=device)
    with join(where) as ranks:
        watch = on_event if ranks.first else no_callback
        folder = fit_together(request, ranks, chosen, callbacks=callbacks, on_event=watch)
    return load(folder, device=device)


def fit_together(
    request: FitRequest,
    ranks: Ranks,
    processes: Processes,
    *,
    callbacks: Sequence[Callback] = (),
    on_event: EventCallback = no_callback,
) -> Path:
    """The part of this process in a run, which may be all of it; the folder of the run."""
    where = local_device(find_device(request.device), ranks.local_rank) if ranks.joined else find_device(request.device)
    values, resume = request.values, request.resume or is_restarted()
    if resume and request.out:
        require_present(Path(request.out), values)
    before = load_bundle(find_model(Path(request.start_from)).folder) if request.start_from else None
    if before is not None:
        values = continue_model(values, before)
    with parsed_once():  # the guess and the reading look at one file
        chosen = assemble(values, where=request.data if request.data.endswith(".toml") else "")
        folder = Path(ranks.from_first(str(choose_folder(request, chosen.recipe, restarted=is_restarted()))))
        if ranks.first:
            require_free(folder, "run", resume=resume)
        if ranks.from_first(ranks.first and resume and is_finished(folder)):
            tell([f"{folder} is already finished"], on_event)
            return folder
        saved = ranks.from_first(ranks.first and resume and is_saved(folder))
        with reading_together(ranks):
            found = read_data(chosen, values, device=where.type)
    # a run goes on with its own codec, which may have come from a run before it
    codec = found.task.learning.load(read_json(folder, VOCABULARY)) if saved else None
    prepared = prepare(found, codec=codec, before=before, on_event=on_event)  # what fails here leaves no folder behind
    again = resume_command(folder, request.device, processes=processes, track=request.track)
    ranks.resume = again if ranks.joined else ""
    shown = {"": TrackedRun(folder, folder.name, prepared.recipe.flat())}
    with held(folder) if ranks.first else nullcontext():
        if ranks.first:
            open_run(folder, prepared, resume=resume)
        ranks.from_first("open")  # nobody reads the folder before
        try:
            with tracked(request.track if ranks.first else (), shown, on_event) as watch:
                learned = replace(prepared, callbacks=tuple(callbacks))
                teach(learned, folder, where, ranks, strategy=processes.strategy, resume=resume, on_event=watch)
        except Interrupted as stop:
            raise Interrupted(stop.exit_code - 128, stop.problem, fix=f"go on with: {again}") from None
        except CallbackError as stop:
            fix = f"mend it and give resume=True, or go on without it: {again}"
            raise CallbackError(stop.problem, found=stop.found, fix=fix) from stop.__cause__
    return folder


@contextmanager
def reading_together(ranks: Ranks) -> Iterator[None]:
    """Within it the processes of each machine share the reading of a large file."""
    if ranks.local_size == 1:
        yield
        return
    machine = slice(ranks.rank - ranks.local_rank, ranks.rank - ranks.local_rank + ranks.local_size)
    with tempfile.TemporaryDirectory(prefix="atento-") as own:
        names = ranks.gather(own.encode())[machine]

        def gather(content: bytes) -> list[bytes]:
            return ranks.gather(content)[machine]

        with shared_reading(SharedReading(ranks.local_rank, ranks.local_size, Path(names[0].decode()), gather)):
            yield


def teach(
    prepared: Prepared,
    folder: Path,
    device: torch.device,
    ranks: Ranks = ALONE,
    *,
    strategy: str = "ddp",
    resume: bool,
    on_event: EventCallback,
) -> None:
    """Train the model to its end, test it once, and complete the folder; the first process does the latter."""
    if isinstance(prepared.module, BaselineModule):
        if prepared.callbacks:
            tell(["a simple baseline is fitted in one step: no callback is called"], on_event)
        if ranks.first:
            fit_simple(prepared, prepared.module, folder, on_event)
            ranks.say_done()
        ranks.wait_until_done()
        return
    log = EventLog(folder, on_event, writes=ranks.first)
    plan, learner = begin(prepared, folder, device, log, ranks, strategy=strategy, resume=resume)
    if prepared.started and not ranks.from_first((folder / CHECKPOINT).exists()):
        # the run before may be gone one day
        save_checkpoint(folder, learner, fingerprint=plan.fingerprint, ranks=ranks)
    train(plan, learner, log)
    with plan.together.whole(learner.module) as module:
        if module is not None:
            complete(prepared, plan, module, learner, log, on_event)
            ranks.say_done()
    ranks.wait_until_done()


def complete(
    prepared: Prepared, plan: Plan, module: nn.Module, learner: Learner, log: EventLog, on_event: EventCallback
) -> None:
    """Test the trained model once, and complete the folder."""
    notes = list(prepared.notes)
    if prepared.solved and learner.best_weights and not learner.progress.best_step:
        notes.append(f"training did not improve on the closed form it starts from; {NO_CLOSED_FORM} starts at random")
        tell(notes[-1:], on_event)
    if prepared.task.learning.calibrate is not None:
        prepared.task.learning.calibrate(module.eval(), prepared.codec, prepared.reading.valid)
    if prepared.task.learning.conformalize is not None:
        said = prepared.task.learning.conformalize(module.eval(), prepared.codec, prepared.reading)
        notes += filter(None, [said])
        tell(filter(None, [said]), on_event)
    log.add("finished", step=learner.progress.step, why=learner.progress.stop_reason)
    beside = fit_quick(prepared.task, prepared.codec, prepared.reading) if prepared.recipe.train.baselines else []
    test = final_examination(prepared.reading)
    finish(plan, module, learner.progress, prepared.reading, test, notes=notes, beside=beside)


def make_plan(prepared: Prepared, device: torch.device, folder: Path, together: Together = ONE_PROCESS) -> Plan:
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
        together=together,
        callbacks=prepared.callbacks,
    )


def begin(
    prepared: Prepared,
    folder: Path,
    device: torch.device,
    log: EventLog,
    ranks: Ranks = ALONE,
    *,
    strategy: str = "ddp",
    resume: bool,
) -> tuple[Plan, Learner]:
    """From the last checkpoint where there is one; else from the start, with a thread count that was measured."""
    keep_freed_memory()
    recipe, module = prepared.recipe, prepared.module.to(device)
    by_layer = recipe.train.teacher_forcing == "always" and not recipe.train.bptt_steps and not recipe.train.l2
    together = Together(ranks, module, strategy=strategy, by_layer=by_layer) if ranks.joined else ONE_PROCESS
    plan = make_plan(prepared, device, folder, together)
    learner = new_learner(module, recipe)
    if not ranks.first:
        torch.manual_seed(recipe.train.seed + RANK_SEED * ranks.rank)  # each process drops out units of its own
    if resume and ranks.from_first((folder / CHECKPOINT).exists()):
        load_checkpoint(folder, learner, fingerprint=plan.fingerprint, ranks=ranks)
        log.rewind(learner.progress.step)
        if note := other_arithmetic(read_events(folder / EVENTS), arithmetic_of(recipe.train.precision, device)):
            log.add("note", text=note)
        return plan, learner
    log.rewind(-1)
    random_state = torch.get_rng_state()
    if ranks.joined and not recipe.train.threads:
        threads = max(1, usable_cores() // ranks.local_size)
    else:
        threads = recipe.train.threads or choose_threads(lambda: try_step(plan, learner))
    torch.set_num_threads(threads)
    torch.set_rng_state(random_state)
    parameters = count_parameters(module)
    arithmetic = arithmetic_of(recipe.train.precision, device)
    if ThisProcess.seconds:
        log.add("note", text=f"C kernels were compiled for this processor, once, in {ThisProcess.seconds:.0f} s")
        ThisProcess.seconds = 0.0
    log.add("start", step=0, threads=threads, device=str(device), parameters=parameters, **arithmetic)
    return plan, learner


def other_arithmetic(events: Sequence[Event], now: Arithmetic) -> str | None:
    """What is said where a run goes on with other kernels than it began with, as another machine may have it."""
    began = next((event for event in events if event["event"] == "start"), Event())
    changes = (
        (began.get("bf16", now["bf16"]), now["bf16"], "bf16 products", "float32"),
        (began.get("c_kernels", now["c_kernels"]), now["c_kernels"], "C kernels", "torch's operations alone"),
    )
    for was, is_so, yes, no in changes:
        if was != is_so:
            one, other = (no, yes) if is_so else (yes, no)
            machine = "as this machine has it: the last digits will differ"
            return f"this run began with {one} and goes on with {other}, {machine}"
    return None


def try_step(plan: Plan, learner: Learner) -> None:
    """A forward and backward pass that changes nothing, for the clock."""
    batch = plan.batch(range(min(TRIED, len(plan.examples))))
    with bf16_products(rounds_products(plan.recipe.train.precision, plan.device)):
        plan.task.learning.loss(learner.module, batch, 0.0).mean.backward()  # type: ignore[no-untyped-call]
    learner.optimizer.zero_grad(set_to_none=True)


def fit_simple(prepared: Prepared, module: BaselineModule, folder: Path, on_event: EventCallback) -> None:
    """Fit a baseline, test it once, and complete the folder."""
    started = time.perf_counter()
    module.fit(prepared.reading.train)
    seconds = time.perf_counter() - started
    finish_simple(prepared, folder, final_examination(prepared.reading), seconds=seconds, on_event=on_event)
