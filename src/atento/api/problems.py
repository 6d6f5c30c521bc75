"""What is wrong with a set or may mislead, and the command that mends it."""

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePath
from statistics import median
from typing import NamedTuple

from atento.data.columns.leaks import leaking_columns, leaking_words, near_duplicate_rows
from atento.data.columns.roles import is_text, sample_columns, says_in_words
from atento.data.examples.label_spelling import spellings
from atento.data.records import Refusal, counted, excerpt, in_words
from atento.data.tables.column_names import LABEL, is_named
from atento.data.tables.table import Table
from atento.tasks.task import Task

OUTWEIGHED = 0.1  # a label with less than this share of the commonest one's texts
FEW = 5  # texts of a label: too few to learn it and to test it
FEW_TESTED = 30  # examples of the test part: one answer more moves the score by percents
LONG, TIMES = 200, 10  # words of a text, and times the median, that make it very long
NO_LABEL = frozenset({"na", "n/a", "nan", "null"})
CONSTANT = 0.99  # of a column's cells
MOST_COLUMNS = 1000  # that are looked at
PLAIN = {"", "utf-8", "ascii"}
BY_LINES = {"csv", "tsv", "jsonl", "text", "lines"}


class Problem(NamedTuple):
    """What, of which kind, and what to do about it; the command is empty where there is nothing to type."""

    about: str  # rows, duplicates, leak, labels, lengths, columns, encoding, size
    where: str
    fix: str
    command: str = ""


class InspectedData(NamedTuple):
    """A set as a task reads it."""

    file: str  # as it was typed
    task: Task
    table: Table
    roles: dict[int, str]  # the number of a column -> what the task reads it as
    train: Sequence[tuple[str, str]]
    held_out: Sequence[tuple[str, str]]
    tested: int  # examples of the test part
    own_test: bool  # which is a file of its own
    class_weight: float  # how much more rare labels weigh by default
    labels: Sequence[Sequence[str]]  # of each training example, then of each held-out one; none without labels

    @property
    def labels_words(self) -> bool:
        """Whether each word has a label of its own."""
        return self.task.judging.labels is not None and self.task.judging.labels.of_words

    def label_lists(self) -> Sequence[Sequence[str]]:
        """The labels that are counted together; those of words one by one."""
        return [[label] for row in self.labels for label in row] if self.labels_words else self.labels

    def compare(self, *settings: str) -> str:
        """The command with these settings."""
        return command_of(self.file, settings)


def command_of(file: str, settings: Iterable[str], *, verb: str = "compare", task: str = "auto") -> str:
    """What a user types to use a file with these settings; without a verb, what follows it."""
    asked = [] if task == "auto" else ["--task", task]
    words = [file, *asked, *(word for one in settings for word in ("--set", one))]
    return shlex.join(["atento", verb, *words] if verb else words)


def problems_of(data: InspectedData) -> list[Problem]:
    """Leaks first, for they make every score a lie."""
    found: list[Problem] = []
    for look in (
        leaks_in_text,
        leaks_in_columns,
        duplicates,
        conflicts,
        spelled_twice,
        imbalance,
        lengths,
        sizes,
        columns,
        encoding,
    ):
        found += look(data)
    return found


def refused_rows(file: str, refused: Sequence[Refusal]) -> list[Problem]:
    """The rows that cannot be used, one by one."""
    skip = command_of(file, ["data.bad_rows=skip"])
    return [Problem("rows", str(refusal), refusal.fix, skip) for refusal in refused]


def leaks_in_text(data: InspectedData) -> Iterator[Problem]:
    """Labels that stand in their own texts."""
    if data.task.reading.kind not in ("text", "two texts") or not data.labels:
        return
    texts = [source for source, _ in (*data.train, *data.held_out)]
    for found in leaking_words(texts, data.labels):
        what = f"the label {found.label!r}" if found.is_label_name else f"the word {found.word!r}"
        of = "its own name" if found.is_label_name else f"{found.label!r}"
        where = f"{what} stands in {found.inside:.0%} of the texts of {of}, in {found.outside:.0%} of the others"
        other = another_text(data)
        fix = "a model will read the answer; take it out of the texts" + (", or read another column" if other else "")
        yield Problem("leak", where, fix, data.compare(f"data.source={other}") if other else "")


