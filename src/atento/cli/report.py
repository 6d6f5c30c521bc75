"""atento report."""

from pathlib import Path
from typing import Annotated

from typer import Argument

from atento.cli.options import JsonOption, OutOption
from atento.cli.say import emit, say


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
