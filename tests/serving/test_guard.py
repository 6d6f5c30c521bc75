"""Hostile requests to a real server: none has an effect, and one question has the same answer before and after all."""

import socket
import time

import pytest

ROW = {"text": "awful cast"}
BODY = {"rows": [ROW]}


@pytest.fixture(scope="module", autouse=True)
def golden(server):
    """The answer to one request, byte for byte, before and after everything."""
    before = server.ask("POST", "/predict", BODY)
    yield before.body
    assert server.ask("POST", "/predict", BODY).body == before.body


def test_a_program_needs_no_origin_on_this_machine(server):
    assert server.ask("POST", "/predict", BODY).status == 200


@pytest.mark.parametrize(
    "headers, status",
    [
        ({"Host": "evil.example"}, 403),
        ({"Host": None}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Cookie": "a=b"}, 403),  # only a browser sends it, and a page of our own would send its Origin
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 403),  # a browser whose page hides its Origin
        ({"Sec-Fetch-Mode": "no-cors"}, 403),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content-Type": None}, 415),
        ({"Content-Length": "5000000"}, 413),
    ],
)
def test_what_a_page_of_another_site_can_send_is_refused(server, headers, status):
    rows = server.count("atento_rows_total")
    reply = server.ask("POST", "/predict", BODY, headers=headers)
    assert reply.status == status and reply.json["error"]["found"] and reply.json["error"]["fix"]
    assert server.count("atento_rows_total") == rows


def test_its_own_page_is_answered(server):
    own = {"Origin": server.url, "Cookie": "a=b", "Sec-Fetch-Site": "same-origin"}
    assert server.ask("POST", "/predict", BODY, headers=own).status == 200


def test_no_answer_allows_another_origin(server):
    reply = server.ask("OPTIONS", "/predict", headers={"Origin": "http://evil.example"})
    assert reply.status == 405 and not [name for name in reply.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    "path", ["/..%2f..%2fetc/passwd", "/static/%2e%2e/app.py", "//evil", "/predict/../model", "/x"]
)
def test_a_strange_path_leads_nowhere(server, path):
    reply = server.ask("GET", path)
    assert reply.status in (400, 404) and b"root:" not in reply.body


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE"])
def test_other_methods_are_refused(server, method):
    reply = server.ask(method, "/predict")
    assert reply.status == 405 and reply.json["error"]["fix"] == "send GET, HEAD, POST"


def test_a_million_tokens_are_refused_at_once(server):
    for text in ("a" * 1_000_000, "ab " * 1_000_000):
        started = time.perf_counter()
        reply = server.ask("POST", "/predict", {"rows": [{"text": text}]})
        assert reply.status in (413, 422) and len(reply.body) < 1000, time.perf_counter() - started


def test_slow_clients_hold_up_nobody(server):
    head = f"POST /predict HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Type: application/json\r\n"
    slow = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(50)]
    try:
        for at, one in enumerate(slow):
            one.sendall(head.encode() if at % 2 else f"{head}Content-Length: 1000\r\n\r\n{{".encode())
        assert all(server.ask("POST", "/predict", BODY, timeout=5).status == 200 for _ in range(5))
    finally:
        for one in slow:
            one.close()
