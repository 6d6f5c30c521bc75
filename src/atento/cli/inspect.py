"""atento inspect."""

from typing import TYPE_CHECKING

from atento.cli.options import DataArgument, JsonOption, SetOption, TargetOption, TaskOption, TextOption, with_columns
from atento.cli.output import emit, print_table, say
from atento.system import loading
from atento.views.wording import amount, shortened

if TYPE_CHECKING:
    from atento.api import Inspection
    from atento.bundle import Json

LONGEST_SHOWN = 90  # letters of an example
LONGEST_CELL = 48
LABELS_SHOWN = 16
MOST_COLUMNS = 40  # of a table, line by line
RUNNERS_UP = 3
ROWS_SHOWN = 5  # refused rows, one by one
KINDS = {
    "csv": "CSV",
    "tsv": "TSV",
    "jsonl": "JSON lines",
    "parquet": "Parquet",
    "ts": "sequences as sktime writes them (.ts)",
    "tsf": "series as the Monash archive writes them (.tsf)",
    "arff": "sequences as Weka writes them (.arff)",
    "npz": "arrays of numpy (.npz)",
    "npy": "an array of numpy, or one per series",
    "images": "images, one file each",
    "sequences": "a column for each step",
    "parallel": "parallel files",
    "text": "plain text",
    "conll": "CoNLL, a word per line",
    "lines": "lines of a label and a text",
    "tagged": "words with a tag behind each",
    "folder": "a folder or archive of texts",
    "xlsx": "Excel workbook",
    "tmx": "translation memory (TMX)",
    "lexicon": "a pronouncing dictionary",
}


def inspect(
    file: DataArgument,
    task: TaskOption = "auto",
    set_: SetOption = None,
    text: TextOption = "",
    target: TargetOption = "",
    json: JsonOption = False,
) -> None:
    """Say what a file is, what is wrong with it, and what to type next."""
    with loading():
        from atento import api

    found = api.inspect(file, task=task, settings=with_columns(file, task, set_, text=text, target=target))
    if json:
        emit(found.to_json())
        return
    kind, refused = KINDS.get(found.kind, found.kind), found.refused
    encoding = found.evidence.get("encoding") or "utf-8"
    say(
        f"{found.file}: {kind}, {found.rows:,} rows{f', {refused:,} refused' if refused else ''}"
        f"{'' if encoding in ('utf-8', 'ascii') else f', {encoding}'}"
    )
    show_guess(found)
    show_channels(found) if found.channels else show_columns(found)
    for source, target in found.examples:
        say(f"  {shortened(source, LONGEST_SHOWN)} → {shortened(target, LONGEST_SHOWN)}")
    show_histograms(found)
    show_notes(found)
    show_problems(found)
    if found.next:
        say("\nnext\n" + "\n".join(f"  {command}" for command in found.next))


def show_guess(found: "Inspection") -> None:
    """The task, why, and what others lacked."""
    guesses = found.guesses
    if not guesses:
        return
    closest = next(iter(guesses)) if found.task is None else found.task
    best = guesses[closest]
    fits = f"{closest} ({best.likelihood:.0%})" if found.task else f"none fits; {closest} is closest"
    say(f"\ntask    {fits}: {best.reason}")
    others = [task for task in guesses if task != closest][:RUNNERS_UP]
    width = max(map(len, others), default=0)
    for place, task in enumerate(others):
        say(f"{'' if place else 'not':8}{task:<{width}}  {guesses[task].likelihood:.0%}: {guesses[task].reason}")


def show_columns(found: "Inspection") -> None:
    """A line per column, with what the task reads it as."""
    if not found.columns:
        return
    used = [column for column in found.columns if column["name"] in found.used_as]
    shown = found.columns if len(found.columns) <= MOST_COLUMNS else used[:MOST_COLUMNS] or found.columns[:MOST_COLUMNS]
    say("")
    print_table(
        ["column", "used as", "distinct", "empty", "characters", "words", "longest", "example"],
        [column_cells(column, found.used_as) for column in shown],
        numbers=("distinct", "empty", "characters", "words", "longest"),
    )
    if len(shown) < len(found.columns):
        say(f"and {len(found.columns) - len(shown):,} columns more")


def column_cells(column: "Json", used_as: dict[str, str]) -> list[str]:
    """One column of the file as a row."""
    example = " ".join((column["examples"] or [""])[0][: 4 * LONGEST_CELL].split())
    return [
        column["name"],
        used_as.get(column["name"], "–"),
        f"{column['distinct']:,}",
        f"{column['share_empty']:.0%}",
        f"{column['mean_characters']:,.1f}",
        f"{column['mean_words']:,.1f}",
        f"{column['max_characters']:,}",
        shortened(example, LONGEST_CELL),
    ]


def show_channels(found: "Inspection") -> None:
    """A line per channel of the series, with its course."""
    say("")
    print_table(
        ["channel", "mean", "std", "lowest", "highest", "course of the first series"],
        [
            [each["name"], *(amount(each[key]) for key in ("mean", "std", "low", "high")), each["line"]]
            for each in found.channels
        ],
        numbers=("mean", "std", "lowest", "highest"),
    )


def show_histograms(found: "Inspection") -> None:
    """How long texts are and how often labels come."""
    from atento.views.attention.terminal import NamedCount, bars

    for side in found.lengths:
        say(f"\n{side['unit']} of {side['of']} (median {side['median']:,g}, longest {side['longest']:,})")
        rows = [NamedCount(each["name"], each["count"], each["share"]) for each in side["bins"]]
        say("\n".join(f"  {line}" for line in bars(rows)))
    labels = found.labels
    if labels:
        rows = [NamedCount(each["label"], each["count"], each["share"]) for each in labels]
        shown = rows if len(rows) <= LABELS_SHOWN + 1 else rows[:LABELS_SHOWN]
        say(f"\n{found.distinct_labels:,} labels")
        say("\n".join(f"  {line}" for line in bars(shown)))
        if len(shown) < found.distinct_labels:
            say(f"  and {found.distinct_labels - len(shown):,} more, each with {shown[-1].count:,} or fewer")


def show_notes(found: "Inspection") -> None:
    """What was guessed and counted on the way."""
    notes = [*found.tokens, *found.notes]
    if notes:
        say("")
    for note in dict.fromkeys(notes):
        say(f"· {note}")


def show_problems(found: "Inspection") -> None:
    """What is wrong, each with what mends it; of many rows the first ones."""
    rows = [problem for problem in found.problems if problem.about == "rows"]
    shown = [*rows[:ROWS_SHOWN], *(problem for problem in found.problems if problem.about != "rows")]
    hidden = len(found.problems) - len(shown) + found.more_problems
    if shown:
        say("")
    for at, problem in enumerate(shown):
        say(f"! {problem.where}\n  fix: {problem.fix}")
        last = at + 1 == len(shown) or shown[at + 1].command != problem.command
        if problem.command and last:  # one command mends all rows
            say(f"       {problem.command}")
    if hidden:
        say(f"! and {hidden:,} more like these")
