"""A trained model on other data: evaluate it, predict with it, look into it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from atento.api.explain import plain
from atento.api.explain_series import makes_forecasts, past_named
from atento.api.recipes import Settings
from atento.api.run import Run
from atento.bundle import PREDICTIONS, write_atomically
from atento.data.builtin.catalogue import is_builtin
from atento.data.examples.pairs import BESIDE
from atento.data.sources import read_source
from atento.data.tables.writing import find_writer, write_table
from atento.errors import InputError
from atento.spec import Recipe, parse_settings
from atento.training.events import Watcher, no_watcher
from atento.views.attention.images import alignment_picture
from atento.views.attention.page import render_alignment
from atento.views.attention.regions import of_a_picture, regions_picture
from atento.views.embeddings import ENDINGS as MAP_ENDINGS
from atento.views.saving import ENDINGS

PICTURES = (".png", ".svg", ".pdf")
LOOKS = {  # what --out may be called
    "attention": (".html", *PICTURES),
    "steps": (".json",),
    "gradients": ENDINGS,
    "embeddings": MAP_ENDINGS,
    "context": (".json",),
    "tokens": (".json",),
    "forecast": ENDINGS,
    "phase": ENDINGS,
}


def with_settings(run: Run, settings: Settings) -> Recipe:
    """The run's recipe with other data and decode keys; the model stays what it is."""
    values = settings if isinstance(settings, dict) else parse_settings(settings)
    for key in values:
        if not key.startswith(("data.", "decode.")):
            raise InputError(
                f"--set {key}: a trained model keeps it.", found=key, fix="only data.* and decode.* can be changed here"
            )
    return run.recipe.with_values(values)


def columns_for(run: Run, recipe: Recipe, file: str, settings: Settings) -> Recipe:
    """The columns the user names, else those the run was trained on; a file that lacks these has its own."""
    values = settings if isinstance(settings, dict) else parse_settings(settings)
    data = run.recipe.data
    names = {"data.source": data.source, "data.target": data.target}
    if not any(names.values()) or makes_forecasts(run):  # series are read by the columns that were learned, or not
        return recipe
    if is_builtin(file):
        known: Sequence[str] = list(names.values()) if is_builtin(data.train) else ()
    else:
        parts = [part.strip() for name in names.values() if name for part in name.split(BESIDE)]
        known = read_source(file, header=data.header, names=parts).columns
    lacking = [key for key, name in names.items() if not set(name.split(BESIDE)) <= set(known) and name not in known]
    return recipe.with_values({key: "" for key in lacking if key not in values})


def evaluate(run: Run, file: str, *, settings: Settings = ()) -> dict[str, Any]:
    """Every metric with its interval on a file's pairs; of a built-in set, on its test part."""
    recipe = columns_for(run, with_settings(run, settings), file, settings)
    asked = run.predictor.bundle.task.ask(recipe.data, file, recipe.split_seed)
    found, _ = run.predictor.examine(asked.questions, decode=recipe.decode)
    facts = {"run": str(run.folder), "file": file, "model": recipe.model.name, "notes": list(asked.notes)}
    return {**facts, "refused": [str(refusal) for refusal in asked.refused], **found}


def predict_file(
    run: Run, file: str, *, out: Path | None = None, settings: Settings = (), on_event: Watcher = no_watcher
) -> dict[str, list[Any]]:
    """The file's own columns, then `prediction` and `score`; written to `out` where one is named."""
    recipe = columns_for(run, with_settings(run, settings), file, settings)
    if out is not None:
        find_writer(out)
    opened = run.predictor.bundle.task.open(recipe.data, file, recipe.split_seed)
    for refusal in opened.refused:
        on_event({"event": "refused", "text": str(refusal)})
    tabulate = run.predictor.bundle.task.tabulate
    if tabulate is None:
        return finish_prediction(run, recipe, opened.columns, opened.sources, out)
    table = tabulate(opened, run.predictor.answer(opened.sources, decode=recipe.decode))
    if out is not None:
        write_table(out, table)
    return table


def predict_lines(
    run: Run, lines: Sequence[str], *, out: Path | None = None, settings: Settings = ()
) -> dict[str, list[Any]]:
    """Each line is a source."""
    if out is not None:
        find_writer(out)
    return finish_prediction(run, with_settings(run, settings), {"source": list(lines)}, list(lines), out)


def finish_prediction(
    run: Run, recipe: Recipe, columns: Mapping[str, list[Any]], sources: list[str], out: Path | None
) -> dict[str, list[Any]]:
    """Answer, and put the answers beside the input."""
    answers = run.predictor.answer(sources, decode=recipe.decode)
    table = {**columns, free_name("prediction", columns): [answer.text for answer in answers]}
    scores = [answer.score for answer in answers]
    if None not in scores:
        table[free_name("score", table)] = [round(score, 6) for score in scores if score is not None]
    evidence = [answer.evidence for answer in answers]
    if None not in evidence:
        table[free_name("evidence", table)] = evidence
    if out is not None:
        write_table(out, table)
    return table


def free_name(name: str, columns: Mapping[str, list[Any]]) -> str:
    """`prediction`, or `prediction_2` where the input has such a column."""
    number, free = 1, name
    while free in columns:
        number += 1
        free = f"{name}_{number}"
    return free


def source_of(run: Run, text: str) -> Any:
    """The text itself; of a forecaster the past of the test part that it names."""
    return past_named(run, text) if makes_forecasts(run) else text


def look(run: Run, text: str) -> dict[str, Any]:
    """One answer and where the model looked, as plain data."""
    return {**plain(run.look(source_of(run, text))), "model": run.recipe.model.name}


def look_step_by_step(run: Run, text: str) -> list[dict[str, Any]]:
    """One pass, part by part, with its matrices."""
    bundle = run.predictor.bundle
    return bundle.task.steps(run.module, bundle.codec, source_of(run, text), run.recipe.decode)


def save_look(alignment: dict[str, Any], out: Path) -> None:
    """A page or a picture, by the name given."""
    if out.suffix.lower() in PICTURES:
        (regions_picture if of_a_picture(alignment) else alignment_picture)(alignment, out)
    else:
        write_atomically(out, render_alignment(alignment).encode())


def sample_text(run: Run) -> str:
    """A source of the test part, for those who name none."""
    path = run.folder / PREDICTIONS
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    if not lines:
        raise InputError("there is no text to look at.", found="no test part", fix='give one: atento look RUN "a text"')
    return str(json.loads(lines[0])["source"])
