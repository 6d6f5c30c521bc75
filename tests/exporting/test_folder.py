"""Folders of exported models: written whole or not at all, checked before use, never written over."""

import json
import os
from pathlib import Path

import pytest

import atento
from atento.errors import InputError, RunError
from atento.exporting import export as exporting
from atento.exporting import tracing
from atento.exporting.export import export_bundle
from atento.exporting.folder import check_folder, is_exported
from atento.exporting.runtime.model import ExportedModel
from exported import bundle_of


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    return bundle_of(tmp_path_factory.mktemp("run") / "run", "estimate-images", "conv")


@pytest.fixture(scope="module")
def folder(bundle, tmp_path_factory):
    place = tmp_path_factory.mktemp("some") / "deep" / "out"
    export_bundle(bundle, out=place)
    return place


def copied(folder, to):
    to.mkdir()
    for path in folder.iterdir():
        (to / path.name).write_bytes(path.read_bytes())
    return to


def test_who_wants_a_run_is_told_that_an_exported_model_is_none(folder):
    with pytest.raises(InputError, match="this is an exported model") as told:
        atento.load(folder)
    assert "give the run that it was made of" in told.value.fix


def test_a_folder_says_what_it_holds(folder):
    manifest = check_folder(folder)
    files = {"export.json", "vocabulary.json", "model.onnx", "README.md", "run.py"}
    assert is_exported(folder)
    assert set(manifest["files"]) == files
    assert {path.name for path in folder.iterdir()} == {*files, "manifest.json"}
    assert 0 < manifest["largest_error"] <= 1e-5
    assert len(manifest["checked"]) == len(tracing.CHECKED)


def test_no_file_of_a_folder_tells_a_path_of_this_machine(folder, bundle, tmp_path):
    export_bundle(bundle, to="torch-export", out=tmp_path / "programs")
    told = [str(folder.parent.parent.parent), str(Path(tracing.__file__).parents[1]), "site-packages"]
    for path in (*folder.iterdir(), *(tmp_path / "programs").iterdir()):
        content = path.read_bytes()
        assert not [text for text in told if text.encode() in content], path


@pytest.mark.parametrize("name", ["model.onnx", "export.json", "vocabulary.json", "run.py"])
def test_a_changed_file_is_refused(folder, tmp_path, name):
    other = copied(folder, tmp_path / "other")
    content = bytearray((other / name).read_bytes())
    content[len(content) // 2] ^= 1
    (other / name).write_bytes(bytes(content))
    with pytest.raises(InputError, match=f"{name} is damaged"):
        ExportedModel(other)


def test_a_missing_or_strange_file_is_refused(folder, tmp_path):
    other = copied(folder, tmp_path / "other")
    (other / "model.onnx").unlink()
    with pytest.raises(InputError, match=r"model\.onnx is damaged"):
        ExportedModel(other)
    manifest = json.loads((other / "manifest.json").read_text())
    manifest["files"]["../secret"] = manifest["files"].pop("model.onnx")
    (other / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match=r"manifest\.json is damaged"):
        ExportedModel(other)
    with pytest.raises(InputError, match="not an exported model"):
        ExportedModel(tmp_path)


def test_graphs_that_are_no_graphs_are_refused(folder, tmp_path):
    """A manifest that vouches for a false graph does not make it one."""
    from atento.exporting.folder import write_manifest

    other = copied(folder, tmp_path / "other")
    (other / "model.onnx").write_bytes(b"nothing of the kind")
    (other / "manifest.json").unlink()
    write_manifest(other, {})
    with pytest.raises(InputError, match=r"model\.onnx is damaged"):
        ExportedModel(other)


def test_an_existing_folder_is_never_touched(bundle, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("kept")
    with pytest.raises(InputError, match="exists"):
        export_bundle(bundle, out=tmp_path / "out")
    assert (tmp_path / "out" / "mine").read_text() == "kept"


def test_a_wrong_graph_is_refused_and_nothing_is_left(bundle, tmp_path, monkeypatch):
    """The check sees an error of 2e-5 in one output, and lets one of 5e-6 pass."""
    truth = exporting.by_onnxruntime

    def wrong(error):
        def compute_of(graph, folder):
            compute = truth(graph, folder)
            return lambda inputs: [part + error for part in compute(inputs)]

        return compute_of

    monkeypatch.setattr(exporting, "by_onnxruntime", wrong(2e-5))
    with pytest.raises(RunError, match="does not give what torch gives"):
        export_bundle(bundle, out=tmp_path / "out")
    assert os.listdir(tmp_path) == []
    monkeypatch.setattr(exporting, "by_onnxruntime", wrong(5e-6))
    assert 4e-6 < export_bundle(bundle, out=tmp_path / "out").largest_error < 1e-5


def test_what_cannot_be_exported_is_said_before_the_attempt(bundle, tmp_path, monkeypatch):
    def never(*arguments):
        raise AssertionError("it was tried")

    monkeypatch.setattr(exporting, "write_graphs", never)
    with pytest.raises(InputError, match="did you mean 'onnx'"):
        export_bundle(bundle, to="onx", out=tmp_path / "out")
    with pytest.raises(InputError, match="onnx and ct2"):
        export_bundle(bundle, to="torch-export", int8=True, out=tmp_path / "out")
    with pytest.raises(InputError, match="CTranslate2 cannot express this model"):
        export_bundle(bundle, to="ct2", out=tmp_path / "out")
    assert os.listdir(tmp_path) == []
