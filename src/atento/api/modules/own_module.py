"""A module of the user's own, trained by the same loop as every other model: optimizer, schedule, clipping, validation,
early stopping, checkpoints and events. Read from `fit_module` downwards.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from atento.api.fit import teach
from atento.api.folders import held, new_folder, require_free
from atento.api.modules.own_examples import Examples, Item, as_tensor, examples_of
from atento.api.prepare import DEFAULT_BUDGET, Prepared, tell
from atento.api.report import run_html
from atento.api.starting.opening import open_run
from atento.bundle import (
    EVENTS,
    METRICS,
    OWN_MODULE,
    RECIPE,
    Json,
    check_manifest,
    is_finished,
    read_json,
    read_weights,
    remove_checkpoint,
    require_fit,
)
from atento.data.examples.splitting import parse_shares, split_by_key
from atento.data.files.memory import SCHEME
from atento.errors import InputError, Interrupted
from atento.layers.losses import Loss
from atento.metrics.metric import Metric, hit_counts, ratio
from atento.predictor import find_device
from atento.recurrent.unroll import map_state
from atento.spec import Recipe, parse_duration, parse_settings, read_recipe
from atento.spec.recipe import Settings
from atento.tasks.sealed import seal
from atento.tasks.task import (
    Answering,
    Dataset,
    Defaults,
    EvaluationExample,
    Judging,
    Learning,
    Reading,
    Recognition,
    Task,
)
from atento.training.callbacks import Callback, CallbackError, require_callbacks
from atento.training.events import EventCallback, no_callback, read_events
from atento.training.loop import validate_training
from atento.training.trackers import TrackedRun, require_trackers, tracked

LossFunction = Callable[..., Tensor]
SPLIT = "80/10/10"
SECTIONS = ("train.", "data.split", "data.seed")  # recipe keys that have a meaning here
LOSS = Metric(
    "mean_loss",
    "mean loss of an example",
    lambda losses, references: hit_counts(list(losses)),
    ratio,
    smaller_is_better=True,
)


class NoCodec:
    """Examples are tensors already."""

    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Nothing was learned."""
        return {}


def batch_loss(module: nn.Module, batch: tuple[Any, ...], loss: LossFunction) -> Loss:
    """The loss of a batch, whose last part is the target."""
    *inputs, target = batch
    return loss_of_output(module(*inputs), target, loss)


def loss_of_output(output: Any, target: Any, loss: LossFunction) -> Loss:
    """The loss of an output, which must be one number."""
    value = loss(output, target)
    if not isinstance(value, Tensor) or value.ndim:
        shape = f"shape {list(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
        raise InputError("the loss of a batch is one number.", found=shape, fix='use reduction="mean"')
    return Loss(value * len(target), len(target))


@torch.no_grad()
def losses_of(module: nn.Module, examples: Examples, loss: LossFunction, items: Sequence[Item]) -> list[float]:
    """The loss of each example; where the output is no tensor with a row for each, the mean loss of its batch."""
    device = next((one.device for one in module.parameters()), torch.device("cpu"))
    found: list[float] = []
    for first in range(0, len(items), examples.batch_size):
        some = items[first : first + examples.batch_size]
        *inputs, target = map_state(lambda part: part.to(device), examples.batch(some))
        output = module(*inputs)
        if all(isinstance(part, Tensor) and len(part) == len(some) for part in (output, target)):
            rows = ((output[at : at + 1], target[at : at + 1]) for at in range(len(some)))
            found += [float(loss_of_output(*row, loss).mean) for row in rows]
        else:
            found += [float(loss_of_output(output, target, loss).mean)] * len(some)
    return found


