"""The functions as Python users call them: any data, progress where someone looks, and advice in words of Python."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack, overload

from torch import nn

from atento import api
from atento.api.advice import in_python
from atento.api.given import as_settings, as_source, count_from_zero
from atento.api.modules.own_module import LossFunction, ModuleRun, fit_module, load_module
from atento.api.problems import Problem
from atento.data.files.memory import is_in_memory
from atento.errors import InputError
from atento.python.calling import for_python, shown
from atento.spec.recipe import Settings
from atento.training.callbacks import Callback
from atento.training.events import EventCallback, no_callback


class FitOptions(TypedDict, total=False):
    """Arguments of `fit` that are the same for every model."""

    task: str
    settings: Settings
    seed: int | None
    budget: str | float | None
    device: str
    devices: int | None
    nodes: int | None
    strategy: str
    out: str | Path | None
    resume: bool
    start_from: str | Path | None
    verbose: bool | None
    track: str | Sequence[str]
    callbacks: Sequence[Callback]
    on_event: EventCallback


@overload
def fit(data: Any, *, model: str = "auto", **options: Unpack[FitOptions]) -> api.Run: ...


@overload
def fit(data: Any, *, model: nn.Module, loss: LossFunction, **options: Unpack[FitOptions]) -> ModuleRun: ...


@for_python
def fit(
    data: Any,
    *,
    task: str = "auto",
    model: str | nn.Module = "auto",
    loss: LossFunction | None = None,
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
    verbose: bool | None = None,
    callbacks: Sequence[Callback] = (),
    on_event: EventCallback = no_callback,
) -> api.Run | ModuleRun:
    """Train one model, test it once on data it has not seen, and leave it in a folder.

    data: a path, the name of a built-in set, a data frame, a list of rows, (X, y), or the path of a recipe. For a
        module of your own: (inputs, targets) as tensors or arrays, a Dataset or a DataLoader.
    task: what to learn, e.g. "classify"; auto guesses it from the data.
    model: a name such as "lstm+additive" (`atento models` lists them), or a module of your own.
    loss: for a module of your own, loss(output, target), e.g. torch.nn.CrossEntropyLoss().
    settings: recipe keys and values, e.g. {"train.lr": 1e-3}; `atento schema` lists them. "data.valid" and "data.test"
        may be data themselves.
    seed: one seed for weights, order, dropout and the split.
    budget: training time, e.g. "90s" or "5m", or seconds.
    device: "auto", "cpu" or "cuda".
    devices: how many GPUs, or processes on a CPU, train the model together; None: one, or those of torchrun.
    nodes: how many machines, which meet at the address in MASTER_ADDR; the same call is made on each of them.
    strategy: "ddp", or "fsdp", by which each process holds a part of the model.
    out: folder of the run; None makes one in runs/.
    resume: continue the run that `out` holds; its data must be the same.
    start_from: folder of a run whose weights are the first weights.
    track: also show the run in "tensorboard", "mlflow" or "wandb", or several of them.
    verbose: show progress; None does so in a terminal or a notebook.
    callbacks: objects whose hooks are called while the model is trained and may stop it, e.g. [EarlyStopping()].
    on_event: a function that is called with each event, a dict, instead of showing progress.
    """
    if isinstance(data, nn.Module):
        raise InputError(
            "fit takes the data first.",
            found=f"a module, {type(data).__name__}",
            fix="atento.fit((X, y), model=module, loss=torch.nn.CrossEntropyLoss())",
        )
    if isinstance(model, nn.Module):
        if task != "auto" or start_from is not None:
            raise InputError(
                "a module of your own has no task and no run to start from.",
                found=f"task={task!r}, start_from={start_from!r}",
                fix="leave both out; load weights into the module before the call",
            )
        if devices is not None or nodes is not None or strategy != "ddp":
            raise InputError(
                "a module of your own is trained by one process.",
                found=f"devices={devices}, nodes={nodes}, strategy={strategy!r}",
                fix="leave them out, or name a model, e.g. model='transformer'",
            )
        with shown(verbose, on_event) as watch:
            return fit_module(
                model, data, loss, settings=settings, seed=seed, budget=budget, device=device, out=out, resume=resume,
                track=track, callbacks=callbacks, on_event=watch,
            )  # fmt: skip
    if loss is not None:
        raise InputError(
            "loss belongs to a module of your own.",
            found=f"model={model!r}",
            fix="leave loss out, or give model=module",
        )
    with as_source(data) as name, as_settings(settings) as named, shown(verbose, on_event) as watch:
        return api.fit(
            name, task=task, model=model, settings=named, seed=seed, budget=budget, device=device, devices=devices,
            nodes=nodes, strategy=strategy, out=out, resume=resume, start_from=start_from, track=track,
            callbacks=callbacks, on_event=watch,
        )  # fmt: skip


@for_python
def compare(
    data: Any,
    *,
    task: str = "auto",
    models: Sequence[str] = (),
    settings: Settings = (),
    seed: int | None = None,
    seeds: int = 1,
    budget: str | float | None = None,
    finish: str | float | None = None,
    device: str = "auto",
    cluster: str = "",
    out: str | Path | None = None,
    resume: bool = False,
    track: str | Sequence[str] = (),
    verbose: bool | None = None,
    on_event: EventCallback = no_callback,
) -> api.Board:
    """Train several models and simple baselines for equally long, test each once, and write a table and a report.

    data: a path, the name of a built-in set, a data frame, a list of rows, (X, y), or the path of a recipe.
    task: what to learn; auto guesses it from the data.
    models: names of models; none: those that the task proposes.
    settings: recipe keys and values, e.g. {"model.hidden": 64}; "data.valid" and "data.test" may be data themselves.
    seed: the seed of the split and of the first training of each model.
    seeds: from how many seeds each model is trained.
    budget: time of the whole comparison, e.g. "5m", or seconds.
    finish: for how long the best network goes on after the comparison, e.g. "10m", or seconds; None: not at all.
    device: "auto", "cpu" or "cuda".
    cluster: spread the work over a Ray cluster: "auto", or "HOST:PORT"; empty: over processes of this machine.
    out: folder of the comparison; None makes one in runs/.
    resume: continue the comparison that `out` holds.
    track: also show the run in "tensorboard", "mlflow" or "wandb", or several of them.
    verbose: show progress; None does so in a terminal or a notebook.
    on_event: a function that is called with each event, a dict, instead of showing progress.
    """
    names = models.split(",") if isinstance(models, str) else models
    with as_source(data) as name, as_settings(settings) as named, shown(verbose, on_event) as watch:
        return api.compare(
            name, task=task, models=names, settings=named, seed=seed, seeds=seeds, budget=budget, finish=finish,
            device=device, cluster=cluster, out=out, resume=resume, track=track, on_event=watch,
        )  # fmt: skip


@for_python
def tune(
    data: Any,
    *,
    task: str = "auto",
    model: str = "auto",
    settings: Settings = (),
    seed: int | None = None,
    budget: str | float | None = None,
    device: str = "auto",
    cluster: str = "",
    out: str | Path | None = None,
    resume: bool = False,
    track: str | Sequence[str] = (),
    verbose: bool | None = None,
    on_event: EventCallback = no_callback,
) -> api.Tuning:
    """Search for better hyperparameters on the validation part, then test the best recipe once beside the default.

    data: a path, the name of a built-in set, a data frame, a list of rows, (X, y), or the path of a recipe.
    task: what to learn; auto guesses it from the data.
    model: name of the model whose recipe is searched.
    settings: recipe keys and values that stay fixed.
    seed: one seed for weights, order, dropout, the split and the search.
    budget: time of the whole search, e.g. "10m", or seconds.
    device: "auto", "cpu" or "cuda".
    cluster: spread the work over a Ray cluster: "auto", or "HOST:PORT"; empty: over processes of this machine.
    out: folder of the search; None makes one in runs/.
    resume: continue the search that `out` holds.
    track: also show the run in "tensorboard", "mlflow" or "wandb", or several of them.
    verbose: show progress; None does so in a terminal or a notebook.
    on_event: a function that is called with each event, a dict, instead of showing progress.
    """
    with as_source(data) as name, as_settings(settings) as named, shown(verbose, on_event) as watch:
        return api.tune(
            name, task=task, model=model, settings=named, seed=seed, budget=budget, device=device,
            cluster=cluster, out=out, resume=resume, track=track, on_event=watch,
        )  # fmt: skip


@for_python
def backtest(
    data: Any,
    *,
    models: Sequence[str] = (),
    origins: int = 5,
    refit: bool = False,
    settings: Settings = (),
    seed: int | None = None,
    budget: str | float | None = None,
    device: str = "auto",
    out: str | Path | None = None,
    verbose: bool | None = None,
    on_event: EventCallback = no_callback,
) -> api.Backtest:
    """Forecast the last part of series from several origins, each by what was known before it.

    data: a path, the name of a built-in set, a data frame of series, an array, or the path of a recipe.
    models: names of models; none: the default forecaster.
    origins: how many sections the test part is cut into.
    refit: train anew before each section, instead of once before the first.
    settings: recipe keys and values, e.g. {"data.horizon": 12}.
    seed: one seed for weights, order and dropout.
    budget: time of the whole backtest, e.g. "5m", or seconds.
    device: "auto", "cpu" or "cuda".
    out: folder of the outcome; None makes one in runs/.
    verbose: show progress; None does so in a terminal or a notebook.
    on_event: a function that is called with each event, a dict, instead of showing progress.
    """
    names = models.split(",") if isinstance(models, str) else models
    with as_source(data) as name, as_settings(settings) as named, shown(verbose, on_event) as watch:
        return api.backtest(
            name, models=names, origins=origins, refit=refit, settings=named, seed=seed, budget=budget, device=device,
            out=out, on_event=watch,
        )  # fmt: skip


@for_python
def recipe(
    data: Any,
    *,
    task: str = "auto",
    model: str = "auto",
    settings: Settings = (),
    seed: int | None = None,
    budget: str | float | None = None,
    device: str = "auto",
) -> api.ExplainedRecipe:
    """The recipe that `fit` would use for this data, with the reason of each value; nothing is trained.

    data: as for `fit`.
    task: what to learn; auto guesses it from the data.
    model: name of the model.
    settings: recipe keys and values.
    seed: one seed for weights, order, dropout and the split.
    budget: training time, e.g. "90s", or seconds.
    device: "auto", "cpu" or "cuda".
    """
    with as_source(data) as name, as_settings(settings) as named:
        return api.recipe(name, task=task, model=model, settings=named, seed=seed, budget=budget, device=device)


@for_python
def inspect(data: Any, *, task: str = "auto", settings: Settings = ()) -> api.Inspection:
    """What data holds, the task it seems meant for, what is wrong with it, and what to write next.

    data: a path, the name of a built-in set, a data frame, a list of rows, or (X, y).
    task: the task as which the data is looked at; auto guesses it.
    settings: recipe keys and values, as for `fit`.
    """
    with as_source(data) as name, as_settings(settings) as named:
        found = api.inspect(name, task=task, settings=named)
    if not is_in_memory(name):
        return found

    def words(text: str) -> str:
        return in_python(count_from_zero(name, text))

    found.file, found.notes, found.next = words(name), list(map(words, found.notes)), list(map(words, found.next))
    found.problems = [Problem(*map(words, problem)) for problem in found.problems]
    return found


@overload
def load(folder: str | Path, *, device: str = "auto") -> api.Run: ...


@overload
def load(folder: str | Path, *, module: nn.Module, device: str = "auto") -> ModuleRun: ...


@for_python
def load(folder: str | Path, *, module: nn.Module | None = None, device: str = "auto") -> api.Run | ModuleRun:
    """A trained model from its folder; every file is checked first, and nothing in it is executed.

    folder: the folder of a run, or of a comparison, whose best model is taken.
    module: where the run trained a module of your own, a module of the same shapes, which gets the weights.
    device: "auto", "cpu" or "cuda".
    """
    if module is not None:
        return load_module(Path(folder), module, device=device)
    return api.load(folder, device=device)
