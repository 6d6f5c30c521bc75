"""Tones and Morse: what is played is what is written, found again by rules that know the code."""

import random

import numpy as np
import pytest

from atento.data.builtin.morse import CODE, key, morse
from atento.data.builtin.tones import NOTES, play, tones
from atento.data.number_sequences import require_numbers
from atento.spec import DataRecipe


@pytest.fixture(scope="module", params=[tones, morse], ids=["tones", "morse"])
def parts(request):
    return request.param(DataRecipe(train=request.param.__name__), 0)


def test_parts_share_no_source(parts):
    sources = [{source for source, _ in part} for part in parts[:3]]
    assert not sources[0] & sources[1] and not sources[0] & sources[2] and not sources[1] & sources[2]
    assert all(map(len, sources))


def test_notes_are_the_loudest_bands():
    generator = random.Random(1)
    for _ in range(30):
        notes = generator.choices(NOTES, k=7)
        frames = play(generator, notes)
        places = [place for _, place in frames]
        assert [place for place in places if place >= 0] == sorted(place for place in places if place >= 0)
        for number, note in enumerate(notes):
            energy = np.mean([frame for frame, place in frames if place == number], axis=0)
            assert NOTES[int(energy.argmax())] == note
        twins = [at for at in range(1, len(notes)) if notes[at] == notes[at - 1]]
        assert all(-1 in places[places.index(at - 1) : places.index(at)] for at in twins), "twins are parted by silence"


def test_morse_is_read_back_by_its_lengths(monkeypatch):
    monkeypatch.setattr("atento.data.builtin.morse.NOISE", 0.0)
    monkeypatch.setattr("atento.data.builtin.morse.UNSTEADY", 0.0)
    monkeypatch.setattr("atento.data.builtin.morse.UNITS", (3.0, 3.0))
    letters = {code: letter for letter, code in CODE.items()}
    down = np.array(key(random.Random(0), "sos we see")) > 0.5
    edges = np.flatnonzero(np.diff(down)) + 1
    runs = [(bool(down[first]), round((last - first) / 3)) for first, last in zip([0, *edges], [*edges, len(down)], strict=True)]
    marks = "".join(("-" if units == 3 else ".") if on else {1: "", 3: " ", 7: " / "}[units] for on, units in runs[1:-1])
    assert "".join(letters.get(code, " ") for code in marks.split(" ")) == "sos we see"
    assert len(set(CODE.values())) == len(CODE) == 26


def test_lengths_are_as_asked(monkeypatch):
    monkeypatch.setattr("atento.data.builtin.tones.SIZES", (20, 20, 20))
    made = tones(DataRecipe(train="tones", length=3), 1)
    assert {len(text) for _, text in made.test} == {1, 2, 3}
    assert require_numbers(made.test[0][0]).shape[1] == len(NOTES)
    assert made == tones(DataRecipe(train="tones", length=3), 1)
