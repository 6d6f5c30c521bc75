"""--json: one document on standard output and nothing else there, from every command."""

import pytest

BARE = {
    "data": {"data"},
    "data numbers": {"name", "notes", "examples"},
    "models": {"families", "scores", "distributions", "extents", "suffixes", "compared"},
    "parts": {"parts"},
    "schema": {"properties", "$defs"},
    "doctor": {"checks"},
    "runs": {"runs"},
    "inspect numbers": {"file", "kind", "rows", "columns", "problems", "next"},
}


@pytest.mark.parametrize("words", BARE)
def test_commands_that_need_no_model(atento_command, tmp_path, words):
    """For machines, and the same for people."""
    done = atento_command.here(*words.split(), "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    assert set(done.document) >= BARE[words]
    assert done.err == ""
    shown = atento_command.here(*words.split(), cwd=tmp_path)
    assert shown.code == 0, shown.err
    assert len(shown.out) > 20
    assert "\x1b" not in shown.out
    assert not list(tmp_path.iterdir())


def test_train(small):
    folder, done = small
    assert done.code == 0, done.err
    assert done.err == ""
    found = done.document
    assert found["run"] == "run"
    assert found["model"] == "gru"
    assert set(found["scores"]) == {"exact", "symbol_error", "chrf", "bleu"}
    assert set(found["versions"]) == {"atento", "torch", "python"}
    assert len(found["data"]["fingerprint"]) == 64
    assert found["seed"] == 0
    assert (folder / "manifest.json").is_file()


def test_evaluate(atento_command, small, tiny_pairs, tmp_path):
    folder, _ = small
    done = atento_command.run("evaluate", folder, tiny_pairs, "--out", "found.json", "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    assert done.document["examples"] == 240
    assert set(done.document["scores"]) == {"exact", "symbol_error", "chrf", "bleu"}
    assert (tmp_path / "found.json").read_text() == done.out


def test_predict(atento_command, small, tiny_pairs, tmp_path):
    folder, _ = small
    done = atento_command.run("predict", folder, tiny_pairs, "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    rows = done.document["rows"]
    assert len(rows) == 240
    assert set(rows[0]) == {"1", "2", "prediction", "log_probability"}


@pytest.mark.parametrize("what", ["attention", "steps"])
def test_look(atento_command, trained_run, tmp_path, what):
    done = atento_command.run("look", trained_run.folder, "dreiundvierzig", "--what", what, "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    found = done.document
    if what == "attention":
        assert found["text"] == "forty-three"
        assert found["source"] == list("dreiundvierzig")
        assert found["output"][-1] == "<end>"
        (matrix,) = found["weights"][0]
        assert (len(matrix), len(matrix[0])) == (len(found["output"]), 14)
    else:
        titles = [step["title"] for step in found["steps"]]
        assert titles[:3] == ["tokens", "encoder states", "summary"]
        assert {"decoder states", "scores", "weights", "contexts"} <= set(titles)
        weights = next(step for step in found["steps"] if step["title"] == "weights")
        assert all(abs(sum(row) - 1) < 0.01 for row in weights["matrix"])


def test_report_of_a_run(atento_command, small, tmp_path):
    folder, _ = small
    done = atento_command.run("report", folder, "--out", "page.html", "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    assert done.document == {"report": "page.html"}
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "gru" in page and "</html>" in page


def test_runs(atento_command, small):
    folder, made = small
    done = atento_command.run("runs", folder.parent, "--json", cwd=folder.parent)
    (entry,) = done.document["runs"]
    assert entry["state"] == "finished"
    assert entry["value"] == made.document["scores"]["exact"][0]


def test_inspect(atento_command, tiny_pairs, tmp_path):
    done = atento_command.here("inspect", tiny_pairs, "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    found = done.document
    assert (found["rows"], found["refused"], found["task"]) == (240, 0, "translate")
    assert [column["name"] for column in found["columns"]] == ["1", "2"]
    assert found["next"][0] == f"atento compare {tiny_pairs}"


@pytest.mark.parametrize("content", ["{}", '{"rows": 3}', "[", '{"rows": [{}], "metrics": {}}'])
def test_report_of_a_damaged_board(atento_command, tmp_path, content):
    (tmp_path / "board.json").write_text(content)
    done = atento_command.here("report", ".", cwd=tmp_path)
    assert done.code == 2
    assert "board.json is damaged" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["board.json"]


def test_a_report_needs_no_data_any_more(atento_command, tiny_pairs, small_words, tmp_path):
    """A folder is whole by itself: it may have come from another machine."""
    (tmp_path / "p.tsv").write_bytes(tiny_pairs.read_bytes())
    done = atento_command.run("train", "p.tsv", "--model", "gru+dot", *small_words, "--out", "r", cwd=tmp_path)
    assert done.code == 0, done.err
    (tmp_path / "p.tsv").unlink()
    done = atento_command.run("report", "r", cwd=tmp_path)
    assert done.code == 0, done.err
    assert (tmp_path / "r" / "report.html").is_file()
