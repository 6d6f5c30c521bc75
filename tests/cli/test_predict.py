"""predict and evaluate: columns are kept, formats read back, refused rows are listed."""

import csv
import json
import lzma
import shutil

import pyarrow.parquet
import pytest

from atento.data.builtin.numbers import english, german

NUMBERS = (43, 7, 512, 1234, 99_021, 345_678, 24_583)


@pytest.fixture
def asked(tmp_path):
    """A CSV file with columns of its own, one of them named as ours would be."""
    path = tmp_path / "asked.csv"
    lines = [f'{n:05d},{german(n)},"a, {n}"' for n in NUMBERS]
    path.write_text("id,source,prediction\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def answers(trained_run):
    """What the model says to those, which is nearly always right."""
    found = trained_run.predict([german(n) for n in NUMBERS])
    assert sum(text == english(n) for text, n in zip(found, NUMBERS, strict=True)) >= 5
    return found


def read_back(path):
    if path.suffix == ".parquet":
        return pyarrow.parquet.read_table(path).to_pylist()
    with path.open(encoding="utf-8", newline="") as file:
        if path.suffix == ".jsonl":
            return [json.loads(line) for line in file]
        return list(csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","))


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_columns_are_kept_and_files_read_back(atento_command, trained_run, answers, asked, tmp_path, ending):
    out = tmp_path / f"answers.{ending}"
    done = atento_command.run("predict", trained_run.folder, asked.name, "--out", out.name, cwd=tmp_path)
    assert done.code == 0, done.err
    assert done.out == f"7 predictions written to {out.name}\n"
    rows = read_back(out)
    assert all(float(row.pop("log_probability")) <= 0 for row in rows)
    assert rows == [
        {"id": f"{n:05d}", "source": german(n), "prediction": f"a, {n}", "prediction_2": answer}
        for n, answer in zip(NUMBERS, answers, strict=True)
    ]


def test_without_out_it_is_csv_on_standard_output(atento_command, trained_run, answers, asked, tmp_path):
    done = atento_command.run("predict", trained_run.folder, asked.name, cwd=tmp_path)
    rows = list(csv.DictReader(done.out.splitlines()))
    assert [row["prediction_2"] for row in rows] == answers
    assert list(rows[0]) == ["id", "source", "prediction", "prediction_2", "log_probability"]


