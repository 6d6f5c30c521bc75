"""atento inspect."""

from typing import Any

from atento.cli.options import DataArgument, JsonOption
from atento.cli.say import emit, print_table, say

LONGEST_SHOWN = 90  # letters of an example


def inspect(file: DataArgument, json: JsonOption = False) -> None:
    """Say what a file is, what is wrong with it, and what to type next."""
    from atento.api.inspect import inspect as look_into
    from atento.looking.wording import shortened

    found = look_into(file)
    if json:
        emit(found)
        return
    say(f"{found['file']}: {found['kind']}, {found['rows']:,} rows, {found['refused']} refused")
    if found["columns"]:
        print_table(
            ["column", "distinct", "characters", "words", "longest", "example"],
            [column_cells(column) for column in found["columns"]],
            numbers=("distinct", "characters", "words", "longest"),
        )
    for pair in found.get("examples", []):
        say(f"  {shortened(pair[0], LONGEST_SHOWN)} → {shortened(pair[1], LONGEST_SHOWN)}")
    for note in found["notes"]:
        say(f"· {note}")
    for task, guess in found["guesses"].items():
        say(f"· {task}: {guess['likelihood']:.0%} ({guess['reason']})")
    for problem in found["problems"]:
        say(f"! {problem['where']}\n  fix: {problem['fix']}")
    if found["more_problems"]:
        say(f"! and {found['more_problems']} more like these")
    say("next: " + "   or   ".join(found["next"]))


def column_cells(column: dict[str, Any]) -> list[str]:
    """One column of the file as a row."""
    return [
        column["name"],
        f"{column['distinct']:,}",
        f"{column['mean_characters']:.1f}",
        f"{column['mean_words']:.1f}",
        f"{column['max_characters']:,}",
        (column["examples"] or [""])[0][:60],
    ]
