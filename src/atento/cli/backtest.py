"""atento backtest."""

from typing import Annotated, Any

from typer import Option

from atento.cli.options import BudgetOption, DataArgument, DeviceOption, JsonOption, OutOption, SeedOption, SetOption
from atento.cli.progress import ShowProgress
from atento.cli.say import emit, print_table, say

MOST_SHOWN = 8  # origins that have a column each


def backtest(
    file: DataArgument,
    models: Annotated[
        str, Option("--models", metavar="A,B,…", help="which models beside the baselines; the default one if none")
    ] = "",
    origins: Annotated[int, Option("--origins", metavar="N", help="how many stretches of the test part")] = 5,
    refit: Annotated[bool, Option("--refit", help="train anew at every origin, on all that came before it")] = False,
    set_: SetOption = None,
    seed: SeedOption = None,
    budget: BudgetOption = None,
    device: DeviceOption = "auto",
    out: OutOption = None,
    json: JsonOption = False,
) -> None:
    """Forecast the last part of series from several origins, each by what came before it alone."""
    from atento import api  # torch loads only when it is needed

    with ShowProgress(quiet=json) as watch:
        found = api.backtest(
            file,
            models=[name.strip() for name in models.split(",") if name.strip()],
            origins=origins,
            refit=refit,
            settings=set_ or [],
            seed=seed,
            budget=budget,
            device=device,
            out=out,
            on_event=watch,
        )
    if json:
        emit({"folder": str(found.folder), **found.facts})
        return
    show(found.facts)
    say(f"\nruns and numbers: {found.folder}")


def show(facts: dict[str, Any]) -> None:
    """A row a model, best first; a column an origin, where a screen holds them."""
    from atento.looking.wording import counted, score

    count = len(facts["origins"])
    columns = [f"origin {one['origin']}" for one in facts["origins"]] if count <= MOST_SHOWN else []
    numbers = [f"mean {facts['metric']}", "spread", *columns, "best at"]
    rows = [
        [
            row["model"],
            score(row["value"]),
            score(row["spread"]),
            *map(score, row["values"][: len(columns)]),
            f"{row['best']} of {count}",
            "simple baseline" if row["baseline"] else "",
        ]
        for row in facts["means"]
    ]
    print_table(["model", *numbers, ""], rows, numbers=numbers)
    say("")
    how = "trained anew at each origin" if facts["refit"] else "trained once, before the first origin"
    first, last = facts["origins"][0]["from"], facts["origins"][-1]["from"]
    say(f"{counted(count, 'origin')}, {how}; the first knows the series {first}, the last {last}.")
    say(f"{facts['winner']} is best on average: {facts['metric']} {score(facts['means'][0]['value'])}.")
