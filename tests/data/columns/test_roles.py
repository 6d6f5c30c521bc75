"""Which column is what, in tables of many makes: other languages, other names, no names."""

import json
import random

import pytest

from atento.data import read_source
from atento.data.columns.roles import find_roles

ROWS = 120
WORDS = (
    "casa",
    "perro",
    "gato",
    "libro",
    "mesa",
    "silla",
    "rojo",
    "verde",
    "sol",
    "luna",
    "mar",
    "río",
    "monte",
    "nube",
    "alpha",
    "beta",
    "gamma",
    "delta",
)


class Maker:
    """Seeded cells."""

    def __init__(self) -> None:
        self.chance = random.Random(0)

    def text(self, most=8):
        return " ".join(self.chance.choice(WORDS) for _ in range(self.chance.randint(3, most)))

    def one_of(self, *labels):
        return str(self.chance.choice(labels))

    def some_of(self, mark, *labels):
        return mark.join(self.chance.sample(labels, self.chance.randint(1, 3)))

    def tags(self, text, *tags):
        return [self.one_of(*tags) for _ in text.split()]


def roles(folder, name, lines):
    path = folder / name
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    table = read_source(str(path))
    assert not table.refused
    found = find_roles(table)._asdict()
    names = {role: table.columns[at] for role, at in found.items() if isinstance(at, int) and at >= 0}
    return {**names, "indicators": [table.columns[at] for at in found["indicators"]]}, len(table.rows)


def rows(make, count=ROWS):
    maker = Maker()
    return [make(maker, at) for at in range(count)]


LABELLED = {
    "frase.csv": (["frase,etiqueta"], lambda m, _: f"{m.text()},{m.one_of('pos', 'neg')}", "frase", "etiqueta"),
    "satz.tsv": (["satz\tklasse"], lambda m, _: f"{m.text()}\t{m.one_of('gut', 'böse')}", "satz", "klasse"),
    "unnamed.tsv": (["zzz\tqqq"], lambda m, _: f"{m.text()}\t{m.one_of('a', 'b', 'c')}", "zzz", "qqq"),
    "stars.csv": (
        ["id,stars,review,useful"],
        lambda m, at: f"{at},{m.one_of(1, 2, 3, 4, 5)},{m.text()},{m.one_of(0, 1, 2, 3)}",
        "review",
        "stars",
    ),
    "numbered.csv": ([], lambda m, at: f"{at},{m.text()},{m.one_of(0, 1)}", "2", "3"),
    "label-first.tsv": ([], lambda m, _: f"{m.one_of('ham', 'spam')}\t{m.text()}", "2", "1"),
    "semicolons.txt": ([], lambda m, _: f"{m.text()};{m.one_of('joy', 'sad')}", "1", "2"),
    "index.csv": ([",text,label"], lambda m, at: f"{at},{m.text()},{m.one_of('0.0', '1.0')}", "text", "label"),
    "posts.csv": (
        [],
        lambda m, at: f'"{m.one_of(0, 4)}","{14678 + at}","Mon {at % 60:02d} 2009","NONE","u{at % 30}","{m.text()}"',
        "6",
        "1",
    ),
    "intents.csv": (["text,category"], lambda m, at: f"{m.text()},intent_{at % 77}", "text", "category"),
    "commas.csv": (
        ["text,category"],
        lambda m, _: f'{m.text()},"{m.one_of("Arts, Crafts & Sewing", "Home, Garden", "Toys")}"',
        "text",
        "category",
    ),
    "spaces.csv": (
        ["text,class"],
        lambda m, _: f"{m.text()},{m.one_of('very bad', 'bad', 'good', 'very good')}",
        "text",
        "class",
    ),
    "chinese.csv": (
        ["评论,标签"],
        lambda m, _: f"{''.join(m.chance.choice('我你他的是不好坏很高兴') for _ in range(9))},{m.one_of(0, 1)}",
        "评论",
        "标签",
    ),
    "motif.csv": (
        ["sequence,class"],
        lambda m, _: f"{''.join(m.chance.choice('ACGT') for _ in range(60))},{m.one_of(0, 1)}",
        "sequence",
        "class",
    ),
    "constant.csv": (
        ["text,type,topic,label"],
        lambda m, _: f"{m.text()},post,{m.one_of('a', 'b')},{m.one_of(0, 1, 2)}",
        "text",
        "label",
    ),
    "beside.csv": (
        ["text,lang,split,sentiment"],
        lambda m, _: f"{m.text()},{m.one_of('en', 'es')},{m.one_of('a', 'b')},{m.one_of('x', 'y')}",
        "text",
        "sentiment",
    ),
}


@pytest.mark.parametrize("name", LABELLED)
def test_a_text_and_its_label(tmp_path, name):
    header, make, text, label = LABELLED[name]
    found, count = roles(tmp_path, name, [*header, *rows(make, 240)])
    assert (found["text"], found["label"], count) == (text, label, 240)
    assert "labels" not in found


