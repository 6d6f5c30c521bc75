"""A user asks what a file is: the guess and why, the columns, both histograms, what is wrong and what mends it."""

import re
import shlex

import pytest
from tests.tasks.shapes import EN, SHAPES

KINDS = [
    ("classify", "German, semicolons", "CSV"),
    ("classify", "COARSE:fine lines", "lines of a label and a text"),
    ("classify", "zip", "a folder or archive of texts"),
    ("label", "JSON lists", "JSON lines"),
    ("tag", "CoNLL-U", "CoNLL, a word per line"),
    ("translate", "parallel", "parallel files"),
    ("translate", "inflection", "TSV"),
    ("match", "a passage", "JSON lines"),
    ("generate", "prose", "plain text"),
    ("estimate", "sequences", "CSV"),
]


@pytest.mark.parametrize("task, shape, kind", KINDS, ids=[f"{task}: {shape}" for task, shape, _ in KINDS])
def test_every_kind_of_file_is_explained(task, shape, kind, atento_command, tmp_path):
    source = SHAPES[task][shape](tmp_path)
    shown = atento_command.run("inspect", source, cwd=tmp_path)
    found = atento_command.run("inspect", source, "--json", cwd=tmp_path).document
    assert shown.code == 0, shown.err
    assert shown.err == ""
    assert f": {kind}, {found['rows']:,} rows" in shown.out.splitlines()[0]
    reason = found["guesses"][task]["reason"]
    assert f"task    {task} ({found['guesses'][task]['likelihood']:.0%}): {reason}" in shown.out
    others = [name for name in found["guesses"] if name != task][:3]
    assert all(found["guesses"][name]["reason"] in shown.out for name in others)
    for column, part in found["used_as"].items():
        assert re.search(rf"^{re.escape(column)} +{part} ", shown.out, flags=re.MULTILINE)
    for side in found["lengths"]:
        assert sum(each["count"] for each in side["bins"]) > 0
        for each in side["bins"]:
            assert re.search(rf"^  {each['name']} .* {each['count']:,} +{100 * each['share']:.1f} %$", shown.out, re.M)
    for entry in found["labels"][:16]:
        assert re.search(
            rf"^  {re.escape(entry['label'])} .* {entry['count']:,} +{100 * entry['share']:.1f} %$", shown.out, re.M
        )
    assert all(note in shown.out for note in (*found["notes"], *found["tokens"]))
    assert shown.out.rstrip().endswith("\n".join(f"  {command}" for command in found["next"]))
    assert found["next"][0] == shlex.join(["atento", "compare", source])


@pytest.mark.spec("X04")
def test_leaks_are_said_and_the_command_beside_them_mends(atento_command, tmp_path):
    """Each text ends in its own label, and some rows stand in the test file, too."""
    rows = [f"{' '.join(EN[n % 7 : n % 7 + 6])} {n} ({'bad' if n % 2 else 'fine'})" for n in range(120)]
    lines = [f"{text},{'bad' if n % 2 else 'fine'},{EN[n % 9]} note {n % 50}" for n, text in enumerate(rows)]
    head = "review,verdict,remark\n"
    (tmp_path / "train.csv").write_text(head + "\n".join([*lines[:100], lines[110], lines[111].upper()]) + "\n")
    (tmp_path / "test.csv").write_text(head + "\n".join(lines[100:]) + "\n")
    done = atento_command.run("inspect", "train.csv", cwd=tmp_path)
    assert done.code == 0, done.err
    assert "! the label 'fine' stands in 100% of the texts of its own name, in 0% of the others" in done.out
    assert "atento compare train.csv --set data.source=remark" in done.out
    columns = ("--text", "remark", "--target", "verdict")
    named = atento_command.run("inspect", "train.csv", *columns, "--json", cwd=tmp_path)
    assert named.document["used_as"] == {"remark": "text", "verdict": "label"}
    assert "1 training rows left out: their source is also in validation or test" in done.out
    assert "! 1 training row differs from a held-out one in case, spaces and punctuation alone" in done.out
    command = next(line for line in done.out.splitlines() if "data.near_duplicates=drop" in line and "atento" in line)
    words = shlex.split(command.strip())
    assert words[:2] == ["atento", "compare"]
    bounds = ("--model", "gru", "--set", "train.steps=2", "--set", "model.hidden=8", "--out", "run", "--json")
    trained = atento_command.run("train", *words[2:], *bounds, cwd=tmp_path)  # in less time than a comparison
    assert trained.code == 0, trained.err
    notes = trained.document["data"]["notes"]
    assert any(note.startswith("1 training rows left out: they are near-duplicates") for note in notes)


def test_a_file_nothing_fits(atento_command, tmp_path):
    source = SHAPES[""]["numbers"](tmp_path)
    done = atento_command.run("inspect", source, cwd=tmp_path)
    assert done.code == 0, done.err
    assert re.search(r"task    none fits; \S+ is closest: \w+", done.out)
    (command,) = re.findall(r"^  atento (inspect .*)$", done.out, re.MULTILINE)
    again = atento_command.run(*shlex.split(command), cwd=tmp_path)
    assert again.code == 0, again.err


@pytest.mark.parametrize("fault", ["2020-13-45", "no number", "both"])
def test_all_that_is_wrong_with_a_series_is_mended_by_one_command(fault, atento_command, tmp_path):
    rows = [[f"2020-{day // 28 + 1:02}-{day % 28 + 1:02}", str(day % 7)] for day in range(28)]
    if fault != "no number":
        rows[9][0] = "2020-13-45"
    if fault != "2020-13-45":
        rows[14][1] = "no number"
    (tmp_path / "s.csv").write_text("ds,y\n" + "".join(f"{when},{value}\n" for when, value in rows))
    found = atento_command.run("inspect", "s.csv", "--json", cwd=tmp_path).document
    assert found["next"][1] == "atento train s.csv --set data.bad_rows=skip --set data.gaps=linear"
    places = [problem["where"].split(":")[1] for problem in found["problems"] if problem["about"] == "rows"]
    assert places == {"2020-13-45": ["11", "12"], "no number": ["16", "17"], "both": ["11", "16", "12"]}[fault]
    typed = shlex.split(found["next"][1])[1:]
    small = ("--set", "train.steps=2", "--set", "train.threads=1", "--out", "run")
    assert atento_command.run(*typed, *small, cwd=tmp_path).code == 0


def test_a_task_typed_as_a_command_is_told_what_to_type(atento_command, tmp_path):
    done = atento_command.here("forcast", "s.csv", "--budget", "5s", cwd=tmp_path)
    assert done.code == 2
    assert done.err.splitlines()[-1].split(None, 1)[1] == "atento compare s.csv --budget 5s --task forecast"


def test_a_folder_of_data_is_answered_with_a_file_of_data(atento_command, tmp_path):
    for name in ("LICENSE", "README.md", "y.csv", "z.csv"):
        (tmp_path / name).write_text("ds,y\n2020-01-01,1\n")
    done = atento_command.here("inspect", tmp_path, cwd=tmp_path)
    assert done.code == 2 and done.err.rstrip().endswith(f"e.g. {tmp_path / 'y.csv'}")
