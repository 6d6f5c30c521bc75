"""atento train.

atento tune.
"""

from pathlib import Path
from typing import Annotated

from typer import Option

from atento.cli.options import (
    BudgetOption,
    DataArgument,
    DeviceOption,
    JsonOption,
    OutOption,
    ResumeOption,
    SeedOption,
    SetOption,
    TaskOption,
)
from atento.cli.output import ShowProgress, emit, next_step, print_table, say


def train(
    file: DataArgument,
    model: Annotated[str, Option("--model", metavar="NAME", help="`atento models` lists them")] = "auto",
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
    from atento.views.wording import counted, exposure, score

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


def tune(
    file: DataArgument,
    model: Annotated[str, Option("--model", metavar="NAME", help="`atento models` lists them")] = "auto",
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
    facts = found.facts
    if json:
        emit({"folder": str(found.folder), **facts})
        return
    before = found.default.recipe.flat()
    rows = [
        [key, str(before[key]), f"{value:.4g}" if isinstance(value, float) else str(value)]
        for key, value in facts["best"]["values"].items()
    ]
    print_table(["key", "default", "best"], rows, numbers=("default", "best"))
    say("")
    tries = f"{len(facts['trials'])} recipes of {facts['seconds_a_trial']:.0f} s each"
    for name in ("best", "default"):
        value, low, high = facts[name]["score"]
        quality = f"{facts['metric']} {score(value)} ({score(low)}–{score(high)})"
        say(f"{name:8} {quality} on {facts['test_examples']} unseen examples")
    verdict = "a tie: the default is as good" if facts["tied"] else "the difference is more than chance"
    say(f"{tries}, then {facts['seconds_at_the_end']:.0f} s for both: {verdict}.")
    say(f"next: atento train {found.folder / 'best.toml'} --set train.budget=1h")
