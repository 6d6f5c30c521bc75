"""Hostile requests to a real server: each is refused, and none leaves a trace in the workspace.

A page anywhere on the web, another program on this machine, and a file with a malicious name are the attackers; the
page of the studio itself asks before and after, and is answered.
"""

import contextlib
import hashlib
import http.server
import os
import socket
import subprocess
import sys
import threading

import pytest

CSV = "text,label\n" + "".join(f"the film number {n} was {'good' if n % 2 else 'bad'},{n % 2}\n" for n in range(61))
SECRET = "nobody outside may read this\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A workspace with a data file, a run to speak of, and links that lead out of it; beside it a secret."""
    place = tmp_path_factory.mktemp("guarded")
    folder = place / "workspace"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "reviews.csv").write_text(CSV)
    (place / "secret.csv").write_text("text,label\n" + SECRET)
    (place / "secrets").mkdir()
    (place / "secrets" / "one.txt").write_text(SECRET)
    (folder / "link.csv").symlink_to(place / "secret.csv")
    (folder / "linked").symlink_to(place / "secrets")
    (folder / "texts").mkdir()
    (folder / "texts" / "a.txt").symlink_to(place / "secret.csv")
    for name in ("b.txt", "c.txt"):
        (folder / "texts" / name).write_text("a text of our own\n")
    (folder / "beside").mkdir()
    (folder / "beside" / "train.csv").write_text(CSV)
    (folder / "beside" / "test.csv").symlink_to(place / "secret.csv")
    (folder / "outside.toml").write_text(f'[data]\ntrain = "{place}/secret.csv"\n')
    (folder / "runs" / "broken-1").mkdir(parents=True)
    (folder / "runs" / "broken-1" / "recipe.toml").write_text('task = "classify"\n')
    (place / "elsewhere-1").mkdir()
    (place / "elsewhere-1" / "recipe.toml").write_text('task = "classify"\n')
    (folder / "runs" / "linked-1").symlink_to(place / "elsewhere-1")
    return place


@pytest.fixture(scope="module")
def studio(place, studio_server):
    with studio_server(place / "workspace") as studio:
        yield studio


def tree_of(place):
    """Every name below a folder with what it holds."""
    found = {}
    for path in sorted(place.rglob("*")):
        kind = "link" if path.is_symlink() else "folder" if path.is_dir() else "file"
        content = (
            os.readlink(path)
            if kind == "link"
            else hashlib.sha256(path.read_bytes()).hexdigest()
            if kind == "file"
            else ""
        )
        found[str(path.relative_to(place))] = (kind, content)
    return found


INSPECT = {"file": "data/reviews.csv"}
LARGE = {"file": "x" * (2**20 + 17)}
TRAIN = {"file": "data/reviews.csv", "model": "lstm", "settings": {"train.steps": 1}}
NO_TOKEN = {"Cookie": None}
BEARER = {"Cookie": None, "Authorization": "Bearer {token}"}
JSON = {"Content_Type": "application/json"}


def asked(status, method, path, body=None, **headers):
    """A request as from our own page, but for some headers (None: left out), and the status it must get."""
    return status, method, path, body, {name.replace("_", "-"): value for name, value in headers.items()}


def uploaded(status, name, **headers):
    return asked(status, "POST", f"/api/files?name={name}", b"text,label\n1,2\n", **headers)


def of_settings(status, **settings):
    named = {key.replace("_", "."): value for key, value in settings.items()}
    return asked(status, "POST", "/api/train", {**TRAIN, "settings": {**TRAIN["settings"], **named}})