def another_text(data: InspectedData) -> str:
    """A column that could be read instead: text that plays no part."""
    free = [look for look in sample_columns(data.table) if look.index not in data.roles and is_text(look)]
    return data.table.columns[max(free, key=lambda look: look.characters).index] if free else ""


def leaks_in_columns(data: InspectedData) -> Iterator[Problem]:
    """Columns that say the label."""
    parts = {part: at for at, part in data.roles.items()}
    if "label" not in parts or list(data.roles.values()).count("label") > 1:
        return
    read = [at for at, part in data.roles.items() if part != "label"]
    table, label = data.table, parts["label"]
    samples = sample_columns(table)
    for found in leaking_columns(table.columns, table.rows, read=read, label=label):
        other = table.columns.index(found.column)
        if is_named(found.column, LABEL) and says_in_words(samples[label], samples[other]):  # a note says so
            continue
        if all(row[other].startswith(row[label]) for row in table.rows):
            fix = f"it holds finer labels; {table.columns[label]!r} is learned unless you name it"
            command = data.compare(f"data.label={found.column}")
            yield Problem("labels", f"{found.column!r} has {found.values} values within the labels", fix, command)
            continue
        where = f"column {found.column!r} says the label: each of its {found.values} values stands beside one"
        names = in_words([repr(table.columns[at]) for at in read])
        fix = f"a new text would come without it; it is not read, {names} is"
        settings = [f"data.source={table.columns[read[0]]}", f"data.label={table.columns[label]}"]
        yield Problem("leak", where, fix, data.compare(*settings))


def duplicates(data: InspectedData) -> Iterator[Problem]:
    """Rows that come again, exactly or nearly."""
    again = len(data.table.rows) - len(set(data.table.rows))
    if again and data.table.kind != "text":
        fix = "none is needed: duplicates are kept in one part"
        yield Problem("duplicates", f"{counted(again, 'row')} repeat an earlier one", fix)
    held_out = [source for source, _ in data.held_out]
    near = near_duplicate_rows([source for source, _ in data.train], held_out)
    if near:
        differ = f"{counted(len(near), 'training row')} {'differs' if len(near) == 1 else 'differ'}"
        example = excerpt(data.train[near[0]][0])
        where = f"{differ} from a held-out one in case, spaces and punctuation alone, e.g. {example}"
        yield Problem("duplicates", where, "leave them out of training", data.compare("data.near_duplicates=drop"))


def conflicts(data: InspectedData) -> Iterator[Problem]:
    """Texts that have one label here and another there."""
    if not data.labels or data.labels_words:
        return
    labels_of: dict[str, set[str]] = defaultdict(set)
    for source, target in (*data.train, *data.held_out):
        labels_of[source].add(target)
    several = [source for source, targets in labels_of.items() if len(targets) > 1]
    if several:
        example = " and ".join(sorted(repr(target.replace("\t", ", ")) for target in labels_of[several[0]])[:2])
        where = f"{counted(len(several), 'text')} with different labels, e.g. {excerpt(several[0])}: {example}"
        fix = "correct them, or learn only the first"
        yield Problem("labels", where, fix, data.compare("data.conflicts=first"))


def spelled_twice(data: InspectedData) -> Iterator[Problem]:
    """Labels that differ in case, white space or invisible characters alone, and labels that say that there is none."""
    if not data.labels or data.labels_words:
        return
    counts = Counter(label for labels in data.labels for label in labels)
    groups = spellings(counts.elements())
    if groups:
        shown = "; ".join(in_words([f"{label!r} ({counts[label]:,})" for label in group]) for group in groups[:3])
        more = f" and {len(groups) - 3} more" if len(groups) > 3 else ""
        where = f"labels that differ in case, spaces or invisible characters alone: {shown}{more}"
        yield Problem("labels", where, "merge them", data.compare("data.merge_labels=case"))
    missing = sorted(label for label in counts if label.strip().lower() in NO_LABEL)
    if missing and len(counts) - len(missing) > 1:
        texts = counted(sum(counts[label] for label in missing), "text")
        where = f"the label {in_words(list(map(repr, missing)))} of {texts} may stand for a missing one"
        yield Problem("labels", where, "leave the cell empty where there is no label: such rows are left out")


