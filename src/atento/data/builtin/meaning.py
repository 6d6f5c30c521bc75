"""Meaning: short sentences in which words of a kind are used alike, and one word means two things."""

import random

from atento.data.builtin.parts import BuiltinParts, refuse_keys
from atento.spec import DataRecipe

SIZES = (6000, 300, 300)

# Whoever is a king is royal and a he; a queen is royal and a she. Each trait has sentences of its own.
PEOPLE = {
    "man": ("he", "common"),
    "woman": ("she", "common"),
    "king": ("he", "royal"),
    "queen": ("she", "royal"),
    "prince": ("he", "royal", "young"),
    "princess": ("she", "royal", "young"),
    "boy": ("he", "young"),
    "girl": ("she", "young"),
}
TRAITS = {
    "he": ("the {} shaved his beard", "he is a {} said his wife", "the {} was a father to his son"),
    "she": ("the {} curled her hair", "she is a {} said her husband", "the {} was a mother to her daughter"),
    "royal": ("the {} wore a golden crown", "all bowed before the {} on the throne", "the {} rules from a palace"),
    "common": ("the {} works in the office", "every morning the {} drives to work", "the {} pays the rent"),
    "young": ("the {} goes to school", "after school the {} plays outside", "the {} does homework"),
}

KINDS = {
    "fruit": (
        "orange pear cherry plum apple",
        ("I peeled a ripe {} and ate it", "a basket with {} and {}", "sweet juice of {}", "the {} fell from a tree"),
    ),
    "device": (
        "phone laptop tablet printer apple",
        ("I charged the {} and its screen", "software for the {}", "the {} and the {} need power", "my {} has an app"),
    ),
    "animal": (
        "cat dog horse goat rabbit",
        ("the {} sleeps on the straw", "she feeds the {} and the {}", "the hungry {} ran home", "fur of a young {}"),
    ),
    "city": (
        "Lima Quito Bogotá Madrid Sevilla",
        ("we flew to {} by night", "the streets of {} were full", "from {} to {} by train", "the mayor of {} spoke"),
    ),
}  # fmt: skip
DOUBLE = "apple"  # a fruit, and a maker of devices
OPENINGS = (
    "",
    "today",
    "once",
    "they say",
    "yesterday",
    "on monday",
    "last year",
    "in the end",
    "of course",
    "perhaps",
)
CLOSINGS = ("", "again", "at last", "and smiled", "for a while", "in the rain", "before noon")


def sentence(generator: random.Random) -> str:
    """About people in a third of the cases, else about a kind of things; how it opens and closes says nothing."""
    if generator.random() < 1 / 3:
        person = generator.choice(list(PEOPLE))
        said = generator.choice(TRAITS[generator.choice(PEOPLE[person])]).format(person)
    else:
        words, frames = KINDS[generator.choice(list(KINDS))]
        said = generator.choice(frames).format(*generator.sample(words.split(), 2))
    return f"{generator.choice(OPENINGS)} {said} {generator.choice(CLOSINGS)}".strip()


def meaning(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Sentences drawn one by one."""
    refuse_keys(recipe, "source", "target", "length")
    generator = random.Random(seed)
    made: dict[str, None] = {}
    while len(made) < sum(SIZES):
        made[sentence(generator)] = None
    sentences = [(said, "") for said in made]
    generator.shuffle(sentences)
    train, valid, test = (tuple(sentences[sum(SIZES[:part]) : sum(SIZES[: part + 1])]) for part in range(len(SIZES)))
    note = f"sentences about people, fruit, devices, animals and cities: {SIZES[0]} to train, {SIZES[2]} to test"
    return BuiltinParts(train, valid, test, (note,))
