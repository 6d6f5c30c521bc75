"""Each problem is planted in a file and found there; clean files have none; each command can be typed."""

import random
import shlex
import subprocess
from itertools import pairwise

import pytest

from atento.api import inspect
from atento.api.prepare import assemble, gather_values
from atento.data.files.opening import read_exact
from atento.data.sources import reading as sources
from atento.data.tables import chunks
from atento.spec import keys

WORDS = ["the", "film", "was", "very", "good", "bad", "story", "and", "of", "in", "plot", "it", "not", "so", "day"]


def rows(count=700):
    """Texts and labels that are alright."""
    draw = random.Random(0)
    return [[f"{' '.join(draw.choices(WORDS, k=draw.randint(6, 9)))} {n}", "yn"[n % 2]] for n in range(count)]


def write(folder, lines, header="text,label", name="r.csv", encoding="utf-8"):
    path = folder / name
    path.write_bytes(("\n".join([header, *map(",".join, lines)]) + "\n").encode(encoding))
    return str(path)


def problems(source, about):
    found = inspect(source)
    assert found.task == "classify"
    return [problem for problem in found.problems if problem.about == about]


def typed(command):
    """The recipe that a command stands for."""
    words = shlex.split(command)
    assert words[:2] == ["atento", "compare"]
    settings = [after for word, after in pairwise(words) if word == "--set"]
    values = gather_values(words[2], task="auto", model="auto", settings=settings, seed=None, budget=None)
    assert all(setting.split("=")[0] in {key.name for key in keys()} for setting in settings)
    return assemble(values)


def test_a_clean_file_has_none(tmp_path):
    found = inspect(write(tmp_path, rows()))
    assert (found.problems, found.more_problems, found.refused) == ([], 0, 0)


@pytest.mark.spec("X04")
def test_a_label_in_its_text(tmp_path):
    lines = [[f"{text} class {label}", label, f"seen {n}"] for n, (text, label) in enumerate(rows())]
    path = write(tmp_path, lines, "text,label,notes")
    first, second = problems(path, "leak")
    assert "the label 'y' stands in 100% of the texts of its own name, in 0% of the others" in first.where
    assert "'n'" in second.where
    _, recipe, _ = typed(first.command)
    assert recipe.data.source == "notes"
    (alone, _) = problems(write(tmp_path, [line[:2] for line in lines]), "leak")
    assert not alone.command, "there is no other text to read"


@pytest.mark.spec("X04")
def test_a_column_that_says_the_label(tmp_path):
    path = write(tmp_path, [[text, label, str(1 + (label == "y"))] for text, label in rows()], "text,label,code")
    (problem,) = problems(path, "leak")
    assert "column 'code' says the label: each of its 2 values stands beside one" in problem.where
    _, recipe, _ = typed(problem.command)
    assert (recipe.data.source, recipe.data.label) == ("text", "label")


@pytest.mark.spec("X04")
def test_near_duplicates_across_the_split(tmp_path):
    lines = rows()
    path = write(tmp_path, [*lines, *([text.upper() + "!", label] for text, label in lines)])
    (problem,) = problems(path, "duplicates")
    assert "differ from a held-out one in case, spaces and punctuation alone" in problem.where
    task, recipe, _ = typed(problem.command)
    assert recipe.data.near_duplicates == "drop"
    held = sum(
        "left out: they are near-duplicates of validation" in note for note in task.reading.read(recipe.data, 0).notes
    )
    assert held == 1


def test_copies_and_contradictions(tmp_path):
    lines = rows()
    path = write(tmp_path, [*lines, *lines[:3], [lines[5][0], "n" if lines[5][1] == "y" else "y"]])
    (copies,) = problems(path, "duplicates")
    assert copies.where == "3 rows repeat an earlier one"
    assert not copies.command
    (conflict,) = problems(path, "labels")
    assert conflict.where.startswith("1 text with different labels, e.g. ")
    assert conflict.where.endswith("'n' and 'y'")
    task, recipe, _ = typed(conflict.command)
    read = task.reading.read(recipe.data, 0)
    assert recipe.data.conflicts == "first"
    targets = {target for source, target in read.train if source == lines[5][0]}
    assert len(targets) <= 1


