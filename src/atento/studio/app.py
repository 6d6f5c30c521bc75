"""The routes of the studio: what is asked, and the part of the program that answers. Read from `make_app` downwards."""

import json
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from atento import views as page_views
from atento.bundle import Json
from atento.errors import AtentoError, InputError, MachineError, failure_of
from atento.studio import inspecting, mistakes, running, trained
from atento.studio.asking import ComparisonAsked, FileAsked, ModelAsked, Nothing, SourceAsked
from atento.studio.looking import finite
from atento.studio.uploads import receive_file
from atento.studio.workspace import OutsideWorkspace, is_inside, list_files, outside
from atento.version import __version__
from atento.web.bodies import BodyTooLarge
from atento.web.guard import PAGE_POLICY

OWN = Path(__file__).with_name("web")
SHARED = Path(page_views.__file__).with_name("web")  # the attention viewer, the charts
SERVED = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".png": "image/png"}
MOST_ROWS = 1000
FAILURES = (  # each is answered; `Exception` alone would also be raised once more, to the server's own log
    *(AtentoError, OSError, MemoryError, RuntimeError, ValueError, LookupError, TypeError, AttributeError),
    *(ArithmeticError, Exception),
)
STATUS: dict[type[BaseException], int] = {  # of an answer, by what went wrong; the first that fits
    BodyTooLarge: 413,
    OutsideWorkspace: 403,
    running.UnknownRun: 404,
    InputError: 400,
    MachineError: 507,
    AtentoError: 400,
}


def is_upload(path: str) -> bool:
    """The paths that take the bytes of a file."""
    return path == "/api/files" or (path.startswith("/api/runs/") and path.endswith("/predict"))


