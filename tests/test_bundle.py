"""A trained model as a folder: whole, or refused by the name of the file that is not."""

import json
import os
import pickle
import random
import resource
import shutil
import struct

import pytest
import torch
from safetensors.torch import load_file, save_file

import atento
from atento.bundle import MANIFEST, digest_of, load_bundle, write_json
from atento.errors import InputError, MachineError
from atento.writing import write_atomically

VOUCHED = (
    "weights.safetensors",
    "recipe.toml",
    "vocabulary.json",
    "metrics.json",
    "README.md",
    "events.jsonl",
    "predictions.jsonl",
)
NEEDED = VOUCHED[:4]


@pytest.fixture(scope="module")
def small(tiny_pairs, tmp_path_factory):
    """A run of a moment."""
    settings = {"model.hidden": 16, "train.steps": 4, "train.threads": 1, "train.validations": 1}
    return atento.fit(tiny_pairs, model="lstm+additive", settings=settings, out=tmp_path_factory.mktemp("b") / "run")


@pytest.fixture
def folder(small, tmp_path):
    """A copy of it, to be damaged."""
    return shutil.copytree(small.folder, tmp_path / "run")


def sign(folder):
    """Vouch for the files as they are now, as someone would who means harm."""
    manifest = json.loads((folder / MANIFEST).read_text())
    manifest["files"] = {name: digest_of(folder / name) for name in manifest["files"]}
    manifest["sizes"] = {name: (folder / name).stat().st_size for name in manifest["files"]}
    write_json(folder / MANIFEST, manifest)


def refusal(folder):
    with pytest.raises(InputError) as caught:
        load_bundle(folder)
    assert caught.value.exit_code == 2
    assert caught.value.found and caught.value.fix
    return caught.value


