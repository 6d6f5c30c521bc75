"""What a call from Python gets: an answer to habits of other libraries, and progress where someone looks."""

import sys

import pytest
import torch

import atento
from atento.errors import InputError
from atento.python.calling import CallError, shown
from atento.training.events import no_callback

ROWS = ["uno", "dos"]


@pytest.mark.parametrize(
    "call, fix",
    [
        (lambda: atento.fit(ROWS, epochs=3), 'settings={"train.epochs": 3}'),
        (lambda: atento.fit(ROWS, lr=0.1), 'settings={"train.lr": 0.1}'),
        (lambda: atento.fit(ROWS, learning_rate=0.1), 'settings={"train.lr": 0.1}'),
        (lambda: atento.fit(ROWS, batch_size=8), 'settings={"train.batch_tokens": 1536}'),
        (lambda: atento.fit(ROWS, steps=8), 'settings={"train.steps": 8}'),
        (lambda: atento.fit(ROWS, random_state=8), "seed=8"),
        (lambda: atento.compare(ROWS, time_limit=60), "budget=60"),
        (lambda: atento.tune(ROWS, test_size=0.2), 'settings={"data.split": "80/10/10"}'),
        (lambda: atento.fit(ROWS, ROWS), "atento.fit((X, y))"),
        (lambda: atento.fit(X=ROWS, y=ROWS), "fit takes data"),
        (lambda: atento.fit(torch.nn.Linear(2, 2), ROWS), "model=module, loss=loss"),
        (lambda: atento.load("run", lr=1), "load takes folder"),
    ],
)
def test_habits_of_other_libraries_get_an_answer(call, fix):
    with pytest.raises(CallError) as caught:
        call()
    assert fix in caught.value.fix and isinstance(caught.value, TypeError)


def test_every_key_that_is_advised_exists():
    from atento.python.calling import HABITS, RELATED
    from atento.spec.recipe import Recipe, key_fields

    keys = {key for key in (*HABITS.values(), *RELATED) if "." in key}
    assert keys <= set(key_fields())
    Recipe().with_values({key: value.strip('"') for key, value in RELATED.items()})


def test_progress_is_shown_where_someone_looks(monkeypatch, capsys):
    event = {"event": "note", "text": "a note"}

    def told(verbose, on_event=no_callback):
        with shown(verbose, on_event) as watch:
            watch(event)
        return "a note" in capsys.readouterr().err

    assert told(True) and not told(False) and not told(None)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert told(None) and not told(False)
    seen = []
    assert not told(True, seen.append) and seen == [event]  # the user's own function instead


def test_what_cannot_be_data_is_said_in_words_of_python():
    with pytest.raises(InputError, match="the data first") as caught:
        atento.fit(torch.nn.Linear(2, 2))
    assert "model=module" in caught.value.fix
    with pytest.raises(InputError, match="no path of a file"):
        atento.fit("   text label\n0 good film")