def imbalance(data: InspectedData) -> Iterator[Problem]:
    """Labels that are outweighed, too rare, or never seen in training."""
    if not data.labels or data.labels_words:
        return
    counts = Counter(label for labels in data.labels for label in set(labels))
    if not counts:
        return
    commonest, most = counts.most_common(1)[0]
    twice = {label for group in spellings(counts.elements()) for label in group}  # which are told by themselves
    outweighed = [label for label, count in counts.items() if count < OUTWEIGHED * most and label not in twice]
    if outweighed:
        rarest = min(outweighed, key=lambda label: counts[label])
        where = (
            f"{len(outweighed)} of {counted(len(counts), 'label')} have less than a tenth of the texts of "
            f"{commonest!r} ({most:,}); the rarest is {rarest!r} ({counts[rarest]:,})"
        )
        fix, more = ("let rare labels weigh more", 0.5)
        if data.class_weight:
            fix, more = f"rare labels weigh more already (train.class_weight={data.class_weight:g}); for still more:", 1
        yield Problem("labels", where, fix, data.compare(f"train.class_weight={more:g}"))
    trained = {label for labels in data.labels[: len(data.train)] for label in labels}
    unseen = sorted(set(counts) - trained)
    if unseen:
        where = f"{counted(len(unseen), 'label')} in validation or test only: {in_words(unseen, limit=5)}"
        yield Problem("labels", where, f"no model can learn them; give at least {FEW} texts of each")


def lengths(data: InspectedData) -> Iterator[Problem]:
    """Texts far longer than most, which cost memory and time."""
    words = [len(source.split()) for source, _ in (*data.train, *data.held_out)]
    middle, longest = median(words), max(words)
    if data.task.reading.kind in ("documents", "numbers") or longest < max(LONG, TIMES * middle):
        return
    limit = int(max(LONG, TIMES * middle) / 2)
    many = sum(count > limit for count in words)
    where = f"the longest text has {longest:,} words where half have at most {middle:g}; {many} have more than {limit}"
    characters = max((len(source) for source, _ in data.train if len(source.split()) <= limit), default=0)
    command = ""
    one_line = not any("\n" in cell for row in data.table.rows for cell in row)
    if (
        data.table.kind in BY_LINES
        and one_line
        and "," not in data.file
        and data.file.endswith(tuple(BY_LINES | {"txt"}))
    ):
        shorter = shlex.quote(f"short.{PurePath(data.file).name}")
        command = f"awk 'length($0) <= {2 * characters}' {shlex.quote(data.file)} > {shorter}"
    yield Problem("lengths", where, "they cost memory and time; cut or leave them out", command)


def sizes(data: InspectedData) -> Iterator[Problem]:
    """A test part that can hardly tell two models apart."""
    if data.tested < FEW_TESTED and not data.own_test and data.task.reading.kind != "documents":
        where = f"the test part has {counted(data.tested, 'row')}: scores will be imprecise"
        yield Problem("size", where, "test on a larger part", data.compare("data.split=60/20/20"))


def columns(data: InspectedData) -> Iterator[Problem]:
    """Columns that nearly always say the same; of very many, the first are looked at, and those that are read."""
    table = data.table
    for at, name in enumerate(table.columns):
        if at >= MOST_COLUMNS and at not in data.roles:
            continue
        value, count = Counter(row[at] for row in table.rows).most_common(1)[0]
        if count >= CONSTANT * len(table.rows) and len(table.rows) > 1:
            part = data.roles.get(at)
            what = excerpt(value) if value.strip() else "nothing"
            where = f"column {name!r} holds {what} in {count / len(table.rows):.0%} of the rows"
            fix = f"a {part} should vary" if part else "none is needed: it is not read"
            yield Problem("columns", where, fix)


def encoding(data: InspectedData) -> Iterator[Problem]:
    """A file that other programs may read wrongly."""
    name = data.table.encoding
    if name in PLAIN or "," in name or " and " in name or data.table.kind in ("folder", "parallel"):
        return
    where, fix, path = (
        f"{data.table.file} is in {name}, not in UTF-8",
        f"none is needed: it is read as {name}",
        shlex.quote(data.file),
    )
    if not Path(data.file).is_file():  # of a folder, the file has another name
        yield Problem("encoding", where, fix)
        return
    command = f"iconv -f {name} -t utf-8 {path} > {shlex.quote('utf8.' + PurePath(data.file).name)}"
    yield Problem("encoding", where, f"{fix}; to have it in UTF-8:", command)
