"""Folders that a release has written are loaded by every later version, and answer as they did then."""

import importlib.util
import json
import shutil
from pathlib import Path

import pytest
import torch

import atento
from atento.api.folders import find_model, list_runs
from atento.bundle import FORMAT, load_bundle

PLACE = Path(__file__).parent / "fixtures" / "formats"
RELEASES = sorted(path for path in PLACE.iterdir() if (path / "expected.json").is_file())
CASES = [
    (release, name)
    for release in RELEASES
    for name in json.loads((release / "expected.json").read_text(encoding="utf-8"))
]
MOST_BYTES = 410_000  # of all files of one release
ALIKE = {"rel": 1e-5, "abs": 1e-6}  # another processor adds float32 in another order


def making():
    """The script that wrote the folders."""
    place = importlib.util.spec_from_file_location("make_formats", PLACE / "make.py")
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return module


@pytest.mark.parametrize("release, name", CASES, ids=[f"{release.name} {name}" for release, name in CASES])
def test_it_is_loaded_and_answers_as_it_did(release, name, tmp_path):
    expected = json.loads((release / "expected.json").read_text(encoding="utf-8"))[name]
    folder = shutil.copytree(release / name, tmp_path / name)
    if name == "module":
        run = atento.load(folder, module=making().own_module())
        with torch.no_grad():
            found = run.module.cpu()(torch.tensor(expected["asked"])).flatten().tolist()
        assert found == pytest.approx(torch.tensor(expected["answers"]).flatten().tolist(), **ALIKE)
        return
    if name == "comparison":
        assert {row.model: row.value for row in atento.Board.load(folder).rows} == pytest.approx(expected["values"])
    found = making().answers_of(atento.load(folder, device="cpu"), expected["asked"])
    assert [one["text"] for one in found] == [one["text"] for one in expected["answers"]]
    for one, other in zip(found, expected["answers"], strict=True):
        assert (one["score"] is None) == (other["score"] is None)
        assert (one["score"] or 0.0) == pytest.approx(other["score"] or 0.0, **ALIKE)
        assert (one["probabilities"] or {}) == pytest.approx(other["probabilities"] or {}, **ALIKE)


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.name)
def test_the_list_of_runs_finds_them_whole(release, tmp_path):
    found = list_runs(Path(shutil.copytree(release, tmp_path / "runs")))
    assert {entry["state"] for entry in found} == {"finished"}
    assert {entry["kind"] for entry in found} == {"run", "comparison"}


def test_every_release_left_small_folders_of_a_known_format():
    assert RELEASES, "the test is blind"
    for release in RELEASES:
        assert sum(path.stat().st_size for path in release.rglob("*") if path.is_file()) <= MOST_BYTES
        formats = {json.loads(path.read_text())["format"] for path in release.rglob("manifest.json")}
        assert formats and max(formats) <= FORMAT


def test_this_version_has_left_its_own():
    """A new version adds its folders when it is released: python tests/fixtures/formats/make.py."""
    assert ".".join(atento.__version__.split(".")[:2]) in [release.name for release in RELEASES]


def test_inputs_outputs_and_families_are_all_there():
    """Each kind of input and of output, each family, a baseline and every task that is no product."""
    folders = [find_model(folder).folder for release in RELEASES for folder in release.iterdir() if folder.is_dir()]
    recipes = [load_bundle(folder).recipe for folder in folders if folder.name != "module"]
    assert {"generate", "embed", "forecast", "autoencode", "tag", "label", "match", "caption"} <= {
        recipe.task for recipe in recipes
    }
    inside = [folder for release in RELEASES for folder in release.rglob("weights.safetensors")]
    names = " ".join(load_bundle(path.parent).recipe.model.name for path in inside if path.parent.name != "module")
    assert all(family in names for family in ("rnn", "jordan", "gru", "gru-before", "mgu", "lstm", "transformer"))
    assert all(part in names for part in ("linear", "conv", "crf", "hierarchical", "co", "tf-idf", "nearest"))
