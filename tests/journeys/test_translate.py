"""From a file of pairs to texts: a text made shorter, a word inflected by its features."""

import itertools
import random

import pytest

import atento
from atento.data.builtin.numbers import LANGUAGES

LITTLE = ["the", "a", "of", "in", "very", "and"]
THINGS = ["dog", "river", "stone", "house", "bread", "night", "song", "green", "old", "wind", "cook", "runs"]
SMALL = {"model.hidden": 64, "model.dropout": 0.0, "train.threads": 1, "train.validations": 3, "train.lr": 8e-3}


@pytest.fixture(scope="module", params=["auto", "subword"])
def shortened(request, tmp_path_factory):
    """Sentences whose little words are dropped, learned from 1,500 of them."""
    chance = random.Random(0)
    rows = {}
    while len(rows) < 1500:
        kept = chance.choices(THINGS, k=chance.randint(1, 4))
        words = [word for thing in kept for word in (*chance.choices(LITTLE, k=chance.randint(0, 2)), thing)]
        rows[" ".join(words)] = " ".join(kept)
    folder = tmp_path_factory.mktemp("shorter")
    file = folder / "texts.tsv"
    file.write_text("text\tsummary\n" + "".join(f"{text}\t{short}\n" for text, short in rows.items()))
    level = {"tokens.source": request.param, "tokens.target": request.param}
    settings = {**SMALL, **level, "train.steps": 220, "train.batch_tokens": 1024}
    return atento.fit(file, task="translate", model="gru+dot", settings=settings, device="cpu", out=folder / "run")


@pytest.mark.spec("K05")
def test_a_text_is_shortened(shortened):
    """Little words go, the others stay in order: on unseen texts, by a rule that the model was never told."""
    texts = ["the dog of the river", "a very old house and stone", "in night wind runs"]
    expected = [" ".join(word for word in text.split() if word not in LITTLE) for text in texts]
    assert shortened.predict(texts) == expected
    by_subwords = shortened.recipe.tokens.target == "subword"  # few distinct words are else taken whole
    assert shortened.metrics["metric"] == ("chrf" if by_subwords else "exact")
    assert shortened.metrics["scores"]["exact"][0] > 0.9
    assert by_subwords or shortened.metrics["scores"]["symbol_error"][0] < 0.1


@pytest.fixture(scope="module")
def inflected(tmp_path_factory):
    """Words of five letters with two features: a number, that adds a letter, and a negation, that goes before."""
    chance = random.Random(0)
    stems = ["".join(letters) for letters in itertools.product("bdk", "ao", "lmr", "ei", "nst")]
    chance.shuffle(stems)
    rows = []
    for stem in stems:
        for number, negation in itertools.product(("SG", "PL"), ("POS", "NEG")):
            form = ("un" if negation == "NEG" else "") + stem + ("s" if number == "PL" else "")
            rows.append(f"{stem}\t{form}\tN;{number};{negation}\n")
    folder = tmp_path_factory.mktemp("inflected")
    file = folder / "forms"  # no ending, no header: as such files come
    file.write_text("".join(chance.sample(rows, len(rows))))
    settings = {**SMALL, "train.steps": 260, "train.batch_tokens": 1024}
    return atento.fit(file, model="lstm+additive", settings=settings, device="cpu", out=folder / "run")


@pytest.mark.spec("K05")
def test_features_after_a_tab_decide_the_form(inflected):
    """Four forms share a word: nobody who overlooks the features is right more often than one time in four."""
    assert inflected.recipe.task == "translate"
    assert inflected.metrics["scores"]["exact"][0] > 0.9
    assert inflected.metrics["scores"]["edits"][0] < 0.3
    words = ["balen\tN;PL;NEG", "balen\tN;SG;POS"]
    assert inflected.predict(words) == ["unbalens", "balen"]
    alignment = inflected.explain(words[0])
    assert alignment.source == ["b", "a", "l", "e", "n", "N", "PL", "NEG"]
    assert alignment.weights.shape[-1] == 8


def test_a_file_of_words_and_features_is_predicted(inflected, tmp_path, atento_command):
    file = tmp_path / "words.tsv"
    file.write_text("lemma\tfeatures\nbalen\tN;PL;NEG\nbalen\tN;SG;POS\n")
    said = ("--set", "data.source=lemma,features", "--json")
    done = atento_command.run("predict", str(inflected.folder), str(file), *said, cwd=tmp_path)
    assert done.code == 0, done.err
    assert [row["prediction"] for row in done.document["rows"]] == ["unbalens", "balen"]


def test_small_numbers_are_read_too(trained_run):
    """What people type first: numbers of few digits are as frequent in training as long ones."""
    words = [LANGUAGES["de"](number) for number in range(100)]
    expected = [LANGUAGES["en"](number) for number in range(100)]
    answers = trained_run.predict(words)
    assert (answers[2], answers[12]) == ("two", "twelve")
    assert sum(answer == right for answer, right in zip(answers, expected, strict=True)) >= 97
    assert [(band["label"], band["by"]) for band in trained_run.metrics["lengths"]] == [
        (digits, "digits") for digits in "23456"
    ]
