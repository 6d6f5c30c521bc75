"""A vocabulary, and all else that is learned before training, must know nothing that only held-out rows say.

Scales of numbers must be those of the training part, and know nothing of held-out rows.
A forecaster must know nothing of what it is tested on: by its scales, its windows or what it knows beforehand.
An autoencoder must know nothing of what it is tested on: by its scale, or by windows that reach into other parts.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from atento.data.records import BETWEEN, counted, in_words
from atento.data.series import Series
from atento.data.series.covariates import shifted_targets
from atento.data.series.series import Numbers
from atento.data.tables.number_lists import require_numbers
from atento.errors import InputError, RunError
from atento.spec import TokensRecipe
from atento.tasks.autoencode.codec import WindowCodec
from atento.tasks.forecast.codec import SeriesCodec
from atento.tasks.forecast.windows import TrainingWindows
from atento.tasks.inputs.numbers import Channels
from atento.tasks.task import Codec, Question, Reading

CLOSE = 1e-6  # in spreads: rounding is far below, a held-out part far above

# Axes: T time, C channels.


def require_honest_channels(channels: Channels, sources: Sequence[str]) -> None:
    """The scales of texts of numbers, from their training part."""
    scales = np.array(channels, dtype=np.float64)  # (C, 2)
    names = [f"channel {number + 1}" for number in range(len(channels))]
    require_honest_scale(names, scales[:, 0], scales[:, 1], (require_numbers(source) for source in sources))


def require_honest_scale(names: Sequence[str], mean: Numbers, spread: Numbers, parts: Iterable[Numbers]) -> None:
    """A mean and a spread (C,) are those of all training rows (T, C) together; a spread of what never changes may be
    anything.
    """
    rows, sums, squares = 0, np.zeros(len(names)), np.zeros(len(names))
    for part in parts:
        moved = part - mean  # near 0 where the scale is right, so that nothing is lost in the squares
        rows, sums, squares = rows + len(part), sums + moved.sum(axis=0), squares + np.square(moved).sum(axis=0)
    shift = sums / rows
    true = np.sqrt(np.maximum(squares / rows - np.square(shift), 0.0))
    size = np.where(true > CLOSE * spread, true, spread)
    wrong = np.maximum(np.abs(shift) / size, np.where(true > CLOSE * spread, np.abs(spread / size - 1), 0.0))
    worst = int(np.argmax(wrong))
    if wrong[worst] > CLOSE:
        raise RunError(
            f"the scale of {names[worst]} is not that of the training rows: it knows others.",
            found=f"mean {mean[worst]:.6g} and spread {spread[worst]:.6g} where training rows have "
            f"{mean[worst] + shift[worst]:.6g} and {true[worst]:.6g}",
            fix="learn it from the training part alone: Task.learn(recipe.tokens, reading.train)",
        )


ASKED = 200  # forecasts that are looked at
WINDOWS = 50  # training windows that are looked at

# Axes: T time, C channels, N windows.


def require_honest_series(codec: SeriesCodec, reading: Reading) -> None:
    """Stop before a model is trained on what the test will ask for."""
    require_honest_scales(codec, reading.train)
    require_honest_windows(codec)
    for name, questions in (("validation", reading.valid), ("test", reading.test)):
        require_honest_origins(name, questions, reading.train)
    require_honest_covariates(codec, [series for series, _ in reading.train])


def require_honest_scales(codec: SeriesCodec, train: Sequence[tuple[Series, Any]]) -> None:
    """Each series' mean and spread are those of its training rows, and of no others."""
    for at, (series, _) in enumerate(train):
        of = f" of series {series.name!r}" if series.name else ""
        names = [f"{channel!r}{of}" for channel in codec.frame.channels]
        require_honest_scale(names, codec.scales.mean[at], codec.scales.spread[at], [series.values])


