"""Meaning, as a user: learn vectors of words from a text, look at them, keep them, start another model with them."""

import pytest

import atento


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("meaning")


@pytest.fixture(scope="module")
def run(folder):
    return atento.fit("meaning", settings={"train.threads": 1}, device="cpu", out=folder / "run")


@pytest.mark.spec("S01", "S02")
def test_words_used_alike_are_near_and_a_queen_is_found(run):
    words = run.embeddings()
    assert {one.word for one in words.nearest("cat", 4)} == {"dog", "horse", "goat", "rabbit"}
    assert {one.word for one in words.nearest("Lima", 4)} == {"Quito", "Bogotá", "Madrid", "Sevilla"}
    assert words.analogy("king", "man", "woman", 1)[0].word == "queen"
    assert run.predict(["king - man + woman"])[0].split(", ")[0] == "queen"
    assert run.metrics["scores"]["preferred"][0] > 0.8
    assert len(run.embeddings(outputs=True)) == len(words)


@pytest.mark.spec("S02")
def test_the_commands_that_look(run, folder, atento_command):
    near = atento_command.run("look", str(run.folder), "cat", "--what", "embeddings", "--out", "map.html", cwd=folder)
    assert near.code == 0, near.err
    assert near.out.splitlines()[0].startswith("nearest to cat")
    assert (folder / "map.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    sums = atento_command.run(
        "look", str(run.folder), "king - man + woman", "--what", "embeddings", "--json", cwd=folder
    )
    assert sums.document["neighbours"][0][0] == "queen"
    wrong = atento_command.run("look", str(run.folder), "catt", "--what", "embeddings", cwd=folder)
    assert wrong.code == 2 and "did you mean 'cat'" in wrong.err
    cut = atento_command.run("look", str(run.folder), "the cat, otitis", "--what", "tokens", cwd=folder)
    assert "?otitis 9–15" in cut.out
    alone = atento_command.run("look", str(run.folder), "an apple", "--what", "context", cwd=folder)
    assert alone.code == 2 and "two sentences" in alone.err


@pytest.mark.spec("S03")
def test_vectors_go_from_one_model_to_another(run, folder, atento_command):
    kept = atento_command.run("look", str(run.folder), "--what", "embeddings", "--out", "words.vec.xz", cwd=folder)
    assert kept.code == 0, kept.err
    rows = [
        f"the {one} and the {other}\t{one}"
        for one in ("cat", "dog", "king", "queen")
        for other in ("bus", "van", "sea")
    ]
    (folder / "pairs.tsv").write_text("source\ttarget\n" + "\n".join(rows * 4) + "\n", encoding="utf-8")
    train = ["train", "pairs.tsv", "--task", "translate", "--model", "gru", "--out", "second", "--device", "cpu"]
    keys = [
        "train.steps=3",
        "train.threads=1",
        "tokens.source=word",
        "tokens.vectors=words.vec.xz",
        "model.vectors=frozen",
    ]
    narrow = atento_command.run(*train, *with_keys([*keys, "model.hidden=16"]), cwd=folder)
    assert narrow.code == 2 and "--set model.hidden=64" in narrow.err
    done = atento_command.run(*train, *with_keys([*keys, "model.hidden=64"]), "--json", cwd=folder)
    assert done.code == 0, done.err
    notes = done.document["data"]["notes"]
    assert any("words.vec.xz: vectors for 6 of 9 words" in note for note in notes)
    second, first = atento.load(folder / "second", device="cpu").embeddings(), run.embeddings()
    assert second.cosine("cat", "dog") == pytest.approx(first.cosine("cat", "dog"), abs=1e-5)


def with_keys(keys):
    return [word for key in keys for word in ("--set", key)]


def test_a_run_of_words_keeps_its_contracts(run):
    assert atento.check(run)
