"""atento compare and atento backtest."""

from typing import TYPE_CHECKING, Annotated

from typer import Exit, Option

from atento.cli.options import (
    BudgetOption,
    ClusterOption,
    DataArgument,
    DeviceOption,
    JsonOption,
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
from atento.cli.output import ShowProgress, emit, next_step, print_table, say
from atento.errors import MachineError, RunError
from atento.system import loading

if TYPE_CHECKING:
    from atento.api import Backtest, Board
    from atento.views.report.board import Row

METRICS_SHOWN = 4  # the report and --json have all
MOST_SHOWN = 8  # origins that have a column each
NUMBERS = ("95 % interval", "parameters", "seconds", "examples/s", "answers/s", "peak MB")


def compare(
    file: DataArgument,
    models: Annotated[
        str, Option("--models", metavar="A,B,…", help="which models; all families of the task when not given")
    ] = "",
    task: TaskOption = "auto",
    set_: SetOption = None,
    seed: SeedOption = None,
    seeds: Annotated[int, Option("--seeds", metavar="N", help="train each model from N seeds")] = 1,
    budget: BudgetOption = None,
    finish: Annotated[
        str | None, Option("--finish", metavar="TIME", help="afterwards train the best network for this much longer")
    ] = None,
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
    """Train every model family and the simple baselines on one file, and compare them on its test part."""
    with loading():
        from atento import api  # torch loads only when it is needed

    with ShowProgress(quiet=json or quiet) as watch:
        board = api.compare(
            file,
            task=task,
            models=split_names(models),
            settings=with_columns(file, task, set_, text=text, target=target),
            seed=seed,
            seeds=seeds,
            budget=budget,
            finish=finish,
            device=device,
            cluster=cluster,
            out=out,
            resume=resume,
            track=track,
            on_event=watch,
        )
    if json:
        emit(board.to_json())
    else:
        tell_result(board)
    if all(row.baseline for row in board.ranked()) and (failed := [row for row in board.failed() if not row.baseline]):
        machine = f"exit code {MachineError.exit_code}:"  # as a worker that failed is reported
        blamed = MachineError if all(row.failed.startswith(machine) for row in failed) else RunError
        raise Exit(blamed.exit_code)


def tell_result(board: "Board") -> None:
    """The table and the verdict, where the report is, and what to type next."""
    show(board)
    say(f"\nreport: {board.to_json()['report']}")
    best = next((row for row in board.ranked() if row.model == board.winner and row.folder), None)
    if best is not None:
        say(f"next:   {next_step(board.task, board.folder / (board.finished or best.folder))}")


def split_names(models: str) -> list[str]:
    """The names in "A, B"."""
    return [name.strip() for name in models.split(",") if name.strip()]


def show(board: "Board") -> None:
    """The table, best first, then the verdict."""
    from atento.tasks.forecast.valid_time import VALID_TIME

    metrics = list(board.metrics)[:METRICS_SHOWN]
    rows = [*board.ranked(), *board.failed()]
    headings = ["model", *metrics[:1], "95 % interval", *metrics[1:], *NUMBERS[1:], ""]
    speeds, sizes = reversed(NUMBERS[3:]), reversed(NUMBERS[1:3])
    others = [name for name in metrics[1:] if name != VALID_TIME]  # who stays on course is what dynamics are asked for
    print_table(
        headings,
        [cells(row, metrics, board) for row in rows],
        numbers=(*metrics, *NUMBERS),
        expendable=(*speeds, *reversed(others), *sizes),
        more="the report and --json show all",
    )
    say("")
    for sentence in board.verdict:
        say(sentence)


def cells(row: "Row", metrics: list[str], board: "Board") -> list[str]:
    """One row of the table."""
    from atento.views.wording import score

    if row.failed:
        return [row.model, *[""] * (len(metrics) + 1), *[""] * (len(NUMBERS) - 1), f"failed: {row.failed}"]
    remark = ", ".join("simple baseline" if word == "baseline" else word for word in board.standing(row))
    return [
        row.model,
        score(row.value),
        f"{score(row.low)}–{score(row.high)}",
        *(score(row.scores[name][0]) for name in metrics[1:]),
        f"{row.parameters:,}" if row.parameters else "–",
        f"{row.seconds:.0f}",
        f"{row.examples_per_second:,.0f}" if row.examples_per_second else "–",
        f"{row.predictions_per_second:,.0f}",
        f"{row.peak_mb:,.0f}" if row.peak_mb else "–",
        remark,
    ]


def backtest(
    file: DataArgument,
    models: Annotated[
        str, Option("--models", metavar="A,B,…", help="models beside the baselines; the default one when not given")
    ] = "",
    origins: Annotated[
        int, Option("--origins", metavar="N", help="number of origins: the test part is cut into as many sections")
    ] = 5,
    refit: Annotated[bool, Option("--refit", help="train anew at every origin, on all rows before it")] = False,
    set_: SetOption = None,
    seed: SeedOption = None,
    budget: BudgetOption = None,
    device: DeviceOption = "auto",
    out: OutOption = None,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Forecast the last part of each series from several origins; each forecast uses only the rows before it."""
    with loading():
        from atento import api  # torch loads only when it is needed

    with ShowProgress(quiet=json or quiet) as watch:
        found = api.backtest(
            file,
            models=split_names(models),
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
        emit({"folder": str(found.folder), **found.to_json()})
        return
    show_backtest(found)
    say(f"\nruns and numbers: {found.folder}")


def show_backtest(found: "Backtest") -> None:
    """One row per model, best first; one column per origin, where a screen holds them."""
    from atento.data.records import counted
    from atento.views.wording import score

    count = len(found.origins)
    columns = [f"origin {one['origin']}" for one in found.origins] if count <= MOST_SHOWN else []
    numbers = [f"mean {found.metric}", "std", *columns, "best at"]
    rows = [
        [
            row.model,
            score(row.value),
            score(row.std),
            *map(score, row.values[: len(columns)]),
            f"{row.best} of {count}",
            "simple baseline" if row.baseline else "",
        ]
        for row in found.means
    ]
    print_table(["model", *numbers, ""], rows, numbers=numbers)
    say("")
    how = "trained anew at each origin" if found.refit else "trained once, before the first origin"
    first, last = found.origins[0]["from"], found.origins[-1]["from"]
    say(f"{counted(count, 'origin')}, {how}; the first knows the series {first}, the last {last}.")
    say(f"{found.winner} is best on average: {found.metric} {score(found.means[0].value)}.")
