"""Every endpoint of the studio once, asked of a real server: from a dropped file to a trained model."""

import asyncio
import json
import shlex
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor

import pytest

WORDS = {"good": ["lovely", "great", "superb", "charming"], "bad": ["awful", "dull", "poor", "dreary"]}
NOUNS = ["film", "book", "play", "song", "meal"]
LONG = {"train.steps": 100_000, "train.validations": 9973, "train.patience": 9973, "train.validation_examples": 11}
TINY = {"model.hidden": 14, "model.heads": 2, "train.batch_tokens": 311, "train.threads": 1}
MODEL = "transformer"


def reviews(count=211):
    """Reviews whose label stands in a word of them; labels differ in case, and one of them is markup."""
    rows = []
    for number in range(count):
        label = ("good", "bad")[number % 2]
        word, noun = WORDS[label][number % 3], NOUNS[number % 5]
        rows.append(f"the {noun} was {word} as number {number},{label if number % 7 else label.upper()}")
    rows.append('"the <b>markup</b> was lovely",<script>alert(1)</script>')
    return "text,label\n" + "\n".join(rows) + "\n"


@pytest.fixture(scope="module")
def studio(studio_server, tmp_path_factory):
    with studio_server(tmp_path_factory.mktemp("studio")) as studio:
        yield studio


@pytest.fixture(scope="module")
def dropped(studio):
    """A file as the page drops it."""
    reply = studio.ask("POST", "/api/files?name=reviews.csv", reviews().encode())
    assert reply.status == 200 and reply.json == {"name": "data/reviews.csv"}
    return "data/reviews.csv"


def path_of(run, *rest):
    return "/".join(["/api/runs", run.replace("/", "%2F").replace("+", "%2B"), *rest])


def wait_for(studio, run, wanted, *, seconds=240):
    """Events of a run, polled as the page does, until `wanted(events, state)`."""
    seen, after, end = [], 0, time.monotonic() + seconds
    while time.monotonic() < end:
        found = studio.get(path_of(run, "events"), after=after)
        assert found["from"] == after and found["next"] == after + len(found["events"])
        seen, after = seen + found["events"], found["next"]
        if wanted(seen, found["state"]):
            return seen
        time.sleep(0.1)
    pytest.fail(f"{run}: {found['state']}, {seen[-3:]}, {studio.get(path_of(run))['failure']}")


@pytest.fixture(scope="module")
def finished(studio, dropped):
    """A run that was started, paused, resumed and finished, all by requests; what each step said."""
    body = {"file": dropped, "task": "classify", "model": MODEL, "settings": {**LONG, **TINY}, "seed": 3}
    said = {"asked": body, "started": studio.post("/api/train", body)}
    run = said["id"] = said["started"]["id"]
    said["running"] = studio.get(path_of(run))
    wait_for(studio, run, lambda events, state: any(event["event"] == "validation" for event in events))
    said["paused"] = studio.post(path_of(run, "pause"), {})
    said["while_paused"] = studio.get(path_of(run))
    said["resumed"] = studio.post(path_of(run, "resume"), {})
    said["finish"] = studio.post(path_of(run, "finish"), {})
    said["events"] = wait_for(studio, run, lambda events, state: state == "finished")
    return said


def test_the_workspace_lists_files_runs_and_what_there_is(studio, dropped, finished):
    found = studio.get("/api/workspace")
    assert found["folder"] == str(studio.folder) and found["version"]
    assert [entry["bytes"] for entry in found["files"] if entry["name"] == dropped] == [len(reviews().encode())]
    assert {"name", "task", "summary"} <= found["builtin"][0].keys() and "numbers" in str(found["builtin"])
    assert {"classify", "translate", "forecast"} <= {task["name"] for task in found["tasks"]}
    assert found["doctor"]["threads"] >= 1 and "gpu" in found["doctor"]
    (run,) = (entry for entry in found["runs"] if entry["id"] == finished["id"])
    expected = {"kind": "run", "state": "finished", "data": dropped, "task": "classify", "model": MODEL}
    assert expected.items() <= run.items() and run["started_by_studio"] and run["metric"] == "accuracy"
    assert 0 <= run["value"] <= 1 and abs(run["modified"] - time.time()) < 600


