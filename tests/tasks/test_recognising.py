"""Files of many shapes get the task that they are meant for, with no option."""

import pytest

from atento.data.evidence import gather
from atento.spec import DataRecipe
from atento.tasks import recognising
from atento.tasks.catalogue import LIKELY
from atento.tasks.recognising import ORDER, heed, ranked
from atento.tasks.task import Recognition
from tests.tasks.shapes import SHAPES

RECOGNISERS = {
    "classify": recognising.label_texts,
    "label": recognising.label_sets,
    "tag": recognising.tag_words,
    "translate": recognising.translate_texts,
    "match": recognising.match_texts,
    "generate": recognising.plain_text,
    "estimate": recognising.number_sequences,
}
FILES = [(task, shape) for task, shapes in SHAPES.items() for shape in shapes]


def guess(source: str, **named: str) -> dict[str, Recognition]:
    evidence = gather(source, **named)
    return ranked({name: judge(evidence) for name, judge in RECOGNISERS.items()})


@pytest.mark.parametrize("task, shape", FILES, ids=[f"{task or 'none'}: {shape}" for task, shape in FILES])
def test_every_shape_gets_its_task(task, shape, tmp_path):
    guesses = guess(SHAPES[task][shape](tmp_path))
    best, runner_up = list(guesses)[:2]
    if not task:
        assert guesses[best].likelihood < LIKELY
        return
    assert best == task, guesses
    assert guesses[best].likelihood >= LIKELY
    assert guesses[best].likelihood - guesses[runner_up].likelihood >= 0.1, "no close call"
    assert all(guess.reason and 0 <= guess.likelihood <= 1 for guess in guesses.values())
