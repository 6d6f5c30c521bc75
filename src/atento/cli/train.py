"""atento train, atento tune and atento recipe."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from atento.cli.options import (
    BudgetOption,
    ClusterOption,
    DataArgument,
    DeviceOption,
    JsonOption,
    ModelOption,
    OutOption,
    QuietOption,
    ResumeOption,
    SeedOption,
    SetOption,
    TargetOption,
    TaskOption,
    TextOption,
    TrackOption,
    with_columns,
)
from atento.cli.output import ShowProgress, command, emit, next_step, print_table, remark, say, show_details
from atento.system import loading

if TYPE_CHECKING:
    from atento.bundle import Json


def train(
    file: DataArgument,
    model: ModelOption = "auto",
    task: TaskOption = "auto",
    set_: SetOption = None,
    seed: SeedOption = None,
    budget: BudgetOption = None,
    device: DeviceOption = "auto",
    devices: Annotated[
        int | None, Option("--devices", min=1, help="how many GPUs, or processes on a CPU, share the training")
    ] = None,
    nodes: Annotated[int | None, Option("--nodes", min=1, help="number of machines; they meet at MASTER_ADDR")] = None,
    strategy: Annotated[
        str, Option("--strategy", metavar="ddp|fsdp", help="fsdp shards the model, ddp copies it")
    ] = "ddp",
    out: OutOption = None,
    resume: ResumeOption = False,
    from_: Annotated[Path | None, Option("--from", metavar="RUN", help="start from that run's weights")] = None,
    track: TrackOption = "",
    text: TextOption = "",
    target: TargetOption = "",
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Train one model and save it in a folder."""
    with loading():
        from atento import api  # torch loads only when it is needed
        from atento.api.finish import still_improving
        from atento.views.wording import beside_baselines, exposure

    others = int(os.environ.get("RANK") or 0) > 0  # of torchrun, where the first process speaks for all
    with ShowProgress(quiet=json or quiet or others) as watch:
        run = api.fit(
            file,
            task=task,
            model=model,
            settings=with_columns(file, task, set_, text=text, target=target),
            seed=seed,
            budget=budget,
            device=device,
            devices=devices,
            nodes=nodes,
            strategy=strategy,
            out=out,
            resume=resume,
            start_from=from_,
            track=track,
            on_event=watch,
        )
    if others:
        return
    if json:
        emit({"run": str(run.folder), **run.metrics})
        return
    say(result_line(run.metrics, run.folder))
    beside = beside_baselines(run.metrics.get("baselines", {}))
    if beside:
        say(beside)
    show_details(run.metrics)
    if "exposure" in run.metrics:
        say(exposure(run.metrics["exposure"]))
    if still_improving(run.metrics):
        more = command("train", run.folder / "recipe.toml", "--from", run.folder, "--budget", longer(run.metrics))
        say("it was still improving when its time was used up; more time, from its weights:")
        say(f"  {more}")
    say(f"next: {next_step(run.recipe.task, run.folder)}")


def result_line(metrics: "Json", folder: Path) -> str:
    """The headline metric of a run on its test part, and where the run lies."""
    from atento.data.records import counted
    from atento.views.wording import quality

    name = metrics["metric"]
    value, low, high = metrics["scores"][name]
    said = f"{name} {quality(value, low, high)} on {counted(metrics['examples'], 'unseen example')}"
    return f"{said if metrics['examples'] else 'no score, as there are no test rows'}, saved in {folder}"


def longer(metrics: "Json") -> str:
    """Three times the time that a run had, in minutes where these are whole."""
    seconds = 3 * max(1, round(metrics["seconds"]))
    return f"{seconds // 60}m" if seconds % 60 == 0 else f"{seconds}s"


def recipe(
    file: DataArgument,
    model: ModelOption = "auto",
    task: TaskOption = "auto",
    set_: SetOption = None,
    budget: BudgetOption = None,
    device: DeviceOption = "auto",
    text: TextOption = "",
    target: TargetOption = "",
    every: Annotated[bool, Option("--all", help="also show the keys that keep their default")] = False,
    json: JsonOption = False,
) -> None:
    """Print the recipe that `train` would use: every value, and where it came from."""
    with loading():
        from atento import api  # torch loads only when it is needed

    columns = with_columns(file, task, set_, text=text, target=target)
    found = api.recipe(file, task=task, model=model, settings=columns, budget=budget, device=device)
    if json:
        emit(found.to_json())
        return
    for note in found.notes:
        remark(note)
    shown = found.values() if every else found.chosen()
    print_table(["key", "value", "why"], [[key, str(one.value), one.why] for key, one in shown.items()])
    if not every:
        say(f"{len(found.values()) - len(shown)} other keys have their default; --all shows them")


def tune(
    file: DataArgument,
    model: ModelOption = "auto",
    task: TaskOption = "auto",
    set_: SetOption = None,
    seed: SeedOption = None,
    budget: BudgetOption = None,
    device: DeviceOption = "auto",
    cluster: ClusterOption = "",
    out: OutOption = None,
    resume: ResumeOption = False,
    track: TrackOption = "",
    text: TextOption = "",
    target: TargetOption = "",
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Search for better hyperparameters on the validation part, then test the best recipe and the default once."""
    with loading():
        from atento import api  # torch loads only when it is needed
        from atento.views.wording import quality

    with ShowProgress(quiet=json or quiet) as watch:
        found = api.tune(
            file,
            task=task,
            model=model,
            settings=with_columns(file, task, set_, text=text, target=target),
            seed=seed,
            budget=budget,
            device=device,
            cluster=cluster,
            out=out,
            resume=resume,
            track=track,
            on_event=watch,
        )
    if json:
        emit({"folder": str(found.folder), **found.to_json()})
        return
    before = found.default.recipe.flat()
    rows = [
        [key, str(before[key]), f"{value:.4g}" if isinstance(value, float) else str(value)]
        for key, value in found.values.items()
    ]
    print_table(["key", "default", "best"], rows, numbers=("default", "best"))
    say("")
    for name, run in (("best", found.best), ("default", found.default)):
        value, low, high = found.score(run)
        said = f"{found.metric} {quality(value, low, high)}"
        say(f"{name:8} {said} on {found.test_examples} unseen examples")
    tries = f"{len(found.trials)} recipes of {found.seconds_a_trial:.0f} s each"
    verdict = "a tie: the default is as good" if found.tied else "the difference is more than chance"
    say(f"{tries}, then {found.seconds_at_the_end:.0f} s for both: {verdict}.")
    say(f"next: {command('train', found.folder / 'best.toml', '--budget', '1h')}")