def module_task(examples: Examples, loss: LossFunction) -> Task:
    """Training of any module by a loss, as a task: sources are examples, and their loss is what is judged."""

    def loss_of(module: nn.Module, batch: tuple[Any, ...], smoothing: float) -> Loss:
        return batch_loss(module, batch, loss)

    def losses(module: nn.Module, codec: object, sources: Sequence[Item], decode: object) -> list[float]:
        return losses_of(module, examples, loss, sources)

    def refuse(*_: object) -> Any:
        raise InputError(
            "a module of your own has no such view.", found=OWN_MODULE, fix="call the module itself: run.module"
        )

    return Task(
        name=OWN_MODULE,
        summary="Train a module of your own.",
        reading=Reading(
            kind=OWN_MODULE,
            recognise=lambda evidence: Recognition(0.0, ""),
            read=refuse,
            read_labelled=refuse,
            read_unlabelled=refuse,
        ),
        learning=Learning(
            learn=refuse,
            load=lambda saved: NoCodec(),
            require_no_leak=refuse,
            encode=lambda codec, item: item,
            length=lambda codec, item: 1,
            batch=lambda codec, items: examples.batch(items),
            build=refuse,
            loss=loss_of,
        ),
        answering=Answering(answer=refuse, score=losses, look=refuse, trace=refuse),
        judging=Judging(
            metrics=lambda codec: (LOSS,),
            error=lambda codec, output, references: 0.0,
            bands=lambda *_: [],
            baselines=(),
        ),
        defaults=Defaults(models=(), model="", values=lambda data, name: {}),
    )


class ModuleRun:
    """A module of the user's own after training, with its best weights, and the record of the run."""

    def __init__(self, folder: Path, module: nn.Module) -> None:
        self.folder = folder
        self.module = module.eval()
        self.recipe = read_recipe(folder / RECIPE)
        self.metrics: Json = read_json(folder, METRICS)

    @property
    def history(self) -> list[Json]:
        """One entry for each validation: step, elapsed seconds, training loss and validation loss (`value`)."""
        return list(self.metrics["curve"])

    @property
    def events(self) -> list[Mapping[str, Any]]:
        """Everything that was logged while it was trained."""
        return [dict(event) for event in read_events(self.folder / EVENTS)]

    @torch.no_grad()
    def predict(self, *inputs: Any, batch_size: int = 256) -> Tensor:
        """The outputs of the module, in evaluation mode and without gradients.

        inputs: as the module's forward takes them, one row for each example.
        batch_size: how many rows go through the module at once.
        """
        tensors = [as_tensor(part) for part in inputs]
        device = next((one.device for one in self.module.parameters()), torch.device("cpu"))
        rows = len(tensors[0])
        chunks = [
            self.module(*(part[first : first + batch_size].to(device) for part in tensors)).cpu()
            for first in range(0, rows, batch_size)
        ]
        return torch.cat(chunks)

    def evaluate(self, data: Any, loss: LossFunction) -> float:
        """The mean loss on other examples.

        data: (inputs, targets), a Dataset or a DataLoader, as `fit` takes them.
        loss: loss(output, target).
        """
        examples = examples_of(data)
        items = [Item(number) for number in range(examples.count)]
        losses = losses_of(self.module, examples, loss, items)
        return LOSS.value(losses, [[""]] * len(items))

    def _repr_html_(self) -> str:
        """Its loss and its learning curve, for notebooks."""
        return run_html(self.folder)

    def __repr__(self) -> str:
        value = self.metrics["scores"][LOSS.name][0]
        shown = "no test part" if value is None else f"loss {value:.4g}"
        return f"ModuleRun({str(self.folder)!r}, {type(self.module).__name__}, {shown})"


