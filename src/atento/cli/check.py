"""atento check."""

import typer

from atento.cli.options import JsonOption, RunArgument
from atento.cli.say import emit, print_table, say
from atento.errors import RunError


def check(run: RunArgument, json: JsonOption = False) -> None:
    """Prove what a trained model keeps: padding, batch, future, cache, gradients. Ends with 4 when one is broken."""
    from atento.api.check import check as check_all
    from atento.checking.finding import HEADINGS

    found = check_all(run)
    if json:
        emit({"run": str(run), **found.to_json()})
    else:
        print_table(HEADINGS, found.rows(), numbers=("difference", "tolerance"))
        say(f"\n{found.summary()}")
    if not found:
        raise typer.Exit(RunError.exit_code)
