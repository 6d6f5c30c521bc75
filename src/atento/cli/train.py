"""atento train, atento tune and atento recipe."""

from pathlib import Path
from typing import Annotated

from typer import Option

from atento.cli.options import (
    BudgetOption,
    DataArgument,
    DeviceOption,
    JsonOption,
    ModelOption,
    OutOption,
    ResumeOption,
    SeedOption,
    SetOption,
    TaskOption,
)
from atento.cli.output import ShowProgress, emit, next_step, print_table, remark, say


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
    json: JsonOption = False,
) -> None:
    """Learn one model and leave it in a folder."""
    from atento import api  # torch loads only when it is needed
    from atento.data.records import counted
    from atento.views.wording import exposure, score

    with ShowProgress(quiet=json) as watch:
        run = api.fit(
            file,
            task=task,
            model=model,
            settings=set_ or [],
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
    quality = f"{name} {score(value)} ({score(low)}–{score(high)})"
    say(f"{quality} on {counted(run.metrics['examples'], 'unseen example')}, saved in {run.folder}")
    if "exposure" in run.metrics:
        say(exposure(run.metrics["exposure"]))
    say(f"next: {next_step(run.recipe.task, run.folder)}")


def recipe(
    file: DataArgument,
    model: ModelOption = "auto",
    task: TaskOption = "auto",
    set_: SetOption = None,
    budget: BudgetOption = None,
    device: DeviceOption = "auto",
    every: Annotated[bool, Option("--all", help="also the keys that have their plain default")] = False,
    json: JsonOption = False,
) -> None:
    """Print the recipe that `train` would use: every value, and where it came from."""
    from atento import api  # torch loads only when it is needed

    found = api.recipe(file, task=task, model=model, settings=set_ or [], budget=budget, device=device)
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
    json: JsonOption = False,
) -> None:
    """Search for a better recipe on the validation part, then test it once beside the default."""
    from atento import api  # torch loads only when it is needed
    from atento.views.wording import score

    with ShowProgress(quiet=json) as watch:
        found = api.tune(
            file,
            task=task,
            model=model,
            settings=set_ or [],
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
        quality = f"{found.metric} {score(value)} ({score(low)}–{score(high)})"
        say(f"{name:8} {quality} on {found.test_examples} unseen examples")
    tries = f"{len(found.trials)} recipes of {found.seconds_a_trial:.0f} s each"
    verdict = "a tie: the default is as good" if found.tied else "the difference is more than chance"
    say(f"{tries}, then {found.seconds_at_the_end:.0f} s for both: {verdict}.")
    say(f"next: atento train {found.folder / 'best.toml'} --set train.budget=1h")