def test_lines_from_standard_input(atento_command, trained_run, tmp_path):
    (tmp_path / "typed").write_text(f"{german(24_583)}\n\n{german(512)}\n", encoding="utf-8")
    said = trained_run.predict([german(24_583), german(512)])
    done = atento_command.run("predict", trained_run.folder, "-", cwd=tmp_path, stdin=tmp_path / "typed")
    assert (done.code, done.out.splitlines()) == (0, said)
    done = atento_command.run("predict", trained_run.folder, "-", "--json", cwd=tmp_path, stdin=tmp_path / "typed")
    assert [row["prediction"] for row in done.document["rows"]] == said
    done = atento_command.run("predict", trained_run.folder, "-", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "no line on standard input" in done.err


def test_standard_input_that_is_no_utf_8(atento_command, trained_run, tmp_path):
    (tmp_path / "typed").write_bytes(f"{german(5_512)}\n{german(12_055)}\n".encode("cp1252"))
    done = atento_command.run("predict", trained_run.folder, "-", cwd=tmp_path, stdin=tmp_path / "typed")
    assert done.out.splitlines() == trained_run.predict([german(5_512), german(12_055)])
    assert "read as cp1252" in done.err
    (tmp_path / "typed").write_bytes(b"a\x81\x00\xff\n")
    done = atento_command.run("predict", trained_run.folder, "-", cwd=tmp_path, stdin=tmp_path / "typed")
    assert done.code == 2
    assert "standard input:1:2: this is not text" in done.err


def test_a_built_in_name_where_a_file_may_stand(atento_command, trained_run, small, tmp_path):
    done = atento_command.run("evaluate", trained_run.folder, "numbers", "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    assert done.document["examples"] == 2000
    assert done.document["scores"] == trained_run.metrics["scores"]
    done = atento_command.run("predict", small[0], "numbers", "--json", cwd=tmp_path)
    rows = done.document["rows"]
    assert [set(row) for row in rows] == [{"source", "target", "prediction", "log_probability"}] * 2000
    assert (
        rows[0]["source"]
        == json.loads((trained_run.folder / "predictions.jsonl").read_text().splitlines()[0])["source"]
    )


def test_an_existing_file_beats_a_built_in_name(atento_command, trained_run, tmp_path):
    (tmp_path / "numbers").write_text("source\ttarget\neins\tone\nzwei\ttwo\n")
    done = atento_command.run("evaluate", trained_run.folder, "numbers", "--json", cwd=tmp_path)
    assert done.document["examples"] == 2


def test_refused_rows_are_listed_not_lost(atento_command, trained_run, tmp_path):
    (tmp_path / "pairs.csv").write_text("source,target\neins,one\n,two\nzwei,two\ndrei\n")
    for command in ("predict", "evaluate"):
        stop, skip = ("--set", "data.bad_rows=stop"), ("--set", "data.bad_rows=skip")
        stopped = atento_command.run(command, trained_run.folder, "pairs.csv", *stop, cwd=tmp_path)
        assert stopped.code == 2
        assert "pairs.csv:3:1" in stopped.err
        done = atento_command.run(command, trained_run.folder, "pairs.csv", *skip, "--json", cwd=tmp_path)
        assert done.code == 0, done.err
        assert [text.split(": ")[0] for text in done.document["refused"]] == ["pairs.csv:3:1", "pairs.csv:5:5"]
        done = atento_command.run(command, trained_run.folder, "pairs.csv", *skip, cwd=tmp_path)
        for place in ("pairs.csv:3:1", "pairs.csv:5:5"):
            assert f"{'not answered:' if command == 'predict' else 'left out'} {place}" in done.err


def test_the_columns_a_run_was_trained_on_are_used_again(atento_command, small_words, tmp_path):
    """English to German, though a guess would take them in the order they stand."""
    rows = "".join(f"{n},{german(n)},{english(n)}\n" for n in range(60))
    (tmp_path / "pairs.csv").write_text("id,de,en\n" + rows, encoding="utf-8")
    columns = ("--set", "data.source=en", "--set", "data.target=de")
    done = atento_command.run(
        "train", "pairs.csv", "--model", "gru", *small_words, *columns, "--out", "r", cwd=tmp_path
    )
    assert done.code == 0, done.err
    done = atento_command.run("evaluate", "r", "pairs.csv", "--json", cwd=tmp_path)
    assert max(band["to"] for band in done.document["lengths"]) == max(len(english(n)) for n in range(60))
    said = atento_command.run("evaluate", "r", "pairs.csv", cwd=tmp_path).err
    assert "--set data.header=no" in said and "settings={" not in said  # words of the command line
    assert "pairs.csv is the file that the model was trained on" in said
    (tmp_path / "other.csv").write_text("x,y\nwort one,word one\nwort two,word two\n")
    refused = atento_command.run("evaluate", "r", "other.csv", cwd=tmp_path)
    assert refused.code == 2
    assert "there is no column 'en', which the model was trained on" in refused.err
    named = atento_command.run("evaluate", "r", "other.csv", "--text", "y", "--target", "x", "--json", cwd=tmp_path)
    assert [band["to"] for band in named.document["lengths"]] == [len("word one")]
    asked = atento_command.run("predict", "r", "other.csv", "--text", "y", "--json", cwd=tmp_path)
    assert [row["y"] for row in asked.document["rows"]] == ["word one", "word two"]
    assert not any("trained on" in note for note in asked.document["notes"])


@pytest.mark.parametrize(
    "words, expected",
    [
        (("predict", "RUN", "f.tsv", "--out", "a.xlsx"), ("--out a.xlsx", "'.xlsx'", ".csv")),
        (("predict", "RUN", "f.tsv", "--out", "no/a.csv"), ("--out no/a.csv", "mkdir -p no")),
        (("predict", "RUN", "f.tsv", "--set", "model.hidden=8"), ("model.hidden", "only data.* and decode.*")),
        (("predict", "RUN", "f.tsv", "--set", "decode.beam=0"), ("decode.beam", "at least 1")),
        (("predict", "RUN", "f.tsv", "--set", "data.source=gone"), ("no column 'gone'", "data.source=")),
        (("predict", "RUN", "none.tsv"), ("no file none.tsv", "f.tsv?")),
        (("look", "RUN", "eins", "--out", "a.docx"), ("--out a.docx", ".html or .png")),
        (("look", "RUN", "eins", "--out", "no/a.html"), ("--out no/a.html", "mkdir -p no")),
        (("look", "RUN", "eins", "--what", "steps", "--out", "a.png"), ("--out a.png", ".json")),
        (("look", "RUN", "eins", "--what", "dreams"), ("--what", "attention")),
        (("evaluate", "RUN", "f.tsv", "--out", "no/a.json"), ("no/a.json", "mkdir -p no")),
        (("report", "RUN", "--out", "no/a.html"), ("no/a.html", "mkdir -p no")),
    ],
)
def test_what_cannot_be_asked_for(atento_command, processes, trained_run, tmp_path, words, expected):
    (tmp_path / "f.tsv").write_text("eins\tone\nzwei\ttwo\n")
    before = processes.snapshot(tmp_path)
    arguments = [trained_run.folder if word == "RUN" else word for word in words]
    done = atento_command.here(*arguments, cwd=tmp_path)
    assert done.code == 2, done
    assert "Traceback" not in done.err
    assert processes.snapshot(tmp_path) == before
    for text in expected:
        assert text in done.err


@pytest.mark.parametrize("command", ["evaluate", "predict", "look", "report", "try"])
def test_a_damaged_folder(atento_command, small, tmp_path, processes, command):
    run = shutil.copytree(small[0], tmp_path / "run")
    content = (run / "weights.safetensors").read_bytes()
    (run / "weights.safetensors").write_bytes(content[:-1])
    (tmp_path / "f.tsv").write_text("eins\tone\nzwei\ttwo\n")
    before = processes.snapshot(tmp_path)
    done = atento_command.here(command, "run", *(["f.tsv"] if command in ("evaluate", "predict") else []), cwd=tmp_path)
    assert done.code == 2
    assert "run/weights.safetensors is damaged" in done.err
    assert processes.snapshot(tmp_path) == before


def test_packed_and_parallel_files_are_read_too(atento_command, trained_run, tmp_path):
    (tmp_path / "a.de.xz").write_bytes(lzma.compress(f"{german(24_583)}\n{german(345_678)}\n".encode()))
    (tmp_path / "a.en").write_text(f"{english(24_583)}\n{english(345_678)}\n")
    done = atento_command.run("evaluate", trained_run.folder, "a.de.xz,a.en", "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    assert done.document["examples"] == 2
    assert done.document["scores"]["exact"][0] == 1.0


def test_beam_search_answers_too(atento_command, trained_run, asked, tmp_path):
    beam = ("--set", "decode.beam=3")
    done = atento_command.run("predict", trained_run.folder, asked.name, *beam, "--json", cwd=tmp_path)
    found = [row["prediction_2"] for row in done.document["rows"]]
    assert sum(text == english(n) for text, n in zip(found, NUMBERS, strict=True)) >= 5


def test_samples_are_drawn_and_drawn_again_alike(atento_command, trained_run, tmp_path):
    """A high temperature, one seed: the same outputs whatever else is asked; another seed: others."""

    def drawn(*lines, settings=("decode.temperature=3",)):
        (tmp_path / "typed").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        chosen = [word for setting in settings for word in ("--set", setting)]
        done = atento_command.run("predict", trained_run.folder, "-", *chosen, cwd=tmp_path, stdin=tmp_path / "typed")
        assert done.code == 0, done.err
        return done.out.splitlines()

    first, again, once_more, last = drawn("dreiundvierzig", "zwei", "zwei", "neunhunderteins")
    assert again != once_more
    assert drawn("neunhunderteins", "zwei") == [last, again]
    assert drawn("dreiundvierzig", "zwei", settings=("decode.temperature=3", "decode.seed=1")) != [first, again]
    assert drawn("dreiundvierzig", settings=("decode.temperature=3", "decode.top_k=1")) == ["forty-three"]


@pytest.mark.parametrize(
    "settings, expected",
    [
        (("decode.temperature=-1",), ("decode.temperature cannot be '-1'", "at least 0")),
        (("decode.top_p=1.5", "decode.temperature=1"), ("decode.top_p cannot be '1.5'", "at most 1")),
        (("decode.top_k=3",), ("draws nothing", "temperature=1")),
        (("decode.beam=3", "decode.temperature=1"), ("a beam keeps the likeliest", "beam=1")),
    ],
)
def test_a_draw_that_cannot_be_made(atento_command, trained_run, tmp_path, settings, expected):
    chosen = [word for setting in settings for word in ("--set", setting)]
    done = atento_command.here("predict", trained_run.folder, "-", *chosen, cwd=tmp_path)
    assert done.code == 2
    assert all(part in done.err for part in expected), done.err
    assert "Traceback" not in done.err


@pytest.mark.spec("E03")
def test_what_is_lost_without_a_teacher_is_said(atento_command, trained_run, tmp_path):
    """In the run's own metrics, in an evaluation's document, and on the screen in one line."""
    told = trained_run.metrics["exposure"]
    assert told["free"]["exact"] == pytest.approx(trained_run.metrics["scores"]["exact"][0])
    assert 0.9 < told["free"]["tokens"] <= told["forced"]["tokens"] <= 1
    (tmp_path / "f.tsv").write_text("zwei\ttwo\ndrei\tthree\n", encoding="utf-8")
    done = atento_command.run("evaluate", trained_run.folder, "f.tsv", "--json", cwd=tmp_path)
    assert set(done.document["exposure"]) == {"forced", "free"}
    shown = atento_command.run("evaluate", trained_run.folder, "f.tsv", cwd=tmp_path)
    assert "token accuracy: teacher forcing" in shown.out
