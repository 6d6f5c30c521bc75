"""From a recipe to windows of series, or frames of a film: those that are learned from, and later ones to recreate."""

from collections.abc import Sequence

from atento.data.builtin.catalogue import is_builtin
from atento.data.examples.pairs import UnlabelledFile
from atento.data.images.videos import frame_shape, is_video, read_video
from atento.data.series import Series, SeriesSet
from atento.errors import InputError
from atento.spec import DataRecipe
from atento.tasks.autoencode.leaks import with_later_windows
from atento.tasks.forecast.reading import (
    SeriesDataset,
    SeriesQuestions,
    dataset_of,
    find_series,
    require_alike,
    thinned,
)
from atento.tasks.forecast.split import divide
from atento.tasks.forecast.windows import Origins, WindowSpec, guess_look_back, typical_length
from atento.tasks.reading.reader import refuse_other_parts
from atento.tasks.task import LabelledFile

RECREATED = "windows could be recreated: every {}th is"


def read_windows(recipe: DataRecipe, seed: int) -> SeriesDataset:
    """Each series by time; a window of the validation or the test part lies wholly in it."""
    if is_builtin(recipe.train):
        refuse_other_parts(recipe.model_copy(update={"split": DataRecipe().split}))  # by time, as anyone likes
    found = find_windows(recipe, recipe.train, seed)
    frame, guesses = window_frame(found, recipe)
    own = [find_windows(recipe, file, seed) if file else None for file in (recipe.valid, recipe.test)]
    for other in own:
        if other is not None:
            require_alike(other, found)
    divided = divide(found.file, found.series, frame, recipe)
    notes = [*found.notes, *guesses, *divided.notes]
    parts: list[Origins] = []
    for place, other in enumerate(own, start=1):
        spans = [(ends[place - 1], ends[place]) for ends in divided.borders]
        part = within(divided.series, frame, spans) if other is None else whole(other, frame)
        if not len(part) and (other is not None or any(last > first for first, last in spans)):
            raise too_short(recipe.train if other is None else other.file, frame, spans)
        parts.append(thinned(part, notes, RECREATED))
    return with_later_windows(dataset_of(recipe, [found, *own], frame, divided, (parts[0], parts[1]), notes))


def find_windows(recipe: DataRecipe, file: str, seed: int) -> SeriesSet:
    """A film, or the series of a file or of a built-in set."""
    return read_video(recipe, file) if not is_builtin(file) and is_video(file) else find_series(recipe, file, seed)


def window_frame(found: SeriesSet, recipe: DataRecipe) -> tuple[WindowSpec, tuple[str, ...]]:
    """How long a window is: a frame of a film by itself, else what the recipe says or the season suggests."""
    if recipe.horizon:
        raise InputError(
            "data.horizon has no meaning for the task autoencode: nothing is forecast.",
            found=f"data.horizon={recipe.horizon}",
            fix="leave it out, or --task forecast",
        )
    notes = []
    if recipe.look_back:
        look_back = recipe.look_back
    elif all(frame_shape(found.channels)):
        look_back = 1
    else:
        look_back = guess_look_back(typical_length(found), 1, found.season_length)
        notes.append(f"windows of {look_back} steps (data.look_back= changes it)")
    if found.covariates:
        notes.append(f"not read: {', '.join(found.covariates)}")
    return WindowSpec(look_back, 0, found.channels, (), found.frequency, found.season_length), tuple(notes)


def within(series: Sequence[Series], frame: WindowSpec, spans: Sequence[tuple[int, int]]) -> Origins:
    """All windows whose rows lie in these spans."""
    return Origins(series, frame, [(first + frame.look_back, last + 1) for first, last in spans])


def whole(found: SeriesSet, frame: WindowSpec) -> Origins:
    """All windows of a file."""
    return within(found.series, frame, [(0, len(one)) for one in found.series])


def ask_windows(recipe: DataRecipe, file: str, seed: int) -> SeriesQuestions:
    """Every window of another file; of a built-in set, of its test part."""
    if is_builtin(file):
        reading = read_windows(recipe.model_copy(update={"train": file, "valid": "", "test": ""}), seed)
        return LabelledFile(reading.test, reading.notes, reading.refused)
    found, part = another(recipe, file, seed)
    notes = list(found.notes)
    return LabelledFile(thinned(part, notes, RECREATED), tuple(notes), found.refused)


def open_windows(recipe: DataRecipe, file: str, seed: int) -> UnlabelledFile:
    """Every window of a file, in its order; of a built-in set, of its test part."""
    if is_builtin(file):
        return UnlabelledFile({}, [question.source for question in ask_windows(recipe, file, seed).questions], ())
    found, part = another(recipe, file, seed)
    return UnlabelledFile({}, [question.source for question in part], found.refused, names=found.own_names)


def another(recipe: DataRecipe, file: str, seed: int) -> tuple[SeriesSet, Origins]:
    """Another file, and every window of it."""
    found = find_windows(recipe, file, seed)
    frame, _ = window_frame(found, recipe)
    part = whole(found, frame)
    if not len(part):
        raise too_short(file, frame, [(0, len(one)) for one in found.series])
    return found, part


def too_short(file: str, frame: WindowSpec, spans: Sequence[tuple[int, int]]) -> InputError:
    """No window fits."""
    longest = max((last - first for first, last in spans), default=0)
    return InputError(
        f"{file}: no window of {frame.look_back} rows fits in a part of the series.",
        found=f"parts of at most {longest} rows",
        fix=f"--set data.look_back={max(1, longest // 2)}, or larger shares by data.split",
        settings={"data.look_back": str(max(1, longest // 2))},
    )
