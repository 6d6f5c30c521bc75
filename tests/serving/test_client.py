"""Programs that know a server by its schema alone: a client generated from it, and one that tries to break it."""

import subprocess
import sys

import pytest

CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,"
    "response_headers_conformance"
)
GENERATED = """
import sys
import aiopenapi3

client = aiopenapi3.OpenAPI.load_sync(sys.argv[1] + "/openapi.json")
row = {"text": sys.argv[2]}
reply = client._.predict(data={"rows": [row], "attention": False})
print(type(reply).__name__, reply.model, len(reply.results), reply.results[0].error)
print(reply.results[0].answer.root.{field})
print(client._.model(data=None).id, client._.readyz().ready, client._.healthz().status)
"""


def generated(server, text, field):
    """What a program prints whose client is generated from the schema of a server, with typed answers."""
    code = GENERATED.replace("{field}", field)
    done = subprocess.run([sys.executable, "-c", code, server.url, text], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split("\n")


@pytest.mark.parametrize("which, text, field", [("server", "good film", "label"), ("writer", "abca", "text")])
def test_a_client_that_is_generated_from_the_schema_is_answered(which, text, field, request):
    server = request.getfixturevalue(which)
    expected = server.predict({"text": text})
    said, answer, state, *_ = generated(server, text, field)
    assert said == f"PredictReply {expected['model']} 1 None"
    assert answer == expected["results"][0]["answer"][field]
    assert state == f"{expected['model']} True ok"


@pytest.mark.parametrize("which", ["server", "writer"])
def test_no_request_of_the_schema_or_beside_it_is_a_mistake_of_ours(which, request, tmp_path):
    server = request.getfixturevalue(which)
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/openapi.json", "--checks", CHECKS]
    bounds = ["--max-examples", "30", "--seed", "7", "--no-color"]
    done = subprocess.run([*command, *bounds], capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-500:]
    assert server.ready() and server.count('atento_requests_total{path="/predict",status="500"}') == 0
    assert server.count("atento_worker_restarts_total") == 0
