"""Small stories of a small grammar, whose entropy is known: each choice is among equally likely words.

What has one right answer must be remembered: a verb agrees with a noun several words before it, a pronoun with who was
named, a quotation and a bracket are closed as they were opened.
"""

import math
import random
from collections.abc import Callable

from atento.data.builtin.parts import BuiltinParts, distinct, refuse_keys
from atento.spec import DataRecipe

SIZES = (8000, 200, 400)

PEOPLE = {"Ana": "she", "Ben": "he", "Clara": "she", "David": "he", "Eva": "she", "Felix": "he"}
ANIMALS = ("cat", "dog", "horse", "bird")
PLACES = ("in the garden", "by the river", "near the old house", "under the bridge")
COLOURS = ("black", "brown", "white")
VERBS = {"see": "sees", "follow": "follows", "hear": "hears", "like": "likes"}
SAYINGS = ("I am hungry", "it is late", "we should go home", "nobody is here")

Choose = Callable[[int], int]  # how many equally likely ways -> one of them


def story(choose: Choose) -> str:
    """Two sentences: someone meets animals, and says something about it."""
    person = pick(choose, tuple(PEOPLE))
    many = bool(choose(2))
    animal = f"{pick(choose, COLOURS)} {pick(choose, ANIMALS)}"
    owner = f"the {animal}s" if many else f"the {animal}"
    aside = f" ({PEOPLE[person]} {'knows' if choose(2) else 'feeds'} {'them' if many else 'it'})" if choose(2) else ""
    verb = pick(choose, tuple(VERBS))
    first = f"{owner} {pick(choose, PLACES)}{aside} {verb if many else VERBS[verb]} {person}."
    said = f'"{pick(choose, SAYINGS)}", {PEOPLE[person]} says.'
    return f"{first[0].upper()}{first[1:]} {said}"


def pick(choose: Choose, words: tuple[str, ...]) -> str:
    """One of them."""
    return words[choose(len(words))]


def entropy() -> float:
    """The nats of a story: the mean of the logarithms of all its choices. Its verb inside brackets is one choice more
    in half of the stories.
    """
    plain = [len(PEOPLE), 2, len(COLOURS), len(ANIMALS), 2, len(VERBS), len(PLACES), len(SAYINGS)]
    return sum(map(math.log, plain)) + math.log(2) / 2


def stories(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """No story is in two parts."""
    refuse_keys(recipe, "source", "target", "length")
    generator, known = random.Random(seed), set[str]()
    train, valid, test = (distinct(lambda: (story(generator.randrange), ""), size, known) for size in SIZES)
    characters = sum(len(source) for source, _ in test) / len(test)
    note = (
        f"stories of a small grammar: {len(train)} to train, {len(valid)} to validate, {len(test)} to test; choices "
        f"are worth {entropy():.2f} nats a story, {entropy() / characters:.3f} a character: no model can do much better"
    )
    return BuiltinParts(train, valid, test, (note,))
