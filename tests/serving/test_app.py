"""A real server: answers, errors row by row, streams, state, and the documents of its schema."""

import json
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import atento

ROW = {"text": "great film"}
PAGE = (Path(__file__).parents[2] / "docs" / "serving.md").read_text(encoding="utf-8")


def test_answers_are_those_of_the_run(server, classifier):
    run = atento.load(classifier, device="cpu")
    texts = ["great film", "awful cast", "good film"]
    found = server.predict(*({"text": text} for text in texts))
    assert [one["answer"]["label"] for one in found["results"]] == run.predict(texts)
    for result, expected in zip(found["results"], run.predict_proba(texts), strict=True):
        assert result["answer"]["probabilities"] == pytest.approx(expected, abs=1e-6)
        assert result["answer"]["probability"] == max(result["answer"]["probabilities"].values())
        assert result["error"] is None and result["attention"] is None
    assert found["model"] == server.ask("GET", "/model").json["id"]


def test_attention_comes_on_request(server):
    (result,) = server.predict(ROW, attention=True)["results"]
    assert len(result["attention"]["source"]) == 2 and result["attention"]["source"][1] == "film"
    assert sum(result["attention"]["weights"][0][0][0]) == pytest.approx(1, abs=0.01)


def test_a_bad_row_has_its_error_and_the_others_their_answers(server):
    found = server.predict(ROW, {"text": 7}, {"wrong": "x"}, "a text", {"text": "x" * 50_001}, {"text": "\ud800"}, ROW)
    answers = [one["answer"] for one in found["results"]]
    assert answers[0] == answers[-1] and answers[0] is not None and answers[1:-1] == [None] * 5
    problems = [one["error"]["problem"] for one in found["results"][1:-1]]
    assert all(problems) and problems[3] == "`text` is too long."


@pytest.mark.parametrize(
    "row, problem, found",
    [
        ({}, "`text` is missing.", "nothing"),
        ({"words": 3}, "`text` is missing.", "'words'"),
        ({"text": ""}, "`text` is empty.", "nothing"),
        ({"text": 3}, "`text` must be a text.", "3"),
        ({"text": None}, "`text` must be a text.", "null"),
        ({"text": ["a"]}, "`text` must be a text.", "a list"),
        ("a text", "a row must be an object.", "'a text'"),
        ({"text": "x" * 50_001}, "`text` is too long.", "50,001 characters"),
        ({"text": "a", "file": "b"}, "`file` is no field of a row.", "'file'"),
        ({"text": "a", "x" * 70_000: 1}, f"`{'x' * 80}` is no field of a row.", "'" + 79 * "x"),
    ],
)
def test_what_is_wrong_with_a_row_is_said_in_words(server, row, problem, found):
    reply = server.ask("POST", "/predict", {"rows": [row]})
    assert reply.status == 422
    fix = "send at most 50,000 characters" if "too long" in problem else "a row has `text`"
    assert reply.json["error"] == {"problem": problem, "found": found, "fix": fix}


def test_a_first_mistake_is_answered_with_what_to_send(server):
    row = server.ask("POST", "/predict", ROW).json["error"]  # a row by itself
    assert row["fix"] == 'send {"rows": [{"text": "…"}]}'
    form = server.ask(
        "POST", "/predict", {"rows": [ROW]}, headers={"Content-Type": "application/x-www-form-urlencoded"}
    )
    assert form.json["error"]["fix"] == "send the header Content-Type: application/json"  # as curl -d does
    assert form.json["error"]["found"] == "Content-Type: application/x-www-form-urlencoded"
    none = server.ask("POST", "/predict", {"rows": []}).json["error"]
    assert none["found"] == "0 rows" and none["fix"] == 'send {"rows": [{"text": "…"}]}'
    many = server.ask("POST", "/predict", {"rows": [ROW] * 257}).json["error"]
    assert many["found"] == "257 rows" and many["fix"] == "send at most 256 rows at once"
    read = server.ask("GET", "/predict")
    assert read.status == 405 and read.headers["allow"] == "POST" and read.json["error"]["fix"] == "send POST"


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b'{"rows": []}', b'{"rows": {}}', b'{"rows": [{"text": NaN}]}', b"\xff\xfe", b"[" * 100_000,
        b'{"rows": [{"text": "a"}], "file": "/etc/passwd"}', b'{"rows": [{"text": "a"}], "attention": 1}',
        b'{"rows": [1]}', b'{"rows": [{"text": ' + b"9" * 10_000 + b"}]}",
        json.dumps({"rows": [ROW] * 257}).encode(),
    ],
)  # fmt: skip
def test_a_body_that_cannot_be_answered_is_told_why(server, body):
    reply = server.ask("POST", "/predict", body)
    assert reply.status == 422 and reply.json["error"]["problem"], reply.body
    assert b"/etc" not in reply.body and b"Traceback" not in reply.body