def test_a_file_is_inspected_and_a_problem_is_mended_by_its_settings(studio, dropped):
    found = studio.post("/api/inspect", {"file": dropped})
    assert (
        found["task"] == "classify" and found["rows"] == 212 and found["used_as"] == {"text": "text", "label": "label"}
    )
    (twice,) = (problem for problem in found["problems"] if "differ in case" in problem["where"])
    assert twice["settings"] == {"data.merge_labels": "case"} and twice["task"] is None
    assert found["same"]["command"] == "atento inspect data/reviews.csv"
    mended = studio.post("/api/inspect", {"file": dropped, "task": "classify", "settings": twice["settings"]})
    assert not [problem for problem in mended["problems"] if "differ in case" in problem["where"]]
    for problem in mended["problems"]:  # settings that are given already are not offered again
        assert not problem["settings"] or "data.merge_labels" not in problem["settings"]
    words = shlex.split(mended["same"]["command"])
    assert words == ["atento", "inspect", dropped, "--task", "classify", "--set", "data.merge_labels=case"]
    compile(mended["same"]["python"], "same", "exec")


def test_a_file_that_cannot_be_read_says_why(studio):
    reply = studio.ask("POST", "/api/inspect", {"file": "data/nothing.csv"})
    assert reply.status == 400 and "nothing.csv" in reply.json["error"]["problem"]
    assert reply.json["error"].keys() >= {"problem", "found", "fix"}


def test_a_choice_that_only_the_user_can_make_is_offered(studio):
    rows = [f"01/{1 + at % 12:02}/{2012 + at // 12};{15 + at % 7}.{at:03}\n" for at in range(89)]
    table = "Mes;Ventas\n" + "".join(rows)
    name = studio.ask("POST", "/api/files?name=ventas.csv", table.encode()).json["name"]
    found = studio.post("/api/inspect", {"file": name})
    assert not found["parts"] and found["choices"] == [{"data.decimal": "comma"}, {"data.decimal": "point"}]
    assert studio.post("/api/inspect", {"file": name, "settings": found["choices"][0]})["parts"]
    refused = studio.ask("POST", "/api/recipe", {"file": name})
    assert refused.status == 400 and refused.json["error"]["choices"] == found["choices"]


def test_models_are_offered_with_those_of_a_comparison_first(studio):
    found = studio.get("/api/models", task="classify")["models"]
    compared = [model["name"] for model in found if model["compared"]]
    assert [model["name"] for model in found][: len(compared)] == compared and "transformer" in compared
    assert all(model["summary"] for model in found) and "tf-idf" in [model["name"] for model in found]


def test_the_recipe_is_explained_and_can_be_typed(studio, dropped):
    settings = {"model.hidden": 26, "train.baselines": False}
    body = {"file": dropped, "task": "classify", "model": "lstm", "settings": settings, "budget": "90s", "seed": 5}
    found = studio.post("/api/recipe", body)
    assert found["values"]["model.hidden"] == {"value": 26, "why": "set by the user"}
    assert {"model.hidden", "train.budget", "task"} <= set(found["chosen"]) < set(found["values"])
    assert found["same"]["command"] == (
        "atento train data/reviews.csv --task classify --set model.hidden=26 --set train.baselines=false "
        "--model lstm --budget 90s --seed 5"
    )
    typed = tomllib.loads(found["same"]["toml"])
    assert typed["model"]["hidden"] == 26 and typed["train"]["budget"] == 90.0 and typed["train"]["seed"] == 5
    call = "atento.fit('data/reviews.csv', model='lstm', task='classify', settings={'model.hidden': '26', "
    assert call in found["same"]["python"]
    wrong = studio.ask("POST", "/api/recipe", {**body, "settings": {"model.hiden": 3}})
    assert wrong.status == 400 and "model.hidden" in wrong.json["error"]["fix"]


