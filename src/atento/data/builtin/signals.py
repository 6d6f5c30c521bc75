"""Tones: frames of band energies, as a spectrogram has them, and the notes that were played.

A note sounds for some frames in a band of its own, and weaker in the one an octave above; it swells and fades, the
player's pace differs from tune to tune, and two notes that are the same are parted by a short silence. Where each
symbol stands in time is known, so that an alignment can be judged: it can only move forward.

Heartbeats as an electrocardiogram would show them: classes that differ in shape, and classes that differ in timing.
Each beat is a sum of bumps P, Q, R, S and T (after McSharry et al., 2003, without the differential equation), on a line
that wanders, with noise; rate, heights and widths differ from heart to heart. In every strip but a steady one, one beat
is odd: `early` comes too soon and leaves a pause after it, `wide` has no P and a broad R, `missed` has a P and nothing
after it. Several leads see the same beats with other weights.
"""

import math
import random
from collections.abc import Callable
from functools import partial

from atento.data.builtin.builtin import BuiltinParts, Lengths, refuse_keys, three_parts
from atento.errors import InputError
from atento.spec import DataRecipe

NOTES = "cdefgab"
TONES_LENGTHS = Lengths(usual=8, most=200, unit="notes")
TONES_SIZES = (5000, 200, 400)
PACES = (2.5, 6.0)  # frames a note, from tune to tune
NOISE = 0.12
OVERTONE = 0.4


def tones(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Tunes of 1 to data.length notes; more of the short ones to train."""
    refuse_keys(recipe, "source", "target", "label")
    most, generator = TONES_LENGTHS.of(recipe), random.Random(seed)
    train, valid, test = three_parts(partial(tune, generator), most=most, sizes=TONES_SIZES, generator=generator)
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


HEARTBEATS_LENGTHS = Lengths(usual=120, most=2000, unit="steps")
HEARTBEATS_SIZES = (1600, 200, 400)
FEWEST = 80
LABELS = ("steady", "early", "wide", "missed")
RATE = 40  # steps a second
PERIOD = (0.6, 0.85)  # seconds from beat to beat
HEARTBEAT_NOISE = 0.06
MOST_LEADS = 3
Wave = tuple[float, float, float]  # seconds after the beat, width in seconds, height
WAVES: dict[str, Wave] = {
    "P": (-0.16, 0.025, 0.18),
    "Q": (-0.035, 0.012, -0.15),
    "R": (0.0, 0.016, 1.0),
    "S": (0.035, 0.014, -0.25),
    "T": (0.22, 0.045, 0.3),
}
BROAD: dict[str, Wave] = {"R": (0.02, 0.045, 0.9), "S": (0.1, 0.04, -0.4), "T": (0.3, 0.05, -0.25)}
KINDS: dict[str, dict[str, Wave]] = {"usual": WAVES, "wide": BROAD, "missed": {"P": WAVES["P"]}}
LEADS: tuple[dict[str, float], ...] = (  # how much of each bump a lead sees
    dict.fromkeys(WAVES, 1.0),
    {"P": 0.8, "Q": 1.5, "R": 0.5, "S": 2.0, "T": 0.7},
    {"P": -0.6, "Q": 0.5, "R": -0.8, "S": 1.0, "T": -0.5},
)


def heartbeats(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Strips of data.length steps, up to a quarter of them fewer; data.source says how many leads."""
    refuse_keys(recipe, "target", "label")
    leads, most, generator = leads_of(recipe), max(FEWEST, HEARTBEATS_LENGTHS.of(recipe)), random.Random(seed)
    fewest = max(FEWEST, most - most // 4)
    test, valid, train = (
        tuple(strip(generator, generator.randint(fewest, most), leads) for _ in range(size))
        for size in reversed(HEARTBEATS_SIZES)
    )
    note = (
        f"{leads} {'lead' if leads == 1 else 'leads'} (--set data.source=) of {fewest} to {most} steps "
        f"(--set data.length=), {RATE} a second: {len(train)} strips to train, {len(valid)} to validate, "
        f"{len(test)} to test"
    )
    return BuiltinParts(train, valid, test, (note,))


def leads_of(recipe: DataRecipe) -> int:
    """How many leads are asked for; one where nobody says."""
    asked = recipe.source or "1"
    if asked not in map(str, range(1, MOST_LEADS + 1)):
        raise InputError(
            f"data.source: {recipe.train} has 1 to {MOST_LEADS} leads.",
            found=f"data.source={asked}",
            fix="--set data.source=2",
        )
    return int(asked)


def strip(generator: random.Random, steps: int, leads: int) -> tuple[str, str]:
    """`0.031 -0.052 0.981 …`, `early`: all labels equally often."""
    label = generator.choice(LABELS)
    beats = some_beats(generator, label, steps / RATE)
    heart = {name: (generator.gauss(1, 0.1), generator.gauss(1, 0.15)) for name in WAVES}  # width, height
    channels = [seen_by(generator, lead, beats, heart, steps) for lead in LEADS[:leads]]
    return " ".join(",".join(f"{number:.3f}" for number in step) for step in zip(*channels, strict=True)), label


def some_beats(generator: random.Random, label: str, seconds: float) -> list[tuple[float, str]]:
    """When each beat comes, and of which kind it is; one of those well inside is odd unless all are steady."""
    period = generator.uniform(*PERIOD)
    times = [generator.uniform(0.1, 0.1 + period)]
    while times[-1] < seconds - 0.35:
        times.append(times[-1] + period * generator.gauss(1, 0.02))
    inside = [at for at in range(1, len(times) - 1) if times[at] < seconds - 0.5] or [len(times) // 2]
    odd, kinds = generator.choice(inside), ["usual"] * len(times)
    if label == "early":
        times[odd] -= period * generator.uniform(0.25, 0.35)
    elif label != "steady":
        kinds[odd] = label
    return list(zip(times, kinds, strict=True))


def seen_by(
    generator: random.Random,
    lead: dict[str, float],
    beats: list[tuple[float, str]],
    heart: dict[str, tuple[float, float]],
    steps: int,
) -> list[float]:
    """One lead: bumps on a wandering line, with noise."""
    sway, turn, tilt = generator.uniform(0, 0.15), generator.uniform(0, 2 * math.pi), generator.uniform(0.1, 0.4)
    line = [sway * math.sin(2 * math.pi * tilt * step / RATE + turn) for step in range(steps)]
    for time, kind in beats:
        for name, (after, width, height) in KINDS[kind].items():
            wide, tall = heart[name]
            centre, spread = RATE * (time + after), RATE * width * max(0.5, wide)
            for step in range(max(0, int(centre - 4 * spread)), min(steps, int(centre + 4 * spread) + 2)):
                line[step] += lead[name] * height * tall * math.exp(-0.5 * ((step - centre) / spread) ** 2)
    return [number + generator.gauss(0, HEARTBEAT_NOISE) for number in line]
