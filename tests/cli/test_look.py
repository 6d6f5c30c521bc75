"""look --what gradients: for people, for machines, and as files."""

import json

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
