"""From a recipe to the training, validation and test parts of a set, the same way for every pair of halves."""

import hashlib
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from atento.data.builtin.catalogue import BUILTIN, is_builtin
from atento.data.columns.leaks import near_duplicate_key, near_duplicate_keys
from atento.data.examples.pairs import (
    ExampleSource,
    ExampleTarget,
    Pair,
    Pairs,
    UnlabelledFile,
    read_examples,
    read_sources,
)
from atento.data.examples.splitting import parse_shares, parts_by_column, split_by_key, split_by_label
from atento.data.records import Refusal, split_items
from atento.data.sources.reading import is_large
from atento.errors import InputError
from atento.spec import DataRecipe
from atento.system import garbage_kept
from atento.tasks.reading.large import part_large
from atento.tasks.task import Dataset, EvaluationExample, LabelledFile, TextExample

TextDataset = Dataset[Pair, str, str]
ThreeParts = tuple[list[Pair], list[Pair], list[Pair]]  # train, validation, test


class TrainFilter:
    """Which training rows are kept: not those whose source is held out, and not those that contradict another, where
    the recipe says so. It counts what it leaves out.
    """

    def __init__(self, recipe: DataRecipe, held_out: Iterable[str]) -> None:
        self.recipe = recipe
        self.held_out = frozenset(held_out)
        self.near = near_duplicate_keys(self.held_out)
        self.first_target: dict[int, int] = {}  # of each source, as hashes
        self.copies = self.nearly = self.contradictions = 0

    def keeps(self, pair: Pair) -> bool:
        """Whether a training row stays."""
        source, target = pair
        if source in self.held_out:
            self.copies += 1
            return False
        if self.near and near_duplicate_key(source) in self.near:
            self.nearly += 1
            if self.recipe.near_duplicates == "drop":
                return False
        if self.recipe.conflicts == "first" and self.first_target.setdefault(hash(source), hash(target)) != hash(
            target
        ):
            self.contradictions += 1
            return False
        return True

    def notes(self) -> list[str]:
        """Notes on the rows that were left out."""
        notes = []
        if self.copies:
            notes.append(f"{self.copies} training rows left out: their source is also in validation or test")
        if self.nearly and self.recipe.near_duplicates == "drop":
            notes.append(
                f"{self.nearly} training rows left out: they are near-duplicates of validation or test rows and differ "
                "in case, spaces and punctuation alone"
            )
        elif self.nearly:
            notes.append(
                f"{self.nearly} training rows are near-duplicates of validation or test rows: they differ in case, "
                "spaces and punctuation alone; --set data.near_duplicates=drop leaves them out"
            )
        if self.contradictions:
            notes.append(f"{self.contradictions} training rows left out: an earlier row says otherwise")
        return notes


def refuse_of_large(recipe: DataRecipe) -> None:
    """A file that is read once, row by row, cannot be filtered by rows that come later."""
    for key, usual in (("near_duplicates", "keep"), ("conflicts", "keep")):
        if getattr(recipe, key) != usual:
            raise InputError(
                f"data.{key}={getattr(recipe, key)}: {recipe.train} is too large for it.",
                found="a file that is read row by row and not kept in memory",
                fix=f"leave data.{key} out, or give a smaller file",
            )


def one_each(pairs: Iterable[Pair]) -> tuple[TextExample, ...]:
    """Every row is a question of its own."""
    return tuple(EvaluationExample(source, (target,)) for source, target in pairs)


def by_source(pairs: Iterable[Pair]) -> tuple[TextExample, ...]:
    """Rows that share a source are one question with several right answers."""
    answers: dict[str, list[str]] = {}
    for source, target in pairs:
        known = answers.setdefault(source, [])
        if target not in known:
            known.append(target)
    return tuple(EvaluationExample(source, tuple(targets)) for source, targets in answers.items())


def all_labels(pairs: Iterable[Pair]) -> tuple[TextExample, ...]:
    """Every row is a question whose references are all its labels."""
    return tuple(EvaluationExample(source, tuple(split_items(target))) for source, target in pairs)


