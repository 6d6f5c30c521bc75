"""The OpenAPI document of a server, from the card of its model: what programs and their generators read."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import models_json_schema

from atento.serving.limits import Limits
from atento.serving.schema import ErrorAnswer, Forms
from atento.serving.served import ModelCard
from atento.version import __version__

REFERENCE = "#/components/schemas/{model}"
Json = dict[str, Any]


class Health(BaseModel):
    """Whether the server runs."""

    status: str


class Readiness(BaseModel):
    """Whether a model can answer, and which."""

    ready: bool
    model: str


class ModelDescription(BaseModel):
    """The model, and how much the server takes."""

    model_config = ConfigDict(extra="allow")
    id: str
    task: str
    model: str
    summary: str
    input: str
    output: str
    labels: list[str] = Field(default=[], description="all labels or tags that an answer may hold")
    limits: dict[str, int]


def document(card: ModelCard, forms: Forms, limits: Limits) -> Json:
    """The whole document."""
    types = (forms.request, forms.reply, forms.stream_request, ErrorAnswer, Health, Readiness, ModelDescription)
    _, found = models_json_schema([(one, "validation") for one in types], ref_template=REFERENCE)
    schemas = {name: schema for name, schema in found.get("$defs", {}).items()}
    paths: Json = {
        "/predict": {"post": predict(card, limits)},
        "/model": {"get": read("model", "What the model is, and the limits of this server.", ModelDescription)},
        "/healthz": {"get": read("healthz", "Whether the server runs.", Health)},
        "/readyz": {"get": ready()},
        "/metrics": {"get": metrics()},
    }
    if card.streams:
        paths["/stream"] = {"post": stream()}
    return {
        "openapi": "3.1.0",
        "info": {"title": f"atento: {card.task}", "summary": card.summary, "version": __version__},
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "description": "of --token, if given"}},
        },
        "security": [{}, {"token": []}],
    }


def predict(card: ModelCard, limits: Limits) -> Json:
    """The route of answers."""
    return {
        "operationId": "predict",
        "summary": card.summary,
        "description": f"At most {limits.rows} rows. A row that is wrong has an error in its place; 422 tells that no "
        "row could be answered. What waits at the same time is computed together, and changes nothing.",
        "requestBody": body_of("PredictRequest"),
        "responses": {"200": holds("A result for each row.", "PredictReply"), **failures(card)},
    }


def stream() -> Json:
    """The route of texts that are told while they are written."""
    line = {"type": "string", "description": 'lines of JSON: {"piece": …} several times, then the answer'}
    return {
        "operationId": "stream",
        "summary": "The text of one answer, piece by piece.",
        "requestBody": body_of("StreamRequest"),
        "responses": {
            "200": {"description": "Lines of JSON.", "content": {"application/x-ndjson": {"schema": line}}},
            **failures(None),
        },
    }


def failures(card: ModelCard | None) -> Json:
    """What a request may meet."""
    problems = {
        "400": "The request is not well formed.",
        "401": "The token is missing.",
        "403": "The request comes from a page of another site.",
        "408": "The body did not come in time.",
        "413": "The body is too large.",
        "415": "The body is no application/json.",
        "422": "Nothing in the body can be answered.",
        "503": "Too many requests wait, or the model is being loaded: come again after Retry-After seconds.",
        "504": "The answer took too long.",
    }
    found = {status: holds(text, "ErrorAnswer") for status, text in problems.items()}
    found["503"]["headers"] = {"Retry-After": {"schema": {"type": "integer"}}}
    return found


def read(name: str, summary: str, form: type[BaseModel]) -> Json:
    """A route that only tells something."""
    return {"operationId": name, "summary": summary, "responses": {"200": holds(summary, form.__name__)}}


def ready() -> Json:
    """The route that load balancers ask."""
    found = read("readyz", "Whether a model can answer.", Readiness)
    found["responses"]["503"] = holds("No model can answer now.", "Readiness")
    return found


def metrics() -> Json:
    """The route of Prometheus."""
    text = {"text/plain": {"schema": {"type": "string"}}}
    return {
        "operationId": "metrics",
        "summary": "Counts in the text format of Prometheus.",
        "responses": {"200": {"description": "Counts.", "content": text}},
    }


def body_of(name: str) -> Json:
    """A JSON body that must be there."""
    return {"required": True, "content": {"application/json": {"schema": {"$ref": REFERENCE.format(model=name)}}}}


def holds(text: str, name: str) -> Json:
    """A JSON answer."""
    return {
        "description": text,
        "content": {"application/json": {"schema": {"$ref": REFERENCE.format(model=name)}}},
    }