def require_honest_windows(codec: SeriesCodec) -> None:
    """Windows of a clock, whose value in row t is t: a past ends a row before its target begins."""
    frame = codec.frame
    steps = codec.steps or frame.horizon
    rows = frame.look_back + steps + WINDOWS
    ticks = np.repeat(np.arange(rows, dtype=np.float64)[:, None], len(frame.channels), axis=1)  # (T, C)
    mean, spread = codec.scales.mean[0], codec.scales.spread[0]
    clock = Series(codec.names[0], mean + spread * ticks / rows, np.zeros((rows, len(frame.covariates))))
    windows = TrainingWindows([codec.encode((clock, frame))], frame, steps=steps)
    batch = windows.gather(np.arange(len(windows)))
    past, target = (
        np.rint(rows * part.double().numpy()) for part in (batch.past, batch.target)
    )  # (N, L, C), (N, H, C)
    expected = past[:, -1:] + np.arange(1, steps + 1)[:, None]
    if (np.diff(past, axis=1) != 1).any() or (target != expected).any():
        wrong = int(np.argmax((target != expected).any(axis=(1, 2))))
        raise RunError(
            "a training window reads what it is to forecast.",
            found=f"a past until row {past[wrong, -1, 0]:.0f} with a target from row {target[wrong, 0, 0]:.0f}",
            fix="let a target begin a row after its past ends",
        )