Examples = Callable[[Iterable[Pair]], tuple[TextExample, ...]]
KeyOf = Callable[[str, DataRecipe], str]
Share = Callable[[DataRecipe, Sequence[Pair], Pairs | None, Pairs | None, int], ThreeParts]  # recipe, rows of the
# training file, own files of validation and test, seed -> three parts


def source_key(source: str, recipe: DataRecipe) -> str:
    """The key of a source by which equal sources share a part: the source itself."""
    return source


def share_out(
    recipe: DataRecipe,
    pairs: Sequence[Pair],
    own_valid: Pairs | None,
    own_test: Pairs | None,
    seed: int,
    *,
    key_of: KeyOf = source_key,
    by_label: bool = False,
) -> ThreeParts:
    """Train, validation and test rows; rows of one key share a part; one with a file of its own takes none."""
    shares = open_shares(recipe, own_valid, own_test)
    if own_valid is not None and own_test is not None:
        return list(pairs), list(own_valid.pairs), list(own_test.pairs)
    keys = [key_of(source, recipe) for source, _ in pairs]
    if by_label:
        parts = split_by_label(keys, [target for _, target in pairs], shares=shares, seed=seed)
    else:
        parts = split_by_key(keys, shares=shares, seed=seed)
    train, valid, test = ([pairs[index] for index in part] for part in parts)
    return train, list(own_valid.pairs) if own_valid else valid, list(own_test.pairs) if own_test else test


def open_shares(recipe: DataRecipe, own_valid: Pairs | None, own_test: Pairs | None) -> tuple[float, float, float]:
    """The shares of the training file for each part, together 1; a part with a file of its own takes none."""
    train, valid, test = parse_shares(recipe.split)
    valid, test = 0.0 if own_valid else valid, 0.0 if own_test else test
    total = train + valid + test
    return train / total, valid / total, test / total


def unchanged(dataset: TextDataset, recipe: DataRecipe) -> TextDataset:
    """The parts as they are."""
    return dataset


