"""Evidence: a passage of facts, and a question that it answers by yes, by no, or not at all.

One sentence decides: the one with both the person and the thing that are asked for. Others tell of the same person or
of the same thing, and how many sentences deny something does not depend on the answer: counting words says nothing.
Where no sentence decides, it was not told; without such questions a model need only look for a denial.
"""

import random
from typing import NamedTuple

from atento.data.builtin.parts import BuiltinParts, Lengths, distinct, refuse_keys
from atento.data.lists import join, split
from atento.data.sentences import sentences
from atento.spec import DataRecipe

PEOPLE = ("Ana", "Pedro", "Lucía", "Iker", "Marta", "Pablo", "Elena", "Jon")
VERBS = {"live": "lives", "have": "has", "play": "plays"}
THINGS = {
    "live": ("in Lima", "in Bilbao", "in Quito", "in Sevilla"),
    "have": ("a dog", "a cat", "a horse", "a parrot"),
    "play": ("the piano", "the flute", "the violin", "the drum"),
}
LABELS = ("yes", "no", "not told")
LENGTHS = Lengths(usual=5, most=20, unit="facts")
FEWEST = 3
SIZES = (4000, 300, 500)


class Fact(NamedTuple):
    """Somebody and something."""

    person: str
    thing: str


def passage(generator: random.Random, count: int) -> tuple[str, str]:
    """`Pedro does not live in Lima. Ana lives in Lima. …<tab>Does Ana live in Lima?`, `yes`."""
    verb, label = generator.choice(list(VERBS)), generator.choice(LABELS)
    asked, *others = some_facts(generator, count + 1, THINGS[verb])
    facts = others if label == "not told" else [asked, *others[:-1]]
    denied = generator.randint(1, count - 1)
    denials = set(generator.sample([fact for fact in facts if fact != asked], denied - (label == "no")))
    denials |= {asked} if label == "no" else set()
    generator.shuffle(facts)
    told = " ".join(sentence_of(fact, verb, true=fact not in denials) for fact in facts)
    return join((told, f"Does {asked.person} {verb} {asked.thing}?")), label


def some_facts(generator: random.Random, count: int, things: tuple[str, ...]) -> list[Fact]:
    """Different facts: the asked one, one of the same person, one of the same thing, and any others."""
    asked = Fact(generator.choice(PEOPLE), generator.choice(things))
    person = generator.choice([who for who in PEOPLE if who != asked.person])
    thing = generator.choice([what for what in things if what != asked.thing])
    facts = [asked, asked._replace(thing=thing), asked._replace(person=person)]
    free = [Fact(who, what) for who in PEOPLE for what in things if Fact(who, what) not in facts]
    return facts + generator.sample(free, count - len(facts))


def sentence_of(fact: Fact, verb: str, *, true: bool) -> str:
    """`Ana lives in Lima.`, `Ana does not live in Lima.`"""
    return f"{fact.person} {VERBS[verb] if true else f'does not {verb}'} {fact.thing}."


def deciding_sentence(source: str) -> str:
    """The sentence of a passage that decides its question; empty where none does."""
    told, asked = split(source)
    person, _, thing = asked.removeprefix("Does ").rstrip("?").split(maxsplit=2)
    about = [line for line in sentences(told) if line.startswith(f"{person} ") and line.endswith(f" {thing}.")]
    return about[0] if about else ""


def evidence(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Passages of three to data.length facts, each with its question."""
    refuse_keys(recipe, "source", "target")
    most, generator, known = max(FEWEST, LENGTHS.of(recipe)), random.Random(seed), set[str]()
    test, valid, train = (
        distinct(lambda: passage(generator, generator.randint(FEWEST, most)), size, known) for size in reversed(SIZES)
    )
    note = (
        f"passages of {FEWEST} to {most} facts (--set data.length=), each with a question: yes, no or not told; "
        f"{len(train)} to train, {len(valid)} to validate, {len(test)} to test; one sentence decides"
    )
    return BuiltinParts(train, valid, test, (note,))