def test_a_run_is_started_paused_resumed_and_finished(studio, finished):
    command = finished["started"]["same"]["command"]
    assert command.startswith("atento train data/reviews.csv --task classify --set") and finished["id"] in command
    assert finished["running"]["state"] == "running" and finished["running"]["metrics"] is None
    assert finished["paused"] == {"state": "can be resumed"} and finished["resumed"]["state"] == "running"
    assert finished["while_paused"]["resume_command"].split()[-1] == "--resume"
    assert finished["while_paused"]["failure"] is None
    kinds = [event["event"] for event in finished["events"]]
    assert kinds[0] == "start" and kinds[-1] == "finished" and "validation" in kinds
    step = next(event for event in finished["events"] if event["event"] == "step")
    assert {"loss", "learning_rate", "examples_per_second", "gradient_norms"} <= step.keys()


def test_a_finished_run_is_described_with_the_command_that_made_it(studio, finished):
    found = studio.get(path_of(finished["id"]))
    assert found["state"] == "finished" and found["model"] == MODEL and found["data"] == "data/reviews.csv"
    assert found["metrics"]["metric"] == "accuracy" and found["values"]["train.seed"] == 3
    assert found["recipe"]["model.hidden"] == 14 and "model.window" not in found["recipe"]
    words = shlex.split(found["same"]["command"])
    given = {f"{key}={value}" for key, value in finished["asked"]["settings"].items()}
    assert given <= set(words) and words[words.index("--seed") + 1] == "3"
    for verb in ("pause", "resume", "finish"):
        refused = studio.ask("POST", path_of(finished["id"], verb), {})
        assert refused.status == 400 and "finished" in str(refused.json["error"])


def test_a_run_goes_on_from_the_weights_of_another(studio, dropped, finished):
    body = {"file": dropped, "settings": {"train.steps": 3}, "start_from": finished["id"]}
    found = studio.post("/api/recipe", body)
    assert found["values"]["model.name"]["value"] == MODEL and found["values"]["model.hidden"]["value"] == 14
    assert f"--from runs/{finished['id']}" in found["same"]["command"]


def test_a_training_that_cannot_begin_says_why(studio, dropped):
    body = {"file": dropped, "model": "lstm", "settings": {"model.hidden": 11}}
    reply = studio.ask("POST", "/api/train", body)
    assert reply.status == 400 and "must be even" in reply.json["error"]["problem"]
    assert not [run for run in studio.get("/api/workspace")["runs"] if run["model"] == "lstm"]


def test_mistakes_are_told_as_data(studio, finished):
    found = studio.get(path_of(finished["id"], "mistakes"), limit=5)
    assert {"source", "expected", "predicted"} <= found["rows"][0].keys() and len(found["rows"]) == 5
    labels = found["confusion"]["labels"]
    assert len(found["confusion"]["counts"]) == len(labels) and found["classes"]
    one = found["rows"][0]
    cell = studio.get(path_of(finished["id"], "mistakes"), expected=one["expected"], predicted=one["predicted"])
    assert {(row["expected"], row["predicted"]) for row in cell["rows"]} == {(one["expected"], one["predicted"])}


def test_a_source_is_answered_and_explained(studio, finished):
    sources = studio.get(path_of(finished["id"], "examples"))["sources"]
    assert 1 <= len(sources) <= 12
    found = studio.post(path_of(finished["id"], "explain"), {"source": sources[0]})
    assert abs(sum(found["answer"]["probabilities"].values()) - 1) < 1e-4
    assert found["answer"]["text"] in found["answer"]["probabilities"]
    assert found["view"]["maps"] and found["attribution"]["tokens"]
    assert shlex.split(found["same"]["command"])[-1] == sources[0]


def test_views_and_reports_are_pages_in_a_sandbox(studio, finished):
    views = studio.get(path_of(finished["id"], "views"))["views"]
    assert "attention" in [view["what"] for view in views] and all(view["title"] for view in views)
    pages = [f"/pages/{finished['id']}/report.html", f"/pages/{finished['id']}/look/attention.html?text=a+lovely+film"]
    for path in pages:
        reply = studio.ask("GET", path)
        assert reply.status == 200 and reply.headers["content-type"] == "text/html; charset=utf-8"
        policy = reply.headers["content-security-policy"]
        assert policy.startswith("sandbox allow-scripts allow-downloads; default-src 'none'")
        assert "allow-same-origin" not in policy and "connect-src" not in policy and "frame-ancestors 'self'" in policy
        assert b"<script>alert(1)" not in reply.body
    assert studio.ask("GET", f"/pages/{finished['id']}/look/nothing.html").status == 400