def fit_module(
    module: nn.Module,
    data: Any,
    loss: LossFunction | None,
    *,
    settings: Settings = (),
    seed: int | None = None,
    budget: str | float | None = None,
    device: str = "auto",
    out: str | Path | None = None,
    resume: bool = False,
    track: str | Sequence[str] = (),
    callbacks: Sequence[Callback] = (),
    on_event: EventCallback = no_callback,
) -> ModuleRun:
    """Train a module by a loss on examples; its best weights stay in the module and, without pickle, in the folder."""
    if loss is None or not callable(loss):
        raise InputError(
            "a module of your own needs a loss.", found=f"loss={loss!r}", fix="loss=torch.nn.CrossEntropyLoss()"
        )
    where, callbacks, track = find_device(device), require_callbacks(callbacks), require_trackers(track)
    examples = examples_of(data)
    recipe = own_recipe(module, examples, settings, seed=seed, budget=budget)
    task = module_task(examples, loss)
    validate_training(task, module, recipe.train)
    folder = Path(out) if out else new_folder(examples.title, type(module).__name__)
    require_free(folder, "run", resume=resume)
    if resume and is_finished(folder):
        tell([f"{folder} is already finished"], on_event)
        return load_module(folder, module, device=device)
    reading = split(examples, recipe)
    prepared = Prepared(
        task, recipe, reading, NoCodec(), module, reading.notes, started=False, solved=False, callbacks=callbacks
    )
    tell(prepared.notes, on_event)
    torch.manual_seed(recipe.train.seed)
    with held(folder):
        open_run(folder, prepared, resume=resume)
        try:
            with tracked(track, {"": TrackedRun(folder, folder.name, recipe.flat())}, on_event) as watch:
                teach(prepared, folder, where, resume=resume, on_event=watch)
        except (Interrupted, CallbackError) as stop:
            fix = f"go on with: atento.fit(data, model=module, loss=loss, out={str(folder)!r}, resume=True)"
            if isinstance(stop, CallbackError):
                raise CallbackError(stop.problem, found=stop.found, fix=fix) from stop.__cause__
            raise Interrupted(stop.exit_code - 128, stop.problem, fix=fix) from None
    return ModuleRun(folder, module)


def own_recipe(
    module: nn.Module, examples: Examples, settings: Settings, *, seed: int | None, budget: str | float | None
) -> Recipe:
    """The recipe: the user's settings over the general values."""
    values = parse_settings(settings)
    for key in values:
        if not key.startswith(SECTIONS):
            raise InputError(
                f"{key} has no meaning for a module of your own.", found=key, fix="set data.split and train.* alone"
            )
    if seed is not None:
        values["train.seed"] = seed
    if budget is not None:
        values["train.budget"] = parse_duration(budget) if isinstance(budget, str) else budget
    own = {
        "task": OWN_MODULE,
        "data.train": f"{SCHEME}{examples.fingerprint[:12]}/{examples.title}",
        "model.name": type(module).__name__,
        "train.batch_tokens": examples.batch_size,
        "train.precision": "fp32",
    }
    recipe = Recipe().with_values({**own, **values})
    limits = recipe.train.steps or recipe.train.epochs or recipe.train.budget
    if recipe.train.label_smoothing:
        raise InputError(
            "train.label_smoothing has no meaning for a module of your own.",
            found=f"train.label_smoothing={recipe.train.label_smoothing}",
            fix="give it to the loss: torch.nn.CrossEntropyLoss(label_smoothing=0.1)",
        )
    return recipe if limits else recipe.with_values({"train.budget": DEFAULT_BUDGET}, why="default budget")


def split(examples: Examples, recipe: Recipe) -> Dataset:
    """The examples in three parts, by their numbers; the test part is sealed."""
    numbers = [str(number) for number in range(examples.count)]
    parts = split_by_key(numbers, shares=parse_shares(recipe.data.split or SPLIT), seed=recipe.split_seed)
    valid, test = ([EvaluationExample(Item(number), (str(number),)) for number in part] for part in parts[1:])
    note = f"{len(parts.train):,} examples to train, {len(valid):,} to validate, {len(test):,} to test"
    train = [Item(number) for number in parts.train]
    return seal(Dataset(examples.title, train, valid, test, (), (note,), examples.fingerprint))


def load_module(folder: Path, module: nn.Module, *, device: str = "auto") -> ModuleRun:
    """A run of `fit_module` with its best weights in this module, which has the same shapes; every file is checked."""
    check_manifest(folder)
    remove_checkpoint(folder)
    weights = read_weights(folder)
    require_fit(module, weights, where=str(folder))
    module.load_state_dict(weights)
    return ModuleRun(folder, module.to(find_device(device)))
