"""The forms of rows and answers, as types: from the card of a model to the schema that its callers read.

No field of a row names a file, an address, a pattern or code.
"""

import json
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from atento.serving.limits import Limits
from atento.serving.served import ModelCard, Row, RowFailure, example_row

LARGEST_NUMBER = 1e30
SHOWN = 80  # characters of a wrong value that a message repeats


class JsonObject(BaseModel):
    """An object that is strict about its names and its types."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class ErrorDetail(JsonObject):
    """What is wrong, what was found, and one way to mend it."""

    problem: str
    found: str = ""
    fix: str = ""


class ErrorAnswer(JsonObject):
    """The answer to a request that failed as a whole."""

    error: ErrorDetail


class AttentionWeights(JsonObject):
    """What the model attended to: weights by layer, head, output and source."""

    source: list[str] = []
    output: list[str] = []
    text: str = ""
    score: float | None = None
    weights: list[list[list[list[float | None]]]] = []
    image: str | None = Field(default=None, description="of an image: its pixels as a data URI")
    grid: list[int] | None = Field(default=None, description="of an image: rows and columns of its regions")
    explanation: str | None = Field(default=None, description="in words, where there are no weights")


class Forms(NamedTuple):
    """The types of one server."""

    row: type[BaseModel]
    request: type[BaseModel]  # of /predict
    answer: type[BaseModel]
    reply: type[BaseModel]
    stream_request: type[BaseModel]
    rows_limit: int
    example: str  # a row as JSON

    def read_rows(self, rows: list[Any]) -> list[Row | RowFailure]:
        """Each row as it is, or why it is none; a wrong row does not spoil the others."""
        return [self.read_row(row) for row in rows]

    def read_row(self, row: Any) -> Row | RowFailure:
        """One row, checked."""
        try:
            checked = self.row.model_validate(row)
        except ValidationError as error:
            return failure_of(error, self.row)
        return dict(checked)  # fields are plain values


def forms_of(card: ModelCard, limits: Limits) -> Forms:
    """The types of the rows and answers of a model."""
    row = create_model("Row", __base__=JsonObject, __doc__="One source.", **row_fields(card, limits))
    answer = create_model("Answer", __base__=JsonObject, __doc__="What the model says.", **answer_fields(card))
    result = create_model(
        "Result",
        __base__=JsonObject,
        __doc__="The answer to one row, or why there is none.",
        answer=(answer | None, None),
        error=(ErrorDetail | None, None),
        attention=(AttentionWeights | None, None),
    )
    wanted = Field(default=False, description="whether each answer comes with the model's attention weights")
    request = create_model(
        "PredictRequest",
        __base__=JsonObject,
        __doc__="Rows to be answered together.",
        rows=(Annotated[list[row], Field(min_length=1, max_length=limits.rows)], ...),
        attention=(Annotated[bool, wanted], False),
    )
    reply = create_model(
        "PredictReply",
        __base__=JsonObject,
        __doc__="A result for each row, in their order, all of one model.",
        model=(str, Field(description="the ID of the model that gave every answer")),
        results=(list[result], ...),
    )
    stream = create_model("StreamRequest", __base__=JsonObject, __doc__="A row to be answered.", row=(row, ...))
    return Forms(row, request, answer, reply, stream, limits.rows, example_row(card))


def row_fields(card: ModelCard, limits: Limits) -> dict[str, Any]:
    """The fields of a row, by the input of the task."""
    text = Annotated[str, Field(min_length=1, max_length=limits.characters)]
    image = Annotated[
        str,
        Field(
            min_length=1,
            max_length=limits.for_input("image").body,
            description="the bytes of a PNG, JPEG, GIF, BMP, TIFF or WebP file in base64",
            json_schema_extra={"contentEncoding": "base64"},
        ),
    ]
    match card.input:
        case "two texts":
            return {"first": (text, ...), "second": (text, ...)}
        case "words":
            word = Annotated[str, Field(min_length=1, max_length=1000)]
            return {"words": (Annotated[list[word], Field(min_length=1, max_length=limits.items)], ...)}
        case "numbers":
            return {"values": (numbers(card.channels, least=1, most=limits.items), ...)}
        case "series":
            least = max(1, card.look_back)
            fields: dict[str, Any] = {
                "values": (numbers(card.channels, least=least, most=max(least, limits.items)), ...)
            }
            if card.output == "forecast":
                name = Field(max_length=200, description="of a series of the training, whose scale is taken")
                fields["series"] = (Annotated[str, name], "")
            if card.covariates:
                wanted = least + card.horizon
                fields["future"] = (numbers(card.covariates, least=wanted, most=wanted), ...)
            return fields
        case "image":
            return {"image": (image, ...)}
        case "image and question":
            return {"image": (image, ...), "question": (text, ...)}
    return {"text": (text, ...)}


def numbers(names: tuple[str, ...], *, least: int, most: int) -> Any:
    """Steps of one number, or of several: one of each name."""
    number = Annotated[float, Field(ge=-LARGEST_NUMBER, le=LARGEST_NUMBER)]
    shown = ", ".join(names[:8]) + (" …" if len(names) > 8 else "")
    if len(names) == 1:
        return Annotated[list[number], Field(min_length=least, max_length=most, description=shown)]
    step = Annotated[list[number], Field(min_length=len(names), max_length=len(names), description=shown)]
    return Annotated[list[step], Field(min_length=least, max_length=most)]


def answer_fields(card: ModelCard) -> dict[str, Any]:
    """The fields of an answer, by the output of the task."""
    likely = (Annotated[float | None, Field(description="natural logarithm; null: the model cannot say")], None)
    of_labels = (dict[str, float | None] | None, None)
    matrix = list[list[float | None]]
    fields: dict[str, dict[str, Any]] = {
        "label": {"label": (str, ...), "probability": (float | None, None), "probabilities": of_labels},
        "labels": {"labels": (list[str], ...), "probabilities": of_labels},
        "tags": {"tags": (list[str], ...), "log_probability": likely},
        "text": {"text": (str, ...), "log_probability": likely},
        "number": {"number": (float | None, ...)},
        "forecast": {"forecast": (matrix, ...), "quantiles": (dict[str, matrix], {})},
        "window": {"window": (matrix, ...), "latent": (list[float | None], ...)},
        "completion": {"text": (str, ...), "added": (str, ...), "log_probability": likely},
        "neighbours": {"words": (list[str], ...)},
    }
    return fields[card.output]


def failure_of(error: ValidationError, form: type[BaseModel]) -> RowFailure:
    """The first thing that is wrong with a row, in words."""
    first = error.errors(include_url=False)[0]
    place, given = ".".join(map(str, first["loc"]))[:SHOWN], first["input"]
    fields = ", ".join(f"`{name}`" for name in form.model_fields)
    fix = f"a row has {fields}"
    name = f"`{place}`" if place else "a row"
    match first["type"]:
        case "missing":
            found = ", ".join(map(repr, given))[:SHOWN] if isinstance(given, dict) and given else "nothing"
            return RowFailure(f"{name} is missing.", found=found, fix=fix)
        case "extra_forbidden":
            return RowFailure(f"{name} is no field of a row.", found=f"{place!r}"[:SHOWN], fix=fix)
        case "string_too_short" | "too_short" if not given:
            return RowFailure(f"{name} is empty.", found="nothing", fix=fix)
    bounds, unit = first.get("ctx", {}), "character" if isinstance(given, str) else "item"
    length = len(given) if isinstance(given, str | list) else 0
    match first["type"]:
        case "string_too_long" | "too_long":
            fix = f"send at most {counted(bounds['max_length'], unit)}"
            return RowFailure(f"{name} is too long.", found=counted(length, unit), fix=fix)
        case "string_too_short" | "too_short":
            fix = f"send at least {counted(bounds['min_length'], unit)}"
            return RowFailure(f"{name} is too short.", found=counted(length, unit), fix=fix)
        case "greater_than_equal" | "less_than_equal" | "finite_number":
            fix = f"send a number from {-LARGEST_NUMBER:.0e} to {LARGEST_NUMBER:.0e}"
            return RowFailure(f"{name} is too large a number.", found=f"{given!r}"[:SHOWN], fix=fix)
    wanted = WANTED.get(first["type"], "a value of another kind")
    return RowFailure(f"{name} must be {wanted}.", found=kind_of(given), fix=fix)


WANTED = {  # what a field takes, by pydantic's name of the mistake
    "string_type": "a text",
    "string_unicode": "a text of whole characters",
    "float_type": "a number",
    "list_type": "a list",
    "model_type": "an object",
    "model_attributes_type": "an object",
}


def counted(number: int, unit: str) -> str:
    """`1 item`, `2 items`."""
    return f"{number:,} {unit}{'' if number == 1 else 's'}"


def kind_of(value: Any) -> str:
    """A short value as it is; of all others the kind, as JSON names it."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str | int | float):
        return f"{value!r}"[:SHOWN]
    return "a list" if isinstance(value, list) else "an object"