CASES = {
    # DNS rebinding: the page of a foreign name that resolves to this machine
    "host of a stranger": asked(403, "GET", "/api/workspace", Host="evil.example"),
    "host of a stranger, own port": asked(403, "GET", "/", Host="evil.example:{port}"),
    "host with the name in front": asked(403, "GET", "/api/workspace", Host="127.0.0.1.evil.example:{port}"),
    "host with another port": asked(403, "GET", "/api/workspace", Host="127.0.0.1:1"),
    "host without a port": asked(403, "GET", "/api/workspace", Host="127.0.0.1"),
    "host that is empty": asked(403, "GET", "/api/workspace", Host=""),
    "host with a user": asked(403, "GET", "/api/workspace", Host="127.0.0.1:{port}@evil.example"),
    "host by another address": asked(403, "GET", "/api/workspace", Host="0.0.0.0:{port}"),
    "host of a stranger, no token": asked(403, "GET", "/healthz", Host="evil.example", **NO_TOKEN),
    "write with the host of a stranger": asked(403, "POST", "/api/inspect", INSPECT, Host="evil.example", Origin="http://evil.example"),
    # without the secret
    "no token": asked(401, "GET", "/api/workspace", **NO_TOKEN),
    "no token for the page": asked(401, "GET", "/", **NO_TOKEN),
    "no token for a module": asked(401, "GET", "/static/main.js", **NO_TOKEN),
    "no token for a report": asked(401, "GET", "/pages/broken-1/report.html", **NO_TOKEN),
    "no token for a write": asked(401, "POST", "/api/train", TRAIN, **NO_TOKEN),
    "no token for an upload": uploaded(401, "a.csv", **NO_TOKEN),
    "a wrong token": asked(401, "GET", "/api/workspace", Cookie="atento-studio-{port}=0123456789abcdef"),
    "an empty token": asked(401, "GET", "/api/workspace", Cookie="atento-studio-{port}="),
    "the beginning of the token": asked(401, "GET", "/api/workspace", Cookie="atento-studio-{port}={half}"),
    "the token in another cookie": asked(401, "GET", "/api/workspace", Cookie="session={token}"),
    "a wrong bearer": asked(401, "GET", "/api/workspace", Cookie=None, Authorization="Bearer 0123456789abcdef"),
    "the token as a password": asked(401, "GET", "/api/workspace", Cookie=None, Authorization="Basic {token}"),
    "a wrong link": asked(401, "GET", "/?token=0123456789abcdef", **NO_TOKEN),
    "a link to data": asked(401, "GET", "/api/workspace?token={token}", **NO_TOKEN),
    # cross-site requests of a browser that has the cookie
    "origin of a stranger": asked(403, "POST", "/api/train", TRAIN, Origin="http://evil.example"),
    "origin without a name": asked(403, "POST", "/api/train", TRAIN, Origin="null"),
    "no origin": asked(403, "POST", "/api/train", TRAIN, Origin=None),
    "origin with another port": asked(403, "POST", "/api/train", TRAIN, Origin="http://127.0.0.1:1"),
    "origin by another name": asked(403, "POST", "/api/train", TRAIN, Origin="http://localhost:{port}"),
    "origin with another scheme": asked(403, "POST", "/api/train", TRAIN, Origin="https://127.0.0.1:{port}"),
    "origin of a stranger, upload": uploaded(403, "a.csv", Origin="http://evil.example"),
    "origin of a stranger, pause": asked(403, "POST", "/api/runs/broken-1/pause", {}, Origin="http://evil.example"),
    "bearer from a stranger's page": asked(403, "POST", "/api/train", TRAIN, **BEARER, Origin="http://evil.example"),
    "read by another site": asked(403, "GET", "/api/workspace", Sec_Fetch_Site="cross-site"),
    "read by another port": asked(403, "GET", "/pages/broken-1/report.html", Sec_Fetch_Site="same-site"),
    # what a form can send without asking
    "a form": asked(415, "POST", "/api/train", TRAIN, Content_Type="application/x-www-form-urlencoded"),
    "a form of text": asked(415, "POST", "/api/train", TRAIN, Content_Type="text/plain"),
    "a form with a file": uploaded(415, "a.csv", Content_Type="multipart/form-data; boundary=x"),
    "no content type": asked(415, "POST", "/api/train", TRAIN, Content_Type=None),
    "JSON for an upload": uploaded(415, "a.csv", Content_Type="application/json"),
    "an upload for JSON": asked(415, "POST", "/api/train", TRAIN, Content_Type="application/octet-stream"),
    # methods
    "a preflight": asked(405, "OPTIONS", "/api/train", Origin="http://a.example", Access_Control_Request_Method="POST"),
    "delete": asked(405, "DELETE", "/api/runs/broken-1"),
    "put": asked(405, "PUT", "/api/files/data/reviews.csv", b"x"),
    "patch": asked(405, "PATCH", "/api/runs/broken-1", {}),
    "trace": asked(405, "TRACE", "/"),
    "connect": asked(400, "CONNECT", "evil.example:80"),
    "post to the sign of life": asked(405, "POST", "/healthz", {}),
    "get of a write": asked(405, "GET", "/api/train"),
    "post of a page": asked(405, "POST", "/", {}),
    # paths that lead out
    "static traversal": asked(400, "GET", "/static/../app.py"),
    "static traversal, encoded": asked(400, "GET", "/static/%2e%2e/app.py"),
    "static traversal, encoded slash": asked(400, "GET", "/static/..%2fapp.py"),
    "static traversal, encoded twice": asked(400, "GET", "/static/%252e%252e%252fapp.py"),
    "static traversal, backslash": asked(400, "GET", "/static/..%5capp.py"),
    "static with a NUL": asked(400, "GET", "/static/main.js%00.css"),
    "static, absolute": asked(400, "GET", "/static//etc/passwd"),
    "static of another kind": asked(404, "GET", "/static/index.html"),
    "a path of Python": asked(404, "GET", "/static/app.py"),
    "file traversal": asked(400, "GET", "/api/files/data/../../secret.csv"),
    "file traversal, encoded": asked(400, "GET", "/api/files/%2e%2e/secret.csv"),
    "file, absolute": asked(400, "GET", "/api/files//etc/passwd"),
    "file, absolute and encoded": asked(400, "GET", "/api/files/%2Fetc%2Fpasswd"),
    "file behind a link": asked(403, "GET", "/api/files/link.csv"),
    "file behind a linked folder": asked(403, "GET", "/api/files/linked/one.txt"),
    "the token itself": asked(403, "GET", "/api/files/runs/.studio/token"),
    "run traversal": asked(400, "GET", "/api/runs/..%2F..%2Fsecrets"),
    "run traversal, encoded twice": asked(400, "GET", "/api/runs/%252e%252e"),
    "run that is not listed": asked(404, "GET", "/api/runs/.studio"),
    "run behind a link": asked(404, "GET", "/api/runs/linked-1"),
    "run, absolute": asked(400, "POST", "/api/runs/%2Fetc/pause", {}),
    "report traversal": asked(400, "GET", "/pages/..%2f../report.html"),
    "view that is a path": asked(400, "GET", "/pages/broken-1/look/..%2f..%2fx.html"),
    "mistakes of nobody": asked(404, "GET", "/api/runs/nobody/mistakes"),
    "an absolute target": asked(400, "GET", "http://evil.example/api/workspace"),
    "an absolute target of our own": asked(400, "GET", "http://127.0.0.1:{port}/api/workspace"),
    "a path without end": asked(400, "GET", "/static/" + "a/" * 3001),
    # names of dropped files
    "upload with folders": uploaded(403, "..%2F..%2Fsecret.csv"),
    "upload to an absolute path": uploaded(403, "%2Ftmp%2Fa.csv"),
    "upload with backslashes": uploaded(403, "..%5C..%5Ca.csv"),
    "upload with a NUL": uploaded(403, "a.csv%00.txt"),
    "upload that hides": uploaded(403, ".bashrc"),
    "upload named as the folder above": uploaded(403, ".."),
    "upload without a name": uploaded(403, ""),
    "upload of nothing": asked(400, "POST", "/api/files?name=a.csv", b""),
    "upload for no run": asked(404, "POST", "/api/runs/nobody/predict?name=a.csv", b"x"),
    # recipe keys that name files
    "file outside": asked(403, "POST", "/api/inspect", {"file": "/etc/passwd"}),
    "file above": asked(403, "POST", "/api/inspect", {"file": "../secret.csv"}),
    "file by a link": asked(403, "POST", "/api/inspect", {"file": "link.csv"}),
    "folder by a link": asked(403, "POST", "/api/inspect", {"file": "linked"}),
    "folder with a link": asked(403, "POST", "/api/inspect", {"file": "texts"}),
    "file beside a link": asked(403, "POST", "/api/recipe", {"file": "beside/train.csv"}),
    "one of two parallel files": asked(403, "POST", "/api/inspect", {"file": "data/reviews.csv,../secret.csv"}),
    "recipe that names a file outside": asked(403, "POST", "/api/train", {"file": "outside.toml"}),
    "file with a NUL": asked(403, "POST", "/api/inspect", {"file": "a\0b.csv"}),
    "hidden file": asked(403, "POST", "/api/inspect", {"file": "runs/.studio/token"}),
    "training data outside": of_settings(403, data_train="/etc/passwd"),
    "validation data outside": of_settings(403, data_valid="../secret.csv"),
    "test data outside": of_settings(403, data_test="link.csv"),
    "word vectors outside": of_settings(403, tokens_vectors="/etc/passwd"),
    "comparison of data outside": asked(403, "POST", "/api/compare", {"file": "/etc/passwd"}),
    "start from a run outside": asked(400, "POST", "/api/train", {**TRAIN, "start_from": "../../elsewhere-1"}),
    # words that would be options, code or markup elsewhere
    "a model that is an option": asked(400, "POST", "/api/train", {**TRAIN, "model": "--out=/tmp/x"}),
    "a task that is an option": asked(400, "POST", "/api/train", {**TRAIN, "task": "--help"}),
    "a budget that is a command": asked(400, "POST", "/api/train", {**TRAIN, "budget": "5m; touch x"}),
    "a key that is an option": asked(400, "POST", "/api/train", {**TRAIN, "settings": {"--out": "/tmp/x"}}),
    "a file that is markup": asked(400, "POST", "/api/inspect", {"file": "<img src=x onerror=alert(1)>.csv"}),
    "a column that is markup": asked(400, "POST", "/api/recipe", {**TRAIN, "settings": {"data.label": "<script>"}}),
    "a key that there is not": asked(400, "POST", "/api/inspect", {**INSPECT, "out": "/tmp/x"}),
    "an unknown task": asked(400, "GET", "/api/models?task=<script>".replace("<", "%3C").replace(">", "%3E")),
    "no JSON": asked(400, "POST", "/api/inspect", b"{", **JSON),
    "JSON without end": asked(400, "POST", "/api/inspect", b"[" * 100_000, **JSON),
    "a list": asked(400, "POST", "/api/inspect", []),
    # size
    "a large body": asked(413, "POST", "/api/inspect", LARGE),
    "a large body, said to be": asked(413, "POST", "/api/inspect", b"{}", **JSON, Content_Length=str(2**20 + 1)),
    "a large upload, said to be": uploaded(413, "a.csv", Content_Length=str(2**30 + 1)),
    "a negative length": asked(400, "POST", "/api/inspect", b"{}", **JSON, Content_Length="-1"),
}  # fmt: skip