@dataclass(frozen=True)
class Reader:
    """How a task reads its files: a source half, a target half, and how their rows become parts and references."""

    source: ExampleSource
    target: ExampleTarget
    examples: Examples = one_each
    share: Share = share_out
    finish: Callable[[TextDataset, DataRecipe], TextDataset] = unchanged  # the parts once all of them were read
    columns: tuple[str, str] = ("source", "target")  # what a built-in set's columns are called

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the recipe that name columns."""
        return (*self.source.keys, *self.target.keys)

    def rows(self, recipe: DataRecipe, file: str) -> Pairs:
        """The examples of a file."""
        return read_examples(recipe, file, self.source, self.target)

    def read(self, recipe: DataRecipe, seed: int) -> TextDataset:
        """The three parts of a set."""
        return self.finish(self.read_parts(recipe, seed), recipe)

    @garbage_kept()
    def read_parts(self, recipe: DataRecipe, seed: int) -> TextDataset:
        """Own files where the recipe names them; else shares of the training file, by distinct sources."""
        if is_builtin(recipe.train):
            refuse_other_parts(recipe)
            made = BUILTIN[recipe.train].make(recipe, seed)
            return make_dataset(recipe.train, (made.train, made.valid, made.test), self.examples, notes=made.notes)
        main = None if is_large(recipe.train) else self.rows(recipe, recipe.train)
        own_valid = self.read_alike(recipe, recipe.valid, main) if recipe.valid else None
        own_test = self.read_alike(recipe, recipe.test, main) if recipe.test else None
        if main is None:
            return self.read_large(recipe, seed, own_valid, own_test)
        if own_valid is None and own_test is None:
            main, own_valid, own_test = parts_by_column(recipe, main)
        files = [file for file in (main, own_valid, own_test) if file is not None]
        refused = tuple(refusal for file in files for refusal in file.refused)
        train, valid, test = self.share(recipe, main.pairs, own_valid, own_test, seed)
        leak_filter = TrainFilter(recipe, (source for source, _ in (*valid, *test)))
        kept = [pair for pair in train if leak_filter.keeps(pair)]
        notes = [*(note for file in files for note in file.notes), *leak_filter.notes()]
        if not kept:
            raise InputError(
                "no training rows are left.", found=f"{len(train)} rows, all also held out", fix="add rows"
            )
        notes.append(f"{len(kept)} rows to train, {len(valid)} to validate, {len(test)} to test")
        name, parts = Path(main.file).name, (kept, valid, test)
        dataset = make_dataset(name, parts, self.examples, notes=notes, refused=refused)
        return dataset._replace(roles=main.roles, columns=main.keys, header=main.table.columns)

    def read_alike(self, recipe: DataRecipe, file: str, main: Pairs | None) -> Pairs:
        """Another part by the columns of the training file; one that has no such columns by its own."""
        if main is not None and main.keys:
            with suppress(InputError):
                return self.rows(recipe.model_copy(update=dict(main.keys)), file)
        return self.rows(recipe, file)

    def read_large(self, recipe: DataRecipe, seed: int, own_valid: Pairs | None, own_test: Pairs | None) -> TextDataset:
        """The same of a file that does not fit in memory: its training part stays on disk."""
        refuse_of_large(recipe)
        held = [pair for part in (own_valid, own_test) if part is not None for pair in part.pairs]
        own = own_valid is not None, own_test is not None
        parts, notes = part_large(recipe, seed, self.rows, own=own, held={source for source, _ in held})
        valid = list(own_valid.pairs) if own_valid else parts.valid
        test = list(own_test.pairs) if own_test else parts.test
        notes.append(f"{len(parts.train)} rows to train, {len(valid)} to validate, {len(test)} to test")
        return Dataset(
            name=Path(recipe.train).name,
            train=parts.train,
            valid=self.examples(valid),
            test=self.examples(test),
            refused=tuple(parts.refused),
            notes=tuple(notes),
            fingerprint=parts.fingerprint,
        )

    def read_labelled(self, recipe: DataRecipe, file: str, seed: int) -> LabelledFile[str, str]:
        """All rows of a file with their references; of a built-in set, its test part."""
        if is_builtin(file):
            found = self.read(of_builtin(recipe, file), seed)
            return LabelledFile(found.test, found.notes, found.refused)
        rows = self.rows(recipe, file)
        return LabelledFile(self.examples(rows.pairs), rows.notes, rows.refused)

    def read_unlabelled(self, recipe: DataRecipe, file: str, seed: int) -> UnlabelledFile:
        """All columns of a file, and the sources in it; of a built-in set, its test part."""
        if not is_builtin(file):
            return read_sources(recipe, file, self.source)
        test = self.read(of_builtin(recipe, file), seed).test
        sources = [one.source for one in test]
        columns = zip(self.columns, (sources, [next(iter(one.references), "") for one in test]), strict=True)
        return UnlabelledFile(dict(columns), sources, ())


def make_dataset(
    name: str,
    parts: tuple[Iterable[Pair], Iterable[Pair], Iterable[Pair]],
    examples: Examples,
    *,
    notes: Iterable[str],
    refused: Iterable[Refusal] = (),
) -> TextDataset:
    """The three parts with composed characters everywhere, and a fingerprint of it all."""
    train, valid, test = ([(compose(source), compose(target)) for source, target in part] for part in parts)
    digest = hashlib.sha256()
    for part in (train, valid, test):
        for source, target in part:
            digest.update(f"{source}\x1f{target}\x1e".encode())
        digest.update(b"\x1d")
    return Dataset(
        name=name,
        train=tuple(train),
        valid=examples(valid),
        test=examples(test),
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


def of_builtin(recipe: DataRecipe, name: str) -> DataRecipe:
    """A built-in set with what the recipe says of sources and targets, and no parts of files."""
    return DataRecipe(train=name, source=recipe.source, target=recipe.target, length=recipe.length)


def compose(text: str) -> str:
    """NFC: one character where Unicode has one."""
    return unicodedata.normalize("NFC", text)
