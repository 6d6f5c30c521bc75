"""Generated signals: tunes as spectrogram frames to transcribe, and electrocardiograms to classify."""

import math
import random

from atento.data.builtin.builtin import BuiltinParts, Lengths, draw_lengths, refuse_keys
from atento.errors import InputError
from atento.spec import DataRecipe

# Tones: frames of band energies, as in a spectrogram, and the notes that were played. A note lasts some frames in its
# own band and, weaker, in that of its overtone, with a rise and a fall; the tempo differs from tune to tune, and equal
# notes are separated by a short silence. The monotonic alignment of notes and frames is known.

NOTES = "cdefgab"
TONES_LENGTHS = Lengths(usual=8, most=200, unit="notes")
TONES_SIZES = (5000, 200, 400)
FRAMES_PER_NOTE = (2.5, 6.0)  # minimum and maximum of a tune's tempo
NOISE = 0.12
OVERTONE = 0.4


def tones(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Tunes of 1 to data.length notes as frames, with their notes; short ones are more frequent in training."""
    refuse_keys(recipe, "source", "target", "label")
    most = TONES_LENGTHS.of(recipe)
    parts = draw_lengths(tune, most, TONES_SIZES, random.Random(seed))
    return parts.with_note(
        f"tunes of 1 to {most} notes (--set data.length=), {FRAMES_PER_NOTE[0]:g} to {FRAMES_PER_NOTE[1]:g} frames a "
        f"note in {len(NOTES)} bands: {parts.counts()}"
    )


def tune(generator: random.Random, notes: int) -> tuple[str, str]:
    """A tune's frames `0.03,0.91,… 0.05,1.02,…` and its notes `dgga`."""
    played = generator.choices(NOTES, k=notes)
    frames = [frame for frame, _ in play(generator, played)]
    return " ".join(",".join(f"{energy:.2f}" for energy in frame) for frame in frames), "".join(played)


def play(generator: random.Random, notes: list[str]) -> list[tuple[list[float], int]]:
    """The frames of a tune, each with the position of its note; -1: silence."""
    tempo = generator.uniform(*FRAMES_PER_NOTE)
    frames = [(silence(generator), -1) for _ in range(generator.randint(0, 3))]
    for position, note in enumerate(notes):
        if position and notes[position - 1] == note:
            frames += [(silence(generator), -1) for _ in range(max(1, round(tempo / 4)))]
        steps = max(2, round(tempo * generator.uniform(0.8, 1.25)))
        frames += [(sound(generator, note, (step + 0.5) / steps), position) for step in range(steps)]
    return frames + [(silence(generator), -1) for _ in range(generator.randint(0, 3))]


def silence(generator: random.Random) -> list[float]:
    """A frame of noise."""
    return [abs(generator.gauss(0, NOISE)) for _ in NOTES]


def sound(generator: random.Random, note: str, share: float) -> list[float]:
    """A frame of a note after this share of its duration: energy in its band and, weaker, in that of its overtone."""
    energies, band = silence(generator), NOTES.index(note)
    loud = 0.5 + 0.5 * math.sin(math.pi * share)
    energies[band] += loud
    energies[(band + 3) % len(NOTES)] += OVERTONE * loud
    return energies


# Heartbeats: a synthetic electrocardiogram. Each beat is a sum of Gaussian waves P, Q, R, S and T (after McSharry et
# al., 2003, without the differential equation) on a baseline that wanders, with noise; rate, heights and widths differ
# from recording to recording. All recordings but the steady ones have one abnormal beat: `early` comes too soon, `wide`
# has no P and a broad R, `missed` has a P and nothing after it. Several leads record the same beats with other weights.

HEARTBEATS_LENGTHS = Lengths(usual=120, most=2000, unit="steps")
HEARTBEATS_SIZES = (1600, 200, 400)
FEWEST = 80
LABELS = ("steady", "early", "wide", "missed")
RATE = 40  # steps per second
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
LEADS: tuple[dict[str, float], ...] = (  # the weight of each wave in a lead
    dict.fromkeys(WAVES, 1.0),
    {"P": 0.8, "Q": 1.5, "R": 0.5, "S": 2.0, "T": 0.7},
    {"P": -0.6, "Q": 0.5, "R": -0.8, "S": 1.0, "T": -0.5},
)


def heartbeats(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Recordings of 75 to 100 % of data.length steps and of data.source leads, each with its class."""
    refuse_keys(recipe, "target", "label")
    leads, most, generator = leads_of(recipe), max(FEWEST, HEARTBEATS_LENGTHS.of(recipe)), random.Random(seed)
    fewest = max(FEWEST, most - most // 4)
    test, valid, train = (
        tuple(recording(generator, generator.randint(fewest, most), leads) for _ in range(size))
        for size in reversed(HEARTBEATS_SIZES)
    )
    parts = BuiltinParts(train, valid, test)
    return parts.with_note(
        f"{leads} {'lead' if leads == 1 else 'leads'} (--set data.source=) of {fewest} to {most} steps "
        f"(--set data.length=), {RATE} per second: {parts.counts('recordings')}"
    )


def leads_of(recipe: DataRecipe) -> int:
    """The number of leads that data.source asks for; 1 by default."""
    asked = recipe.source or "1"
    if asked not in map(str, range(1, MOST_LEADS + 1)):
        raise InputError(
            f"data.source: {recipe.train} has 1 to {MOST_LEADS} leads.",
            found=f"data.source={asked}",
            fix="--set data.source=2",
        )
    return int(asked)


def recording(generator: random.Random, steps: int, leads: int) -> tuple[str, str]:
    """A recording `0.031 -0.052 0.981 …` and its label; all labels are equally likely."""
    label = generator.choice(LABELS)
    beats = some_beats(generator, label, steps / RATE)
    scales = {name: (generator.gauss(1, 0.1), generator.gauss(1, 0.15)) for name in WAVES}  # of width and height
    channels = [record_lead(generator, lead, beats, scales, steps) for lead in LEADS[:leads]]
    return " ".join(",".join(f"{number:.3f}" for number in step) for step in zip(*channels, strict=True)), label


def some_beats(generator: random.Random, label: str, seconds: float) -> list[tuple[float, str]]:
    """The time in seconds and the kind of each beat; unless the label is `steady`, one well inside is abnormal."""
    period = generator.uniform(*PERIOD)
    times = [generator.uniform(0.1, 0.1 + period)]
    while times[-1] < seconds - 0.35:
        times.append(times[-1] + period * generator.gauss(1, 0.02))
    inside = [at for at in range(1, len(times) - 1) if times[at] < seconds - 0.5] or [len(times) // 2]
    abnormal, kinds = generator.choice(inside), ["usual"] * len(times)
    if label == "early":
        times[abnormal] -= period * generator.uniform(0.25, 0.35)
    elif label != "steady":
        kinds[abnormal] = label
    return list(zip(times, kinds, strict=True))


def record_lead(
    generator: random.Random,
    lead: dict[str, float],
    beats: list[tuple[float, str]],
    scales: dict[str, tuple[float, float]],
    steps: int,
) -> list[float]:
    """One lead: Gaussian waves on a wandering baseline, with noise."""
    drift, phase, hertz = generator.uniform(0, 0.15), generator.uniform(0, 2 * math.pi), generator.uniform(0.1, 0.4)
    signal = [drift * math.sin(2 * math.pi * hertz * step / RATE + phase) for step in range(steps)]
    for time, kind in beats:
        for name, (after, width, height) in KINDS[kind].items():
            width_scale, height_scale = scales[name]
            mean, std = RATE * (time + after), RATE * width * max(0.5, width_scale)
            for step in range(max(0, int(mean - 4 * std)), min(steps, int(mean + 4 * std) + 2)):
                signal[step] += lead[name] * height * height_scale * math.exp(-0.5 * ((step - mean) / std) ** 2)
    return [number + generator.gauss(0, HEARTBEAT_NOISE) for number in signal]