def test_a_score_and_a_row_number_are_no_labels(tmp_path):
    found, _ = roles(tmp_path, "s.csv", ["id,text,score", *rows(lambda m, at: f"{at},{m.text()},{m.chance.random()}")])
    assert "label" not in found
    for value in ("{}.5", "{},5", "{}e2"):
        make = rows(lambda m, at, value=value: f"{m.text()};{value.format(at % 3)}")
        assert "label" not in roles(tmp_path, "t.csv", ["text;value", *make])[0]


@pytest.mark.parametrize("mark", [",", ";", "|", " "])
def test_several_labels_in_a_cell(tmp_path, mark):
    labels = ("drama", "comedy", "horror", "war", "crime")
    make = rows(lambda m, _: f"{m.text()}\t{m.some_of(mark, *labels)}")
    found, _ = roles(tmp_path, "m.tsv", ["plot\tgenres", *make])
    assert (found["text"], found["labels"]) == ("plot", "genres")


def test_lists_and_columns_of_yes_and_no(tmp_path):
    make = rows(lambda m, at: json.dumps({"text": m.text(), "labels": ["joy", "anger"][: at % 3]}))
    assert roles(tmp_path, "l.jsonl", make)[0]["labels"] == "labels"
    make = rows(
        lambda m, at: json.dumps({"body": m.text(), "tags": ["vip", "new"][: at % 3], "queue": m.one_of("in", "out")})
    )
    found, _ = roles(tmp_path, "t.jsonl", make)
    assert (found["text"], found["labels"], found["label"]) == ("body", "tags", "queue")  # a list is no single label
    make = rows(lambda m, at: f"{at},{m.text()},{m.one_of(0, 1)},{m.one_of(0, 1)},{m.one_of(0, 1)}")
    found, _ = roles(tmp_path, "o.csv", ["id,comment,toxic,rude,threat", *make])
    assert (found["text"], found["indicators"]) == ("comment", ["toxic", "rude", "threat"])
    assert "label" not in found


MATCHED = {
    "nli.jsonl": (
        [],
        lambda m, _: json.dumps({"premise": m.text(), "hypothesis": m.text(5), "label": m.one_of(0, 1, 2)}),
        ("premise", "hypothesis", "label"),
    ),
    "sick.txt": (
        ["pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"],
        lambda m, at: f"{at}\t{m.text()}\t{m.text()}\t{1 + at % 40 / 10}\t{m.one_of('YES', 'NO')}",
        ("sentence_A", "sentence_B", "entailment_judgment"),
    ),
    "questions.tsv": (
        ["id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate"],
        lambda m, at: f"{at}\t{2 * at}\t{2 * at + 1}\t{m.text()}\t{m.text()}\t{m.one_of(0, 1)}",
        ("question1", "question2", "is_duplicate"),
    ),
    "bare.tsv": ([], lambda m, _: f"{m.text()}\t{m.text()}\t{m.one_of('a', 'b')}", ("1", "2", "3")),
}


@pytest.mark.parametrize("name", MATCHED)
def test_two_texts_and_a_label(tmp_path, name):
    header, make, expected = MATCHED[name]
    found, _ = roles(tmp_path, name, [*header, *rows(make)])
    assert (found["first"], found["second"], found["label"]) == expected


def test_words_and_tags(tmp_path):
    def tagged(m, at):
        text = m.text()
        kinds = m.tags(text, 0, 1, 2), m.tags(text, "O", "B-x")
        return json.dumps({"id": str(at), "tokens": text.split(), "pos_tags": kinds[0], "ner_tags": kinds[1]})

    found, _ = roles(tmp_path, "n.jsonl", rows(tagged))
    assert (found["words"], found["tags"]) == ("tokens", "ner_tags")

    def slots(m, _):
        text = m.text()
        return f"{text}\t{' '.join(m.tags(text, 'O', 'B-x', 'I-x'))}\t{m.one_of('flight', 'fare')}"

    found, _ = roles(tmp_path, "s.tsv", rows(slots))
    assert (found["words"], found["tags"], found["label"]) == ("1", "2", "3")


def test_two_texts_of_equal_length_are_no_words_with_tags(tmp_path):
    found, _ = roles(tmp_path, "p.tsv", rows(lambda m, at: f"a{at} b{at} c{at}\tx{at} y{at} z{at}"))
    assert "words" not in found


@pytest.mark.parametrize(
    "cells, several",
    [
        ([[at % 3, at % 4] for at in range(60)], False),  # votes: often the same number twice
        ([[40.5, -73.9 - at % 5] for at in range(60)], False),  # places
        ([[at % 7, 10 + at % 4] for at in range(60)], True),  # numbers of labels
        ([["a", "b"][: 1 + at % 2] for at in range(60)], True),
    ],
)
def test_votes_and_places_are_no_sets_of_labels(tmp_path, cells, several):
    lines = [json.dumps({"text": f"a text with the number {at}", "many": cell}) for at, cell in enumerate(cells)]
    assert (roles(tmp_path, "t.jsonl", lines)[0].get("labels") == "many") == several


def test_what_annotators_agreed_on_is_the_label(tmp_path):
    lines = [f"{'ab'[at % 2]}\t{at} is a text\t{'ab'[at // 2 % 2]}" for at in range(60)]
    assert roles(tmp_path, "t.tsv", ["label1\ttext\tgold_label", *lines])[0]["label"] == "gold_label"