def require_honest_origins(name: str, questions: Sequence[Question], train: Sequence[tuple[Series, Any]]) -> None:
    """What is forecast comes after what was learned from, and is not yet in what is read."""
    some = questions[:: 1 + len(questions) // ASKED]
    ends = {series.name: series.start + len(series) for series, _ in train}
    early = [question for question in some if question.source.origin < ends.get(question.source.series, 0)]
    if early:
        raise RunError(
            f"{counted(len(early), 'forecast')} of the {name} part are of rows that were learned from.",
            found=f"one of row {early[0].source.origin}; training ends before row {ends[early[0].source.series]}",
            fix="let a part begin where the one before it ends",
        )
    pasts = [question.source.values[-1] for question in some]
    firsts = [question.references[0][0] for question in some]
    if len(some) > 1 and np.ptp(firsts, axis=0).any() and all(map(np.array_equal, pasts, firsts)):
        raise RunError(
            f"every past of the {name} part ends with the value it is to forecast.",
            found=f"{in_words([f'{value:.6g}' for value in firsts[0]], limit=4)} as last and as next",
            fix="let a past end a row before its forecast begins",
        )


def require_honest_covariates(codec: SeriesCodec, series: Sequence[Series]) -> None:
    """Nothing that is known beforehand is the target itself."""
    frame = codec.frame
    for found in shifted_targets(series, frame.horizon) if frame.covariates else ():
        covariate, channel = frame.covariates[found.covariate], frame.channels[found.channel]
        when = f"{counted(abs(found.ahead), 'step')} {'later' if found.ahead > 0 else 'before'}"
        raise InputError(
            f"data.known: {covariate!r} tells the answer: it is {channel!r} {when if found.ahead else 'itself'}.",
            found=f"a forecast of {counted(frame.horizon, 'step')} would read {channel!r} of steps to come",
            fix=f"leave {covariate!r} out of data.known",
        )


def require_honest_recreations(codec: WindowCodec, reading: Reading) -> None:
    """Stop before a model is trained on what the test will ask for."""
    own = WindowCodec.learn(TokensRecipe(), list(reading.train))
    for name, found, expected in (("mean", codec.mean, own.mean), ("spread", codec.spread, own.spread)):
        apart = np.abs(found - expected) / own.spread
        if apart.max() > CLOSE:
            worst = int(apart.argmax())
            raise RunError(
                f"the {name} of {codec.frame.channels[worst]!r} is not that of the training rows: it knows others.",
                found=f"{found[worst]:.6g} where the training rows have {expected[worst]:.6g}",
                fix="learn it from the training part alone: WindowCodec.learn(recipe.tokens, reading.train)",
            )
    ends = {series.name: series.start + len(series) for series, _ in reading.train}
    for part, questions in (("validation", reading.valid), ("test", reading.test)):
        require_apart(part, questions, ends)


def require_apart(part: str, questions: Sequence[Question], ends: dict[str, int]) -> None:
    """No held-out window holds a row that was learned from."""
    some = questions[:: 1 + len(questions) // ASKED]
    early = [one.source for one in some if one.source.origin - len(one.source) < ends.get(one.source.series, 0)]
    if early:
        raise RunError(
            f"{counted(len(early), 'window')} of the {part} part hold rows that were learned from.",
            found=f"one from row {early[0].origin - len(early[0])} on; training ends before row "
            f"{ends[early[0].series]}",
            fix="let a part begin where the one before it ends",
        )


SIGNS = "▁Ġ￭#"  # what a piece begins or ends with beside its letters
WORDS = re.compile(r"\w+")
PIECE = 2**18  # characters of training text that are cut together
ROWS = "\n"
SHOWN = 5


def require_no_leak(codec: Codec, reading: Reading) -> None:
    """Stop before a model is trained on what the test will ask for."""
    if isinstance(codec, SeriesCodec):
        require_honest_series(codec, reading)
        return
    if isinstance(codec, WindowCodec):
        require_honest_recreations(codec, reading)  # the pixels of a film share one spread
        return
    channels = getattr(codec, "channels", None)
    if isinstance(channels, Channels):
        require_honest_channels(channels, [source for source, _ in reading.train])
        reading = targets_of(reading)  # numbers are no tokens
    leaked = leaked_tokens(codec, reading)
    if leaked:
        examples = ", ".join(map(repr, leaked[:SHOWN]))
        raise RunError(
            f"the vocabulary holds {len(leaked)} tokens that only validation or test rows hold, e.g. {examples}.",
            fix="learn it from the training part alone: Task.learn(recipe.tokens, reading.train)",
        )


def targets_of(reading: Reading) -> Reading:
    """The same set without its sources."""
    valid, test = ([Question("", question.references) for question in part] for part in (reading.valid, reading.test))
    return reading._replace(train=[("", target) for _, target in reading.train], valid=valid, test=test)


def leaked_tokens(codec: Codec, reading: Reading) -> list[str]:
    """Tokens of a codec that stand in held-out rows and nowhere, not even inside a word, in the training part."""
    known = {token.strip(SIGNS) for token in tokens_in(codec.to_json())} - {""}
    held_out = [(question.source, *question.references) for question in (*reading.valid, *reading.test)]
    suspects = {unit for text in in_pieces(held_out) for unit in units(text) & known}
    for text in in_pieces(reading.train):
        if not suspects:
            return []
        suspects -= units(text)
    for text in in_pieces(reading.train):  # a piece of a word is no word of its own
        if not suspects:
            return []
        suspects = {unit for unit in suspects if unit not in text and unit not in text.lower()}
    return sorted(suspects)


def in_pieces(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """All their texts, many in one: to cut one long text is far quicker than to cut many."""
    piece: list[str] = []
    size = 0
    for row in rows:
        piece += row
        size += sum(map(len, row))
        if size >= PIECE:
            yield ROWS.join(piece)
            piece, size = [], 0
    yield ROWS.join(piece)


def units(text: str) -> set[str]:
    """All that a vocabulary may take from texts as one token: items, words by spaces and by letters, characters."""
    cut: set[str] = set()
    for written in {text, text.lower()}:
        items = written.replace(ROWS, BETWEEN).split(BETWEEN)
        cut.update(items, written.split(), WORDS.findall(written), set(written))
    return cut


def tokens_in(saved: Any) -> Iterator[str]:
    """The texts of every list and the keys of every table of numbers; a text that is JSON is opened."""
    if isinstance(saved, dict):
        for key, value in saved.items():
            if isinstance(value, int):
                yield str(key)
            elif isinstance(value, str) and value.startswith("{"):
                yield from tokens_in(json.loads(value))
            else:
                yield from tokens_in(value)
    elif isinstance(saved, list | tuple):
        for item in saved:
            if isinstance(item, str):
                yield item
            else:
                yield from tokens_in(item)
