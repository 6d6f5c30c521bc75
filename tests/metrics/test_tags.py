"""Tag accuracy by hand; spans and their F1 by hand, against conlleval's rules and against brute force."""

import random

import numpy as np
import pytest

from atento.metrics import (
    SEQUENCE_ACCURACY,
    SPAN_F1,
    SPAN_PRECISION,
    SPAN_RECALL,
    TAG_ACCURACY,
    Metric,
    find_spans,
    unseen_accuracy,
)
from atento.metrics.bootstrap import evaluate_runs
from atento.metrics.tags import Span, are_span_tags, find_scheme, is_valid_transition

SOURCES = ["the\tcat\tsat", "a\tdog", "cat"]
REFERENCES = [["D\tN\tV"], ["D\tN"], ["N"]]
SAID = [["D", "N", "N"], ["D", "N"], ["V"]]


@pytest.mark.spec("K04")
def test_shares_by_hand():
    assert TAG_ACCURACY.value(SAID, REFERENCES) == pytest.approx(4 / 6)
    assert SEQUENCE_ACCURACY.value(SAID, REFERENCES) == pytest.approx(1 / 3)
    assert TAG_ACCURACY.value([["D"]], [["D\tN"]]) == 0.5  # one too few is wrong


@pytest.mark.spec("K04")
def test_unseen_words_by_hand():
    metric = unseen_accuracy({"the", "cat", "a"})
    assert metric.for_sources(SOURCES).value(SAID, REFERENCES) == 0.5  # sat is wrong, dog is right
    none = unseen_accuracy({"the", "cat", "a", "dog", "sat"})  # no word is unseen: no score
    assert evaluate_runs([none], SOURCES, [SAID], REFERENCES)["scores"]["unseen_accuracy"] == [None, None, None]
    found = evaluate_runs([TAG_ACCURACY, metric], SOURCES, [SAID, SAID], REFERENCES)  # two runs
    assert found["scores"]["unseen_accuracy"][0] == 0.5
    assert TAG_ACCURACY.for_sources(SOURCES) is TAG_ACCURACY


def conlleval_spans(tags):
    """Spans by the rules of conlleval.pl (its startOfChunk and endOfChunk), written out case by case."""

    def start_of_chunk(before, tag, other, kind):
        return (
            tag in ("B", "S")
            or (before in ("E", "S", "O") and tag in ("I", "E"))
            or (tag != "O" and tag != "." and before != "O" and other != kind)
        )

    def end_of_chunk(before, tag, other, kind):
        return before not in ("O", ".") and (before in ("E", "S") or tag in ("B", "S", "O") or (other != kind))

    parts = [("O", "")] + [tuple(tag.split("-", 1)) if "-" in tag else ("O", "") for tag in tags] + [("O", "")]
    spans, first = [], None
    for place in range(1, len(parts)):
        (before, other), (tag, kind) = parts[place - 1], parts[place]
        if first is not None and end_of_chunk(before, tag, other, kind):
            spans.append((other, first - 1, place - 2))
            first = None
        if tag != "O" and start_of_chunk(before, tag, other, kind):
            first = place
    return spans


@pytest.mark.spec("K04")
@pytest.mark.parametrize(
    "tags, spans",
    [
        ("B-a I-a O B-b", [("a", 0, 1), ("b", 3, 3)]),
        ("I-a I-a O I-b", [("a", 0, 1), ("b", 3, 3)]),  # IOB1
        ("I-a B-a I-a I-b", [("a", 0, 0), ("a", 1, 2), ("b", 3, 3)]),  # B parts neighbours of one kind
        ("B-a E-a S-a B-b I-b E-b", [("a", 0, 1), ("a", 2, 2), ("b", 3, 5)]),  # IOBES
        ("B-a L-a U-a", [("a", 0, 1), ("a", 2, 2)]),  # BILOU
        ("O I-a", [("a", 1, 1)]),  # what no scheme allows is read all the same
        ("B-a I-b", [("a", 0, 0), ("b", 1, 1)]),
        ("E-a E-a", [("a", 0, 0), ("a", 1, 1)]),
        ("O O", []),
        ("NOUN VERB", []),
        ("B-a-x I-a-x", [("a-x", 0, 1)]),
        ("", []),
    ],
)
def test_spans_by_hand(tags, spans):
    assert find_spans(tags.split()) == [Span(*span) for span in spans]


@pytest.mark.spec("K04")
def test_spans_are_conllevals_on_any_sequence():
    chance = random.Random(0)
    known = ["O", *(f"{prefix}-{kind}" for prefix in "BIES" for kind in ("x", "y"))]
    for _ in range(3000):
        tags = chance.choices(known, k=chance.randint(0, 7))
        assert find_spans(tags) == [Span(*span) for span in conlleval_spans(tags)], tags