def filled(text, studio):
    """A text with the port and the token of the server; the braces of JSON stay."""
    facts = {"port": studio.port, "token": studio.token, "half": studio.token[:-1]}
    for name, value in facts.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text


def raw(studio, head, body=b""):
    """The first line that the server answers to bytes that no client would send; empty where it hangs up."""
    with contextlib.closing(socket.create_connection((studio.host, studio.port), timeout=30)) as connection:
        with contextlib.suppress(OSError):  # it may hang up before all is sent
            connection.sendall(filled(head, studio).replace("\n", "\r\n").encode() + body)
        answer = b""
        with contextlib.suppress(ConnectionError):
            while b"\r\n" not in answer and (chunk := connection.recv(65536)):
                answer += chunk
    return answer.partition(b"\r\n")[0].decode()


def chunks(*parts):
    return b"".join(f"{len(part):x}\r\n".encode() + part + b"\r\n" for part in (*parts, b""))


HOST, COOKIE, ORIGIN = (
    "Host: 127.0.0.1:{port}",
    "Cookie: atento-studio-{port}={token}",
    "Origin: http://127.0.0.1:{port}",
)
KIND, CHUNKED = "Content-Type: application/json", "Transfer-Encoding: chunked"
SMUGGLED = b"POST /api/train HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def head(first, *lines):
    return "\n".join([first, *lines, "", ""])


