"""Without the packages of the extras a first result works; whatever needs one names the line that installs it."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer.testing

from atento.api.comparison.cluster import connected
from atento.cli.app import app
from atento.data.images.loading import decode_image
from atento.data.tables.chunks import parquet_chunks
from atento.data.tables.formats.excel import read_excel
from atento.data.tables.table import read_table
from atento.data.tables.writing import as_parquet
from atento.data.text.levels import choose_level, learn_vocabulary, load_vocabulary
from atento.errors import MachineError
from atento.exporting.export import refuse
from atento.exporting.runtime.ctranslate2 import CTranslate2Writer
from atento.extras import EXTRAS, install_line, missing_packages, require_extra
from atento.training.trackers import require_trackers
from atento.tuning.search import load_optuna
from atento.views.attention.maps import ExplainedAlignment
from atento.views.figures import saved_figure

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "atento"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NOT_AT_RUN_TIME = {"all", "docs", "dev"}
MODULES = {module: name for name, modules in EXTRAS.items() for module in modules}
FASTER = {"httptools", "uvloop"}  # what a server takes where it is there, and can do without
ALSO = {"starlette": "studio"}  # what a package of an extra brings along


def studio(folder):
    done = typer.testing.CliRunner().invoke(app, ["studio", str(folder), "--no-browser"])
    raise done.exception


def serve(folder):
    done = typer.testing.CliRunner().invoke(app, ["serve", str(folder)])
    raise done.exception


def parquet(folder):
    (folder / "x.parquet").write_bytes(b"PAR1 and more PAR1")
    return read_table(str(folder / "x.parquet"))


ACTIONS = {
    "ct2": [lambda folder: CTranslate2Writer(folder, None, {})],
    "export": [lambda folder: refuse(None, "onnx", int8=False)],
    "excel": [lambda folder: read_excel(b"", "x.xlsx", "")],
    "figures": [lambda folder: saved_figure(folder / "x.png", size=(1, 1)).__enter__()],
    "images": [lambda folder: decode_image(b"\x89PNG", "x.png", side=8)],
    "notebook": [lambda folder: ExplainedAlignment.widget(None)],
    "parquet": [parquet, lambda folder: as_parquet({"a": [1]}), lambda folder: next(parquet_chunks("x.parquet", bool))],
    "ray": [lambda folder: connected("auto").__enter__()],
    "serve": [serve],
    "studio": [studio],
    "subwords": [
        lambda folder: learn_vocabulary("subword", ["a b"], size=9, least_count=1),
        lambda folder: load_vocabulary({"level": "subword", "tokenizer": "{}"}),
    ],
    "tensorboard": [lambda folder: require_trackers("tensorboard")],
    "mlflow": [lambda folder: require_trackers("mlflow")],
    "wandb": [lambda folder: require_trackers("wandb")],
    "tune": [lambda folder: load_optuna()],
}


def test_without_subwords_texts_are_read_by_whole_words_and_it_is_said(monkeypatch):
    texts = [f"word{number} of many words{number} here" for number in range(1300)]
    assert choose_level(texts)[0] == "subword"
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    level, reason = choose_level(texts)
    assert level == "word" and reason.endswith(f"subwords would suit them better: {install_line('subwords')}")


def test_the_table_is_that_of_the_project():
    wanted = {name: {re.split("[<>=]", line)[0] for line in lines} for name, lines in optional().items()}
    assert {name: set(modules.values()) for name, modules in EXTRAS.items()} == {
        name: packages - FASTER for name, packages in wanted.items()
    }
    assert set(ACTIONS) == set(EXTRAS)
    everything = re.search(r"\[(.*)\]", PROJECT["optional-dependencies"]["all"][0])[1]
    assert set(everything.split(",")) == set(EXTRAS)


def optional():
    return {name: lines for name, lines in PROJECT["optional-dependencies"].items() if name not in NOT_AT_RUN_TIME}


@pytest.mark.parametrize("name", EXTRAS)
def test_what_is_missing_is_named_with_the_line_that_installs_it(name, monkeypatch, tmp_path):
    assert missing_packages(name) == []
    for module in EXTRAS[name]:
        monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    assert missing_packages(name) == list(EXTRAS[name].values())
    for action in ACTIONS[name]:
        with pytest.raises(MachineError) as told:
            action(tmp_path)
        assert told.value.exit_code == 3
        assert told.value.fix.startswith(f'pip install "atento[{name}]"')
        assert all(package in told.value.problem for package in EXTRAS[name].values())
    assert install_line(name) in told.value.fix


def test_one_of_two_packages_is_named_alone(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MachineError, match=r"the studio needs uvicorn, which is not installed\.\n") as told:
        require_extra("studio", "the studio", instead="the command line")
    assert "found: no package uvicorn" in str(told.value) and told.value.fix.endswith('", or the command line')


GUARDED = {  # imported only after another file has asked for the extra, or where its objects were given
    "data/tables/formats/parquet.py": "parquet",  # data/tables/table.py
    "data/sources/returning.py": "parquet",  # a table that was read
    "estimators/frames.py": "parquet",  # rows that are an Arrow array
    "views/notebook/widget.py": "notebook",  # views/attention/maps.py
    "views/attention/figures.py": "figures",  # within a figure of views/figures.py
    "views/attention/grid_figure.py": "figures",
    "views/live/figure.py": "figures",
    "views/model/graph.py": "figures",
    "web/server.py": "studio",  # cli/studio.py
    "exporting/tracing.py": "export",  # exporting/export.py
    "exporting/int8.py": "export",
    "exporting/ctranslate.py": "ct2",
    "exporting/runtime/graphs.py": "export",  # it asks for onnxruntime alone, which answers without the other two
}


def imports_of(tree):
    """The optional packages that a file imports where it runs, and the extras that it asks for."""
    hints = {id(node) for branch in ast.walk(tree) if is_hint(branch) for node in ast.walk(branch)}
    imported, asked = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in hints:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            imported |= {name.split(".")[0] for name in names}
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "require_extra":
            name = node.args[0]
            asked |= {name.value} if isinstance(name, ast.Constant) else set(EXTRAS)  # a variable names any
    return {(MODULES | ALSO)[name] for name in imported if name in MODULES | ALSO}, asked


def is_hint(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def test_every_optional_import_is_asked_for_first():
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        imported, asked = imports_of(ast.parse(path.read_text(encoding="utf-8")))
        known = {GUARDED.get(name, "studio" if name.startswith(("studio/", "serving/")) else "")}  # the same packages
        assert imported <= asked | known, f"{name} imports a package of {imported - asked - known} and asks for none"
    unguarded = ast.parse("def late():\n    import pyarrow\nif TYPE_CHECKING:\n    import optuna")
    assert imports_of(unguarded) == ({"parquet"}, set())


HIDING = """
import json, sys
sys.modules.update(dict.fromkeys(json.loads(sys.argv[1])))
import atento, atento.cli.app, atento.worker
run = atento.fit("numbers", model="gru", settings={"train.steps": 2, "train.baselines": True}, out="run", device="cpu")
run.explain("vier").save("page.html")
import atento.api.report, atento.estimators
atento.load("run").predict(["vier"])
print(json.dumps(sorted(name for name in json.loads(sys.argv[1]) if sys.modules[name] is not None)))
"""


def test_a_first_result_needs_none_of_them(tmp_path):
    """Nor pandas, polars and sacrebleu, which only the tests have."""
    hidden = json.dumps([*MODULES, *ALSO, "pandas", "polars", "sacrebleu", "lxml", "huggingface_hub"])
    command = [sys.executable, "-c", HIDING, hidden]
    import atento

    env = {"PYTHONPATH": str(Path(atento.__file__).parents[1]), "OMP_NUM_THREADS": "1", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []
