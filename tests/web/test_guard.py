"""The guard by itself: what each rule lets pass; whole requests to a real server are in tests/studio/test_guard.py."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from atento.web import guard as guarding
from atento.web.bodies import BodyTooLarge
from atento.web.guard import LARGEST_JSON, LARGEST_UPLOAD, Access, Guard

TOKEN = "0123456789abcdef"
HOST = "127.0.0.1:8765"
OWN = {"host": HOST, "cookie": f"page={TOKEN}", "origin": f"http://{HOST}", "content-type": "application/json"}


def access(**changed):
    return Access(hosts=frozenset({HOST}), token=TOKEN, cookie="page", is_upload=lambda path: path == "/up", **changed)


def run(coroutine):
    """Run it in a thread of its own: a browser that is open for other tests keeps a loop in this one."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, coroutine).result()


def ask(method, path, *, body=(b"{}",), guard=None, query=b"", **headers):
    """Send a request through a guard to an application that echoes its body; status, headers and body come back."""
    sent = {name.replace("_", "-"): value for name, value in {**OWN, **headers}.items() if value is not None}
    parts = list(body)
    answered = []

    async def app(scope, receive, send):
        seen, more = b"", True
        while more:
            message = await receive()
            seen, more = seen + message["body"], message["more_body"]
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
        await send({"type": "http.response.body", "body": seen})

    async def receive():
        part = parts.pop(0) if parts else b""
        if part is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": part, "more_body": bool(parts)}

    async def send(message):
        answered.append(message)

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": query,
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in sent.items()],
    }
    run(Guard(app, guard or access())(scope, receive, send))
    start, body = answered
    return start["status"], {name.decode(): value.decode() for name, value in start["headers"]}, body["body"]


def test_a_request_of_our_own_page_passes_with_its_body():
    status, headers, body = ask("POST", "/api/x", body=(b'{"a"', b": 3}"))
    assert (status, body) == (200, b'{"a": 3}')
    assert headers["content-type"] == "text/plain" and headers["x-content-type-options"] == "nosniff"


def test_the_body_is_bounded_whatever_its_length_was_said_to_be():
    assert ask("POST", "/api/x", body=[b"x" * LARGEST_JSON])[0] == 200
    assert ask("POST", "/api/x", body=[b"x" * LARGEST_JSON, b"x"])[0] == 413
    assert ask("POST", "/api/x", content_length=str(LARGEST_JSON + 1))[0] == 413
    assert ask("POST", "/api/x", content_length="1e3")[0] == 400


def test_a_body_that_never_comes_to_its_end_is_not_acted_on():
    """The first part alone would be a request of its own."""
    assert ask("POST", "/api/x", body=[b"{}", None])[0] == 413


def test_an_upload_is_bounded_part_by_part(monkeypatch):
    assert LARGEST_UPLOAD == 2**30
    monkeypatch.setattr(guarding, "LARGEST_UPLOAD", 2**20)
    upload = {"content_type": "application/octet-stream"}
    part = bytes(2**16)
    whole = [part] * 16
    assert len(ask("POST", "/up", body=whole[:3], **upload)[2]) == 3 * len(part)
    with pytest.raises(BodyTooLarge):
        ask("POST", "/up", body=[*whole, b"x"], **upload)


def test_a_cookie_among_others_is_found_and_a_header_will_do():
    assert ask("GET", "/x", cookie=f"a=b; page={TOKEN}; c=d")[0] == 200
    assert ask("GET", "/x", cookie=None, authorization=f"bearer {TOKEN}")[0] == 200
    assert ask("GET", "/x", cookie=f"page={TOKEN[:-1]}")[0] == 401
    assert ask("GET", "/x", cookie="page=\xe9\xff")[0] == 401
    assert ask("GET", "/x", cookie='page="unfinished; ;;==')[0] == 401


def test_the_link_leaves_a_cookie_and_a_clean_address():
    status, headers, _ = ask("GET", "/", cookie=None, query=f"token={TOKEN}".encode())
    assert status == 303 and headers["location"] == "/"
    assert headers["set-cookie"] == f"page={TOKEN}; Path=/; HttpOnly; SameSite=Strict"
    assert ask("GET", "/", cookie=None, query=b"token=other")[0] == 401
    assert ask("GET", "/x", cookie=None, query=f"token={TOKEN}".encode())[0] == 401


