"""How a server lives: its model dies and is replaced, another takes over, the queue is full, it ends in good order."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from servers import run_server

ROW = {"text": "good film"}


def started(*words):
    """What `atento serve` says where it cannot begin, and its exit code."""
    done = subprocess.run(
        [sys.executable, "-m", "atento", "serve", *map(str, words)], capture_output=True, text=True, timeout=300
    )
    return done.returncode, done.stderr


def replace_run(folder, other):
    """Put another run in the place of a folder, as `mv` does."""
    beside = folder.with_name(folder.name + "-new")
    shutil.copytree(other, beside)
    folder.rename(folder.with_name(folder.name + "-old"))
    beside.rename(folder)


def test_a_model_that_dies_is_replaced_and_readiness_tells_the_truth(classifier):
    with run_server(classifier) as server:
        before = server.predict(ROW)
        os.kill(server.worker(), signal.SIGKILL)
        server.until(lambda: not server.ready())
        assert server.ask("GET", "/readyz").status == 503 and server.ask("GET", "/healthz").status == 200
        refused = server.ask("POST", "/predict", {"rows": [ROW]})
        assert refused.status == 503 and int(refused.headers["retry-after"]) > 0
        server.until(server.ready)
        assert server.predict(ROW) == before
        assert server.count("atento_worker_restarts_total") == 1
        server.stop()
        assert "died" in "".join(server.said)


def test_another_run_takes_over_and_every_answer_is_wholly_of_one_model(
    classifier, other_classifier, writer_folder, tmp_path
):
    folder = tmp_path / "current"
    shutil.copytree(classifier, folder)
    with run_server(folder) as server:
        rows = [ROW, {"text": "awful cast"}, {"text": "bad film"}]
        first = server.predict(*rows)
        seen, stop = [], threading.Event()

        def ask():
            while not stop.is_set():
                reply = server.ask("POST", "/predict", {"rows": rows})
                seen.append((reply.status, reply.json))

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        server.until(lambda: seen)
        replace_run(folder, other_classifier)
        server.until(lambda: seen[-1][1].get("model", first["model"]) != first["model"])
        stop.set()
        for thread in threads:
            thread.join()
        second = server.predict(*rows)
        answers = {first["model"]: first["results"], second["model"]: second["results"]}
        assert len(answers) == 2 and {status for status, _ in seen} == {200}
        assert {reply["model"] for _, reply in seen} == set(answers)
        for _, reply in seen:
            for result, expected in zip(reply["results"], answers[reply["model"]], strict=True):
                assert result["answer"]["probabilities"] == pytest.approx(expected["answer"]["probabilities"], abs=1e-5)
        assert server.count("atento_model_swaps_total") == 1
        shutil.rmtree(folder.with_name("current-old"))
        replace_run(folder, writer_folder)  # of another form: the schema would not hold
        server.until(lambda: server.count("atento_failed_swaps_total") == 1)
        assert server.predict(*rows) == second and server.ready()


def test_a_full_queue_says_when_to_come_again(classifier):
    with run_server(classifier, "--limit", "queue=4", "--limit", "rows=4") as server, ThreadPoolExecutor(40) as pool:
        worker = server.worker()
        os.kill(worker, signal.SIGSTOP)  # slower than those who ask, on any machine
        asked = [pool.submit(server.ask, "POST", "/predict", {"rows": [ROW] * 3}) for _ in range(200)]
        server.until(lambda: any(one.done() for one in asked))
        os.kill(worker, signal.SIGCONT)
        replies = [one.result() for one in asked]
        assert {reply.status for reply in replies} == {200, 503}
        assert all(int(reply.headers["retry-after"]) > 0 for reply in replies if reply.status == 503)
        assert server.predict(ROW)["results"][0]["answer"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_in_good_order_and_leaves_no_process(classifier, number):
    with run_server(classifier) as server, ThreadPoolExecutor(8) as pool:
        worker = server.worker()
        asked = [pool.submit(server.ask, "POST", "/predict", {"rows": [ROW] * 256}) for _ in range(8)]
        server.until(lambda: server.count("atento_rows_total") > 0)
        assert server.stop(number) == 0
        statuses = [one.result().status for one in asked if not one.exception()]
        assert set(statuses) <= {200, 503} and statuses
        with pytest.raises(ProcessLookupError):
            os.kill(worker, 0)


def test_the_model_ends_with_a_server_that_is_killed(classifier):
    with run_server(classifier) as server:
        worker = server.worker()
        server.process.kill()
        server.process.wait()
        server.until(lambda: not os.path.exists(f"/proc/{worker}"))


def test_a_token_is_asked_for_where_there_is_one(classifier):
    with run_server(classifier, "--token", "a-good-secret") as server:
        body = {"rows": [ROW]}
        right = {"Authorization": "Bearer a-good-secret"}
        assert server.ask("POST", "/predict", body).status == 401
        assert server.ask("POST", "/predict", body, headers={"Authorization": "Bearer wrong-secret"}).status == 401
        assert server.ask("POST", "/predict", body, headers=right).status == 200
        cookie = {"Cookie": f"atento-serve-{server.port}=a-good-secret"}
        assert server.ask("POST", "/predict", body, headers=cookie).status == 403  # of a browser, without its Origin
        assert server.ask("POST", "/predict", body, headers={**cookie, "Origin": server.url}).status == 200
        assert [server.ask("GET", path).status for path in ("/metrics", "/model", "/readyz", "/healthz")] == [
            401, 401, 200, 200,
        ]  # fmt: skip


def test_what_cannot_be_served_is_told_with_its_exit_code(classifier, tmp_path):
    code, said = started(classifier, "--host", "0.0.0.0")
    assert code == 2 and "--token" in said
    code, said = started(tmp_path / "nothing")
    assert code == 2 and "no such run" in said
    code, said = started(classifier.with_name(f"{classifier.name}s"))
    assert code == 2 and f"did you mean {classifier}?" in said
    code, said = started(tmp_path, "--port", "0")
    assert code == 2 and "Traceback" not in said
    code, said = started(classifier, "--limit", "queu=3")
    assert code == 2 and "queue" in said
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, said = started(classifier, "--port", port)
        assert code == 3 and f"{port}" in said and "--port" in said