def test_labels_that_are_outweighed_or_never_trained_on(tmp_path):
    lines = [[text, "z" if n % 40 == 0 else label] for n, (text, label) in enumerate(rows())]
    (problem,) = problems(write(tmp_path, lines), "labels")
    assert "1 of 3 labels have less than a tenth of the texts of" in problem.where
    assert problem.where.endswith("the rarest is 'z' (18)")
    _, recipe, _ = typed(problem.command)
    assert recipe.train.class_weight == 0.5
    write(tmp_path, rows(), name="train.csv")
    write(tmp_path, [*rows()[:60], ["a new one", "q"]], name="test.csv")
    seen = [one.where for one in problems(str(tmp_path / "train.csv"), "labels")]
    assert "1 label in validation or test only: q" in seen


def test_a_text_far_too_long(tmp_path):
    path = write(tmp_path, [*rows(), ["word " * 4000, "y"]])
    (problem,) = problems(path, "lengths")
    assert problem.where.startswith("the longest text has 4,000 words where half have at most ")
    subprocess.run(problem.command, shell=True, check=True, cwd=tmp_path)
    shorter = inspect(str(tmp_path / "short.r.csv"))
    assert (shorter.rows, shorter.problems) == (700, [])


def test_few_rows(tmp_path):
    (problem,) = problems(write(tmp_path, rows(100)), "size")
    assert problem.where == "the test part has 5 rows: scores will be imprecise"
    task, recipe, _ = typed(problem.command)
    assert len(task.reading.read(recipe.data, 0).test) == 20


def test_a_column_that_hardly_varies(tmp_path):
    path = write(tmp_path, [[text, label, "de"] for text, label in rows()], "text,label,lang")
    (problem,) = problems(path, "columns")
    assert problem.where == "column 'lang' holds 'de' in 100% of the rows"


def test_another_encoding(tmp_path):
    path = write(tmp_path, [[f"schön {text} größer", label] for text, label in rows()], encoding="latin-1")
    (problem,) = problems(path, "encoding")
    subprocess.run(problem.command, shell=True, check=True, cwd=tmp_path)
    assert read_exact(str(tmp_path / "utf8.r.csv")).encoding == "utf-8"
    assert read_exact(str(tmp_path / "utf8.r.csv")).text == read_exact(path).text


def test_rows_that_cannot_be_used(tmp_path):
    path = write(tmp_path, [*rows()[:300], ["only a text"], ["", "y"], *rows()[300:]])
    found = inspect(path)
    assert found.refused == 2
    where = [problem.where for problem in found.problems if problem.about == "rows"]
    assert where == [
        "r.csv:302:12: the row has 1 field where 2 are expected.",
        "r.csv:303:1: the column 'text' is empty here.",
    ]
    task, recipe, _ = typed(found.next[0])  # so few need no key
    read = task.reading.read(recipe.data, 0)
    assert len(read.train) + len(read.valid) + len(read.test) + len(read.refused) == 702
    assert found.problems[0].command == "" and "bad_rows" not in found.next[0]
    found = inspect(write(tmp_path, [*rows()[:300], *[["only a text"]] * 8, *rows()[300:]]))
    assert found.refused == 8
    assert found.problems[0].command == found.next[0]
    assert found.next[0].endswith("--set data.bad_rows=skip")


def test_a_file_too_large_for_memory_is_judged_by_its_first_rows(tmp_path, monkeypatch):
    path = write(tmp_path, rows())
    monkeypatch.setattr(sources, "LARGE_FILE", 9_000)
    monkeypatch.setattr(chunks, "CHUNK_BYTES", 8_000)
    found = inspect(path)
    assert found.task == "classify"
    assert 100 < found.rows < 400
    assert found.notes[0] == f"{path} is large: these are its first rows"
    assert found.next[0] == f"atento compare {path}"
    assert all(path in problem.command for problem in found.problems if problem.command)