def test_a_refusal_is_a_page_for_browsers_and_data_for_programs():
    _, headers, body = ask("GET", "/", cookie=None, accept="text/html")
    assert headers["content-type"].startswith("text/html") and b"the terminal printed" in body
    _, headers, body = ask("GET", "/api/x", cookie=None, accept="text/html")
    assert headers["content-type"] == "application/json" and "problem" in json.loads(body)["error"]
    assert ask("HEAD", "/", cookie=None)[2] == b""


def test_a_name_in_numbers_is_a_host_where_every_network_is_listened_to():
    """No name can be rebound to be an address in numbers."""
    everywhere = access(any_address=8765)
    for host in ("192.0.2.7:8765", "[2001:db8::1]:8765", HOST):
        assert ask("GET", "/x", host=host, guard=everywhere)[0] == 200
    for host in ("evil.example:8765", "192.0.2.7:80", "192.0.2.7", "192.0.2.7.evil.example:8765", ""):
        assert ask("GET", "/x", host=host, guard=everywhere)[0] == 403
    assert ask("GET", "/x", host="192.0.2.7:8765")[0] == 403


def test_an_own_address_may_be_opened_from_anywhere_but_nothing_else():
    assert ask("GET", "/", sec_fetch_site="cross-site")[0] == 200
    assert ask("GET", "/x", sec_fetch_site="cross-site")[0] == 403
    assert ask("GET", "/x", sec_fetch_site="same-site")[0] == 403
    assert ask("GET", "/x", sec_fetch_site="same-origin")[0] == 200
    assert ask("GET", "/x", sec_fetch_site="none")[0] == 200


def test_no_socket_of_another_kind_is_answered():
    answered = []
    run(Guard(None, access())({"type": "websocket"}, None, answered.append))
    assert answered == []


NO_BROWSER = {"cookie": None, "origin": None}


def test_without_a_token_none_is_asked_for():
    guard = Access(hosts=frozenset({HOST}), token="", cookie="page", programs=True)
    assert ask("GET", "/x", guard=guard, cookie=None)[0] == 200
    assert ask("POST", "/x", guard=guard, **NO_BROWSER)[0] == 200
    assert ask("POST", "/x", guard=guard, cookie=None, origin="http://evil.example")[0] == 403
    assert ask("POST", "/x", guard=guard, **NO_BROWSER, host="evil.example")[0] == 403


def test_a_program_needs_no_origin_where_programs_are_let_in():
    bearer = {"authorization": f"Bearer {TOKEN}"}
    assert ask("POST", "/x", guard=access(programs=True), **NO_BROWSER, **bearer)[0] == 200
    assert ask("POST", "/x", guard=access(), **NO_BROWSER, **bearer)[0] == 403
    assert ask("POST", "/x", guard=access(programs=True), origin=None)[0] == 403  # a cookie is of a browser
    for name in ("sec_fetch_site", "sec_fetch_mode"):
        assert ask("POST", "/x", guard=access(programs=True), **NO_BROWSER, **bearer, **{name: "none"})[0] == 403


def test_a_smaller_limit_of_bodies_holds():
    assert ask("POST", "/x", guard=access(largest=3), body=(b"{", b"}", b"  "))[0] == 413
    assert ask("POST", "/x", guard=access(largest=3), content_length="4")[0] == 413
    assert ask("POST", "/x", guard=access(largest=3))[0] == 200


def test_a_body_that_does_not_come_is_not_waited_for():
    answered = []

    async def send(message):
        answered.append(message)

    async def never():
        await asyncio.sleep(3600)

    headers = [(name.encode(), value.encode()) for name, value in OWN.items()]
    scope = {"type": "http", "method": "POST", "path": "/x", "headers": headers}
    run(Guard(None, access(patience=0.01))(scope, never, send))
    assert answered[0]["status"] == 408
