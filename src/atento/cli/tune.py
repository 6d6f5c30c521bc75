"""atento tune."""

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
from atento.cli.say import emit, print_table, say


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
    from atento.looking.wording import score

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