def get(*lines):
    return head("GET /api/workspace HTTP/1.1", *lines)


def post(*lines):
    return head("POST /api/inspect HTTP/1.1", HOST, COOKIE, ORIGIN, *lines)


RAW = {  # bytes that two programs could read differently: the status they must get, the head, the body
    "two hosts": (400, get(HOST, "Host: evil.example", COOKIE), b""),
    "no host": (400, get(COOKIE), b""),
    "no host, an old protocol": (403, head("GET /api/workspace HTTP/1.0", COOKIE), b""),
    "two origins": (400, post("Origin: http://evil.example", KIND, "Content-Length: 2"), b"{}"),
    "two content types": (400, post("Content-Type: text/plain", KIND, "Content-Length: 2"), b"{}"),
    "two lengths": (400, post(KIND, "Content-Length: 2", "Content-Length: 99"), b"{}"),
    "a length and chunks": (400, post(KIND, "Content-Length: 2", CHUNKED), chunks(b"{}")),
    "an unknown encoding": (400, post(KIND, "Transfer-Encoding: gzip, chunked"), chunks(b"{}")),
    "a large body in chunks": (413, post(KIND, CHUNKED), chunks(*[b" " * 65536] * 17)),
    "a header that goes on": (400, get(HOST, " evil.example", "Cookie : x"), b""),
    "a header without end": (400, get(HOST, f"X: {'a' * 200_000}"), b""),
    "no HTTP": (400, "\x16\x03\x01\x02\n\n", b""),
    "no protocol": (400, head("GET /", HOST), b""),
    "two requests in one": (415, post(f"Content-Length: {len(SMUGGLED)}"), SMUGGLED),
    "a socket of the web": (
        401,
        get(HOST, "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"),
        b"",
    ),
}


