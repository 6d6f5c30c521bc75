"""From a recipe to the three parts of a set of pairs."""

import hashlib
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from atento.data.builtin.catalogue import BUILTIN, is_builtin
from atento.data.pairs import Pairs, empty_cell, find_column, guess_columns, read_pairs, read_source
from atento.data.records import stop_or_skip
from atento.data.splitting import parse_shares, split_by_key
from atento.errors import InputError
from atento.spec import DataRecipe
from atento.tasks.task import Asked, Opened, Question, Reading

Pair = tuple[str, str]


def read_pairs_for_translation(recipe: DataRecipe, seed: int) -> Reading:
    """Pairs of texts, as they are."""
    return read_parts(recipe, seed, read_file)


def read_parts(recipe: DataRecipe, seed: int, read: Callable[[DataRecipe, str], Pairs]) -> Reading:
    """Own files where the recipe names them; else shares of the training file, by distinct sources."""
    if is_builtin(recipe.train):
        refuse_other_parts(recipe)
        parts = BUILTIN[recipe.train].make(recipe, seed)
        return reading(recipe.train, parts.train, parts.valid, parts.test, notes=parts.notes)
    main = read(recipe, recipe.train)
    own_valid = read(recipe, recipe.valid) if recipe.valid else None
    own_test = read(recipe, recipe.test) if recipe.test else None
    files = [file for file in (main, own_valid, own_test) if file is not None]
    refused = tuple(refusal for file in files for refusal in file.refused)
    train, valid, test = share_out(recipe, main.pairs, own_valid, own_test, seed)
    held_out = {source for source, _ in (*valid, *test)}
    kept = [pair for pair in train if pair[0] not in held_out]
    notes = [note for file in files for note in file.notes]
    if len(kept) < len(train):
        notes.append(f"{len(train) - len(kept)} training rows left out: their source is also in validation or test")
    if not kept:
        raise InputError("no training rows are left.", found=f"{len(train)} rows, all also held out", fix="add rows")
    notes.append(f"{len(kept)} rows to train, {len(valid)} to validate, {len(test)} to test")
    return reading(Path(main.file).name, kept, valid, test, notes=notes, refused=refused)


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


def share_out(
    recipe: DataRecipe, pairs: Sequence[Pair], own_valid: Pairs | None, own_test: Pairs | None, seed: int
) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Train, validation and test rows; a part with a file of its own takes no share."""
    shares = parse_shares(recipe.split)
    wanted = (shares[0], 0.0 if own_valid else shares[1], 0.0 if own_test else shares[2])
    if own_valid is not None and own_test is not None:
        return list(pairs), list(own_valid.pairs), list(own_test.pairs)
    total = sum(wanted)
    split = split_by_key(
        [source for source, _ in pairs], shares=(wanted[0] / total, wanted[1] / total, wanted[2] / total), seed=seed
    )
    train, valid, test = ([pairs[index] for index in part] for part in split)
    return train, list(own_valid.pairs) if own_valid else valid, list(own_test.pairs) if own_test else test


def read_file(recipe: DataRecipe, source: str) -> Pairs:
    """One file with the recipe's columns."""
    return read_pairs(
        source,
        source_column=recipe.source,
        target_column=recipe.target,
        header=recipe.header,
        bad_rows=recipe.bad_rows,
    )


def asked_of(recipe: DataRecipe, name: str) -> DataRecipe:
    """A built-in set with what the recipe says of sources and targets, and no parts of files."""
    return DataRecipe(train=name, source=recipe.source, target=recipe.target, length=recipe.length)


def read_questions(recipe: DataRecipe, file: str, seed: int) -> Asked:
    """All pairs of a file as questions; of a built-in set, its test part."""
    if is_builtin(file):
        reading = read_pairs_for_translation(asked_of(recipe, file), seed)
        return Asked(reading.test, reading.notes, reading.refused)
    pairs = read_file(recipe, file)
    return Asked(questions(pairs.pairs), pairs.notes, pairs.refused)


def read_sources(recipe: DataRecipe, file: str, seed: int) -> Opened:
    """All columns of a file, and the texts to be read; of a built-in set, its test part."""
    if is_builtin(file):
        test = read_pairs_for_translation(asked_of(recipe, file), seed).test
        sources = [question.source for question in test]
        return Opened({"source": sources, "target": [question.references[0] for question in test]}, sources, ())
    table = read_source(file, header=recipe.header, names=[recipe.source] if recipe.source else [])
    at = find_column(table, recipe.source, "data.source")
    if at < 0:
        at = guess_columns(table, -1, -1)[0] if len(table.columns) > 1 else 0
    empty = [empty_cell(table, row, at) for row, cells in enumerate(table.rows) if not cells[at].strip()]
    refused = stop_or_skip([*table.refused, *empty], recipe.bad_rows)
    kept = [cells for cells in table.rows if cells[at].strip()]
    columns = {name: [cells[place] for cells in kept] for place, name in enumerate(table.columns)}
    return Opened(columns, [cells[at] for cells in kept], refused)


def questions(pairs: Iterable[Pair]) -> tuple[Question, ...]:
    """Rows that share a source are one question with several right answers."""
    answers: dict[str, list[str]] = {}
    for source, target in pairs:
        known = answers.setdefault(source, [])
        if target not in known:
            known.append(target)
    return tuple(Question(source, tuple(targets)) for source, targets in answers.items())


def reading(
    name: str,
    train: Iterable[Pair],
    valid: Iterable[Pair],
    test: Iterable[Pair],
    *,
    notes: Iterable[str],
    refused: Iterable[object] = (),
) -> Reading:
    """Composed characters everywhere, and a fingerprint of it all."""
    parts = [[(compose(source), compose(target)) for source, target in part] for part in (train, valid, test)]
    digest = hashlib.sha256()
    for part in parts:
        for source, target in part:
            digest.update(f"{source}\x1f{target}\x1e".encode())
        digest.update(b"\x1d")
    return Reading(
        name=name,
        train=tuple(parts[0]),
        valid=questions(parts[1]),
        test=questions(parts[2]),
        refused=tuple(refused),  # type: ignore[arg-type]
        notes=tuple(notes),
        fingerprint=digest.hexdigest(),
    )


def compose(text: str) -> str:
    """NFC: one character where Unicode has one."""
    return unicodedata.normalize("NFC", text)