class Intruder:
    """Whoever unpickles this makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0b100
    path.write_bytes(content)


def test_a_whole_folder_loads(small, folder):
    loaded = load_bundle(folder)
    for name, tensor in small.module.state_dict().items():
        assert torch.equal(loaded.module.state_dict()[name], tensor)
    assert not loaded.module.training
    assert atento.load(folder).predict(["abcd", "eeee"]) == small.predict(["abcd", "eeee"])
    assert set(json.loads((folder / MANIFEST).read_text())["files"]) == set(VOUCHED)


@pytest.mark.parametrize("damage", [os.unlink, cut, flip, lambda path: path.write_bytes(b"")])
@pytest.mark.parametrize("name", VOUCHED)
def test_a_damaged_file_is_refused_by_name(folder, name, damage):
    damage(folder / name)
    assert f"run/{name} is damaged" in refusal(folder).problem


@pytest.mark.parametrize("damage", [cut, flip, lambda path: path.write_bytes(b"")])
def test_a_damaged_manifest_is_refused_by_name(folder, damage):
    damage(folder / MANIFEST)
    problem = refusal(folder).problem
    assert "run/" in problem and "is damaged" in problem


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("name", [*NEEDED, MANIFEST])
def test_a_pickle_is_never_opened(folder, tmp_path, name, signed):
    (folder / name).write_bytes(pickle.dumps(Intruder(tmp_path / "it was here")))
    if signed and name != MANIFEST:
        sign(folder)
    assert name in refusal(folder).problem
    assert not (tmp_path / "it was here").exists()
    pickle.loads((folder / name).read_bytes())
    assert (tmp_path / "it was here").exists(), "the pickle was harmless, and the test proved nothing"


def test_weights_saved_by_torch_are_named_for_what_they_are(folder, small):
    torch.save(small.module.state_dict(), folder / "weights.safetensors")
    sign(folder)
    assert "a pickle, which is never opened" in refusal(folder).found


def rewrite_weights(change):
    def damage(folder):
        tensors = load_file(folder / "weights.safetensors")
        change(tensors, next(iter(tensors)))
        save_file(tensors, folder / "weights.safetensors")

    return damage


def huge_header(folder):
    path = folder / "weights.safetensors"
    path.write_bytes(struct.pack("<Q", 2**62) + path.read_bytes()[8:])


def rewrite(name, old, new):
    def damage(folder):
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new), encoding="utf-8")

    return damage


def replace(name, content):
    return lambda folder: (folder / name).write_text(content)


SIGNED = {
    "huge header": (huge_header, "run/weights.safetensors"),
    "no header": (replace("weights.safetensors", ""), "run/weights.safetensors"),
    "half": (lambda folder: cut(folder / "weights.safetensors"), "run/weights.safetensors"),
    "other shape": (rewrite_weights(lambda all, name: all.update({name: torch.zeros(2, 3)})), "weights.safetensors: "),
    "one missing": (rewrite_weights(lambda all, name: all.pop(name)), "run/weights.safetensors: "),
    "one too many": (rewrite_weights(lambda all, name: all.update(extra=torch.zeros(2))), "safetensors: extra"),
    "NaN": (rewrite_weights(lambda all, name: all[name].fill_(float("nan"))), "holds numbers that are not finite"),
    "one infinite": (rewrite_weights(lambda all, name: all[name].view(-1)[-1:].fill_(float("-inf"))), "not finite"),
    "half precision": (rewrite_weights(lambda all, name: all.update({name: all[name].half()})), "does not fit"),
    "whole numbers": (rewrite_weights(lambda all, name: all.update({name: all[name].int()})), "does not fit"),
    "double precision": (rewrite_weights(lambda all, name: all.update({name: all[name].double()})), "does not fit"),
    "other width": (rewrite("recipe.toml", "hidden = 16", "hidden = 18"), "run/weights.safetensors: "),
    "monstrous width": (rewrite("recipe.toml", "hidden = 16", "hidden = 999424"), "run/weights.safetensors: "),
    "monstrous depth": (rewrite("recipe.toml", "layers = 1", "layers = 100000000"), "run/recipe.toml is damaged"),
    "other model": (rewrite("recipe.toml", "lstm+additive", "transformer"), "run/weights.safetensors: "),
    "no model": (rewrite("recipe.toml", "lstm+additive", "../../model"), "run/recipe.toml is damaged"),
    "no task": (rewrite("recipe.toml", "translate", "os.system"), "run/recipe.toml is damaged"),
    "no such key": (rewrite("recipe.toml", "hidden =", "hiden ="), "run/recipe.toml is damaged"),
    "no TOML": (replace("recipe.toml", "{"), "run/recipe.toml is damaged"),
    "deep TOML": (replace("recipe.toml", "a = " + "[" * 9999), "run/recipe.toml is damaged"),
    "no vocabulary": (replace("vocabulary.json", "{}"), "run/vocabulary.json is damaged"),
    "a list": (replace("vocabulary.json", "[]"), "run/vocabulary.json is damaged"),
    "deep JSON": (replace("vocabulary.json", "[" * 99_999), "run/vocabulary.json is damaged"),
    "token twice": (rewrite("vocabulary.json", '"a"', '"b"'), "run/vocabulary.json is damaged"),
    "unknown level": (rewrite("vocabulary.json", '"char"', '"eval"'), "run/vocabulary.json is damaged"),
    "few tokens": (rewrite("vocabulary.json", '"a",', ""), "run/weights.safetensors: "),
    "no numbers": (replace("metrics.json", "3"), "run/metrics.json is damaged"),
}


@pytest.mark.parametrize("case", SIGNED)
def test_a_false_signature_helps_nobody(folder, case):
    damage, expected = SIGNED[case]
    damage(folder)
    sign(folder)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    error = refusal(folder)
    assert expected in error.problem
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024, "megabytes for a lie"


@pytest.fixture(scope="module")
def simple(tmp_path_factory):
    """A baseline's run."""
    place = tmp_path_factory.mktemp("simple")
    rows = [f"{'good' if at % 2 else 'bad'} film {at},{'yes' if at % 2 else 'no'}" for at in range(60)]
    (place / "films.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    return atento.fit(place / "films.csv", model="tf-idf", out=place / "run")


BASELINE_DAMAGES = {
    "NaN": (rewrite_weights(lambda all, name: all["model.1"].fill_(float("nan"))), "run/baseline.json is damaged"),
    "other precision": (rewrite_weights(lambda all, name: all.update({name: all[name].float()})), "is damaged"),
    "no weights": (rewrite_weights(lambda all, name: all.pop("model.1")), "run/baseline.json is damaged"),
    "no state": (replace("baseline.json", "{}"), "run/baseline.json is damaged"),
    "deep JSON": (replace("baseline.json", "[" * 99_999), "run/baseline.json is damaged"),
    "other class": (rewrite("baseline.json", '"LinearModel"', '"Popen"'), "run/baseline.json is damaged"),
    "other baseline": (rewrite("recipe.toml", '"tf-idf"', '"majority"'), "run/baseline.json is damaged"),
}


@pytest.mark.parametrize("case", BASELINE_DAMAGES)
def test_a_baseline_s_folder_is_checked_like_any_other(simple, tmp_path, case):
    folder = shutil.copytree(simple.folder, tmp_path / "run")
    assert atento.load(folder).predict(["good film", "bad film"]) == simple.predict(["good film", "bad film"])
    damage, expected = BASELINE_DAMAGES[case]
    damage(folder)
    assert "is damaged" in refusal(folder).problem  # the manifest tells
    sign(folder)
    assert expected in refusal(folder).problem


def test_a_baseline_whose_state_nobody_vouches_for_is_refused(simple, tmp_path):
    folder = shutil.copytree(simple.folder, tmp_path / "run")
    manifest = json.loads((folder / MANIFEST).read_text())
    del manifest["files"]["baseline.json"], manifest["sizes"]["baseline.json"]
    write_json(folder / MANIFEST, manifest)
    assert "baseline.json is not listed" in refusal(folder).found


@pytest.mark.parametrize("name", ["../outside.txt", "/etc/hostname", "deep/er", "..", "", ".", "\0"])
def test_the_manifest_names_nothing_outside(folder, name):
    (folder.parent / "outside.txt").write_text("not ours")
    manifest = json.loads((folder / MANIFEST).read_text())
    manifest["files"][name] = digest_of(folder.parent / "outside.txt")
    manifest["sizes"][name] = len("not ours")
    write_json(folder / MANIFEST, manifest)
    assert "run/" in refusal(folder).problem


@pytest.mark.parametrize(
    "manifest",
    [
        {},
        {"format": 1},
        {"format": 1, "files": []},
        {"format": 0, "files": {}, "sizes": {}},
        {"format": "2", "files": {}, "sizes": {}},
        {"format": 1, "files": {}},
        {"format": 1, "files": {}, "sizes": {}},
        {"format": 1, "files": {"recipe.toml": ""}, "sizes": {"weights.safetensors": 1}},
        [],
        3,
        None,
    ],
)
def test_a_manifest_of_another_shape(folder, manifest):
    write_json(folder / MANIFEST, manifest)
    assert "run/manifest.json is damaged" in refusal(folder).problem


@pytest.mark.parametrize(
    "wrote, found, fix",
    [
        ("0.9.2", "format 7 of atento 0.9.2; atento ", 'pip install --upgrade "atento>=0.9.2"'),
        ("1.0; rm -rf", "format 7; atento ", "pip install --upgrade atento"),
        (None, "format 7; atento ", "pip install --upgrade atento"),
    ],
)
def test_a_folder_of_a_newer_version_says_what_to_install(folder, wrote, found, fix):
    """Whatever else has changed in it: only the version that wrote it must stand where it stands today."""
    (folder / MANIFEST).write_text(json.dumps({"format": 7, "parts": "elsewhere"}))
    (folder / "metrics.json").write_text(json.dumps({"versions": wrote and {"atento": wrote}}))
    error = refusal(folder)
    assert error.problem == f"{folder} was written by a newer version of atento."
    assert error.found.startswith(found) and error.fix == fix


def test_the_version_that_wrote_a_folder_stands_in_its_metrics(folder):
    assert json.loads((folder / "metrics.json").read_text())["versions"]["atento"] == atento.__version__


@pytest.mark.parametrize("digest", [None, 3, "", ["a"], {"a": 1}])
def test_a_digest_that_is_none(folder, digest):
    manifest = json.loads((folder / MANIFEST).read_text())
    manifest["files"]["recipe.toml"] = digest
    write_json(folder / MANIFEST, manifest)
    assert "run/recipe.toml is damaged" in refusal(folder).problem


def corrupt(chance, content):
    """Some other bytes than these."""
    spoilt, at = bytearray(content), chance.randrange(len(content))
    how = chance.choice(("flip", "cut", "drop", "noise", "double", "zero"))
    size = chance.randint(1, 64)
    if how == "flip":
        spoilt[at] ^= 1 << chance.randrange(8)
    elif how == "cut":
        del spoilt[at:]
    elif how == "drop":
        del spoilt[at : at + size]
    elif how == "noise":
        spoilt[at : at + size] = chance.randbytes(size)
    elif how == "double":
        spoilt[at:at] = spoilt[at : at + size]
    else:
        spoilt[at : at + size] = bytes(size)
    return bytes(spoilt) if spoilt != content else spoilt[:-1]


def test_three_hundred_random_corruptions_are_all_refused(folder):
    chance = random.Random(7)
    for _ in range(300):
        path = folder / chance.choice((*VOUCHED, MANIFEST))
        content = path.read_bytes()
        path.write_bytes(corrupt(chance, content))
        refusal(folder)
        path.write_bytes(content)
    assert load_bundle(folder).recipe.model.hidden == 16


def test_random_corruptions_with_a_false_signature_never_crash(folder):
    """Some of them make another valid model; all others are refused."""
    chance, refused = random.Random(11), 0
    for _ in range(100):
        path = folder / chance.choice(NEEDED)
        content = path.read_bytes()
        path.write_bytes(corrupt(chance, content))
        sign(folder)
        try:
            load_bundle(folder)
        except InputError as error:
            refused += 1
            assert error.exit_code == 2
        path.write_bytes(content)
    assert refused > 50


def test_a_folder_of_a_run_that_has_not_ended(folder):
    (folder / MANIFEST).unlink()
    error = refusal(folder)
    assert "not a trained model" in error.problem
    assert error.fix == f"atento train {folder}/recipe.toml --out {folder} --resume"
    assert "no such run" in refusal(folder / "nowhere").problem


def test_a_write_is_whole_or_not_at_all(tmp_path):
    path = tmp_path / "file"
    write_atomically(path, b"one")
    write_atomically(path, b"two")
    assert path.read_bytes() == b"two"
    with pytest.raises(MachineError, match=r"file could not be written") as caught:
        write_atomically(tmp_path / "no" / "file", b"three")
    assert caught.value.exit_code == 3
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_loading_a_finished_folder_removes_a_checkpoint_left_behind(folder):
    """A run that is killed just after its manifest leaves one; a folder that may only be read keeps it."""
    left = folder / "checkpoint.safetensors"
    left.write_bytes(b"of no use")
    load_bundle(folder)
    assert not left.exists()
    left.mkdir()  # cannot be unlinked
    load_bundle(folder)


def test_a_manifest_that_says_the_same_in_other_bytes_is_refused(folder):
    """A line that stands twice, and a blank that is lost, are damage too, though the JSON is the same."""
    whole = (folder / MANIFEST).read_text()
    line = next(one for one in whole.splitlines(keepends=True) if "recipe.toml" in one)
    for spoilt in (whole.replace(line, line + line, 1), whole.replace("\n ", "\n", 1), whole + "\n"):
        (folder / MANIFEST).write_text(spoilt)
        assert json.loads(spoilt) == json.loads(whole)
        assert "run/manifest.json is damaged" in refusal(folder).problem
