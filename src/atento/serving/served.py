"""What a server needs of a model, whatever computes it: torch in the folder of a run, or a runtime of exported files.

A model is loaded in a process of its own (`atento.serving.worker`), which sends its `ModelCard` to the server. From the
card alone the server knows what rows look like, what an answer holds, and what to show in a browser. Rows and answers
are plain JSON values; the forms of both are in `atento.serving.schema`.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple, Protocol

Row = dict[str, Any]  # one source as JSON, already of the form that the input of the task has
AnswerJson = dict[str, Any]  # one answer as JSON, of the form that the output of the task has
Emit = Callable[[str], None]  # takes the next piece of a text that is being written

EXPORTED = "export.json"  # a folder that holds this file is an exported model, which needs no torch: it is loaded by
# `load_exported(folder: Path) -> ServedModel` of `atento.serving.exported`; any other by `atento.serving.trained`

# Row, by the input of the card. Every list is what JSON has; nothing in a row names a file.
#   text                 {"text": "…"}
#   two texts            {"first": "…", "second": "…"}
#   words                {"words": ["…", …]}
#   numbers              {"values": [[0.1, 0.2], …]}: steps × channels; of one channel {"values": [0.1, …]}
#   image                {"image": "…"}: the bytes of a PNG, JPEG … file in base64
#   image and question   {"image": "…", "question": "…"}
#   series               {"values": …, "series": "…", "future": …}: rows × channels, the newest last; the last two are
#                        optional: the name of a series of the training, and covariates that are known in advance
INPUTS = ("text", "two texts", "words", "numbers", "image", "image and question", "series")

# AnswerJson, by the output of the card.
#   label        {"label": "…", "probability": 0.9, "probabilities": {"…": 0.9, …}}; None where the model cannot say
#   labels       {"labels": ["…", …], "probabilities": {"…": 0.9, …}}
#   tags         {"tags": ["…", …], "log_probability": −1.2}
#   text         {"text": "…", "log_probability": −1.2}
#   number       {"number": 1.5}
#   forecast     {"forecast": [[…], …], "quantiles": {"0.1": [[…], …], …}}: steps × channels
#   window       {"window": [[…], …], "latent": […]}: a window that was read, as it was compressed and restored
#   completion   {"text": "…", "added": "…", "log_probability": −1.2}
#   neighbours   {"words": ["…", …]}
OUTPUTS = ("label", "labels", "tags", "text", "number", "forecast", "window", "completion", "neighbours")


@dataclass(frozen=True)
class ModelCard:
    """What a model is, as its server and its callers know it."""

    id: str  # a model with other weights or another recipe has another one: 12 hexadecimal digits
    task: str
    model: str  # its name, e.g. lstm+additive
    summary: str  # of the task, in one sentence
    input: str  # one of INPUTS
    output: str  # one of OUTPUTS
    labels: tuple[str, ...] = ()  # or tags
    channels: tuple[str, ...] = ()  # of numbers, series and windows
    covariates: tuple[str, ...] = ()  # of series: columns that are known in advance
    look_back: int = 0  # of series: rows that are read, at least
    horizon: int = 0  # of series: steps that are forecast
    quantiles: tuple[str, ...] = ()  # of forecasts
    streams: bool = False  # whether `stream` tells a text while it is written
    attends: bool = False  # whether an answer may come with attention weights

    @property
    def form(self) -> tuple[object, ...]:
        """What the schema promises: a model of the same form can take the place of another."""
        many = (len(self.channels), self.covariates, self.look_back, self.horizon, self.quantiles)
        return (self.task, self.input, self.output, *many, self.streams)

    def to_json(self) -> dict[str, Any]:
        """Its fields by name."""
        return asdict(self)

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> "ModelCard":
        """What `to_json` wrote."""
        known = {field.name for field in fields(cls)}
        lists: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in given.items()
        }
        return cls(**{key: value for key, value in lists.items() if key in known})


EXAMPLES: dict[str, Row] = {  # a row of each input, for the commands and messages that show one
    "text": {"text": "…"},
    "two texts": {"first": "…", "second": "…"},
    "words": {"words": ["…", "…"]},
    "image and question": {"image": "BASE64", "question": "…"},
    "image": {"image": "BASE64"},
}
LONGEST_EXAMPLE = 200  # characters


def example_row(card: ModelCard) -> str:
    """A row that a model takes, as JSON."""
    step: list[object] = [0.5] if len(card.channels) == 1 else [[0.5] * len(card.channels)]
    row = EXAMPLES.get(card.input, {"values": step * max(1, card.look_back)})
    written = json.dumps(row, ensure_ascii=False)
    return written if len(written) <= LONGEST_EXAMPLE else '{"values": [[…], …]}'


class RowFailure(NamedTuple):
    """Why one row could not be answered; the other rows of its batch are. It names no path of this machine."""

    problem: str
    found: str = ""
    fix: str = ""


class RowAnswer(NamedTuple):
    """The answer to one row."""

    answer: AnswerJson
    attention: dict[str, Any] | None = None  # as `Alignment.to_json` writes it, where it was asked for


class ServedModel(Protocol):
    """A model that is loaded and answers, one call at a time."""

    @property
    def card(self) -> ModelCard:
        """What it is."""

    def answer(self, rows: Sequence[Row], *, attention: Sequence[bool]) -> list[RowAnswer | RowFailure]:
        """An answer or a failure for each row, in their order; `attention` says for each row whether weights are
        wanted. A bad row never spoils the others, and what is next to a row changes nothing of its answer.
        """

    def stream(self, row: Row, emit: Emit) -> RowAnswer | RowFailure:
        """The same answer to one row, told piece by piece while it is written; of a card that `streams`. An exception
        that `emit` raises ends it.
        """
