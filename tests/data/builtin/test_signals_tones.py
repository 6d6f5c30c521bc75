"""Tones: what is played is what is written, found again by the loudest band."""

import random

import numpy as np

from atento.data.builtin.signals import NOTES, play, tones
from atento.data.tables.number_lists import require_numbers
from atento.spec import DataRecipe


def test_parts_share_no_source(monkeypatch):
    monkeypatch.setattr("atento.data.builtin.signals.TONES_SIZES", (300, 50, 50))
    parts = tones(DataRecipe(train="tones"), 0)
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


def test_lengths_are_as_asked(monkeypatch):
    monkeypatch.setattr("atento.data.builtin.signals.TONES_SIZES", (20, 20, 20))
    made = tones(DataRecipe(train="tones", length=3), 1)
    assert {len(text) for _, text in made.test} == {1, 2, 3}
    assert require_numbers(made.test[0][0]).shape[1] == len(NOTES)
    assert made == tones(DataRecipe(train="tones", length=3), 1)
