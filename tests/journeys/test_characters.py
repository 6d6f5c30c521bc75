"""Any character of a text or a label survives every command: only line breaks end a line."""

import json

import pytest

from atento import api

STRANGE = {
    "next line": "a\u0085b",
    "line separator": "a\u2028b",
    "paragraph separator": "a\u2029b",
    "vertical tab": "a\x0bb",
    "form feed": "a\x0cb",
    "file separator": "a\x1cb\x1dc\x1ed",
    "zero-width joiner": "👩\u200d💻",
    "byte order mark": "a\ufeffb",
    "bidirectional": "\u202eabc\u202c",
}


@pytest.fixture(scope="module")
def strange(tmp_path_factory):
    """A file whose texts and labels hold all of these characters, and a comparison of one model on it."""
    folder = tmp_path_factory.mktemp("strange")
    signs = list(STRANGE.values())
    rows = [{"text": f"word{at} {signs[at % len(signs)]} more", "label": f"x{signs[at % 3]}y"} for at in range(90)]
    path = folder / "t.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    out = folder / "out"
    api.compare(
        str(path), task="classify", models=["gru+additive"], out=out, budget="30s",
        settings=["train.steps=2", "model.hidden=8", "data.split=60/20/20"],
    )  # fmt: skip
    return path, out / "gru+additive", rows


def test_they_survive_training_prediction_reports_and_checks(strange, tmp_path, atento_command):
    path, run, rows = strange
    loaded = api.load(run)
    assert len(loaded.predict([row["text"] for row in rows])) == len(rows)
    done = atento_command.run("predict", str(run), str(path), "--out", str(tmp_path / "p.jsonl"), cwd=tmp_path)
    assert done.code == 0, done.err
    written = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text(encoding="utf-8").split("\n") if line]
    assert [(row["text"], row["label"]) for row in written] == [(row["text"], row["label"]) for row in rows]
    for words in (
        ("evaluate", str(run), str(path)),
        ("report", str(run), "--out", str(tmp_path / "r.html")),
        ("report", str(run.parent), "--out", str(tmp_path / "c.html")),
        ("check", str(run)),
        ("look", str(run), rows[0]["text"], "--out", str(tmp_path / "l.html")),
        ("runs", str(run.parent)),
    ):
        done = atento_command.run(*words, cwd=tmp_path)
        assert done.code == 0, (words[0], done.err)
