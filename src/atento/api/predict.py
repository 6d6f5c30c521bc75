"""A trained model on other data: evaluate it on a file, answer the sources of a file."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from atento.api.columns import find_columns, known_labels
from atento.bundle import Json
from atento.data.builtin.catalogue import is_builtin
from atento.data.examples.pairs import UnlabelledFile
from atento.data.numbers.reading import DECIMALS
from atento.data.records import counted, in_words
from atento.data.sources.answers import new_columns
from atento.data.sources.returning import as_table, require_output, returned, write_returned
from atento.data.tables.table import parsed_once
from atento.data.tables.writing import find_writer, write_table
from atento.errors import InputError
from atento.predictor import Predictor
from atento.reprs import short_repr
from atento.spec import Recipe, parse_settings
from atento.spec.recipe import Settings
from atento.tasks.task import Answer, LabelledFile
from atento.training.events import EventCallback, no_callback
from atento.views.notebook.results import ResultsView
from atento.views.wording import score


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
    scores: dict[str, list[float | None]]  # value, low and high of each; None where there is none
    lengths: list[Json]  # the headline on sources of several lengths
    examples: int
    predictions_per_second: float
    exposure: Json | None = None  # accuracy after true tokens against accuracy after its own
    class_report: Json | None = None  # of labels: precision and recall of each, confusion matrix, calibration
    channels: list[Json] | None = None  # of forecasts: the errors of each channel in the units of the file

    def __repr__(self) -> str:
        return short_repr(self)

    def _repr_html_(self) -> str:
        """Every metric with its interval, and what the scores hide, for notebooks."""
        view = ResultsView(
            kind=f"evaluation on {counted(self.examples, 'example')}",
            title=f"{self.model} on {self.file}: {self.metric} {score(self.value)}",
            said=" ".join(self.notes),
            headings=("metric", "value", "low", "high"),
            rows=[(name, *map(score, numbers)) for name, numbers in self.scores.items()],
            details=self.to_json(),
        )
        return view._repr_html_()

    @property
    def value(self) -> float | None:
        """The headline metric."""
        return self.scores[self.metric][0]

    def to_json(self) -> Json:
        """The same in dicts and lists."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        return {key: value for key, value in found.items() if value is not None}


class Predictions(NamedTuple):
    """The answers to a file's sources, and the table of them: the file's own columns, then those that are new."""

    columns: dict[str, list[Any]]  # `prediction`, then `probability` of labels or `log_probability` of texts
    answers: list[Answer]
    notes: tuple[str, ...] = ()  # what was taken for what
    refused: tuple[str, ...] = ()  # rows that have no source: their prediction is empty
    text: str = ""  # the file as it is written: its own lines with the new columns, or a CSV table


def with_settings(predictor: Predictor, settings: Settings) -> Recipe:
    """The run's recipe with other data and decode keys; the model stays what it is."""
    values = parse_settings(settings)
    for key in values:
        if not key.startswith(("data.", "decode.")):
            raise InputError(
                f"--set {key}: a trained model keeps it.", found=key, fix="only data.* and decode.* can be changed here"
            )
    return predictor.bundle.recipe.with_values(values)


def evaluate(predictor: Predictor, file: str, *, settings: Settings = ()) -> Evaluation:
    """Every metric with its interval on a file's examples; of a built-in set, on its test part."""
    bundle, given = predictor.bundle, list(parse_settings(settings))
    with parsed_once():
        recipe, taken = find_columns(bundle, with_settings(predictor, settings), file, given=given, labelled=True)
        asked = bundle.task.reading.read_labelled(recipe.data, file, recipe.split_seed)
    unseen = unseen_labels(predictor, asked, file)
    found, _ = predictor.examine(asked.questions, decode=recipe.decode)
    return Evaluation(
        run=str(bundle.folder),
        file=file,
        model=recipe.model.name,
        notes=[*trained_on(recipe, file), *taken, *asked.notes, *unseen],
        refused=[str(refusal) for refusal in asked.refused],
        **found,
    )


