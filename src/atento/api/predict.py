"""A trained model on other data: evaluate it on a file, answer the sources of a file."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from atento.bundle import Json
from atento.data.builtin.catalogue import is_builtin
from atento.data.examples.pairs import COMMA
from atento.data.records import counted, in_words
from atento.data.sources.reading import read_source
from atento.data.tables.writing import find_writer, write_table
from atento.errors import InputError
from atento.predictor import Predictor
from atento.spec import Recipe, parse_settings
from atento.spec.recipe import Settings
from atento.tasks.task import Answer, LabelledFile
from atento.training.events import EventCallback, no_callback


@dataclass(frozen=True)
class Evaluation:
    """What a model is worth on a file."""

    run: str  # its folder
    file: str
    model: str
    notes: list[str]
    refused: list[str]  # rows that cannot be used
    metric: str  # the headline
    smaller_is_better: bool
    metrics: dict[str, str]  # each metric, and what it is
    scores: dict[str, list[float]]  # value, low and high of each
    lengths: list[Json]  # the headline on sources of several lengths
    examples: int
    predictions_per_second: float
    exposure: Json | None = None  # accuracy after true tokens against accuracy after its own

    @property
    def value(self) -> float:
        """The headline metric."""
        return self.scores[self.metric][0]

    def to_json(self) -> Json:
        """The same in dicts and lists."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        return {key: value for key, value in found.items() if key != "exposure" or value is not None}


class Predictions(NamedTuple):
    """The answers to a file's sources, and the table to write: its own columns, then `prediction` and `score`."""

    columns: dict[str, list[Any]]
    answers: list[Answer]


def with_settings(predictor: Predictor, settings: Settings) -> Recipe:
    """The run's recipe with other data and decode keys; the model stays what it is."""
    values = parse_settings(settings)
    for key in values:
        if not key.startswith(("data.", "decode.")):
            raise InputError(
                f"--set {key}: a trained model keeps it.", found=key, fix="only data.* and decode.* can be changed here"
            )
    return predictor.bundle.recipe.with_values(values)


def recipe_for_file(predictor: Predictor, file: str, settings: Settings) -> Recipe:
    """The columns the user names, else those the run was trained on; a file that lacks these has its own."""
    recipe = with_settings(predictor, settings)
    values = parse_settings(settings)
    data = predictor.bundle.recipe.data
    names = {"data.source": data.source, "data.target": data.target}
    if not any(names.values()) or predictor.bundle.task.reading.kind == "series":  # these are read as they were learned
        return recipe
    if is_builtin(file):
        known: Sequence[str] = list(names.values()) if is_builtin(data.train) else ()
    else:
        parts = [part.strip() for name in names.values() if name for part in name.split(COMMA)]
        known = read_source(file, header=data.header, names=parts).columns
    lacking = [key for key, name in names.items() if not set(name.split(COMMA)) <= set(known) and name not in known]
    return recipe.with_values({key: "" for key in lacking if key not in values})


def evaluate(predictor: Predictor, file: str, *, settings: Settings = ()) -> Evaluation:
    """Every metric with its interval on a file's examples; of a built-in set, on its test part."""
    recipe = recipe_for_file(predictor, file, settings)
    asked = predictor.bundle.task.reading.read_labelled(recipe.data, file, recipe.split_seed)
    found, _ = predictor.examine(asked.questions, decode=recipe.decode)
    return Evaluation(
        run=str(predictor.bundle.folder),
        file=file,
        model=recipe.model.name,
        notes=[*asked.notes, *unseen_labels(predictor, asked, file)],
        refused=[str(refusal) for refusal in asked.refused],
        **found,
    )


def unseen_labels(predictor: Predictor, asked: LabelledFile, file: str) -> list[str]:
    """A note on labels that training never met: every answer to them is wrong."""
    bundle = predictor.bundle
    counts = Counter(bundle.task.judging.unseen(bundle.codec, asked.questions) if bundle.task.judging.unseen else ())
    if not counts:
        return []
    names, many = in_words(sorted(counts), limit=5), sum(counts.values())
    were = "was" if many == 1 else "were"
    return [f"{counted(many, 'label')} in {file} {were} never seen in training: {names}"]


def predict_file(
    predictor: Predictor,
    file: str,
    *,
    out: Path | None = None,
    settings: Settings = (),
    on_event: EventCallback = no_callback,
) -> Predictions:
    """Answer every source of a file; the table is written to `out` where one is named."""
    recipe = recipe_for_file(predictor, file, settings)
    if out is not None:
        find_writer(out)
    opened = predictor.bundle.task.reading.read_unlabelled(recipe.data, file, recipe.split_seed)
    for refusal in opened.refused:
        on_event({"event": "refused", "text": str(refusal)})
    answers = predictor.answer(opened.sources, decode=recipe.decode)
    tabulate = predictor.bundle.task.answering.tabulate
    table = beside(opened.columns, answers) if tabulate is None else tabulate(opened, answers)
    if out is not None:
        write_table(out, table)
    return Predictions(table, answers)


def predict_lines(
    predictor: Predictor, lines: Sequence[str], *, out: Path | None = None, settings: Settings = ()
) -> Predictions:
    """Answer every line."""
    if out is not None:
        find_writer(out)
    answers = predictor.answer(list(lines), decode=with_settings(predictor, settings).decode)
    found = Predictions(beside({"source": list(lines)}, answers), answers)
    if out is not None:
        write_table(out, found.columns)
    return found


def beside(columns: Mapping[str, list[Any]], answers: Sequence[Answer]) -> dict[str, list[Any]]:
    """The columns with the answers beside them."""
    table = {**columns, free_name("prediction", columns): [answer.text for answer in answers]}
    scores = [answer.score for answer in answers]
    if None not in scores:
        table[free_name("score", table)] = [round(score, 6) for score in scores if score is not None]
    evidence = [answer.evidence for answer in answers]
    if None not in evidence:
        table[free_name("evidence", table)] = evidence
    return table


def free_name(name: str, columns: Mapping[str, list[Any]]) -> str:
    """`prediction`, or `prediction_2` where the input has such a column."""
    number, free = 1, name
    while free in columns:
        number += 1
        free = f"{name}_{number}"
    return free
