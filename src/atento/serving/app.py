"""The routes of a server: what is asked, and who answers. Read from `serving` downwards."""

import asyncio
import json
import sys
import time
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import FileResponse, PlainTextResponse, StreamingResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from atento import views as page_views
from atento.serving.dispatcher import Busy, Dispatcher, Late, Reply
from atento.serving.documents import document
from atento.serving.limits import Limits
from atento.serving.metrics import Metrics
from atento.serving.process import ModelProcess
from atento.serving.schema import Forms, forms_of
from atento.serving.served import ModelCard, Row, RowFailure
from atento.system import call_at_hangup
from atento.web.bodies import App, Message, Receive, Scope, Send
from atento.web.guard import Access, Guard

OWN = Path(__file__).with_name("web")
SHARED = Path(page_views.__file__).with_name("web")  # the attention viewer
KINDS = {".js": "text/javascript", ".css": "text/css"}
PAGE_FILES = {  # every file that the page may ask for, by its name below /static/
    str(path.relative_to(folder).as_posix()): path
    for folder, names in ((SHARED, ("page.css", "attention/*.*")), (OWN, ("*.js", "*.css")))
    for name in names
    for path in folder.glob(name)
    if path.suffix in KINDS
}
PATHS = frozenset({"/", "/predict", "/stream", "/model", "/healthz", "/readyz", "/metrics", "/openapi.json"})
OPEN_PATHS = frozenset({"/healthz", "/readyz"})  # which need no token


class Unusable(Exception):
    """A request that cannot be answered as a whole."""

    def __init__(self, status: int, problem: str, *, found: str = "", fix: str = "") -> None:
        super().__init__(problem)
        self.status, self.problem, self.found, self.fix = status, problem, found, fix


