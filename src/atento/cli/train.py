"""atento train."""

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
from atento.cli.progress import ShowProgress
from atento.cli.say import emit, next_step, say


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
    from atento.looking.wording import counted, exposure, score

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