@pytest.mark.spec("K04")
def test_f1_by_brute_force():
    """Every stretch of every kind is asked whether it is a span of each side."""
    chance, known = random.Random(1), ["O", "B-x", "I-x", "B-y", "I-y"]
    for _ in range(30):
        lengths = [chance.randint(1, 6) for _ in range(5)]
        said, true = ([chance.choices(known, k=length) for length in lengths] for _ in range(2))
        hits = found = wanted = 0
        for one, other in zip(said, true, strict=True):
            stretches = [(kind, a, b) for kind in "xy" for a in range(len(one)) for b in range(a, len(one))]
            mine, right = set(conlleval_spans(one)), set(conlleval_spans(other))
            hits += sum(stretch in mine and stretch in right for stretch in stretches)
            found += sum(stretch in mine for stretch in stretches)
            wanted += sum(stretch in right for stretch in stretches)
        references = [["\t".join(tags)] for tags in true]
        precision, recall = hits / found if found else 0, hits / wanted if wanted else 0
        f1 = 2 * precision * recall / (precision + recall) if hits else 0
        assert SPAN_PRECISION.value(said, references) == pytest.approx(precision)
        assert SPAN_RECALL.value(said, references) == pytest.approx(recall)
        assert SPAN_F1.value(said, references) == pytest.approx(f1)


def test_a_span_counts_once_however_long_and_only_whole():
    truth = ["B-a\tI-a\tI-a\tO"]
    assert SPAN_F1.value([["B-a", "I-a", "I-a", "O"]], [truth]) == 1
    assert SPAN_F1.value([["B-a", "I-a", "O", "O"]], [truth]) == 0
    assert SPAN_F1.value([["B-b", "I-b", "I-b", "O"]], [truth]) == 0
    assert SPAN_F1.value([["O"] * 4], [["O\tO\tO\tO"]]) == 0  # conlleval says 0 where there is nothing to find
    assert isinstance(SPAN_F1, Metric)
    assert SPAN_F1.statistics([], []).shape == (0, 3)
    assert np.isfinite(SPAN_PRECISION.formula(np.zeros((2, 3)))).all()


@pytest.mark.parametrize(
    "rows, scheme",
    [
        (["B-a I-a O", "O B-b B-b"], "iob2"),
        (["I-a I-a O", "I-b B-b"], "iob1"),
        (["I-a O"], "iob1"),
        (["B-a E-a O S-a"], "iobes"),
        (["B-a L-a O U-a"], "iobes"),
        (["O I-a B-b I-b"], ""),  # begins with I here and with B there
        (["B-a E-a O", "I-a O"], ""),
        (["DET NOUN"], ""),
        (["O O"], ""),
        (["B-a NOUN O"], ""),
        (["B-a I-a"], ""),  # nothing is ever outside: no telling
    ],
)
def test_the_scheme_that_all_sequences_keep(rows, scheme):
    assert find_scheme(row.split() for row in rows) == scheme


def test_what_may_follow_what():
    assert is_valid_transition("iob2", "B-a", "I-a") and not is_valid_transition("iob2", "O", "I-a")
    assert not is_valid_transition("iob2", "B-b", "I-a") and is_valid_transition("iob2", "I-a", "B-a")
    assert (
        is_valid_transition("iob1", "O", "I-a")
        and is_valid_transition("iob1", "I-a", "B-a")
        and not is_valid_transition("iob1", "O", "B-a")
    )
    assert is_valid_transition("iob1", "I-b", "I-a") and not is_valid_transition("iob1", "I-b", "B-a")
    assert is_valid_transition("iobes", "B-a", "E-a") and not is_valid_transition("iobes", "B-a", "O")
    assert not is_valid_transition("iobes", "S-a", "I-a") and is_valid_transition("iobes", "E-a", "S-a")


def test_every_span_can_be_said_in_each_scheme_and_is_found_again():
    chance = random.Random(2)
    for _ in range(200):
        length, spans, place = 7, [], 0
        while place < length:
            last = min(length - 1, place + chance.randint(0, 2))
            if chance.random() < 0.6:
                spans.append(Span(chance.choice("xy"), place, last))
            place = last + 1
        for scheme in ("iob2", "iobes"):
            tags = ["O"] * length
            for kind, first, last in spans:
                for at in range(first, last + 1):
                    tags[at] = f"{'B' if at == first else 'I'}-{kind}"
                if scheme == "iobes":
                    tags[last] = f"{'S' if first == last else 'E'}-{kind}"
            assert find_spans(tags) == spans
            assert all(is_valid_transition(scheme, *pair) for pair in zip(["O", *tags], [*tags, "O"], strict=True))


def test_which_tags_mark_spans():
    assert are_span_tags(["O", "B-a"]) and not are_span_tags(["NOUN", "O"]) and not are_span_tags([])