def test_a_dropped_file_is_predicted_and_downloaded(studio, finished):
    body = b"text\nthe film was lovely\nthe meal was awful\n"
    reply = studio.ask("POST", f"{path_of(finished['id'], 'predict')}?name=new.csv", body)
    assert reply.status == 200 and reply.json["name"] == "data/new-predictions.csv" and reply.json["rows"] == 2
    answer = studio.ask("GET", f"/api/files/{reply.json['name']}")
    header, *rows = answer.body.decode().splitlines()
    assert header.split(",")[:2] == ["text", "prediction"] and len(rows) == 2
    assert answer.headers["content-disposition"].startswith("attachment")
    wrong = studio.ask("POST", f"{path_of(finished['id'], 'predict')}?name=wrong.csv", b"a,b\n1,2\n")
    assert wrong.status == 400 and not list((studio.folder / "data").glob("wrong*"))


def test_a_comparison_has_children_and_a_board(studio, dropped):
    settings = {"train.steps": 2, "model.hidden": 6, "train.threads": 1}
    body = {"file": dropped, "task": "classify", "models": ["rnn"], "settings": settings, "seeds": 1}
    started = studio.post("/api/compare", body)
    run = started["id"]
    assert run == "reviews-compare-1" and started["same"]["command"].endswith("--out runs/reviews-compare-1")
    early = studio.ask("GET", path_of(run, "board"))
    assert early.status in (200, 400)  # which depends on how quick the machine is
    end = time.monotonic() + 120
    while studio.get(path_of(run))["state"] == "running" and time.monotonic() < end:
        time.sleep(0.2)
    found = studio.get(path_of(run))
    assert found["kind"] == "comparison" and found["state"] == "finished" and f"{run}/rnn" in found["children"]
    assert shlex.split(found["same"]["command"])[:3] == ["atento", "compare", dropped]
    assert "models=['rnn']" in found["same"]["python"]
    board = studio.get(path_of(run, "board"))
    assert board["winner"] in [row["model"] for row in board["rows"]] and board["verdict"]
    assert studio.get(path_of(f"{run}/rnn"))["model"] == "rnn"
    assert studio.ask("GET", f"/pages/{run}/report.html").status == 200


def test_json_has_no_numbers_that_are_not_finite(studio, finished):
    body = studio.ask("GET", path_of(finished["id"])).body.decode()
    json.loads(body, parse_constant=lambda name: pytest.fail(name))


def test_a_mistake_of_our_own_is_told_without_a_traceback(capsys):
    """The page reads one sentence; the traceback is for the terminal."""
    from atento.studio.app import make_app

    app = make_app()

    @app.get("/broken/{kind}")
    def broken(kind: str):
        raise {"key": KeyError("lost"), "type": TypeError("lost"), "memory": MemoryError()}[kind]

    async def ask(kind):
        scope = {"type": "http", "method": "GET", "path": f"/broken/{kind}", "query_string": b"", "headers": []}
        answered = []

        async def receive():
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message):
            answered.append(message)

        await app(scope, receive, send)
        return answered[0]["status"], json.loads(answered[1]["body"])["error"]["problem"]

    with ThreadPoolExecutor(1) as threads:  # a browser that is open for other tests keeps a loop in this one
        answers = {kind: threads.submit(asyncio.run, ask(kind)).result() for kind in ("key", "type", "memory")}
    assert answers["key"] == (500, "atento made a mistake of its own: KeyError: 'lost'")
    assert answers["type"] == (500, "atento made a mistake of its own: TypeError: lost")
    assert answers["memory"] == (507, "there is not enough memory.")
    assert capsys.readouterr().err.count("Traceback") == 2


def test_a_killed_server_is_started_again_and_knows_all(studio, studio_server, finished):
    """The last test of this file. The token is the same, so the page goes on as if nothing had happened."""
    studio.kill()
    with studio_server(studio.folder, port=studio.port) as again:
        assert again.token == studio.token and again.url == studio.url
        assert finished["id"] in [run["id"] for run in again.get("/api/workspace")["runs"]]
        assert again.get(path_of(finished["id"], "events"))["next"] == len(finished["events"])
        assert again.stop() == 0
