"""What a file is, what is wrong with it, and what to type next."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from statistics import median

from atento.api.inspect_series import channels_of, series_problems
from atento.api.prepare import Data, gather_values, read_parts, recipe_for
from atento.api.problems import InspectedData, Problem, command_of, problems_of, refused_rows
from atento.bundle import Json
from atento.data.builtin.catalogue import BUILTIN, is_builtin
from atento.data.columns.column import label_histogram, length_histogram
from atento.data.evidence.evidence import evidence_of
from atento.data.examples.pairs import names_in
from atento.data.records import may_skip
from atento.data.sources.reading import is_large, read_source
from atento.data.sources.splits import find_splits
from atento.data.tables.chunks import first_chunk
from atento.data.tables.table import Table, parsed_once
from atento.errors import AtentoError, unknown_name
from atento.reprs import short_repr
from atento.spec import DataRecipe, Recipe, parse_settings
from atento.spec.recipe import Settings, Values
from atento.tasks.catalogue import TASKS
from atento.tasks.encoding import learn_codec
from atento.tasks.finding import LIKELY, recognise
from atento.tasks.task import Recognition, Task

VERBS = ("compare", "train")
COLUMN_KEYS = ("source", "target", "label", "time", "series", "future_covariates")
MOST_ROWS = 20  # refused ones that are listed
MOST_LEARNED = 20_000  # examples from which the level of tokens is shown
FEW_DOCUMENTS = 20  # of fewer documents, lines say more
WORDY = 1.5  # words a text, from where words are counted


@dataclass(kw_only=True)
class Inspection:
    """What a file holds, which task it seems meant for and why, what is wrong with it, and commands to go on with."""

    file: str
    kind: str  # csv, jsonl, folder …
    rows: int
    columns: list[Json]  # each column in numbers
    next: list[str]  # commands
    task: str | None = None
    guesses: dict[str, Recognition] = field(default_factory=dict)  # how likely each task is, the likeliest first
    refused: int = 0  # rows that cannot be used
    notes: list[str] = field(default_factory=list)
    used_as: dict[str, str] = field(default_factory=dict)  # column -> what the task reads it as
    parts: dict[str, int] = field(default_factory=dict)  # examples for training, validation and test
    lengths: list[Json] = field(default_factory=list)  # histograms of texts
    labels: list[Json] = field(default_factory=list)  # how often each label occurs
    distinct_labels: int = 0
    tokens: list[str] = field(default_factory=list)  # how texts would be cut
    channels: list[Json] = field(default_factory=list)  # of series, each channel in numbers
    examples: list[list[str]] = field(default_factory=list)  # a few of a built-in set
    problems: list[Problem] = field(default_factory=list)
    more_problems: int = 0  # that are not listed
    evidence: Json = field(default_factory=dict)  # all other facts about the file

    def __repr__(self) -> str:
        return short_repr(self)

    def to_json(self) -> Json:
        """The same in dicts and lists."""
        found = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "evidence"}
        return {
            **self.evidence,
            **found,
            "guesses": {task: guess._asdict() for task, guess in self.guesses.items()},
            "problems": [problem._asdict() for problem in self.problems],
        }


@parsed_once()
def inspect(file: str | Path, *, task: str = "auto", settings: Settings = ()) -> Inspection:
    """Facts about a file, the task it seems meant for, problems with a way to mend each, and commands to go on with.

    task: the task as which the file is looked at; `auto` guesses it.
    settings: recipe keys, as for `fit`: the columns that are read, how gaps are filled, and so on.
    """
    name = str(file)
    values = gather_values(name, task=task, model="auto", settings=settings, seed=None, budget=None)
    source = str(values["data.train"])
    if is_builtin(source):
        return inspect_builtin(source)
    if not is_large(source):
        found, siblings = find_splits(Recipe().with_values(values).data)
        return with_typed(inspect_table(name, {**values, **found}, siblings), name, task, settings)
    with first_chunk(source) as head:
        note = f"{source} is large: these are its first rows"
        return with_typed(inspect_table(name, {**values, "data.train": head}, [note]), name, task, settings)


def with_typed(found: Inspection, file: str, task: str, settings: Settings) -> Inspection:
    """The same with these settings in every command, before its own."""
    given = settings.items() if isinstance(settings, Mapping) else (one.split("=", 1) for one in settings)
    typed = command_of(file, [f"{key}={value}" for key, value in given], verb="", task=task)
    bare = command_of(file, (), verb="")

    def again(command: str) -> str:
        verb, space, rest = command.partition(bare)
        return f"{verb}{typed}{rest}" if space and verb.startswith("atento ") else command

    found.problems = [problem._replace(command=again(problem.command)) for problem in found.problems]
    found.next = [again(command) for command in found.next]
    return found


def choose_task(guesses: dict[str, Recognition], asked: str) -> tuple[str, bool]:
    """The task as which a file is looked at: the one that was asked for, else the likeliest; and whether it fits."""
    if asked in ("", "auto"):
        best = next(iter(guesses))
        return best, guesses[best].likelihood >= LIKELY
    alike = [name for name in guesses if name == asked or name.startswith(f"{asked}-")]
    if not alike:
        raise unknown_name("task", asked, TASKS)
    return (alike[0] if guesses[alike[0]].likelihood >= LIKELY or asked not in alike else asked), True


def inspect_table(file: str, values: Values, siblings: Sequence[str]) -> Inspection:
    """The same of the files that are read for what was typed."""
    recipe = Recipe().with_values(values)
    data = recipe.data
    named = [name for key in COLUMN_KEYS for name in names_in(data, (key,))]
    table = read_source(str(values["data.train"]), header=data.header, names=named, sheet=data.sheet)
    evidence = evidence_of(table, source=data.source, label=data.label)
    guesses = recognise(evidence, data)
    best, likely = choose_task(guesses, recipe.task)
    facts = evidence.to_json()
    found = Inspection(
        **{key: facts[key] for key in ("file", "kind", "rows", "columns")},
        evidence=facts,
        refused=len(table.refused),
        notes=[*siblings, *table.notes],
        task=best if likely else None,
        guesses=guesses,
        next=[],
    )
    rows, mend = refused_rows(file, table.refused), dict[str, str]()
    found.next = [command_of(file, (), verb=verb) for verb in VERBS]
    if likely:
        try:
            read, stopped, mend = read_mended(TASKS[best], values)
            describe_parts(found, file, read, table)
            found.notes = [*siblings, *read.reading.notes]
            rows = [*refused_rows(file, read.reading.refused), *(problem_of(error) for error in stopped)]
        except AtentoError as error:
            rows = [row._replace(command="") for row in rows] or [problem_of(error)]
            found.next = commands_of_choices(file, TASKS[best], values, error.choices)
    else:
        found.next = [command_of(file, (), verb="inspect", task=best)]
    if not may_skip(found.refused, len(table.rows) + len(table.refused) - found.refused, data.bad_rows):
        mend = {"data.bad_rows": "skip", **mend}
    # one command mends all rows
    again = command_of(file, ()) if mend and found.parts else ""
    found.problems = [*(row._replace(command=again) for row in rows[:MOST_ROWS]), *found.problems]
    found.more_problems = len(rows[MOST_ROWS:])
    return with_typed(found, file, "auto", mend)


def commands_of_choices(file: str, task: Task, values: Values, choices: Sequence[str]) -> list[str]:
    """The commands that read a file in each of the ways that only the user can choose between; none where no setting
    makes the file readable.
    """
    commands = []
    for choice in choices:
        with suppress(AtentoError):
            *_, mend = read_mended(task, {**values, **parse_settings([choice])})
            settings = [choice, *(f"{key}={value}" for key, value in mend.items())]
            commands += [command_of(file, settings, verb=verb) for verb in VERBS]
    return commands


def read_mended(task: Task, values: Values) -> tuple[Data, list[AtentoError], dict[str, str]]:
    """The data, bad rows left out, what stopped the reading, and the settings that mend it: those that each error
    carries, as long as another one helps.
    """
    stopped: list[AtentoError] = []
    mend: dict[str, str] = {}
    while True:
        known = {**values, "task": task.name, "data.bad_rows": "skip", **mend}
        try:
            return read_parts(recipe_for(task, known), known), stopped, mend
        except AtentoError as error:
            if error.settings.keys() <= mend.keys():
                raise stopped[0] if stopped else error from None
            stopped.append(error)
            mend |= error.settings


def describe_parts(found: Inspection, file: str, data: Data, table: Table) -> None:
    """Put in what the parts hold, as the task reads them, and what is wrong with them."""
    reading = data.reading
    found.refused = len(reading.refused)
    found.parts = {"train": len(reading.train), "valid": len(reading.valid), "test": len(reading.test)}
    some = reading.train[:: 1 + len(reading.train) // MOST_LEARNED]
    found.tokens = list(learn_codec(data.task, data.recipe, some).notes)
    if data.task.reading.kind == "series":
        found.channels, found.problems = channels_of(reading), series_problems(file, reading)
        return
    roles = {table.columns.index(name): role for name, role in reading.roles if name in table.columns}
    inspected = inspected_data(file, data, table=table, roles=roles)
    found.used_as = {table.columns[at]: role for at, role in roles.items()}
    found.lengths, found.problems = lengths_of(inspected), problems_of(inspected)
    labels = inspected.label_lists()
    found.labels = [asdict(entry) for entry in label_histogram(labels)]
    found.distinct_labels = len({label for row in labels for label in row})


def problem_of(error: AtentoError) -> Problem:
    """What stopped the reading."""
    return Problem("rows", error.problem, error.fix)


def inspected_data(file: str, data: Data, *, table: Table, roles: dict[int, str]) -> InspectedData:
    """The set in the form that problems are looked for in."""
    task, recipe, reading = data.task, data.recipe, data.reading
    labels = task.judging.labels
    asked = [q for q in (*reading.valid, *reading.test) if q.references or (labels is not None and labels.several)]
    held_out = [(question.source, task.judging.target(question.references)) for question in asked]
    targets = [target for _, target in (*reading.train, *held_out)]
    return InspectedData(
        file=file,
        task=task,
        table=table,
        roles=roles,
        train=reading.train,
        held_out=held_out,
        tested=len(reading.test),
        own_test=bool(recipe.data.test),
        class_weight=recipe.train.class_weight,
        labels=[labels.split(target) for target in targets] if labels is not None else [],
    )


def lengths_of(data: InspectedData) -> list[Json]:
    """A histogram of every text of an example; of words where there are any, else of characters."""
    pairs = [*data.train, *data.held_out]
    texts = {name: [text_of(pair) for pair in pairs] for name, text_of in data.task.reading.texts.items()}
    if data.task.reading.kind == "documents" and len(pairs) < FEW_DOCUMENTS:
        texts = {"lines": [row[0] for row in data.table.rows if row[0].strip()]}
    found = []
    for name, some in texts.items():
        words = [len(text.split()) for text in some]
        unit = "words" if sum(words) >= WORDY * len(words) else "characters"
        counts = words if unit == "words" else [len(text) for text in some]
        steps = data.task.reading.kind == "numbers" and name != "target"
        found.append(
            {
                "of": name,
                "unit": "steps" if steps else unit,
                "median": median(counts),
                "longest": max(counts),
                "bins": [{"name": each.name, **asdict(each)} for each in length_histogram(counts)],
            }
        )
    return found


def inspect_builtin(name: str) -> Inspection:
    """A generated set needs no mending."""
    entry = BUILTIN[name]
    task = TASKS[entry.task]
    reading = task.reading.read(DataRecipe(train=name), 0)
    shown = reading.train if entry.series is None else entry.make(DataRecipe(train=name), 0).train
    held = len(reading.valid) + len(reading.test)
    rows = sum(map(len, entry.series(DataRecipe(train=name), 0).series)) if entry.series else len(reading.train) + held
    return Inspection(
        file=name,
        kind="built-in",
        rows=rows,
        columns=[],
        notes=list(reading.notes),
        task=task.name,
        examples=[list(pair) for pair in shown[:5]],
        next=[command_of(name, (), verb=verb) for verb in VERBS],
    )
