"""Tones: frames of band energies, as a spectrogram has them, and the notes that were played.

A note sounds for some frames in a band of its own, and weaker in the one an octave above; it swells and fades, the
player's pace differs from tune to tune, and two notes that are the same are parted by a short silence. Where each
symbol stands in time is known, so that an alignment can be judged: it can only move forward.
"""

import math
import random
from collections.abc import Callable
from functools import partial

from atento.data.builtin.parts import BuiltinParts, Lengths, refuse_keys, three_parts
from atento.spec import DataRecipe

NOTES = "cdefgab"
LENGTHS = Lengths(usual=8, most=200, unit="notes")
SIZES = (5000, 200, 400)
PACES = (2.5, 6.0)  # frames a note, from tune to tune
NOISE = 0.12
OVERTONE = 0.4


def tones(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Tunes of 1 to data.length notes; more of the short ones to train."""
    refuse_keys(recipe, "source", "target", "label")
    most, generator = LENGTHS.of(recipe), random.Random(seed)
    train, valid, test = three_parts(partial(tune, generator), most=most, sizes=SIZES, generator=generator)
    note = (
        f"tunes of 1 to {most} notes (--set data.length=), {PACES[0]:g} to {PACES[1]:g} frames a note in "
        f"{len(NOTES)} bands: {len(train)} to train, {len(valid)} to validate, {len(test)} to test"
    )
    return BuiltinParts(train, valid, test, (note,))


def tune(generator: random.Random, notes: Callable[[], int]) -> tuple[str, str]:
    """`0.03,0.91,… 0.05,1.02,…`, `dgga`."""
    played = generator.choices(NOTES, k=notes())
    frames = [frame for frame, _ in play(generator, played)]
    return " ".join(",".join(f"{energy:.2f}" for energy in frame) for frame in frames), "".join(played)


def play(generator: random.Random, notes: list[str]) -> list[tuple[list[float], int]]:
    """Each frame, and the number of the note that sounds in it; -1: silence."""
    pace = generator.uniform(*PACES)
    frames = [(quiet(generator), -1) for _ in range(generator.randint(0, 3))]
    for place, note in enumerate(notes):
        if place and notes[place - 1] == note:
            frames += [(quiet(generator), -1) for _ in range(max(1, round(pace / 4)))]
        steps = max(2, round(pace * generator.uniform(0.8, 1.25)))
        frames += [(sound(generator, note, (step + 0.5) / steps), place) for step in range(steps)]
    return frames + [(quiet(generator), -1) for _ in range(generator.randint(0, 3))]


def quiet(generator: random.Random) -> list[float]:
    """Noise alone."""
    return [abs(generator.gauss(0, NOISE)) for _ in NOTES]


def sound(generator: random.Random, note: str, share: float) -> list[float]:
    """A note when this share of it is over: loud in its band, weaker in the one that stands for its octave."""
    energies, band = quiet(generator), NOTES.index(note)
    loud = 0.5 + 0.5 * math.sin(math.pi * share)
    energies[band] += loud
    energies[(band + 3) % len(NOTES)] += OVERTONE * loud
    return energies
