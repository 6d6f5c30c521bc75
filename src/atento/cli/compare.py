"""atento compare.

atento backtest.
"""

from collections.abc import Mapping
from typing import Annotated, Any

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

METRICS_SHOWN = 4  # the report and --json have all
NUMBERS = ("95 % interval", "parameters", "seconds", "examples/s", "answers/s", "peak MB")


def compare(
    file: DataArgument,
    models: Annotated[
        str, Option("--models", metavar="A,B,…", help="which models; all families of the task when not given")
    ] = "",
    task: TaskOption = "auto",
    set_: SetOption = None,
    seed: SeedOption = None,
    seeds: Annotated[int, Option("--seeds", metavar="N", help="train each model from so many seeds")] = 1,
    budget: BudgetOption = None,
    device: DeviceOption = "auto",
    out: OutOption = None,
    resume: ResumeOption = False,
    json: JsonOption = False,
) -> None:
    """Train every family and the simple baselines on one file, and say which is worth it."""
    from atento import api  # torch loads only when it is needed
    from atento.views.report.standings import ranked

    with ShowProgress(quiet=json) as watch:
        board = api.compare(
            file,
            task=task,
            models=[name.strip() for name in models.split(",") if name.strip()],
            settings=set_ or [],
            seed=seed,
            seeds=seeds,
            budget=budget,
            device=device,
            out=out,
            resume=resume,
            on_event=watch,
        )
    if json:
        emit({**board.facts, "report": str(board.report)})
        return
    show(board.facts)
    say(f"\nreport: {board.report}")
    trained = [row for row in ranked(board.facts) if not row["baseline"]]
    if trained:
        say(f"next:   {next_step(board.facts['task'], board.folder / trained[0]['folder'])}")


def show(facts: dict[str, Any]) -> None:
    """The table, best first, then the verdict."""
    from atento.views.report.standings import failed, ranked

    metrics = list(facts["metrics"])[:METRICS_SHOWN]
    rows = [*ranked(facts), *failed(facts)]
    headings = ["model", *metrics[:1], "95 % interval", *metrics[1:], *NUMBERS[1:], ""]
    print_table(headings, [cells(row, metrics, facts) for row in rows], numbers=(*metrics, *NUMBERS))
    say("")
    for sentence in facts["verdict"]:
        say(sentence)


def cells(row: Mapping[str, Any], metrics: list[str], facts: dict[str, Any]) -> list[str]:
    """One row of the table."""
    from atento.views.wording import score

    if row["failed"]:
        return [row["model"], *[""] * (len(metrics) + 1), *[""] * (len(NUMBERS) - 1), f"failed: {row['failed']}"]
    remark = "winner" if row["model"] == facts["winner"] else "tie" if row.get("tied") else ""
    remark = " ".join(part for part in (remark, "simple baseline" if row["baseline"] else "") if part)
    return [
        row["model"],
        score(row["value"]),
        f"{score(row['low'])}–{score(row['high'])}",
        *(score(row["scores"][name][0]) for name in metrics[1:]),
        f"{row['parameters']:,}" if row["parameters"] else "–",
        f"{row['seconds']:.0f}",
        f"{row['examples_per_second']:,.0f}" if row["examples_per_second"] else "–",
        f"{row['predictions_per_second']:,.0f}",
        f"{row['peak_mb']:,.0f}",
        remark,
    ]


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
    show_backtest(found.facts)
    say(f"\nruns and numbers: {found.folder}")


def show_backtest(facts: dict[str, Any]) -> None:
    """A row a model, best first; a column an origin, where a screen holds them."""
    from atento.views.wording import counted, score

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
