"""Edit distances against Wagner & Fischer (1974); exact match by hand; chrF and BLEU against sacrebleu's scores."""

import random

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from atento.metrics import BLEU4, CHARACTER_ERROR, CHRF2, EDITS, EXACT_MATCH, SYMBOL_ERROR


def distance(said, true):
    """D[i, j] = min(D[i−1, j] + 1, D[i, j−1] + 1, D[i−1, j−1] + (a_i ≠ b_j))."""
    before = list(range(len(true) + 1))
    for i, one in enumerate(said, start=1):
        row = [i]
        for j, other in enumerate(true, start=1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (one != other)))
        before = row
    return before[-1]


@pytest.mark.spec("K05")
def test_phone_errors_worked_out_by_hand():
    """One phone wrong of 3; none wrong of 2, by the second reference; 1 missing of 4: 2 edits over 9 phones."""
    outputs = ["B AW D", "K AH", "T R IY"]
    references = [["B AW T"], ["K AH Z", "K AH"], ["T R IY Z"]]
    assert SYMBOL_ERROR.value(outputs, references) == pytest.approx(2 / 9)
    assert SYMBOL_ERROR.smaller_is_better


@pytest.mark.parametrize("metric, cut", [(SYMBOL_ERROR, str.split), (CHARACTER_ERROR, list), (EDITS, list)])
def test_equal_to_the_recurrence(metric, cut):
    chance = random.Random(0)
    texts = [" ".join(chance.choices(["a", "b", "cc", "ab"], k=chance.randint(1, 7))) for _ in range(120)]
    outputs, references = texts[:40], list(zip(texts[40:80], texts[80:], strict=True))
    edits = length = 0
    for output, allowed in zip(outputs, references, strict=True):
        nearest = min(allowed, key=lambda true: distance(cut(output), cut(true)))
        edits, length = edits + distance(cut(output), cut(nearest)), length + len(cut(nearest))
    assert metric.value(outputs, references) == pytest.approx(edits / (40 if metric is EDITS else length), abs=1e-12)


def test_perfect_is_zero_and_nothing_said_is_one():
    assert EDITS.value(["abc"], [["abc"]]) == 0.0
    assert CHARACTER_ERROR.value(["", ""], [["abc"], ["de"]]) == 1.0
    assert np.isnan(SYMBOL_ERROR.value([], []))


OUTPUTS = ["The Cat sat on the mat", "a dog barks loudly at night", "there is nothing", "", "¿qué hora es?"]
REFERENCES = ["the cat sat on a mat", "the dog barks at night", "there was nothing here", "no", "¿qué hora es?"]
MORE = ["a cat was on the mat", "a dog barks loudly in the night", None, None, "¿qué horas son?"]


def together(*streams):
    """Each output with all its references; a None means one reference fewer."""
    return [[one for one in rows if one is not None] for rows in zip(*streams, strict=True)]


@pytest.mark.spec("K05")
@pytest.mark.parametrize("metric, theirs", [(CHRF2, CHRF), (BLEU4, BLEU)], ids=["chrf", "bleu"])
@pytest.mark.parametrize("streams", [[REFERENCES], [REFERENCES, MORE]], ids=["one reference", "several"])
def test_equal_to_sacrebleu(metric, theirs, streams):
    expected = theirs().corpus_score(OUTPUTS, streams).score / 100
    assert 0.2 < expected < 0.9
    assert metric.value(OUTPUTS, together(*streams)) == pytest.approx(expected, abs=1e-12)


SIGNS = [
    "a",
    "B",
    "ein",
    "zwei",
    ".",
    ",",
    "3.5",
    "1,000",
    "2-3",
    "(x)",
    "&amp;",
    "&lt;b&gt;",
    "<skipped>",
    "-",
    "–",
    "-\n",
    "día",
]


@pytest.mark.parametrize("metric, theirs", [(CHRF2, CHRF), (BLEU4, BLEU)], ids=["chrf", "bleu"])
def test_every_sentence_has_sacrebleu_s_counts(metric, theirs):
    """Random sentences with every sign that the rules of 13a speak of, some empty, some references equally near."""
    chance = random.Random(3)
    draw = lambda: chance.choice(["", " "]).join(chance.choices(SIGNS, k=chance.randint(0, 9)))  # noqa: E731
    outputs, one, two = ([draw() for _ in range(400)] for _ in range(3))
    expected = np.asarray(
        theirs(force=True)._extract_corpus_statistics(outputs, [one, two])
        if theirs is BLEU
        else theirs()._extract_corpus_statistics(outputs, [one, two])
    )
    found = metric.statistics(outputs, together(one, two))
    assert (found == expected).all()
    for rows in (*(found[at : at + 1] for at in range(400)), found[:3], found):  # alone many miss some lengths
        summed = rows.sum(axis=0, keepdims=True)
        score = theirs()._compute_score_from_stats(summed[0].astype(int).tolist()).score / 100
        assert metric.formula(summed)[0] == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize("metric", [EXACT_MATCH, CHRF2, BLEU4], ids=lambda metric: metric.name)
def test_one_is_perfect_and_nothing_is_zero(metric):
    sentences = ["one two three four five", "six seven eight nine ten"]
    assert metric.value(sentences, [[sentence] for sentence in sentences]) == pytest.approx(1.0)
    assert metric.value(["zzz zz", "yyy"], [[sentence] for sentence in sentences]) == pytest.approx(0.0, abs=0.01)
    assert np.isnan(metric.value([], []))
    assert metric.value([text.upper() for text in sentences], [[text] for text in sentences]) < 0.5  # case counts


def test_exact_match_accepts_any_reference():
    assert EXACT_MATCH.value(["a", "b", "c"], [["x", "a"], ["b"], ["C", "c "]]) == pytest.approx(2 / 3)


def test_the_summary_is_sacrebleu_s_signature():
    for metric, theirs in [(CHRF2, CHRF()), (BLEU4, BLEU())]:
        theirs.corpus_score(OUTPUTS, [REFERENCES])
        signature = theirs.get_signature().format()
        for part in metric.summary.split("sacrebleu ")[1].split("|"):
            assert part.startswith("nrefs") or part in signature.split("|")


@pytest.mark.parametrize("metric", [EXACT_MATCH, CHRF2, BLEU4], ids=lambda metric: metric.name)
def test_sums_over_examples_can_be_resampled(metric):
    """Examples drawn twice count twice: the formula over weighted sums is the metric of the drawn set."""
    references = together(REFERENCES)
    statistics = metric.statistics(OUTPUTS, references)
    drawn = [0, 0, 4, 1, 4]
    summed = statistics[drawn].sum(axis=0, keepdims=True)
    expected = metric.value([OUTPUTS[index] for index in drawn], [references[index] for index in drawn])
    assert metric.formula(summed)[0] == pytest.approx(expected, abs=1e-12)
