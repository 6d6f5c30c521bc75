"""atento check, doctor, report and runs."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument

from atento.cli.options import JsonOption, OutOption, RunArgument
from atento.cli.output import emit, load_run, print_table, say
from atento.errors import MachineError, RunError

STATES = {True: "ok", None: "note", False: "NOT OK"}


def check(run: RunArgument, json: JsonOption = False) -> None:
    """Run the invariance checks of a model: padding, batch, future, cache, gradients. Exit code 4 if one fails."""
    from atento.api.check import check as check_all
    from atento.checks.finding import HEADINGS

    found = check_all(load_run(run))
    if json:
        emit({"run": str(run), **found.to_json()})
    else:
        print_table(HEADINGS, found.rows(), numbers=("difference", "tolerance"))
        say(f"\n{found.summary()}")
    if not found:
        raise typer.Exit(RunError.exit_code)


def doctor(json: JsonOption = False) -> None:
    """Check the packages, the device and the threads of this machine, and say what to mend."""
    from atento.api.check import examine

    found = examine()
    if json:
        emit({"checks": [probe._asdict() for probe in found]})
    else:
        rows = [[probe.name, STATES[probe.ok], probe.found] for probe in found]
        print_table(["check", "state", "found"], rows)
    bad = [probe for probe in found if probe.ok is False]
    if bad:
        names = ", ".join(probe.name for probe in bad)
        raise MachineError(f"not in order: {names}.", found=bad[0].found, fix=bad[0].fix)


def report(
    folder: Annotated[Path, Argument(metavar="RUN|BOARD", help="the folder of a run or of a comparison")],
    out: OutOption = None,
    json: JsonOption = False,
) -> None:
    """Draw the report of a run or a comparison as one offline HTML file."""
    from atento.api.folders import require_place
    from atento.api.report import write_report

    if out is not None:
        require_place(out, (".html",))
    path = write_report(folder, out=out)
    if json:
        emit({"report": str(path)})
    else:
        say(f"report: {path}")


def runs(
    folder: Annotated[Path, Argument(metavar="FOLDER", help="the folder that holds the runs")] = Path("runs"),
    json: JsonOption = False,
) -> None:
    """List runs and comparisons, newest first, and say which are damaged."""
    from atento.api.folders import list_runs
    from atento.views.wording import score

    found = list_runs(folder)
    if json:
        emit({"runs": found})
        return
    if not found:
        say(f"no runs in {folder}; `atento compare numbers` makes some")
        return
    rows = [
        [
            entry["folder"],
            entry["kind"],
            entry["state"],
            entry["model"] or "",
            entry["damage"] or (f"{entry['metric']} {score(entry['value'])}" if entry["value"] is not None else ""),
        ]
        for entry in found
    ]
    print_table(["folder", "kind", "state", "model", "result"], rows, expendable=("kind", "state", "model"))
