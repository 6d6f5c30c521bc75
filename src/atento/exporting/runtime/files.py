"""The sources of a file for an exported model, and the file with its answers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from atento.data.examples.documents import DocumentSource
from atento.data.examples.numbers import NumberListSource
from atento.data.examples.pairs import ExampleSource, UnlabelledFile, read_sources
from atento.data.examples.tagged import WordSource
from atento.data.examples.texts import TextSource, TwoTextsInOneKey, TwoTextSource
from atento.data.examples.translations import TranslationSource
from atento.data.images.reading import ImageQuestionSource, ImageSource
from atento.data.numbers.reading import DECIMALS
from atento.data.sequences.labelled import SequenceSource
from atento.data.series import Past, SeriesSet
from atento.data.series.frequency import date_range
from atento.data.series.reading import read_series
from atento.data.sources.answers import new_columns
from atento.data.sources.reading import read_source
from atento.data.sources.returning import as_table, require_output, returned, write_returned
from atento.data.tables.writing import find_writer, write_table
from atento.errors import InputError
from atento.exporting.runtime.judged import ExportedAnswer
from atento.exporting.runtime.model import ExportedModel
from atento.spec import DataRecipe, Recipe
from atento.spec.recipe import Settings, parse_settings

SOURCES: dict[str, ExampleSource] = {
    "classify": TextSource(),
    "label": TextSource(),
    "estimate-text": TextSource(),
    "match": TwoTextSource(),
    "label-pairs": TwoTextSource(),
    "rewrite": TwoTextsInOneKey(),
    "translate": TranslationSource(),
    "tag": WordSource(),
    "generate": DocumentSource(),
    "embed": DocumentSource(),
    "classify-series": SequenceSource(),
    "label-series": SequenceSource(),
    "transcribe": SequenceSource(),
    "estimate": NumberListSource(),
    "caption": ImageSource(),
    "classify-images": ImageSource(),
    "label-images": ImageSource(),
    "estimate-images": ImageSource(),
    "match-images": ImageQuestionSource(),
}


class ExportedPredictions(NamedTuple):
    """The answers to the sources of a file, and the table of them."""

    columns: dict[str, list[Any]]
    answers: list[ExportedAnswer]
    notes: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    text: str = ""  # the file as it is written


def data_recipe(model: ExportedModel, settings: Settings) -> DataRecipe:
    """How the model's files are read, with what the user says otherwise."""
    values = {key: value for key, value in parse_settings(settings).items() if key.startswith("data.")}
    saved = {f"data.{key}": value for key, value in model.facts["data"].items()}
    return Recipe().with_values({**saved, "data.bad_rows": "skip", **values}).data


def predict_file(
    model: ExportedModel, file: str, *, out: Path | None = None, settings: Settings = (), proba: bool = False
) -> ExportedPredictions:
    """Answer every source of a file; the file with the answers is written to `out` where one is named."""
    decode, recipe = model.with_settings(settings), data_recipe(model, settings)
    if out is not None:
        require_output(out, file)
    named = [key for key in parse_settings(settings) if key.startswith("data.")]
    opened, notes = open_file(model, recipe, file, named)
    answers, decimal = model.answer(opened.sources, decode=decode), DECIMALS[recipe.decimal]
    if model.kind == "series":
        added = series_columns(model, opened, answers)
        written = as_table(file, added, decimal=decimal)
    else:
        added = new_columns(opened.columns, answers, proba=proba, places=opened.rows)
        written = returned(file, opened.table, opened.columns, added, decimal=decimal)
    notes = [*notes, *opened.notes]
    if out is not None:
        notes += write_returned(out, file, opened.table, opened.columns, added, written)
    refused = tuple(str(refusal) for refusal in opened.refused)
    return ExportedPredictions({**opened.columns, **added}, answers, tuple(notes), refused, written.text)


def predict_lines(
    model: ExportedModel, lines: Sequence[str], *, out: Path | None = None, settings: Settings = (), proba: bool = False
) -> ExportedPredictions:
    """Answer every line."""
    if out is not None:
        find_writer(out)
    if not lines:
        raise InputError("there is nothing to answer.", found="no line on standard input", fix="type one text per line")
    answers, own = model.answer(list(lines), decode=model.with_settings(settings)), {"source": list(lines)}
    columns = {**own, **new_columns(own, answers, proba=proba, places=None)}
    if out is not None:
        write_table(out, columns)
    return ExportedPredictions(columns, answers)


