"""Exported models in processes in which torch cannot be imported: the commands, the server's model and the runner."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import atento
from atento.exporting.export import export_bundle
from exported import TEXTS, bundle_of
from servers import run_server

pytestmark = pytest.mark.usefixtures("light_recording")

HIDDEN = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "safetensors"):
            raise ImportError(f"{name} is hidden")
sys.meta_path.insert(0, Hidden())
"""
ALONE = HIDDEN.replace("safetensors", "atento")
WINDOWS = (Path(__file__).parents[1] / "tools" / "other_system" / "sitecustomize.py").read_text(encoding="utf-8")
COMMAND = f"{HIDDEN}\nfrom atento.cli.app import main\nsys.argv[0] = 'atento'\nmain()\n"
SERVED = f"""{HIDDEN}
import json
from pathlib import Path
from atento.serving.exported import load_exported
model, told = load_exported(Path(sys.argv[1])), []
rows = [{{"text": "one"}}, {{"text": "two one"}}, {{"text": "one"}}]
answers = model.answer(rows, attention=[False, True, False])
whole = model.stream({{"text": "two one"}}, told.append)
print(json.dumps([model.card.to_json(), answers, "".join(told), whole]))
"""


def run(program, *words, given=""):
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, words)], input=given, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def translation(tmp_path_factory):
    place = tmp_path_factory.mktemp("text")
    bundle = bundle_of(place / "run", "translate", "transformer")
    export_bundle(bundle, out=place / "out")
    return bundle, place / "out"


def answers_of(bundle, sources):
    return [
        one.text for one in bundle.task.answering.answer(bundle.module, bundle.codec, sources, bundle.recipe.decode)
    ]


def test_files_and_lines_are_answered(translation, tmp_path):
    bundle, folder = translation
    wanted = answers_of(bundle, TEXTS)
    assert run(COMMAND, "predict", folder, "-", given="\n".join(TEXTS)).split("\n")[:-1] == wanted
    (tmp_path / "some.csv").write_text("other,source\n" + "".join(f'1,"{text}"\n' for text in TEXTS))
    found = json.loads(run(COMMAND, "predict", folder, tmp_path / "some.csv", "--text", "source", "--json"))
    assert [row["prediction"] for row in found["rows"]] == wanted
    assert [row["other"] for row in found["rows"]] == ["1"] * len(TEXTS)


@pytest.mark.parametrize("words", [("predict", "outs", "-"), ("serve", "outs")])
def test_a_folder_that_is_not_there_is_told_before_torch_is_asked_for(translation, words):
    _, folder = translation
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *words], cwd=folder.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and "outs: there is no such run." in done.stderr
    assert "did you mean out?" in done.stderr


def test_rows_of_a_server_are_answered_and_streamed(translation):
    bundle, folder = translation
    card, answers, told, whole = json.loads(run(SERVED, folder))
    one, two = answers_of(bundle, ["one", "two one"])
    assert [answer["text"] for answer, _ in answers] == [one, two, one]
    assert (told, whole[0]["text"]) == (two, two)
    assert (card["input"], card["output"], card["streams"]) == ("text", "text", True)
    assert "no attention weights" in answers[1][1]["explanation"]


def test_a_server_answers_over_http(translation, tmp_path):
    """Every process of the server has a sitecustomize in which torch is hidden, and whatever Windows lacks."""
    bundle, folder = translation
    (tmp_path / "sitecustomize.py").write_text(HIDDEN + WINDOWS, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), str(Path(atento.__file__).parents[1])])
    with run_server(folder, PYTHONPATH=path) as server:
        results = server.predict({"text": "one"}, {"text": "two one"})["results"]
        assert [result["answer"]["text"] for result in results] == answers_of(bundle, ["one", "two one"])
    seen = subprocess.run(
        [sys.executable, "-c", "import torch"], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
    )
    assert "torch is hidden" in seen.stderr  # or the test would prove nothing


RUNNERS = [
    ("translate", "transformer", ["two one"], ["two one"]),
    ("classify", "transformer", ["six five, four three two"], ["six five, four three two"]),
    ("estimate", "transformer", ["5,4 3,2 1,0 9,9"], ["5,4 3,2 1,0 9,9"]),
    ("tag", "transformer+crf", ["four five six"], ["four five six"]),
]


@pytest.mark.parametrize(("task", "model", "words", "source"), RUNNERS, ids=[one[0] for one in RUNNERS])
def test_the_runner_answers_alone(tmp_path, task, model, words, source):
    """`run.py` needs numpy and onnxruntime: not torch, not atento. Its longest line and its length stay readable."""
    bundle = bundle_of(tmp_path / "run", task, model)
    export_bundle(bundle, out=tmp_path / "out")
    text = (tmp_path / "out" / "run.py").read_text(encoding="utf-8")
    lines = [line for line in text.split("\n") if line.strip()]
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 120
    path = str(tmp_path / "out" / "run.py")
    start = ALONE + f"sys.argv[0] = {path!r}\nimport runpy\nrunpy.run_path({path!r})\n"
    found = run(start, *words).strip()
    assert found.split("  ")[0].startswith(answers_of(bundle, source)[0])