def make_app() -> FastAPI:
    """The application, without its guard; the current folder is its workspace."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    for kind in FAILURES:
        app.add_exception_handler(kind, tell_failure)
    app.add_exception_handler(RequestValidationError, tell_invalid)
    app.add_exception_handler(HTTPException, tell_status)
    add_pages(app)
    add_workspace(app)
    add_runs(app)
    add_models(app)
    return app


class JsonAnswer(JSONResponse):
    """JSON, in which numbers that are not finite are null."""

    def render(self, content: Any) -> bytes:
        """The bytes of an answer."""
        return json.dumps(finite(content), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
            "utf-8", "replace"
        )


def add_pages(app: FastAPI) -> None:
    """The page itself, its modules, and pages of runs, which stand in a sandbox."""

    @app.api_route("/healthz", methods=["GET", "HEAD"])
    def healthz() -> Response:
        return JsonAnswer({"status": "ok"})

    @app.api_route("/", methods=["GET", "HEAD"])
    def index() -> Response:
        return FileResponse(OWN / "index.html", media_type="text/html")

    @app.api_route("/static/{name:path}", methods=["GET", "HEAD"])
    def static(name: str) -> Response:
        for folder in (OWN, SHARED):
            path = folder / name
            if path.suffix in SERVED and path.is_file() and path.resolve().is_relative_to(folder.resolve()):
                return FileResponse(path, media_type=SERVED[path.suffix], headers={"cache-control": "no-cache"})
        raise HTTPException(404)

    @app.get("/pages/{run:path}/report.html")
    def report(run: str) -> Response:
        return sandboxed(trained.report(run))

    @app.get("/pages/{run:path}/look/{what}.html")
    def look(run: str, what: str, text: str = "") -> Response:
        return sandboxed(trained.page(run, what, text))


def sandboxed(html: str) -> Response:
    """A page with scripts of its own, which reaches nothing."""
    return HTMLResponse(html.encode("utf-8", "replace"), headers={"content-security-policy": PAGE_POLICY})


def add_workspace(app: FastAPI) -> None:
    """Files, and what they are."""

    @app.get("/api/workspace")
    def workspace() -> Response:
        facts = {"version": __version__, "folder": str(Path.cwd()), "files": list_files()}
        return JsonAnswer({**facts, "runs": running.list_all(), **inspecting.catalogue()})

    @app.post("/api/files")
    async def upload(request: Request, name: str) -> Response:
        return JsonAnswer({"name": str(await receive_file(name, request.stream()))})

    @app.get("/api/files/{name:path}")
    def download(name: str) -> Response:
        path = Path(name)
        if not is_inside(path):
            raise outside(name, what="file")
        if not path.is_file():
            raise HTTPException(404)
        return FileResponse(path, media_type="application/octet-stream", filename=path.name)

    @app.post("/api/inspect")
    def inspect(asked: FileAsked) -> Response:
        return JsonAnswer(inspecting.inspect_file(asked))

    @app.post("/api/recipe")
    def recipe(asked: ModelAsked) -> Response:
        return JsonAnswer(inspecting.explained_recipe(asked))

    @app.get("/api/models")
    def models(task: str) -> Response:
        return JsonAnswer(inspecting.models_of(task))


def add_runs(app: FastAPI) -> None:
    """Runs: starting, watching, pausing."""

    @app.post("/api/train")
    def train(asked: ModelAsked) -> Response:
        return JsonAnswer(running.start_training(asked))

    @app.post("/api/compare")
    def compare(asked: ComparisonAsked) -> Response:
        return JsonAnswer(running.start_comparison(asked))

    def add_verb(verb: str) -> None:
        @app.post(f"/api/runs/{{run:path}}/{verb}")
        def change(run: str, asked: Nothing) -> Response:
            return JsonAnswer(running.change_state(run, verb))

    for verb in ("pause", "resume", "finish"):
        add_verb(verb)

    @app.get("/api/runs/{run:path}/events")
    def events(run: str, after: int = 0) -> Response:
        return JsonAnswer(running.events_of(run, after))

    @app.get("/api/runs/{run:path}/board")
    def board(run: str) -> Response:
        return JsonAnswer(running.board_of(run))


def add_models(app: FastAPI) -> None:
    """Trained models at work; the description of a run comes last, since its path is the beginning of all others."""

    @app.get("/api/runs/{run:path}/mistakes")
    def wrong(run: str, limit: int = 50, expected: str | None = None, predicted: str | None = None) -> Response:
        folder = running.find_run(run)
        most = max(0, min(limit, MOST_ROWS))
        return JsonAnswer(mistakes.mistakes_of(folder, most, expected=expected, predicted=predicted))

    add_lookup(app, "examples", trained.examples)
    add_lookup(app, "views", trained.views)

    @app.post("/api/runs/{run:path}/explain")
    def explain(run: str, asked: SourceAsked) -> Response:
        return JsonAnswer(trained.explain(run, asked.source))

    @app.post("/api/runs/{run:path}/predict")
    async def predict(request: Request, run: str, name: str) -> Response:
        await run_in_threadpool(running.find_run, run)
        file = await receive_file(name, request.stream())
        try:
            return JsonAnswer(await run_in_threadpool(trained.predict, run, file))
        except BaseException:
            file.unlink(missing_ok=True)  # nothing is left of a file that could not be answered
            raise

    @app.get("/api/runs/{run:path}")
    def describe(run: str) -> Response:
        return JsonAnswer(running.describe_run(run))


def add_lookup(app: FastAPI, name: str, find: Callable[[str], Json]) -> None:
    """A question about a run that needs nothing but its name."""

    @app.get(f"/api/runs/{{run:path}}/{name}")
    def lookup(run: str) -> Response:
        return JsonAnswer(find(run))


def tell_failure(request: Request, error: Exception) -> Response:
    """Any failure as JSON with a problem, what was found and a fix; a mistake of ours is also told in the terminal."""
    if isinstance(error, ClientDisconnect):
        return Response(status_code=400)
    failure = failure_of(error)
    if type(failure) is AtentoError and failure is not error:
        traceback.print_exception(error, file=sys.stderr)
        return error_answer(500, failure.problem, fix="run the studio again, and report what its terminal says")
    status = next(status for kind, status in STATUS.items() if isinstance(failure, kind))
    choices = [dict([choice.split("=", 1)]) for choice in failure.choices]
    settings = dict(failure.settings)
    return error_answer(
        status, failure.problem, found=failure.found, fix=failure.fix, choices=choices, settings=settings
    )


def tell_invalid(request: Request, error: Exception) -> Response:
    """A body or a query that is not what the route takes."""
    first = error.errors()[0] if isinstance(error, RequestValidationError) and error.errors() else {}
    place = ".".join(str(part) for part in first.get("loc", ())[1:])
    return error_answer(400, f"the request cannot be read: {place or 'body'}.", found=str(first.get("msg", "")))


def tell_status(request: Request, error: Exception) -> Response:
    """A path or a method that there is not."""
    status = error.status_code if isinstance(error, HTTPException) else 404
    return error_answer(status, "there is nothing at this address." if status == 404 else "this is not answered here.")


def error_answer(status: int, problem: str, **more: Any) -> Response:
    """The one form of a failure."""
    return JsonAnswer({"error": {"problem": problem, "found": "", "fix": "", **more}}, status_code=status)
