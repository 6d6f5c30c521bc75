"""From a recipe to the three parts of a set: how every task reads, whatever its rows hold.

Which training rows are left out: those that say what a held-out row asks, and those that contradict another.
A file to be answered: its columns as they are, and the source of each row that has one.
"""

import hashlib
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from atento.data.builtin.catalogue import BUILTIN, is_builtin
from atento.data.columns.leaks import near_key, near_keys
from atento.data.examples.pairs import Pairs
from atento.data.examples.splitting import parse_shares, split_by_key, split_by_label
from atento.data.records import Refusal, stop_or_skip
from atento.data.sources import read_source
from atento.data.tables.chunks import is_large
from atento.data.tables.table import Table
from atento.errors import InputError
from atento.spec import DataRecipe
from atento.tasks.reading.large import part_large
from atento.tasks.task import Asked, Opened, Question, Reading

Pair = tuple[str, str]  # (source, target)


class Sieve:
    """Row by row, so that a file need not fit into memory; what was left out, or could be, is counted and said."""

    def __init__(self, recipe: DataRecipe, held_out: Iterable[str]) -> None:
        self.recipe = recipe
        self.held_out = frozenset(held_out)
        self.near = near_keys(self.held_out)
        self.said: dict[int, int] = {}  # a source -> its first target, as hashes
        self.copies = self.nearly = self.contradictions = 0

    def keeps(self, pair: Pair) -> bool:
        """Whether a training row stays."""
        source, target = pair
        if source in self.held_out:
            self.copies += 1
            return False
        if self.near and near_key(source) in self.near:
            self.nearly += 1
            if self.recipe.near == "drop":
                return False
        if self.recipe.conflicts == "first" and self.said.setdefault(hash(source), hash(target)) != hash(target):
            self.contradictions += 1
            return False
        return True

    def notes(self) -> list[str]:
        """What happened, in words."""
        notes = []
        if self.copies:
            notes.append(f"{self.copies} training rows left out: their source is also in validation or test")
        if self.nearly and self.recipe.near == "drop":
            notes.append(
                f"{self.nearly} training rows left out: their source is in validation or test but for case, "
                "spaces and punctuation"
            )
        elif self.nearly:
            notes.append(
                f"{self.nearly} training rows say what a row of validation or test says but for case, spaces "
                "and punctuation; --set data.near=drop leaves them out"
            )
        if self.contradictions:
            notes.append(f"{self.contradictions} training rows left out: an earlier row says otherwise")
        return notes


def refuse_of_large(recipe: DataRecipe) -> None:
    """A file that is read once, row by row, cannot be sifted by rows that come later."""
    for key, usual in (("near", "keep"), ("conflicts", "keep")):
        if getattr(recipe, key) != usual:
            raise InputError(
                f"data.{key}={getattr(recipe, key)}: {recipe.train} is too large for it.",
                found="a file that is read row by row and not kept in memory",
                fix=f"leave data.{key} out, or give a smaller file",
            )


def one_each(pairs: Iterable[Pair]) -> tuple[Question, ...]:
    """Every row is a question of its own."""
    return tuple(Question(source, (target,)) for source, target in pairs)


def by_source(pairs: Iterable[Pair]) -> tuple[Question, ...]:
    """Rows that share a source are one question with several right answers."""
    answers: dict[str, list[str]] = {}
    for source, target in pairs:
        known = answers.setdefault(source, [])
        if target not in known:
            known.append(target)
    return tuple(Question(source, tuple(targets)) for source, targets in answers.items())


