"""The guard: an ASGI middleware before all routes that lets a request pass, or answers it with a refusal.

A server on this machine can be reached by every page that its user opens. So a request must name a host that the
server is bound to (which stops DNS rebinding), carry the token, and, where it changes something, come from a page of
the server itself (Origin) in a content type that no form can send. Nothing else of the program sees what is refused.
"""

import asyncio
import hmac
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address

from atento.web.bodies import App, Message, Receive, Scope, Send, again, counted, drain, whole_body

READS = ("GET", "HEAD")
WRITES = ("POST",)
LARGEST_JSON = 2**20  # bytes of the body of a request
LARGEST_UPLOAD = 2**30
LONGEST_PATH = 4096
SHOWN = 80  # characters of a header that a refusal repeats
ONCE = frozenset((b"host", b"origin", b"content-type", b"content-length", b"authorization", b"sec-fetch-site"))
STRANGE = re.compile(r"[\x00-\x1f\x7f\\]|%(?:2e|2f|5c|00|25)|//", re.IGNORECASE)  # in a path that is decoded already
APP_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "frame-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
PAGE_POLICY = (  # of pages that hold their own scripts: an opaque origin, which reaches nothing
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; frame-ancestors 'self'"
)
HEADERS = {  # of every answer, unless the application has set its own
    "content-security-policy": APP_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
WRITTEN = {name.encode(): value.encode() for name, value in HEADERS.items()}
NO_TOKEN = "This page is private. Open the link that the terminal printed: it ends in ?token=…"


@dataclass(frozen=True)
class Access:
    """Who may ask a server, and what for."""

    hosts: frozenset[str]  # names in a Host header, with the port
    token: str  # empty: none is asked for, where only this machine can reach the server
    cookie: str  # the name of the cookie that holds the token: cookies know no ports, so two servers need two names
    any_address: int = 0  # a port with which every address in numbers is a host; 0: none but `hosts`
    open_paths: frozenset[str] = frozenset({"/healthz"})  # which need no token
    is_upload: Callable[[str], bool] = lambda path: False  # paths that take the bytes of a file rather than JSON
    programs: bool = False  # whether a program that is no browser may write; it sends no Origin
    largest: int = LARGEST_JSON  # bytes of the JSON of a request
    patience: float | None = None  # seconds in which the JSON of a request must have come; None: any

    def knows_host(self, host: str) -> bool:
        """Whether a Host header names this server. A rebound name is no address in numbers."""
        if host.lower() in self.hosts:
            return True
        name, _, port = host.rpartition(":")
        return bool(self.any_address) and port == str(self.any_address) and is_address(name.strip("[]"))

    def knows_token(self, given: str) -> bool:
        """Compared in constant time; where there is no token, any is good."""
        return not self.token or hmac.compare_digest(given.encode("utf-8", "surrogateescape"), self.token.encode())


def is_address(name: str) -> bool:
    """Whether a host is written in numbers."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class RefusedRequest:
    """The answer to a request that may not pass."""

    status: int
    problem: str
    headers: tuple[tuple[str, str], ...] = ()
    found: str = ""
    fix: str = ""


class Guard:
    """The middleware: `Guard(app, access)` is an ASGI application."""

    def __init__(self, app: App, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass with a bounded body, or refuse it; every answer has the headers of security."""
        if scope["type"] != "http":  # nothing here speaks WebSocket, and the server sends no lifespan events
            return
        send = with_headers(send)
        request = RequestHead(scope)
        refusal = refused(request, self.access)
        if refusal is not None:
            await drain(receive)
            await answer(send, refusal, request)
            return
        if request.path in self.access.open_paths or request.method in READS:
            await self.app(scope, receive, send)
            return
        if self.access.is_upload(request.path):
            await self.app(scope, counted(receive, LARGEST_UPLOAD), send)
            return
        try:
            async with asyncio.timeout(self.access.patience):
                body = await whole_body(receive, self.access.largest)
        except TimeoutError:
            await answer(send, RefusedRequest(408, "the body of the request did not come in time."), request)
            return
        if body is None:
            await drain(receive)
            await answer(send, too_large(self.access.largest), request)
            return
        await self.app(scope, again(body, receive), send)


class RequestHead:
    """What a request says before its body."""

    def __init__(self, scope: Scope) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.query: bytes = scope.get("query_string", b"")
        self.headers: dict[bytes, list[str]] = {}
        self.repeated: set[bytes] = set()  # names of headers that stand there twice
        for name, value in scope["headers"]:
            found = self.headers.setdefault(name.lower(), [])
            if found:
                self.repeated.add(name.lower())
            found.append(value.decode("latin-1"))

    def header(self, name: bytes) -> str:
        """The value of a header, empty where there is none."""
        return self.headers.get(name, [""])[0].strip()

    @property
    def is_of_program(self) -> bool:
        """Whether no browser made it: it has none of the headers that every browser adds to what a page sends."""
        return not any(name in self.headers for name in (b"origin", b"cookie", b"sec-fetch-site", b"sec-fetch-mode"))

    @property
    def wants_page(self) -> bool:
        """Whether a browser asks for a page rather than a program for data."""
        return not self.path.startswith("/api/") and "text/html" in self.header(b"accept")


def refused(request: RequestHead, access: Access) -> RefusedRequest | None:
    """Why a request may not pass, if it may not; or the redirect that takes the token out of the address."""
    for check in (malformed, foreign_host, unknown_method):
        found = check(request, access)
        if found is not None:
            return found
    if request.path in access.open_paths:
        return None
    return signed_in(request, access) or without_token(request, access) or from_elsewhere(request, access)


def malformed(request: RequestHead, access: Access) -> RefusedRequest | None:
    """Paths and headers that mean one thing to one program and another to the next."""
    if request.repeated & ONCE:
        return RefusedRequest(400, "a header stands there twice.")
    if b"transfer-encoding" in request.headers and b"content-length" in request.headers:
        return RefusedRequest(400, "the length of the body is given in two ways.")
    if not request.path.startswith("/") or len(request.path) > LONGEST_PATH:
        return RefusedRequest(400, "this is no path of this server.")
    if STRANGE.search(request.path) or not {".", ".."}.isdisjoint(request.path.split("/")):
        return RefusedRequest(400, "this is no path of this server.")
    return None


def foreign_host(request: RequestHead, access: Access) -> RefusedRequest | None:
    """A Host header that does not name this server: the sign of DNS rebinding."""
    host = request.header(b"host")
    fix = "ask by the address that the terminal printed"
    if access.knows_host(host):
        return None
    return RefusedRequest(403, "this server has another name.", found=shown("Host", host), fix=fix)


def unknown_method(request: RequestHead, access: Access) -> RefusedRequest | None:
    """Anything but reading and POST; there is no preflight, since nobody else may ask."""
    if request.method in READS or (request.method in WRITES and request.path not in access.open_paths):
        return None
    allowed = "GET, HEAD, POST"
    return RefusedRequest(405, f"{request.method} is not answered here.", (("allow", allowed),), fix=f"send {allowed}")


def signed_in(request: RequestHead, access: Access) -> RefusedRequest | None:
    """The link with the token: a cookie takes its place, and the address forgets it."""
    if request.path != "/" or request.method not in READS or not request.query.startswith(b"token="):
        return None
    given = request.query.removeprefix(b"token=").decode("latin-1")
    if not access.knows_token(given):
        return RefusedRequest(401, NO_TOKEN)
    cookie = f"{access.cookie}={access.token}; Path=/; HttpOnly; SameSite=Strict"
    return RefusedRequest(303, "signed in", (("location", "/"), ("set-cookie", cookie)))


def without_token(request: RequestHead, access: Access) -> RefusedRequest | None:
    """Neither the cookie nor an Authorization header with the token."""
    if not access.token:
        return None
    kind, _, given = request.header(b"authorization").partition(" ")
    if kind.lower() == "bearer" and access.knows_token(given.strip()):
        return None
    for line in request.headers.get(b"cookie", []):
        if access.knows_token(cookie_of(line, access.cookie)):
            return None
    fix = "a program sends the header Authorization: Bearer TOKEN"
    return RefusedRequest(401, NO_TOKEN, (("www-authenticate", "Bearer"),), fix=fix)


def cookie_of(line: str, name: str) -> str:
    """The value of one cookie; empty where the line holds none of that name, or is not to be read."""
    try:
        found = SimpleCookie(line).get(name)
    except CookieError:
        return ""
    return found.value if found is not None else ""


def from_elsewhere(request: RequestHead, access: Access) -> RefusedRequest | None:
    """Requests that another page has made; a write must prove that it is our own."""
    if request.header(b"sec-fetch-site") in ("cross-site", "same-site") and request.path != "/":
        found = shown("Sec-Fetch-Site", request.header(b"sec-fetch-site"))
        fix = "open the address of the server itself"
        return RefusedRequest(403, "another page may not ask this server.", found=found, fix=fix)
    if request.method in READS:
        return None
    own = request.header(b"origin") == f"http://{request.header(b'host')}"
    if not own and not (access.programs and request.is_of_program):
        found = shown("Origin", request.header(b"origin"))
        fix = "a program sends no Origin, no Cookie and no Sec-Fetch header" if access.programs else ""
        return RefusedRequest(403, "only a page of this server may send this.", found=found, fix=fix)
    upload = access.is_upload(request.path)
    wanted = "application/octet-stream" if upload else "application/json"
    if request.header(b"content-type").partition(";")[0].strip().lower() != wanted:
        found, fix = shown("Content-Type", request.header(b"content-type")), f"send the header Content-Type: {wanted}"
        return RefusedRequest(415, f"the content type must be {wanted}.", found=found, fix=fix)
    length = request.header(b"content-length")
    if length and (not length.isascii() or not length.isdigit()):
        return RefusedRequest(400, "the length of the body is no number.")
    limit = LARGEST_UPLOAD if upload else access.largest
    if length and int(length) > limit:
        return too_large(limit)
    return None


def shown(name: str, value: str) -> str:
    """The beginning of a header, as a refusal repeats it."""
    return f"{name}: {value[:SHOWN]}" if value else f"no {name}"


def too_large(limit: int) -> RefusedRequest:
    """The one refusal of a body that is too large."""
    return RefusedRequest(413, "the body is too large.", found=f"more than {limit:,} bytes", fix="send less at once")


def with_headers(send: Send) -> Send:
    """Answers with the headers of security."""

    async def send_guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = list(message.get("headers", []))
            added = WRITTEN.keys() - {name.lower() for name, _ in given}
            message = {**message, "headers": [*given, *((name, WRITTEN[name]) for name in added)]}
        await send(message)

    return send_guarded


async def answer(send: Send, refusal: RefusedRequest, request: RequestHead) -> None:
    """Send a refusal: a small page to a browser, else JSON."""
    if request.wants_page:
        kind, body = "text/html; charset=utf-8", f"<!doctype html><title>atento</title><p>{refusal.problem}</p>\n"
    else:
        kind, body = (
            "application/json",
            json.dumps({"error": {"problem": refusal.problem, "found": refusal.found, "fix": refusal.fix}}),
        )
    content = body.encode()
    headers = [
        ("content-type", kind),
        ("content-length", str(len(content))),
        ("connection", "close"),  # the body of the request, which nobody has read, ends with it
        *refusal.headers,
    ]
    written = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    await send({"type": "http.response.start", "status": refusal.status, "headers": written})
    await send({"type": "http.response.body", "body": b"" if request.method == "HEAD" else content})