def trained_on(recipe: Recipe, file: str) -> list[str]:
    """A note where a file is the one that the model was trained on: most of its rows are no test."""
    same = not is_builtin(file) and Path(file).exists() and str(Path(file).absolute()) == recipe.data.train
    return [f"{file} is the file that the model was trained on: this is no test of it"] if same else []


def unseen_labels(predictor: Predictor, asked: LabelledFile, file: str) -> list[str]:
    """A note on labels that training never met: every answer to them is wrong. A file of such labels alone is refused,
    as no score of it would mean anything.
    """
    bundle = predictor.bundle
    counts = Counter(bundle.task.judging.unseen(bundle.codec, asked.questions) if bundle.task.judging.unseen else ())
    if not counts:
        return []
    names, many = in_words([repr(name) for name in sorted(counts)], limit=5), counts.total()
    known = known_labels(bundle)
    alike = {name.strip().casefold() for name in known} & {name.strip().casefold() for name in counts}
    case = "; they differ from labels of the training in case or spaces alone" if alike else ""
    if bundle.task.judging.labels is not None and many >= sum(len(one.references) for one in asked.questions):
        trained = in_words([repr(name) for name in known], limit=8)
        fix = f"write them as in training: {trained}" if alike else f"name the column that holds {trained}: data.label"
        raise InputError(f"{file}: none of its labels was seen in training{case}.", found=names, fix=fix)
    were = "was" if many == 1 else "were"
    return [f"{counted(many, 'label')} in {file} {were} never seen in training: {names}{case}"]


def predict_file(
    predictor: Predictor,
    file: str,
    *,
    out: Path | None = None,
    settings: Settings = (),
    proba: bool = False,
    bad_rows: str = "skip",
    on_event: EventCallback = no_callback,
) -> Predictions:
    """Answer every source of a file; what was there and the answers are written to `out` where one is named.

    A row without a source keeps its place, with an empty prediction; with bad_rows="stop" it is an error.
    """
    bundle, given = predictor.bundle, list(parse_settings(settings))
    recipe = with_settings(predictor, settings)
    if out is not None:
        require_output(out, file)
    if "data.bad_rows" not in given:
        recipe = recipe.with_values({"data.bad_rows": bad_rows})
    with parsed_once():
        recipe, taken = find_columns(bundle, recipe, file, given=given, labelled=False)
        opened = bundle.task.reading.read_unlabelled(recipe.data, file, recipe.split_seed)
    for refusal in opened.refused:
        on_event({"event": "refused", "text": str(refusal)})
    answers, decimal = predictor.answer(opened.sources, decode=recipe.decode), DECIMALS[recipe.data.decimal]
    if bundle.task.answering.tabulate is None:
        added = new_columns(opened.columns, answers, proba=proba, places=opened.rows)
        written = returned(file, opened.table, opened.columns, added, decimal=decimal)
    else:
        added = bundle.task.answering.tabulate(opened, answers)
        written = as_table(file, added, decimal=decimal)
    columns = {**opened.columns, **added}
    notes = [*taken, *opened.notes]
    if bundle.task.answering.source_notes is not None:
        notes += bundle.task.answering.source_notes(bundle.codec, opened.sources)
    if written.dialect.decimal == ",":
        notes.append(f"numbers are written with decimal commas, as in {file}")
    if out is not None:
        notes += write_returned(out, file, opened.table, opened.columns, added, written)
    refused = tuple(str(refusal) for refusal in opened.refused)
    return Predictions(columns, answers, tuple(notes), refused, written.text)


def predict_lines(
    predictor: Predictor, lines: Sequence[str], *, out: Path | None = None, settings: Settings = (), proba: bool = False
) -> Predictions:
    """Answer every line."""
    if out is not None:
        find_writer(out)
    answers = predictor.answer(list(lines), decode=with_settings(predictor, settings).decode)
    if not lines:
        raise InputError("there is nothing to answer.", found="no line on standard input", fix="type one text per line")
    opened = UnlabelledFile({"source": list(lines)}, list(lines), ())
    columns = {**opened.columns, **new_columns(opened.columns, answers, proba=proba, places=opened.rows)}
    if out is not None:
        write_table(out, columns)
    return Predictions(columns, answers)