class Front:
    """The door of a server: it counts every request, and lets it in once the model is loaded."""

    def __init__(self) -> None:
        self.metrics = Metrics()
        self.app: App | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count a request by its path and status, and pass it on."""
        if self.app is None or scope["type"] != "http":
            return
        path, started = scope["path"] if scope["path"] in PATHS else "other", time.perf_counter()

        async def send_counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.metrics.requests[path, message["status"]] += 1
                if path == "/predict":
                    self.metrics.seconds.add(time.perf_counter() - started)
            await send(message)

        with suppress(ClientDisconnect):
            await self.app(scope, receive, send_counted)


@asynccontextmanager
async def serving(
    front: Front,
    folder: Path,
    *,
    device: str,
    limits: Limits,
    access: Callable[[int], Access],
    on_ready: Callable[[ModelCard], None],
) -> AsyncIterator[None]:
    """Load the model, open the door, and keep both in order until the server ends. `access` is given the size of the
    largest body.
    """
    model = await ModelProcess.start(folder, device=device)
    limits = limits.for_input(model.card.input)
    async with Dispatcher(folder, model, device=device, limits=limits, metrics=front.metrics) as dispatcher:
        call_at_hangup(dispatcher.look.set)
        front.app = Guard(make_app(dispatcher, front.metrics, limits), access(limits.body))
        on_ready(model.card)
        yield


def make_app(dispatcher: Dispatcher, metrics: Metrics, limits: Limits) -> App:
    """The application, without its guard. Rows are answered before a router looks at them: it would take as long as all
    that is done here with one.
    """
    forms = forms_of(dispatcher.card, limits)
    others = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)

    async def tell_failure(request: Request, error: Exception) -> Response:
        return failed(error)

    for kind in (Unusable, Busy, Late, HTTPException, Exception):
        others.add_exception_handler(kind, tell_failure)
    add_stream(others, dispatcher, forms, metrics)
    add_state(others, dispatcher, metrics, limits)
    add_page(others, document(dispatcher.card, forms, limits))

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] != "/predict":
            await others(scope, receive, send)
            return
        try:
            if scope["method"] != "POST":
                raise HTTPException(405, headers={"allow": "POST"})
            response = await predict((await receive())["body"], dispatcher, forms, metrics)  # the guard has all of it
        except Exception as error:  # noqa: BLE001  told, each in its way
            response = failed(error)
        await response(scope, receive, send)

    return app


async def predict(body: bytes, dispatcher: Dispatcher, forms: Forms, metrics: Metrics) -> Response:
    """Rows in, answers out."""
    example = f'{{"rows": [{forms.example}]}}'
    asked = read_body(body, {"rows": list, "attention": bool}, needed="rows", fix=f"send {example}")
    if not 1 <= len(asked["rows"]) <= forms.rows_limit:
        found = f"{len(asked['rows']):,} rows"
        fix = f"send at most {forms.rows_limit} rows at once" if asked["rows"] else f"send {example}"
        raise Unusable(422, f"`rows` takes 1 to {forms.rows_limit} rows.", found=found, fix=fix)
    rows = forms.read_rows(asked["rows"])
    good = [row for row in rows if not isinstance(row, RowFailure)]
    reply = await dispatcher.ask(good, attention=asked.get("attention", False)) if good else None
    return answered(rows, reply, metrics)


def add_stream(app: FastAPI, dispatcher: Dispatcher, forms: Forms, metrics: Metrics) -> None:
    """A row in, an answer out, piece by piece."""

    async def stream(request: Request) -> Response:
        if not dispatcher.card.streams:
            raise Unusable(404, "this model writes no text that could be streamed.", fix="POST /predict")
        fix = f'send {{"row": {forms.example}}}'
        asked = read_body(await request.body(), {"row": dict}, needed="row", fix=fix)
        row = forms.read_row(asked["row"])
        if isinstance(row, RowFailure):
            raise Unusable(422, row.problem, found=row.found, fix=row.fix)
        dispatcher.require_room(1)  # while there is still a status to tell it by
        return StreamingResponse(streamed(dispatcher, row, metrics), media_type="application/x-ndjson")

    app.add_route("/stream", stream, methods=["POST"])


def read_body(content: bytes, fields: dict[str, type], *, needed: str, fix: str) -> dict[str, Any]:
    """The JSON object of a request, with these fields and no others."""
    try:
        body = READER.decode(content.decode())
    except (ValueError, RecursionError) as error:
        said = "too deep" if isinstance(error, RecursionError) else str(error)
        raise Unusable(422, "the body is no JSON.", found=said[:80], fix=fix) from None
    if not isinstance(body, dict) or needed not in body or not set(body) <= set(fields):
        found = ", ".join(map(repr, list(body)[:5])) if isinstance(body, dict) else type(body).__name__
        wanted = ", ".join(f"`{name}`" for name in fields)
        raise Unusable(422, f"the body takes {wanted}.", found=found[:80] or "nothing", fix=fix)
    for name, value in body.items():
        if not isinstance(value, fields[name]):
            raise Unusable(422, f"`{name}` is of another type.", found=type(value).__name__, fix=fix)
    return body


def refuse_constant(name: str) -> float:
    """NaN and Infinity, which are no JSON."""
    raise ValueError(f"{name} is no JSON")


READER = json.JSONDecoder(parse_constant=refuse_constant)
WRITER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def answered(rows: list[Row | RowFailure], reply: Reply | None, metrics: Metrics) -> Response:
    """A result for each row; a request of which no row could be answered has failed as a whole."""
    answers = iter(reply.answers if reply is not None else ())
    results: list[dict[str, Any]] = [
        {"answer": None, "error": row._asdict(), "attention": None} if isinstance(row, RowFailure) else next(answers)
        for row in rows
    ]
    refused = sum(result["error"] is not None for result in results)
    metrics.rows["refused"] += refused
    metrics.rows["answered"] += len(results) - refused
    if refused == len(results) or reply is None:
        problem = results[0]["error"]
        place = "" if len(results) == 1 else "rows.0."
        raise Unusable(422, f"{place}{problem['problem']}", found=problem["found"], fix=problem["fix"])
    return json_answer({"model": reply.card.id, "results": results})


async def streamed(dispatcher: Dispatcher, row: Row, metrics: Metrics) -> AsyncIterator[bytes]:
    """Lines of JSON: pieces of the text, then the whole answer. The model never waits for a slow client."""
    pieces: list[str] = []
    came = asyncio.Event()

    def take(piece: str) -> None:
        pieces.append(piece)
        came.set()

    asking = asyncio.create_task(dispatcher.ask([row], on_piece=take))
    asking.add_done_callback(lambda task: came.set())
    try:
        while not asking.done() or pieces:
            await came.wait()
            came.clear()
            if pieces:
                piece = "".join(pieces)
                pieces.clear()
                yield line_of({"piece": piece})
        yield line_of(last_line(asking, metrics))
    finally:
        asking.cancel()


def last_line(asking: "asyncio.Task[Reply]", metrics: Metrics) -> dict[str, Any]:
    """The whole answer; or why there is none, which is too late for a status."""
    try:
        reply = asking.result()
    except Busy as error:
        return {"error": {"problem": error.problem, "found": "", "fix": "ask again later"}}
    except Late:
        return {"error": {"problem": "the answer took too long.", "found": "", "fix": "send a shorter row"}}
    (result,) = reply.answers
    metrics.rows["refused" if result["error"] else "answered"] += 1
    return {"model": reply.card.id, **{key: value for key, value in result.items() if value is not None}}


def add_state(app: FastAPI, dispatcher: Dispatcher, metrics: Metrics, limits: Limits) -> None:
    """How the server is, for those who watch over it."""

    async def healthz(request: Request) -> Response:
        return json_answer({"status": "ok"})

    async def readyz(request: Request) -> Response:
        status = 200 if dispatcher.ready else 503
        headers = {} if dispatcher.ready else {"retry-after": "2"}
        return json_answer({"ready": dispatcher.ready, "model": dispatcher.card.id}, status, headers)

    async def show_metrics(request: Request) -> Response:
        text = metrics.text(card=dispatcher.card, ready=dispatcher.ready, waiting=dispatcher.rows_waiting)
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    async def model(request: Request) -> Response:
        return json_answer({**dispatcher.card.to_json(), "limits": asdict(limits)})

    for path, answer in (("/healthz", healthz), ("/readyz", readyz), ("/metrics", show_metrics), ("/model", model)):
        app.add_route(path, answer, methods=["GET", "HEAD"])


def add_page(app: FastAPI, described: dict[str, Any]) -> None:
    """A page to try the model, and the schema for programs."""

    async def schema(request: Request) -> Response:
        return json_answer(described)

    async def index(request: Request) -> Response:
        return FileResponse(OWN / "index.html", media_type="text/html")

    async def static(request: Request) -> Response:
        path = PAGE_FILES.get(request.path_params["name"])
        if path is None:
            raise HTTPException(404)
        return FileResponse(path, media_type=KINDS[path.suffix], headers={"cache-control": "no-cache"})

    app.add_route("/openapi.json", schema, methods=["GET", "HEAD"])
    app.add_route("/static/{name:path}", static, methods=["GET", "HEAD"])
    app.add_route("/", index, methods=["GET", "HEAD"])


def json_answer(content: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """JSON in UTF-8."""
    return Response(line_of(content), status, headers, media_type="application/json")


def line_of(content: dict[str, Any]) -> bytes:
    """One line of JSON."""
    return WRITER.encode(content).encode("utf-8", "replace") + b"\n"


def failed(error: Exception) -> Response:
    """What a caller is told of a request that failed as a whole."""
    match error:
        case Unusable():
            return error_answer(error.status, error.problem, found=error.found, fix=error.fix)
        case Busy():
            return error_answer(503, error.problem, fix="ask again later", headers={"retry-after": str(error.seconds)})
        case Late():
            return error_answer(504, "the answer took too long.", fix="send fewer or shorter rows")
        case HTTPException():  # a path or a method that there is not
            missing = error.status_code == 404
            problem = "there is nothing at this address." if missing else "this address takes another method."
            allowed = (error.headers or {}).get("allow", "")
            fix = f"send {allowed}" if allowed else "GET /openapi.json tells what there is"
            return error_answer(error.status_code, problem, fix=fix, headers=dict(error.headers or {}))
    traceback.print_exception(error, file=sys.stderr)  # a mistake of ours: told in the terminal, not to the caller
    return error_answer(500, "the server made a mistake of its own.", fix="report what its terminal says")


def error_answer(
    status: int, problem: str, *, found: str = "", fix: str = "", headers: dict[str, str] | None = None
) -> Response:
    """The one form of a failure."""
    return json_answer({"error": {"problem": problem, "found": found, "fix": fix}}, status, headers)