def own_page_works(studio):
    """The requests that the page makes; each is answered."""
    assert studio.ask("GET", "/healthz", own=False).json == {"status": "ok"}
    signed = studio.ask("GET", f"/?token={studio.token}", own=False)
    assert signed.status == 303 and signed.headers["location"] == "/"
    cookie = signed.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Path=/" in cookie and "Domain" not in cookie
    page = studio.ask("GET", "/", headers={"Sec-Fetch-Site": "same-origin"})
    assert page.status == 200 and b"<!doctype html>" in page.body
    assert studio.ask("GET", "/static/main.js", headers={"Sec-Fetch-Site": "same-origin"}).status == 200
    names = [entry["name"] for entry in studio.get("/api/workspace")["files"]]
    assert "data/reviews.csv" in names and "link.csv" not in names
    assert studio.post("/api/inspect", INSPECT)["rows"] == 61
    bearer = {"Cookie": None, "Authorization": f"Bearer {studio.token}"}
    assert studio.ask("GET", "/api/workspace", headers=bearer).status == 200
    for name in ("localhost", "[::1]"):  # other names of the same place
        own = {"Host": f"{name}:{studio.port}", "Origin": f"http://{name}:{studio.port}"}
        assert studio.ask("POST", "/api/inspect", INSPECT, headers=own).status == 200


@pytest.fixture(scope="module")
def before(studio, place):
    """The tree of files while our own page works, to which every hostile request is compared."""
    own_page_works(studio)
    return tree_of(place)


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_request_is_refused_without_a_trace(studio, place, before, name):
    status, method, path, body, headers = CASES[name]
    sent = {key: value if value is None else filled(value, studio) for key, value in headers.items()}
    reply = studio.ask(method, filled(path, studio), body, headers=sent)

    assert reply.status == status, reply.body[:500]
    assert SECRET.strip().encode() not in reply.body and b"root:" not in reply.body
    assert b"Traceback" not in reply.body and studio.token.encode() not in reply.body
    assert not [header for header in reply.headers if header.lower().startswith("access-control")]
    if reply.headers.get("content-security-policy"):  # what h11 refuses by itself has no body worth guarding
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert "application/json" in reply.headers["content-type"]
    assert tree_of(place) == before


@pytest.mark.parametrize("name", RAW)
def test_ambiguous_bytes_are_refused_without_a_trace(studio, place, before, name):
    status, head, body = RAW[name]
    assert raw(studio, head, body).split(" ")[1:2] == [str(status)]
    assert tree_of(place) == before


