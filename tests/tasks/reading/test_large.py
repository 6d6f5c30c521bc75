"""A file read in pieces gives what it gives when it is read whole."""

import json
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import atento
from atento.data.examples.stored import SharedReading, StoredPairs, shared_reading
from atento.data.sources import reading as sources
from atento.data.tables import chunks
from atento.errors import InputError
from atento.spec import DataRecipe
from atento.tasks.reading import large
from atento.tasks.reading.text import LABELLED, PAIRS


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK_BYTES", 3000)
    monkeypatch.setattr(sources, "LARGE_FILE", 5000)


def rows_of(count=607):
    chance = random.Random(1)
    words = ["un", "dos", "tres", "cuatro", "cinco", "seis", "siete"]
    texts = [" ".join(chance.choices(words, k=chance.randint(3, 9))) + f" n{number % 500}" for number in range(count)]
    return [(text, chance.choice(("sí", "no"))) for text in texts]


def write(path, rows):
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps({"texto": text, "clase": label}) + "\n" for text, label in rows))
    else:
        path.write_text("text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in rows))
    return str(path)


def everything(reading):
    held = [(one.source, one.references[0]) for part in (reading.valid, reading.test) for one in part]
    return sorted([*reading.train, *held])


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.tsv"])
def test_every_row_once_and_equal_sources_together(small, tmp_path, name):
    rows = rows_of()
    reading = LABELLED.read(DataRecipe(train=write(tmp_path / name, rows)), 0)
    assert isinstance(reading.train, StoredPairs)
    assert everything(reading) == sorted(rows)
    assert reading.valid
    assert reading.test
    train = {source for source, _ in reading.train}
    held = [{one.source for one in part} for part in (reading.valid, reading.test)]
    assert not train & (held[0] | held[1])
    assert not held[0] & held[1]


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.tsv"])
def test_processes_that_read_together_have_what_one_reads(small, tmp_path, name):
    """Three of them, here as threads; each parses its own chunks, and all see every row."""
    path, barrier, given = write(tmp_path / name, rows_of()), threading.Barrier(3), [b""] * 3

    def together(index):
        def gather(content):
            given[index] = content
            barrier.wait()
            found = list(given)
            barrier.wait()
            return found

        with shared_reading(SharedReading(index, 3, tmp_path, gather)):
            return LABELLED.read(DataRecipe(train=path), 0)

    alone = LABELLED.read(DataRecipe(train=path), 0)
    with ThreadPoolExecutor(3) as pool:
        for found in pool.map(together, range(3)):
            assert list(found.train) == list(alone.train)
            assert found.train.sample(7) == alone.train.sample(7)
            assert [len(shard.row(0)) for shard in found.train.shards] == [2, 2, 2]  # each has rows of its own
            assert (found.valid, found.test, found.fingerprint) == (alone.valid, alone.test, alone.fingerprint)


def test_the_same_split_again_and_another_by_another_seed(small, tmp_path):
    path = write(tmp_path / "rows.jsonl", rows_of())
    first, again, other = (LABELLED.read(DataRecipe(train=path), seed) for seed in (0, 0, 1))
    assert (first.fingerprint, first.test, list(first.train)) == (again.fingerprint, again.test, list(again.train))
    assert first.test != other.test


def test_refused_rows_are_named_by_their_own_line(small, tmp_path):
    rows = rows_of()
    lines = Path(write(tmp_path / "good.jsonl", rows)).read_text().splitlines()
    lines[100] = '{"texto": "no end'
    lines[450] = ""
    lines[500] = '{"texto": "", "clase": "no"}'
    path = tmp_path / "bad.jsonl"
    path.write_text("\n".join(lines) + "\n")
    reading = LABELLED.read(DataRecipe(train=str(path), bad_rows="skip"), 0)
    assert [(one.file, one.line) for one in reading.refused] == [
        ("bad.jsonl", 101),
        ("bad.jsonl", 451),
        ("bad.jsonl", 501),
    ]
    assert len(everything(reading)) + len(reading.refused) == len(lines)
    with pytest.raises(InputError, match=r"bad\.jsonl:101"):
        LABELLED.read(DataRecipe(train=str(path)), 0)


def test_held_out_parts_stay_small(small, tmp_path, monkeypatch):
    monkeypatch.setattr(large, "MOST_HELD_OUT", 10)
    reading = LABELLED.read(DataRecipe(train=write(tmp_path / "rows.jsonl", rows_of())), 0)
    assert 1 <= len(reading.test) <= 30
    assert len(everything(reading)) == 607


def test_own_files_are_held_out(small, tmp_path):
    rows = rows_of()
    path, test = write(tmp_path / "rows.jsonl", rows), write(tmp_path / "held.jsonl", rows[:5])
    reading = LABELLED.read(DataRecipe(train=path, test=test, valid=test), 0)
    assert not {source for source, _ in reading.train} & {source for source, _ in rows[:5]}
    assert any("left out" in note for note in reading.notes)


def test_pairs_too(small, tmp_path):
    rows = [(f"{text} one", f"{text} two") for text, _ in rows_of()]
    path = tmp_path / "rows.tsv"
    path.write_text("".join(f"{source}\t{target}\n" for source, target in rows))
    reading = PAIRS.read(DataRecipe(train=str(path)), 0)
    held = [(one.source, target) for part in (reading.valid, reading.test) for one in part for target in one.references]
    assert sorted({*reading.train, *held}) == sorted(set(rows))


def test_a_model_learns_from_disk_and_goes_on_where_it_stopped(small, tmp_path):
    path = write(
        tmp_path / "rows.jsonl", [(f"{'muy' if label == 'sí' else 'poco'} {text}", label) for text, label in rows_of()]
    )
    settings = {"model.hidden": 8, "train.steps": 6, "train.validations": 1, "train.threads": 1}
    first, again = (atento.fit(path, model="rnn", settings=settings, out=tmp_path / name) for name in ("a", "b"))
    weights = [(run.folder / "weights.safetensors").read_bytes() for run in (first, again)]
    assert weights[0] == weights[1]
    assert first.recipe.task == "classify"
    assert first.predict(["muy bien"])[0] in ("sí", "no")


@pytest.mark.parametrize("name", ["texts.jsonl", "text.txt"])
def test_a_language_model_learns_from_disk(small, tmp_path, name):
    path = tmp_path / name
    texts = [f"{text}." for text, _ in rows_of()]
    lines = [json.dumps({"text": text}) for text in texts] if name.endswith("jsonl") else texts
    path.write_text("\n".join(lines) + "\n")
    settings = {
        "model.hidden": 8,
        "train.steps": 3,
        "train.validations": 1,
        "train.threads": 1,
        "train.sequence_length": 16,
    }
    run = atento.fit(str(path), task="generate", model="rnn", settings=settings, out=tmp_path / "run")
    assert run.metrics["data"]["parts"]["train"] > 1
    assert run.metrics["scores"]["nats_per_char"][0] > 0


def test_a_column_of_parts_is_left_aside_and_said(small, tmp_path):
    rows = [(text, f"{label}\t{'train' if at < 500 else 'test'}") for at, (text, label) in enumerate(rows_of())]
    path = tmp_path / "rows.tsv"
    path.write_text("text\tlabel\tsplit\n" + "".join(f"{text}\t{label}\n" for text, label in rows))
    notes = LABELLED.read(DataRecipe(train=str(path)), 0).notes
    assert any(note.startswith("column 'split' names parts, and is left aside") for note in notes)
