"""The split of each series by time into a training, a validation and a test part, the oldest rows first."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from atento.data.examples.splitting import TOLERANCE, parse_shares, wrong_shares
from atento.data.records import Refusal, counted, stop_or_skip
from atento.data.series import Series
from atento.errors import InputError
from atento.spec import DataRecipe
from atento.tasks.forecast.windows import WindowSpec

COUNTS = re.compile(r"\s*(\d+)\s*/\s*(\d+)\s*/\s*(\d+)\s*")
PERCENT = re.compile(r"\s*([\d.]+)\s*%\s*/\s*([\d.]+)\s*%\s*/\s*([\d.]+)\s*%\s*")


class Sharing(NamedTuple):
    """How rows are shared out: by shares of each series, or by counts of rows; what is left over is not used."""

    train: float
    valid: float
    test: float
    counted: bool = False

    def sizes(self, rows: int) -> tuple[int, int, int]:
        """Rows of each part of a series."""
        if self.counted:
            return int(self.train), int(self.valid), int(self.test)
        ends = [int(share * rows + 1e-6) for share in (self.train, self.train + self.valid, sum(self[:3]))]
        return ends[0], ends[1] - ends[0], ends[2] - ends[1]


class Borders(NamedTuple):
    """Where the parts of a series end, as rows; how they were found."""

    train: int
    valid: int
    test: int
    held_out: bool = False  # too short for shares: the last horizon is the test, the one before it the validation


class Divided(NamedTuple):
    """Series long enough to learn from, each with its borders."""

    series: list[Series]
    borders: list[Borders]
    refused: tuple[Refusal, ...]
    notes: tuple[str, ...]


def parse_sharing(text: str, *, own_valid: bool, own_test: bool) -> Sharing:
    """`70/10/20` shares all rows out, `60%/10%/5%` leaves the rest, `8640/2880/2880` counts rows; a part with a file
    of its own takes none.
    """
    taken = (1.0, 0.0 if own_valid else 1.0, 0.0 if own_test else 1.0)
    counts, percent = COUNTS.fullmatch(text), PERCENT.fullmatch(text)
    if counts and abs(sum(map(int, counts.groups())) / 100 - 1) > TOLERANCE + 1e-9:
        train, valid, test = (int(word) * factor for word, factor in zip(counts.groups(), taken, strict=True))
        if not train:
            raise wrong_shares(text, "has a part that is no share")
        return Sharing(train, valid, test, counted=True)
    if percent:
        train, valid, test = (float(word) / 100 * factor for word, factor in zip(percent.groups(), taken, strict=True))
        if train + valid + test > 1 + 1e-9 or not train:
            raise wrong_shares(text, f"adds up to {100 * (train + valid + test):g} %")
        return Sharing(train, valid, test)
    train, valid, test = (share * factor for share, factor in zip(parse_shares(text), taken, strict=True))
    whole = train + valid + test
    return Sharing(train / whole, valid / whole, test / whole)


def divide(file: str, series: tuple[Series, ...], frame: WindowSpec, recipe: DataRecipe) -> Divided:
    """Borders of every series; one that is too short is named, with the key that mends it."""
    sharing = parse_sharing(recipe.split, own_valid=bool(recipe.valid), own_test=bool(recipe.test))
    kept, borders, refused = list[Series](), list[Borders](), list[Refusal]()
    for one in series:
        found = borders_of(len(one), sharing, frame)
        if found.train < frame.window:
            refused.append(too_short(file, one, frame, sharing, found))
            continue
        kept.append(one)
        borders.append(found)
    if refused and not kept:  # nothing would be left
        raise InputError(str(refused[0]), found=refused[0].found, fix=refused[0].fix, settings=refused[0].settings)
    left_out = stop_or_skip(refused, recipe.bad_rows, used=len(kept))
    return Divided(kept, borders, left_out, tuple(say_borders(kept, borders, frame, sharing)))


def borders_of(rows: int, sharing: Sharing, frame: WindowSpec) -> Borders:
    """By shares or counts; where a part would hold no window, the last horizons are held out instead."""
    train, valid, test = sharing.sizes(rows)
    if sharing.counted:
        return Borders(train, train + valid, train + valid + test) if train + valid + test <= rows else Borders(0, 0, 0)
    short = any(share and size < frame.horizon for share, size in ((sharing.valid, valid), (sharing.test, test)))
    if not short:
        return Borders(train, train + valid, train + valid + test)
    end = int(sum(sharing[:3]) * rows + 1e-6)
    last = end - max(test, frame.horizon if sharing.test else 0)
    before = last - max(valid, frame.horizon if sharing.valid else 0)
    if before < frame.window:  # rather learn than validate
        before = last
    return Borders(before, last, end, held_out=True)


def say_borders(series: list[Series], borders: list[Borders], frame: WindowSpec, sharing: Sharing) -> Iterator[str]:
    """What became of the rows, in words."""
    if len(series) == 1:
        one, ends = series[0], borders[0]
        yield (
            f"split by time: {ends.train:,} rows to train, {ends.valid - ends.train:,} to validate "
            f"(from {one.timestamp(ends.train)}), {ends.test - ends.valid:,} to test (from {one.timestamp(ends.valid)})"
            if ends.valid < len(one)
            else f"split by time: {ends.train:,} rows to train, {ends.valid - ends.train:,} to validate"
        )
    elif series:
        sizes = zip(*((ends.train, ends.valid - ends.train, ends.test - ends.valid) for ends in borders), strict=True)
        train, valid, test = map(sum, sizes)
        parts = f"{train:,} rows to train, {valid:,} to validate, {test:,} to test"
        yield f"{len(series):,} series, each split by time: {parts}"
    held = sum(ends.held_out for ends in borders)
    if held:
        which = f"{held:,} of {len(series):,} series are" if len(series) > 1 else "the series is"
        yield f"{which} too short for shares: the last {frame.horizon} rows are the test, those before them validate"
    unused = sum(len(one) - ends.test for one, ends in zip(series, borders, strict=True))
    if unused and sharing.test:
        yield f"{unused:,} rows after the test part are not used"
    bare = sum(ends.valid == ends.train for ends in borders)
    if bare and sharing.valid:
        yield f"{bare:,} of {len(series):,} series are too short to validate on: all but the test is learned"


def too_short(file: str, series: Series, frame: WindowSpec, sharing: Sharing, found: Borders) -> Refusal:
    """A series whose training part cannot fill a window."""
    name, rows = f"series {series.name!r}" if series.name else "the series", len(series)
    settings = f"data.look_back={frame.look_back}, data.horizon={frame.horizon}"
    if sharing.counted:
        wanted = "/".join(f"{number:.0f}" for number in sharing[:3])
        problem = f"{name} cannot be split into {wanted} rows with windows of {frame.window}."
        fix = "pass other counts of rows: --set data.split=TRAIN/VALID/TEST"
        return Refusal(file, series.line, 1, problem, f"{rows:,} rows; {settings}", fix)
    problem = f"{name} is too short for windows of {frame.window:,} rows."
    found_rows = f"{counted(rows, 'row')}, {max(0, found.train):,} of them to train; {settings}"
    held = 2 if sharing.test else 1  # a window and the test hold a horizon each
    mend = shorter(rows, found.train, frame, held=held)
    typed = " ".join(f"--set {key}={value}" for key, value in mend.items())
    fix = f"pass {typed}" if mend else f"add rows: {held + 1} are the least"
    return Refusal(file, series.line, 1, problem, found_rows, fix, mend)


def shorter(rows: int, train: int, frame: WindowSpec, *, held: int) -> dict[str, str]:
    """Settings of a past and, where need be, a horizon with which so many rows hold windows, half of them to learn
    from; none where no setting would do.
    """
    if train > frame.horizon:
        return {"data.look_back": str(max(1, (train - frame.horizon) // 2))}
    horizon = max(1, rows // 4)
    left = rows - held * horizon
    return {"data.horizon": str(horizon), "data.look_back": str(max(1, left // 2))} if left >= 1 else {}