def open_file(
    model: ExportedModel, recipe: DataRecipe, file: str, named: Sequence[str]
) -> tuple[UnlabelledFile, list[str]]:
    """The sources of a file, by the columns that the model was trained on; of one column, whatever it is called."""
    if not Path(file.split(",")[0]).exists():
        raise InputError(f"{file}: there is no such file.", found=file, fix="check the path")
    if model.kind == "series":
        return open_series(model, read_series(recipe, file), file), []
    source = SOURCES.get(model.task)
    if source is None:
        return open_windows(recipe, file), []
    notes = []
    keys = {key: getattr(recipe, key) for key in source.keys if getattr(recipe, key) and f"data.{key}" not in named}
    if keys and model.kind not in ("image", "image and question"):
        table = read_source(file, header=recipe.header, names=list(keys.values()), sheet=recipe.sheet)
        lacking = [key for key, name in keys.items() if name not in table.columns]
        if lacking and (len(table.columns) == 1 or not table.header):
            recipe = recipe.model_copy(update=dict.fromkeys(lacking, ""))
            notes.append(f"{file} has no column {keys[lacking[0]]!r}, which the model was trained on")
    return read_sources(recipe, file, source), notes


def open_series(model: ExportedModel, found: SeriesSet, file: str) -> UnlabelledFile:
    """The end of each series, from which a forecast goes on; of windows, all of them."""
    look_back, sources = model.answerer.look_back, list[Past]()
    for one in found.series:
        if len(one) < look_back:
            name = f"series {one.name!r}" if one.name else "the series"
            problem = f"{file}: {name} is too short."
            raise InputError(problem, found=f"{len(one)} rows", fix=f"give {look_back} rows at least")
        ends = [len(one)] if model.task == "forecast" else range(look_back, len(one) + 1)
        sources += [
            Past(
                one.name,
                one.timestamp(end - 1),
                one.values[end - look_back : end],
                one.future_covariates[end - look_back :],
                origin=one.start + end,
            )
            for end in ends
        ]
    columns = {"times": next_times(found, sources, model)} if model.task == "forecast" else {}
    return UnlabelledFile(columns, sources, found.refused, found.notes, names=found.own_names)


def next_times(found: SeriesSet, sources: Sequence[Past], model: ExportedModel) -> list[Any]:
    """The times of the steps after each series; where rows have no times, their numbers."""
    steps, times = model.decode.horizon or model.answerer.horizon, list[Any]()
    for one, past in zip(found.series, sources, strict=True):
        if one.times is None:
            times += [str(number) for number in range(past.origin, past.origin + steps)]
            continue
        after = date_range(one.times[len(one) - 1], found.frequency, steps + 1)[1:].astype("datetime64[s]")
        days = after.astype("datetime64[D]")
        times += [str(when).replace("T", " ") for when in (days if (days == after).all() else after)]
    return times


def series_columns(
    model: ExportedModel, opened: UnlabelledFile, answers: Sequence[ExportedAnswer]
) -> dict[str, list[Any]]:
    """A long table: which series, when, and the forecast of each channel, or the latent of each window."""
    names = {"series": "unique_id", "time": "ds", **dict(opened.names)}
    pairs, table = list(zip(opened.sources, answers, strict=True)), dict[str, list[Any]]()
    if model.task != "forecast":
        if any(past.series for past in opened.sources):
            table[names["series"]] = [past.series for past in opened.sources]
        table[names["time"]] = [past.until.removeprefix("row ") for past in opened.sources]
        latents = [answer.value[past.values.size :] for past, answer in pairs]
        return {**table, **{f"z{at + 1}": [float(one[at]) for one in latents] for at in range(len(latents[0]))}}
    if any(past.series for past in opened.sources):
        table[names["series"]] = [past.series for past, answer in pairs for _ in answer.value]
    table[names["time"]] = opened.columns.pop("times")
    for at, channel in enumerate(model.answerer.channels):
        values = np.concatenate([answer.value[:, at] for answer in answers])  # (steps, Q)
        table[f"{channel}_hat" if channel == "y" else channel] = digits(values @ model.answerer.point)
        for place, level in enumerate(model.answerer.levels or ()):
            table[f"{channel}-{level}"] = digits(values[:, place])
    return table


def digits(numbers: Any) -> list[float]:
    """Numbers with as many digits as a forecast has."""
    return [float(f"{number:.7g}") for number in numbers]


def open_windows(recipe: DataRecipe, file: str) -> UnlabelledFile:
    """Every window of a table whose newest row is to get a label."""
    found = read_series(recipe.model_copy(update={"target": recipe.source, "source": "", "label": ""}), file)
    rows, sources, ends = recipe.look_back, list[str](), list[str]()
    for one in found.series:
        steps = [",".join(f"{number:.9g}" for number in row) for row in one.values]
        for end in range(rows, len(steps) + 1):
            sources.append(" ".join(steps[end - rows : end]))
            ends.append(one.timestamp(end - 1))
    if not sources:
        raise InputError(
            f"{file}: no window of {rows} rows fits.", found=f"{len(found.series)} series", fix="more rows"
        )
    return UnlabelledFile({dict(found.own_names).get("time", "time"): ends}, sources, found.refused)
