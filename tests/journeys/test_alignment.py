"""The learned alignment crosses: German says three-and-forty, English forty-three."""

import pytest

UNITS = ("ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun")  # 1 to 9
TENS = {
    "zwanzig": "twenty",
    "dreißig": "thirty",
    "vierzig": "forty",
    "fünfzig": "fifty",
    "sechzig": "sixty",
    "siebzig": "seventy",
    "achtzig": "eighty",
    "neunzig": "ninety",
}
ASKED = 200


def crossing(source):
    """Where the last units and the last tens stand in a German number, and the English word for those tens."""
    for german, english in TENS.items():
        for unit in UNITS:
            if source.endswith(f"{unit}und{german}"):
                tens = len(source) - len(german)
                end = tens - len("und")
                return slice(end - len(unit), end), slice(tens, len(source)), english
    return None


def test_spans_are_where_they_should_be():
    source = "zweihundertdreiundvierzig"
    units, tens, english = crossing(source)
    assert (source[units], source[tens], english) == ("drei", "vierzig", "forty")
    assert crossing("dreiundvierzigtausend") is None
    assert crossing("tausendvierzig") is None


@pytest.mark.spec("E05")
def test_the_english_tens_look_at_the_german_tens(trained_run):
    task, recipe = trained_run.predictor.bundle.task, trained_run.recipe
    reading = task.reading.read(recipe.data, recipe.train.seed)
    seen = {source for source, _ in reading.train}
    unseen = [question.source for question in reading.test if crossing(question.source)][:ASKED]
    assert len(unseen) == ASKED
    assert not seen & set(unseen)

    crossed = 0
    for source in unseen:
        units, tens, english = crossing(source)
        alignment = trained_run.explain(source)
        assert alignment.source == list(source)
        if english in alignment.output:
            last = len(alignment.output) - 1 - alignment.output[::-1].index(english)
            weights = alignment.weights[0, 0, last]
            assert float(weights.sum()) == pytest.approx(1.0, abs=1e-4)
            crossed += bool(weights[tens].sum() > weights[units].sum())

    assert crossed >= 0.9 * ASKED
    assert trained_run.metrics["scores"]["exact"][0] >= 0.9


@pytest.mark.spec("R07")
def test_outputs_are_of_another_length_and_order_than_their_sources(trained_run):
    """No output has as many tokens as its source, sources of one length have outputs of several, and they are right."""
    task, recipe = trained_run.predictor.bundle.task, trained_run.recipe
    asked = task.reading.read(recipe.data, recipe.train.seed).test[:ASKED]
    codec = trained_run.predictor.bundle.codec
    lengths = {}
    for question, output in zip(asked, trained_run.predict([question.source for question in asked]), strict=True):
        read, written = len(codec.input.encode(question.source)), len(codec.output.vocabulary.encode(output))
        lengths.setdefault(read, set()).add(written)
        assert read != written
    assert max(len(several) for several in lengths.values()) > 1
    right = [trained_run.predict(question.source)[0] in question.references for question in asked[:50]]
    assert sum(right) >= 45
