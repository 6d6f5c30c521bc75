"""Morse: how loud a receiver is, frame by frame, and the letters that were keyed.

A dot lasts one unit, a dash three; one unit of silence parts the marks of a letter, three part letters, seven words
(ITU-R M.1677-1, part I, sec. 2). The unit differs from message to message, no hand keeps it exactly, and there is noise.
"""

import random
from collections.abc import Callable
from functools import partial

from atento.data.builtin.parts import BuiltinParts, Lengths, refuse_keys, three_parts
from atento.spec import DataRecipe

CODE = dict(
    zip(
        "abcdefghijklmnopqrstuvwxyz",
        ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --..".split(),
        strict=True,
    )
)
LENGTHS = Lengths(usual=6, most=100, unit="letters")
SIZES = (4000, 200, 400)
UNITS = (1.6, 2.6)  # frames a unit, from message to message
UNSTEADY = 0.12  # how much lengths stray from their unit
NOISE = 0.15
WORD = 0.15  # of the letters are followed by the end of a word


def morse(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Messages of 1 to data.length letters; more of the short ones to train."""
    refuse_keys(recipe, "source", "target", "label")
    most, generator = LENGTHS.of(recipe), random.Random(seed)
    train, valid, test = three_parts(partial(message, generator), most=most, sizes=SIZES, generator=generator)
    note = (
        f"messages of 1 to {most} letters (--set data.length=), a unit of {UNITS[0]:g} to {UNITS[1]:g} frames: "
        f"{len(train)} to train, {len(valid)} to validate, {len(test)} to test"
    )
    return BuiltinParts(train, valid, test, (note,))


def message(generator: random.Random, letters: Callable[[], int]) -> tuple[str, str]:
    """`0.03 0.98 1.02 …`, `sos`; words are parted by a space."""
    keyed = generator.choices(list(CODE), k=letters())
    text = "".join(letter + " " * (generator.random() < WORD) for letter in keyed).strip()
    return " ".join(f"{loud:.2f}" for loud in key(generator, text)), text


def key(generator: random.Random, text: str) -> list[float]:
    """How loud each frame is."""
    unit, loud = generator.uniform(*UNITS), generator.uniform(0.8, 1.2)
    stretches: list[tuple[bool, int]] = [(False, 2)]  # whether the key is down, and for how many units
    for place, word in enumerate(text.split(" ")):
        stretches += [(False, 7)] if place else []
        for at, letter in enumerate(word):
            stretches += [(False, 3)] if at else []
            for number, mark in enumerate(CODE[letter]):
                stretches += [(False, 1)] if number else []
                stretches.append((True, 3 if mark == "-" else 1))
    frames: list[float] = []
    for down, units in [*stretches, (False, 2)]:
        steps = max(1, round(unit * units * generator.gauss(1, UNSTEADY)))
        frames += [loud * down + generator.gauss(0, NOISE) for _ in range(steps)]
    return frames
