"""look: attention, attributions, steps, states and gradients, for people, for machines, and as files."""

import base64
import json

import numpy as np
import pytest


def test_the_verdict_on_a_terminal(atento_command, trained_run, tmp_path):
    done = atento_command.run("look", trained_run.folder, "--what", "gradients", cwd=tmp_path)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0].endswith("(LSTMCell)")
    assert "lag  norm" in lines[1]
    assert any("forget gate:" in line for line in lines)
    assert lines[-2].startswith("The gradient ")
    assert "model.init" in lines[-1] or lines[-1] == "Nothing to change."


@pytest.mark.parametrize("name, start", [("a.html", b"<!doctype"), ("a.png", b"\x89PNG"), ("a.json", b"{")])
def test_files(atento_command, trained_run, tmp_path, name, start):
    words = ("look", trained_run.folder, "dreiundvierzig", "--what", "gradients", "--out", name)
    done = atento_command.run(*words, cwd=tmp_path)
    assert done.code == 0, done.err
    assert done.out.endswith(f"written to {name}\n")
    assert (tmp_path / name).read_bytes().startswith(start)


@pytest.mark.spec("R13")
def test_one_document_for_machines(atento_command, trained_run, tmp_path):
    words = ("look", trained_run.folder, "dreiundvierzig", "--what", "gradients", "--out", "a.json", "--json")
    done = atento_command.run(*words, cwd=tmp_path)
    assert done.code == 0, done.err
    found = done.document
    assert found.pop("run") == str(trained_run.folder)
    assert found == json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert {"verdict", "words", "remedy", "parts", "model"} <= set(found)
    assert found["parts"][0]["curve"]["median"][0] == pytest.approx(1.0)


def test_a_name_that_says_no_kind_is_refused_first(atento_command, trained_run, tmp_path):
    done = atento_command.here("look", trained_run.folder, "--what", "gradients", "--out", "a.docx", cwd=tmp_path)
    assert done.code == 2
    assert ".html or .png or .svg or .pdf or .json" in done.err and "fix:   --out a.html\n" in done.err


@pytest.mark.spec("V02")
def test_all_maps_as_a_page_and_as_numbers(atento_command, trained_run, tmp_path):
    for name in ("a.html", "a.json", "a.png"):
        done = atento_command.run("look", trained_run.folder, "dreiundvierzig", "--out", name, cwd=tmp_path)
        assert done.code == 0, done.err
    found = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    (cross,) = found["maps"]
    shown = np.frombuffer(base64.b64decode(cross["weights"]), dtype="<f4").reshape(cross["shape"])
    np.testing.assert_allclose(shown, trained_run.explain("dreiundvierzig").weights, atol=1e-6)
    assert cross["queries"] == [step["token"] for step in found["steps"]] and cross["keys"] == list("dreiundvierzig")
    assert all(sum(other["probability"] for other in step["alternatives"]) <= 1 + 1e-6 for step in found["steps"])
    assert found["output"] in [text["text"] for text in found["finished"]]
    assert '"attention-views"' in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_two_runs_side_by_side(atento_command, trained_run, tmp_path):
    words = ("look", trained_run.folder, "dreiundvierzig", "--with", trained_run.folder)
    done = atento_command.run(*words, "--out", "both.html", cwd=tmp_path)
    assert done.code == 0 and done.out.count("cross-attention (1 × 1 × ") == 2, done.err
    assert (tmp_path / "both.html").stat().st_size < 3_000_000
    done = atento_command.run(*words, "--json", cwd=tmp_path)
    assert len(done.document["views"]) == 2
    done = atento_command.here(*words, "--what", "tokens", cwd=tmp_path)
    assert done.code == 2 and "side by side" in done.err


@pytest.mark.parametrize("what, said", [("attribution", "Neither says why"), ("states", "on other texts")])
def test_attribution_and_states(atento_command, trained_run, tmp_path, what, said):
    words = ("look", trained_run.folder, "dreiundvierzig", "--what", what)
    done = atento_command.run(*words, "--out", "a.html", cwd=tmp_path)
    assert done.code == 0 and said in done.out and done.out.endswith("written to a.html\n"), done.err
    found = atento_command.run(*words, "--json", cwd=tmp_path).document
    assert found["tokens"] == list("dreiundvierzig")
    if what == "attribution":
        assert sum(found["values"]) == pytest.approx(found["score"] - found["baseline"], rel=0.01)
        assert found["score"] == pytest.approx(trained_run.answers(["dreiundvierzig"], ())[0].score, abs=1e-4)
    else:
        assert len(found["units"][0]) == len("dreiundvierzig")


def test_a_walk_as_a_page(atento_command, trained_run, tmp_path):
    words = ("look", trained_run.folder, "drei", "--what", "steps", "--out", "steps.html")
    done = atento_command.run(*words, cwd=tmp_path)
    assert done.code == 0 and "decoder states" in done.out, done.err
    assert '"steps-data"' in (tmp_path / "steps.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "what, said",
    [
        pytest.param("model", "shape in → out", marks=pytest.mark.spec("V01")),
        pytest.param("schedule", "learning rate", marks=pytest.mark.spec("V04")),
    ],
)
def test_the_model_and_its_learning_rate(atento_command, trained_run, tmp_path, what, said):
    done = atento_command.run("look", trained_run.folder, "--what", what, "--out", "a.html", cwd=tmp_path)
    assert done.code == 0 and said in done.out and done.out.endswith("written to a.html\n"), done.err
    found = atento_command.run("look", trained_run.folder, "--what", what, "--json", cwd=tmp_path).document
    if what == "model":
        assert found["parameters"] == sum(weight.numel() for weight in trained_run.module.parameters())
    else:
        assert found["charts"][0]["curves"][0]["steps"] == sorted(found["charts"][0]["curves"][0]["steps"])


def test_what_a_run_does_not_have_is_said(atento_command, trained_run, tmp_path):
    done = atento_command.here("look", trained_run.folder, "--what", "histograms", cwd=tmp_path)
    assert done.code == 2 and "train.histograms=20" in done.err
    done = atento_command.here("look", trained_run.folder, "--what", "positions", cwd=tmp_path)
    assert done.code == 2 and "no position encodings" in done.err


@pytest.mark.parametrize("what, said", [("positions", "sinusoidal"), ("schedules", "RAdam's rectification")])
def test_parts_without_a_model(atento_command, tmp_path, what, said):
    done = atento_command.here("parts", "--what", what, "--out", "a.html", cwd=tmp_path)
    assert done.code == 0 and said in done.out, done.err
    assert (tmp_path / "a.html").stat().st_size < 3_000_000
    assert atento_command.here("parts", "--what", "cells", cwd=tmp_path).code == 2