def share_out(
    recipe: DataRecipe,
    pairs: Sequence[Pair],
    own_valid: Pairs | None,
    own_test: Pairs | None,
    seed: int,
    *,
    by_label: bool = False,
) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Train, validation and test rows; a part with a file of its own takes no share."""
    shares = parse_shares(recipe.split)
    wanted = (shares[0], 0.0 if own_valid else shares[1], 0.0 if own_test else shares[2])
    if own_valid is not None and own_test is not None:
        return list(pairs), list(own_valid.pairs), list(own_test.pairs)
    total = sum(wanted)
    keys, shared = [source for source, _ in pairs], (wanted[0] / total, wanted[1] / total, wanted[2] / total)
    if by_label:
        split = split_by_label(keys, [target for _, target in pairs], shares=shared, seed=seed)
    else:
        split = split_by_key(keys, shares=shared, seed=seed)
    train, valid, test = ([pairs[index] for index in part] for part in split)
    return train, list(own_valid.pairs) if own_valid else valid, list(own_test.pairs) if own_test else test


@dataclass(frozen=True)
class Reader:
    """How a task reads: `Task(read=READER.read, ask=READER.ask, open=READER.open_file)`."""

    rows: Callable[[DataRecipe, str], Pairs]  # recipe, file -> its rows
    sources: Callable[[DataRecipe, str], Opened]  # recipe, file -> what a trained model should answer in it
    questions: Callable[[Iterable[Pair]], tuple[Question, ...]] = one_each
    share: Callable[..., tuple[list[Pair], list[Pair], list[Pair]]] = share_out  # how rows become three parts
    columns: tuple[str, str] = ("source", "target")  # what a built-in set's columns are called

    def read(self, recipe: DataRecipe, seed: int) -> Reading:
        """Own files where the recipe names them; else shares of the training file, by distinct sources."""
        if is_builtin(recipe.train):
            refuse_other_parts(recipe)
            made = BUILTIN[recipe.train].make(recipe, seed)
            return self.reading(recipe.train, (made.train, made.valid, made.test), notes=made.notes)
        main = None if is_large(recipe.train) else self.rows(recipe, recipe.train)
        own_valid = self.read_alike(recipe, recipe.valid, main) if recipe.valid else None
        own_test = self.read_alike(recipe, recipe.test, main) if recipe.test else None
        if main is None:
            return self.read_large(recipe, seed, own_valid, own_test)
        files = [file for file in (main, own_valid, own_test) if file is not None]
        refused = tuple(refusal for file in files for refusal in file.refused)
        train, valid, test = self.share(recipe, main.pairs, own_valid, own_test, seed)
        sieve = Sieve(recipe, (source for source, _ in (*valid, *test)))
        kept = [pair for pair in train if sieve.keeps(pair)]
        notes = [*(note for file in files for note in file.notes), *sieve.notes()]
        if not kept:
            raise InputError(
                "no training rows are left.", found=f"{len(train)} rows, all also held out", fix="add rows"
            )
        notes.append(f"{len(kept)} rows to train, {len(valid)} to validate, {len(test)} to test")
        return self.reading(Path(main.file).name, (kept, valid, test), notes=notes, refused=refused)

    def read_alike(self, recipe: DataRecipe, file: str, main: Pairs | None) -> Pairs:
        """Another part by the columns of the training file; one that has no such columns by its own."""
        if main is not None and main.keys:
            with suppress(InputError):
                return self.rows(recipe.model_copy(update=dict(main.keys)), file)
        return self.rows(recipe, file)

    def read_large(self, recipe: DataRecipe, seed: int, own_valid: Pairs | None, own_test: Pairs | None) -> Reading:
        """The same of a file that does not fit in memory: its training part stays on disk."""
        refuse_of_large(recipe)
        held = [pair for part in (own_valid, own_test) if part is not None for pair in part.pairs]
        own = own_valid is not None, own_test is not None
        parts, notes, refused = part_large(recipe, seed, self.rows, own=own, held={source for source, _ in held})
        valid = list(own_valid.pairs) if own_valid else parts.valid
        test = list(own_test.pairs) if own_test else parts.test
        notes.append(f"{len(parts.train)} rows to train, {len(valid)} to validate, {len(test)} to test")
        return Reading(
            name=Path(recipe.train).name,
            train=parts.train,
            valid=self.questions(valid),
            test=self.questions(test),
            refused=tuple(refused),
            notes=tuple(notes),
            fingerprint=parts.digest.hexdigest(),
        )

    def ask(self, recipe: DataRecipe, file: str, seed: int) -> Asked:
        """All rows of a file as questions; of a built-in set, its test part."""
        if is_builtin(file):
            reading = self.read(asked_of(recipe, file), seed)
            return Asked(reading.test, reading.notes, reading.refused)
        rows = self.rows(recipe, file)
        return Asked(self.questions(rows.pairs), rows.notes, rows.refused)

    def open_file(self, recipe: DataRecipe, file: str, seed: int) -> Opened:
        """All columns of a file, and what is to be answered; of a built-in set, its test part."""
        if not is_builtin(file):
            return self.sources(recipe, file)
        test = self.read(asked_of(recipe, file), seed).test
        sources = [question.source for question in test]
        columns = zip(self.columns, (sources, [next(iter(question.references), "") for question in test]), strict=True)
        return Opened(dict(columns), sources, ())

    def reading(
        self,
        name: str,
        parts: tuple[Iterable[Pair], Iterable[Pair], Iterable[Pair]],
        *,
        notes: Iterable[str],
        refused: Iterable[Refusal] = (),
    ) -> Reading:
        """Composed characters everywhere, and a fingerprint of it all."""
        train, valid, test = ([(compose(source), compose(target)) for source, target in part] for part in parts)
        digest = hashlib.sha256()
        for part in (train, valid, test):
            for source, target in part:
                digest.update(f"{source}\x1f{target}\x1e".encode())
            digest.update(b"\x1d")
        return Reading(
            name=name,
            train=tuple(train),
            valid=self.questions(valid),
            test=self.questions(test),
            refused=tuple(refused),
            notes=tuple(notes),
            fingerprint=digest.hexdigest(),
        )


def refuse_other_parts(recipe: DataRecipe) -> None:
    """A built-in set comes in three parts already."""
    plain = DataRecipe()
    for key in ("valid", "test", "split"):
        value = getattr(recipe, key)
        if value != getattr(plain, key):
            raise InputError(
                f"data.{key}: {recipe.train} is built in and has parts of its own.",
                found=f"data.{key}={value}",
                fix=f"leave data.{key} out",
            )


def asked_of(recipe: DataRecipe, name: str) -> DataRecipe:
    """A built-in set with what the recipe says of sources and targets, and no parts of files."""
    return DataRecipe(train=name, source=recipe.source, target=recipe.target, length=recipe.length)


def compose(text: str) -> str:
    """NFC: one character where Unicode has one."""
    return unicodedata.normalize("NFC", text)


SourceOf = Callable[[int], str | Refusal]  # the number of a row -> its source, or why it has none


def open_rows(recipe: DataRecipe, table: Table, source_of: SourceOf) -> Opened:
    """All columns of the rows that have a source; the other rows are refused."""
    found = [source_of(at) for at in range(len(table.rows))]
    refused = stop_or_skip([*table.refused, *(one for one in found if isinstance(one, Refusal))], recipe.bad_rows)
    kept = [(cells, one) for cells, one in zip(table.rows, found, strict=True) if isinstance(one, str)]
    columns = {name: [cells[place] for cells, _ in kept] for place, name in enumerate(table.columns)}
    return Opened(columns, [one for _, one in kept], refused)


def read_to_answer(recipe: DataRecipe, file: str, names: tuple[str, ...]) -> Table:
    """The table of a file whose answers are wanted; names are columns the user asked for."""
    return read_source(file, header=recipe.header, names=[name for name in names if name])