ATTACKS = """async (studio) => {
  const told = {};
  const refused = (promise) => promise.then((answer) => `answered ${answer.status}`, () => "blocked");
  const body = JSON.stringify({ file: "data/reviews.csv", settings: { "train.steps": 1 } });
  const options = { method: "POST", credentials: "include", body };
  told.simple = await refused(fetch(studio + "/api/train", { ...options, mode: "no-cors" }));
  const headers = { "Content-Type": "application/json" };
  told.preflight = await refused(fetch(studio + "/api/train", { ...options, headers }));
  told.upload = await refused(fetch(studio + "/api/files?name=a.csv", { ...options, mode: "no-cors" }));
  told.read = await refused(fetch(studio + "/api/workspace", { credentials: "include" }));
  const loaded = (name, set) => new Promise((kept) => {
    const element = document.createElement(name);
    element.onload = () => kept("loaded");
    element.onerror = () => kept("failed");
    set(element);
    document.body.append(element);
  });
  told.script = await loaded("script", (one) => { one.src = studio + "/api/workspace"; });
  told.module = await loaded("script", (one) => { one.src = studio + "/static/main.js"; one.type = "module"; });
  told.image = await loaded("img", (one) => { one.src = studio + "/pages/broken-1/report.html"; });
  told.style = await loaded("link", (one) => { one.rel = "stylesheet"; one.href = studio + "/static/page.css"; });
  const frame = document.createElement("iframe");
  frame.name = "inside";
  document.body.append(frame);
  const form = document.createElement("form");
  Object.assign(form, { action: studio + "/api/train", method: "post", enctype: "text/plain", target: "inside" });
  const field = document.createElement("input");
  Object.assign(field, { name: '{"file":"data/reviews.csv","task":"', value: 'auto"}' });
  form.append(field);
  document.body.append(form);
  const sent = new Promise((kept) => { frame.onload = () => kept("sent"); });
  form.submit();
  told.form = await sent;
  return told;
}"""


@pytest.fixture
def stranger():
    """A page of another server on this machine: the same site to a browser, so that even strict cookies go along."""

    class Quiet(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>stranger</title><link rel=icon href=data:,><body>")

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_page_of_another_server_achieves_nothing_in_a_real_browser(studio, place, before, browser, stranger):
    context = browser.new_context()
    try:
        own = context.new_page()
        own.goto(studio.link)
        assert own.evaluate("fetch('/api/workspace').then((answer) => answer.status)") == 200
        page = context.new_page()
        page.goto(stranger)
        told = page.evaluate(ATTACKS, studio.url)
        assert told == {
            **dict.fromkeys(("simple", "upload", "preflight", "read"), "blocked"),
            **dict.fromkeys(("script", "module", "image", "style"), "failed"),
            "form": "sent",
        }
        assert not page.frames[-1].url.startswith(studio.url)  # nothing of the studio is shown in a foreign frame
        with page.expect_navigation():
            page.evaluate("() => { const form = document.querySelector('form'); form.target = '_top'; form.submit() }")
        assert "another page may not ask" in page.inner_text("body")
        assert own.evaluate("fetch('/api/workspace').then((answer) => answer.status)") == 200
    finally:
        context.close()
    assert tree_of(place) == before


def test_after_all_that_our_own_page_still_works(studio, place, before):
    """The last test of this file: sixty requests and more have been refused."""
    assert len(CASES) + len(RAW) >= 60
    own_page_works(studio)
    assert tree_of(place) == before
    assert "Traceback" not in "".join(studio.said)


def test_every_answer_carries_the_headers_of_security(studio):
    for path in ("/", "/static/main.js", "/api/workspace", "/api/nothing", "/healthz"):
        headers = studio.ask("GET", path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == ("no-cache" if path.startswith("/static") else "no-store")
        assert "server" not in headers


def test_a_dropped_file_gets_a_plain_name_and_replaces_nothing(studio):
    """Markup in a name is taken out; the second file of a name has a number."""
    name = "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E.csv"
    names = [studio.ask("POST", f"/api/files?name={name}", CSV.encode()).json["name"] for _ in range(2)]
    assert names == ["data/img src-x onerror-alert(1).csv", "data/img src-x onerror-alert(1)-2.csv"]
    assert (studio.folder / names[1]).read_text() == CSV
    (studio.folder / names[0]).unlink()
    (studio.folder / names[1]).unlink()


def test_the_token_is_kept_for_its_owner_alone(studio):
    kept = studio.folder / "runs" / ".studio" / "token"
    assert kept.read_text().strip() == studio.token and len(studio.token) >= 32
    assert kept.stat().st_mode & 0o777 == 0o600 and kept.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "example.org", ""])
def test_a_server_for_others_without_a_token_is_refused(tmp_path, host):
    """With exit code 2, before a socket is opened or a file is written: the address need not even exist."""
    command = [sys.executable, "-m", "atento", "studio", str(tmp_path), "--host", host, "--port", "0", "--no-browser"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 2 and "--token" in done.stderr and "http://" not in done.stdout
    assert list(tmp_path.iterdir()) == []