def test_curl_asks_it(server):
    command = ["curl", "-sS", "-w", "\n%{http_code}", f"{server.url}/predict", "-H", "Content-Type: application/json"]
    said = subprocess.run([*command, "-d", json.dumps({"rows": [ROW]})], capture_output=True, text=True, check=True)
    body, status = said.stdout.rsplit("\n", 1)
    assert status == "200" and json.loads(body) == server.predict(ROW)


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_printed_command_can_be_pasted(server):
    line = next(line for line in server.said if line.strip().startswith("curl"))
    said = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
    assert json.loads(said.stdout)["results"][0]["answer"]


def test_what_the_page_of_the_documentation_shows_can_be_pasted(server, writer):
    lines = re.findall(r"^curl .*$", PAGE, flags=re.MULTILINE)
    assert len(lines) == 4
    for line in lines:
        port = writer.port if "/stream" in line else server.port
        command = line.replace("curl ", "curl -sS --fail ").replace(":8000/", f":{port}/")
        said = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True).stdout
        assert json.loads(said.strip().split("\n")[-1])
    (code,) = re.findall(r"^```py\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
    code = code.replace(":8000/", f":{server.port}/")
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.split() == [one["answer"]["label"] for one in server.predict(
        {"text": "a great film"}, {"text": "an awful cast"}
    )["results"]]  # fmt: skip


def test_a_text_is_streamed_as_it_is_predicted(writer):
    reply = writer.ask("POST", "/stream", {"row": {"text": "abcd"}})
    lines = [json.loads(line) for line in reply.body.decode().strip().split("\n")]
    assert reply.headers["content-type"] == "application/x-ndjson"
    whole = writer.predict({"text": "abcd"})
    assert "".join(line.get("piece", "") for line in lines) == lines[-1]["answer"]["text"]
    assert lines[-1]["answer"] == whole["results"][0]["answer"] and lines[-1]["model"] == whole["model"]
    wrong = writer.ask("POST", "/stream", {"row": {"text": ""}})
    assert wrong.status == 422


def test_a_model_that_writes_nothing_streams_nothing(server):
    assert server.ask("POST", "/stream", {"row": ROW}).status == 404
    assert "/stream" not in server.ask("GET", "/openapi.json").json["paths"]


def test_state_is_told(server):
    assert server.ask("GET", "/healthz").json == {"status": "ok"}
    assert server.ask("GET", "/readyz").json["ready"] is True
    before = server.count("atento_rows_total"), server.count('atento_requests_total{path="/predict",status="200"}')
    server.predict(ROW, {"text": 1})
    after = server.count("atento_rows_total"), server.count('atento_requests_total{path="/predict",status="200"}')
    assert (after[0] - before[0], after[1] - before[1]) == (2, 1)
    assert server.ask("HEAD", "/healthz").body == b""


def test_many_at_once_are_answered_together_and_alike(server):
    alone = server.predict({"text": "good cast"})["results"][0]["answer"]
    batches = server.count("atento_batch_rows_count")
    found = []

    def ask():
        found.extend(server.predict({"text": "good cast"}, {"text": "bad film"})["results"][::2] for _ in range(10))

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 160
    for (result,) in found:
        assert result["answer"]["label"] == alone["label"]
        assert result["answer"]["probabilities"] == pytest.approx(alone["probabilities"], abs=1e-5)
    assert server.count("atento_batch_rows_count") - batches < 160  # fewer questions than requests


def test_the_page_and_what_it_needs_is_served_and_nothing_else(server):
    page = server.ask("GET", "/")
    assert page.status == 200 and "script-src 'self'" in page.headers["content-security-policy"]
    for name in ("serve.js", "serve.css", "page.css", "attention/gallery.js", "attention/attention.css"):
        assert server.ask("GET", f"/static/{name}").status == 200
    for name in ("../app.py", "%2e%2e/app.py", "app.py", "attention", "index.html", "attention/../../html.py"):
        assert server.ask("GET", f"/static/{name}").status in (400, 404)
