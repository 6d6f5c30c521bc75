"""atento runs."""

from pathlib import Path
from typing import Annotated

from typer import Argument

from atento.cli.options import JsonOption
from atento.cli.say import emit, print_table, say


def runs(
    folder: Annotated[Path, Argument(metavar="FOLDER", help="where runs lie")] = Path("runs"), json: JsonOption = False
) -> None:
    """List runs and comparisons, newest first."""
    from atento.api.listing import list_runs
    from atento.looking.wording import score

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
            f"{entry['metric']} {score(entry['value'])}" if entry["value"] is not None else "",
        ]
        for entry in found
    ]
    print_table(["folder", "kind", "state", "model", "result"], rows)
