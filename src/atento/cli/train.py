"""atento train, atento tune and atento recipe."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from atento.cli.options import (
    BudgetOption,
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
    with_columns,
)
from atento.cli.output import ShowProgress, command, emit, next_step, print_table, remark, say, show_details

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
    out: OutOption = None,
    resume: ResumeOption = False,
    from_: Annotated[Path | None, Option("--from", metavar="RUN", help="start from that run's weights")] = None,
    text: TextOption = "",
    target: TargetOption = "",
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Learn one model and leave it in a folder."""
    from atento import api  # torch loads only when it is needed
    from atento.data.records import counted
    from atento.views.wording import beside_baselines, exposure, quality

    with ShowProgress(quiet=json or quiet) as watch:
        run = api.fit(
            file,
            task=task,
            model=model,
            settings=with_columns(file, task, set_, text=text, target=target),
            seed=seed,
            budget=budget,
            device=device,
            out=out,
            resume=resume,
            start_from=from_,
            on_event=watch,
        )
    if json:
        emit({"run": str(run.folder), **run.metrics})
        return
    name = run.metrics["metric"]
    value, low, high = run.metrics["scores"][name]
    said = f"{name} {quality(value, low, high)} on {counted(run.metrics['examples'], 'unseen example')}"
    say(f"{said if run.metrics['examples'] else 'no score, as there are no test rows'}, saved in {run.folder}")
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


def still_improving(metrics: "Json") -> bool:
    """Whether the time ended a run whose last validation was its best, or whose score had not begun to move while the
    loss fell.
    """
    curve, ended = metrics["curve"], metrics["ended"]
    if len(curve) < 2 or not ended.startswith("time budget"):
        return False
    waiting = len({point["value"] for point in curve}) == 1 and metrics["scores"][metrics["metric"]][0] != 1.0
    lowest = min(point["loss"] for point in curve)
    return bool(metrics["best_step"] == curve[-1]["step"] or (waiting and curve[-1]["loss"] == lowest))


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
    every: Annotated[bool, Option("--all", help="also the keys that have their plain default")] = False,
    json: JsonOption = False,
) -> None:
    """Print the recipe that `train` would use: every value, and where it came from."""
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
    out: OutOption = None,
    resume: ResumeOption = False,
    text: TextOption = "",
    target: TargetOption = "",
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Search for a better recipe on the validation part, then test it once beside the default."""
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
            out=out,
            resume=resume,
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
