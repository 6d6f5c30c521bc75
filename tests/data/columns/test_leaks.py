"""A label in its own text, a word that tells it, a column that says it: found where planted, and nowhere else."""

import random

import pytest

from atento.data.columns.leaks import LeakingWord, leaking_columns, leaking_words, words_of

WORDS = ["the", "film", "was", "very", "good", "bad", "story", "and", "of", "in", "plot", "it", "not", "so", "day"]


def texts_and_labels(count=200, labels=("pos", "neg")):
    """Texts that say nothing of their labels."""
    draw = random.Random(1)
    texts = [" ".join(draw.choices(WORDS, k=8)) for _ in range(count)]
    return texts, [draw.choice(labels) for _ in texts]


@pytest.mark.spec("X04")
@pytest.mark.parametrize("write", ["{text} [{label}]", "sentiment={label}: {text}", "{text}, which is {label}."])
def test_a_label_in_its_own_text_is_found(write):
    texts, labels = texts_and_labels()
    leaking = [write.format(text=text, label=label.upper()) for text, label in zip(texts, labels, strict=True)]
    found = leaking_words(leaking, [[label] for label in labels])
    assert {(one.label, one.word, one.is_label_name) for one in found} == {("pos", "pos", True), ("neg", "neg", True)}
    assert all(one.inside == 1 and one.outside == 0 for one in found)
    assert leaking_words(texts, [[label] for label in labels]) == []


def test_shares_are_counted_by_hand():
    texts = ["x cold day"] * 9 + ["x day"] + ["cold day"] + ["warm day"] * 19
    labels = [["cold"]] * 10 + [["warm"]] * 20
    cold, warm = sorted(leaking_words(texts, labels))
    assert cold == LeakingWord("cold", "cold", True, 9 / 10, 1 / 20)
    assert warm == LeakingWord("warm", "warm", True, 19 / 20, 0.0)


@pytest.mark.spec("X04")
def test_a_word_that_stands_for_the_label_is_found():
    texts, labels = texts_and_labels()
    signs = {"pos": "qq", "neg": "day"}
    leaking = [f"{text} {signs[label]}" for text, label in zip(texts, labels, strict=True)]
    assert [(one.label, one.word, one.is_label_name) for one in leaking_words(leaking, [[one] for one in labels])] == [
        ("pos", "qq", False)
    ], "the word `day` is in other texts, too"


def test_a_name_that_all_texts_hold_gives_nothing_away():
    texts, labels = texts_and_labels(labels=("film", "book"))
    about = [f"{text} film" for text in texts]
    assert leaking_words(about, [[label] for label in labels]) == []


def test_several_labels_a_text_and_rare_ones():
    texts, _ = texts_and_labels(60)
    labels = [["joy", "fear"] if n % 2 else ["anger"] for n in range(60)]
    leaking = [text + (" fear" if "fear" in names else "") for text, names in zip(texts, labels, strict=True)]
    assert [one.label for one in leaking_words(leaking, labels)] == ["joy", "fear"], "what tells one tells its company"
    few = ["good one"] * 9 + ["bad"] * 9
    assert leaking_words(few, [["good"]] * 9 + [["bad"]] * 9) == [], "too few rows to say so"
    assert leaking_words(["good"] * 30, [["good"]] * 30) == [], "one label for all tells nothing"
    assert leaking_words([], []) == []


def test_words_are_read_without_case_and_signs():
    assert words_of("very_GOOD, Straße") == ["very", "good", "strasse"]


@pytest.mark.spec("X04")
def test_a_column_that_says_the_label_is_found():
    draw = random.Random(0)
    columns = ("id", "text", "label", "stars", "shop", "empty")
    rows = []
    for number in range(100):
        label = draw.choice(["pos", "neg"])
        stars = draw.choice("45" if label == "pos" else "12")
        rows.append((str(number), f"text {number}", label, stars, draw.choice("xyz"), ""))
    (found,) = leaking_columns(columns, rows, read=[1], label=2)
    assert found == ("stars", 4, 1.0)
    assert leaking_columns(columns, rows, read=[1, 3], label=2) == [], "a column that is read is no other column"
    noisy = [(*row[:3], draw.choice("1245"), *row[4:]) if at % 10 == 0 else row for at, row in enumerate(rows)]
    assert leaking_columns(columns, noisy, read=[1], label=2) == []
    rare = [("x", "t", "pos" if at else "neg", "1" if at % 2 else "2") for at in range(100)]
    assert leaking_columns(columns[:4], rare, read=[1], label=2) == [], "the commonest label is right as often"
    assert leaking_columns(columns, [], read=[1], label=2) == []
