"""Contracts of a trained run: on its own examples, from Python and from the command line."""

import hashlib
import json
import shutil

import pytest
import torch

import atento
from atento.bundle import MANIFEST, PREDICTIONS, load_bundle, write_json
from atento.checks import check_run


@pytest.fixture(scope="module")
def run(tiny_pairs, tmp_path_factory):
    settings = {"train.steps": 12, "train.threads": 1, "model.hidden": 16, "train.validations": 1}
    folder = tmp_path_factory.mktemp("run") / "run"
    return atento.fit(tiny_pairs, model="gru+dot", settings=settings, device="cpu", out=folder)


@pytest.mark.spec("X01")
def test_a_trained_run_keeps_every_contract(run):
    found = atento.check(run)
    assert found, found
    assert {"answers", "as tested", "micro-batches", "padding content", "future", "cache", "beam"} <= {
        finding.contract for finding in found
    }
    assert found.name == "gru+dot (translate)"
    assert atento.check(str(run.folder)).to_json() == found.to_json()


@pytest.mark.spec("X01")
def test_weights_that_are_not_those_that_were_tested(run):
    bundle = load_bundle(run.folder)
    with torch.no_grad():
        for weight in bundle.module.parameters():
            weight.add_(torch.randn_like(weight))
    assert [finding.contract for finding in check_run(bundle).broken] == ["as tested"]


@pytest.mark.spec("X01")
def test_answers_that_depend_on_their_neighbours(run):
    bundle = load_bundle(run.folder)
    encode = type(bundle.module).encode

    def mixed(self, source, valid):
        encoded = encode(self, source, valid)
        return encoded._replace(summary=encoded.summary + 9 * encoded.summary.mean(0))

    bundle.module.__class__ = type("Mixed", (type(bundle.module),), {"encode": mixed})
    assert {"answers", "neighbours", "micro-batches"} <= {finding.contract for finding in check_run(bundle).broken}


def test_the_command(atento_command, run, tmp_path):
    done = atento_command.run("check", run.folder, cwd=tmp_path)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0].split()[:2] == ["contract", "verdict"]
    assert lines[-1].startswith("gru+dot (translate): ")
    assert "none broken" in lines[-1]
    told = atento_command.run("check", run.folder, "--json", cwd=tmp_path).document
    assert told["held"] is True
    assert len(told["contracts"]) == len(lines) - 3
    assert not list(tmp_path.iterdir())


def test_a_broken_contract_ends_with_4(atento_command, run, tmp_path):
    folder = tmp_path / "other"
    shutil.copytree(run.folder, folder)
    lines = [json.loads(line) for line in (folder / PREDICTIONS).read_text().splitlines()]
    text = "".join(json.dumps({**line, "output": "never said"}) + "\n" for line in lines)
    (folder / PREDICTIONS).write_text(text)
    manifest = json.loads((folder / MANIFEST).read_text())
    manifest["files"][PREDICTIONS] = hashlib.sha256(text.encode()).hexdigest()
    manifest["sizes"][PREDICTIONS] = len(text.encode())
    write_json(folder / MANIFEST, manifest)
    done = atento_command.run("check", folder, cwd=tmp_path)
    assert done.code == 4
    assert "1 broken (as tested)" in done.out
    told = atento_command.run("check", folder, "--json", cwd=tmp_path)
    assert told.code == 4
    assert told.document["held"] is False


def test_a_folder_that_is_no_run(atento_command, tmp_path):
    done = atento_command.here("check", "nowhere", cwd=tmp_path)
    assert done.code == 2
    assert "there is no such run" in done.err and "did you mean" not in done.err
    (tmp_path / "reviews-gru+additive-1").mkdir()
    assert "did you mean reviews-gru+additive-1?" in atento_command.here("check", "reviews-gru-1", cwd=tmp_path).err
