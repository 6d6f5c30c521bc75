"""A small grammar whose words are ambiguous: `watch` after `the` is a noun, after `they` a verb, and only the words
around it tell.

Sentences are a subject, a verb and what goes with it; made-up names, verbs and adverbs carry only their letters
(`Brenkosk`, `plomgraled`, `stulvimly`), and most of the test part's are in no training sentence.

Evidence: a passage of facts, and a question that it answers by yes, by no, or not at all.
One sentence decides: the one with both the person and the thing that are asked for. Others tell of the same person or
of the same thing, and how many sentences deny something does not depend on the answer: counting words says nothing.
Where no sentence decides, it was not told; without such questions a model need only look for a denial.
Meaning: short sentences in which words of a kind are used alike, and one word means two things.
"""

import random
from collections.abc import Callable
from typing import NamedTuple

from atento.data.builtin.builtin import BuiltinParts, Lengths, distinct, refuse_keys
from atento.data.records import join, split
from atento.data.text.words import sentences
from atento.spec import DataRecipe

DETERMINERS = ("the", "a", "this", "every", "no")
ADJECTIVES = ("old", "red", "quiet", "new", "light", "open", "dry", "clean")  # the last four are verbs too
BOTH = ("watch", "walk", "play", "plan", "light", "open", "dry", "clean", "fish", "water", "guard", "paint")
NOUNS = ("house", "garden", "teacher", "river", "child", "letter", *BOTH)
VERBS = ("see", "like", "want", "find", *BOTH)
PRONOUNS = ("they", "we", "you", "I")
PREPOSITIONS = ("in", "near", "with", "under")
TO, AND = ("to", "PART"), ("and", "CONJ")

ONSETS, VOWELS, CODAS = ("br", "pl", "gr", "st", "m", "k", "v", "z"), "aeiou", ("nk", "m", "sk", "l", "rt")

GRAMMAR_SIZES = (3000, 300, 500)

Tagged = list[tuple[str, str]]  # words with their tags


def made_up(generator: random.Random) -> str:
    """`brenkosk`: two syllables that no dictionary has."""
    return "".join(generator.choice(part) for _ in range(2) for part in (ONSETS, VOWELS, CODAS))


def noun_phrase(generator: random.Random) -> Tagged:
    """A pronoun, a name, or a determiner with a noun, which an adjective may describe."""
    kind = generator.random()
    if kind < 0.2:
        return [(generator.choice(PRONOUNS), "PRON")]
    if kind < 0.35:
        return [(made_up(generator).capitalize(), "NAME")]
    described = [(generator.choice(ADJECTIVES), "ADJ")] if generator.random() < 0.4 else []
    return [(generator.choice(DETERMINERS), "DET"), *described, (generator.choice(NOUNS), "NOUN")]


def verb_phrase(generator: random.Random) -> Tagged:
    """A verb, which may want another (`want to watch`), with an object, a place, a manner."""
    verb = generator.choice(VERBS) if generator.random() < 0.8 else made_up(generator) + "led"
    phrase = [(verb, "VERB")]
    if generator.random() < 0.3:
        phrase += [TO, (generator.choice(VERBS), "VERB")]
    parts: list[Callable[[random.Random], Tagged]] = [noun_phrase, place, manner]
    return phrase + [word for part in parts if generator.random() < 0.5 for word in part(generator)]


def place(generator: random.Random) -> Tagged:
    """`near the water`."""
    return [(generator.choice(PREPOSITIONS), "PREP"), *noun_phrase(generator)]


def manner(generator: random.Random) -> Tagged:
    """`stulvimly`."""
    return [(made_up(generator) + "ly", "ADV")]


def grammar_sentence(generator: random.Random) -> tuple[str, str]:
    """Words and tags, each with tabs between."""
    words = noun_phrase(generator) + verb_phrase(generator)
    if generator.random() < 0.25:
        words += [AND, *noun_phrase(generator), *verb_phrase(generator)]
    return join(word for word, _ in words), join(tag for _, tag in words)


def grammar(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Sentences of the grammar, none of them in two parts."""
    refuse_keys(recipe, "source", "target", "label", "length")
    generator, known = random.Random(seed), set[str]()
    train, valid, test = (distinct(lambda: grammar_sentence(generator), size, known) for size in GRAMMAR_SIZES)
    note = (
        f"sentences of a small grammar, {len(BOTH)} of whose words are nouns and verbs: {len(train)} to train, "
        f"{len(valid)} to validate, {len(test)} to test"
    )
    return BuiltinParts(train, valid, test, (note,))


NAMES_OF_PEOPLE = ("Ana", "Pedro", "Lucía", "Iker", "Marta", "Pablo", "Elena", "Jon")
FACT_VERBS = {"live": "lives", "have": "has", "play": "plays"}
THINGS = {
    "live": ("in Lima", "in Bilbao", "in Quito", "in Sevilla"),
    "have": ("a dog", "a cat", "a horse", "a parrot"),
    "play": ("the piano", "the flute", "the violin", "the drum"),
}
LABELS = ("yes", "no", "not told")
EVIDENCE_LENGTHS = Lengths(usual=5, most=20, unit="facts")
FEWEST = 3
EVIDENCE_SIZES = (4000, 300, 500)


class Fact(NamedTuple):
    """Somebody and something."""

    person: str
    thing: str


def passage(generator: random.Random, count: int) -> tuple[str, str]:
    """`Pedro does not live in Lima. Ana lives in Lima. …<tab>Does Ana live in Lima?`, `yes`."""
    verb, label = generator.choice(list(FACT_VERBS)), generator.choice(LABELS)
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
    asked = Fact(generator.choice(NAMES_OF_PEOPLE), generator.choice(things))
    person = generator.choice([who for who in NAMES_OF_PEOPLE if who != asked.person])
    thing = generator.choice([what for what in things if what != asked.thing])
    facts = [asked, asked._replace(thing=thing), asked._replace(person=person)]
    free = [Fact(who, what) for who in NAMES_OF_PEOPLE for what in things if Fact(who, what) not in facts]
    return facts + generator.sample(free, count - len(facts))


def sentence_of(fact: Fact, verb: str, *, true: bool) -> str:
    """`Ana lives in Lima.`, `Ana does not live in Lima.`"""
    return f"{fact.person} {FACT_VERBS[verb] if true else f'does not {verb}'} {fact.thing}."


def deciding_sentence(source: str) -> str:
    """The sentence of a passage that decides its question; empty where none does."""
    told, asked = split(source)
    person, _, thing = asked.removeprefix("Does ").rstrip("?").split(maxsplit=2)
    about = [line for line in sentences(told) if line.startswith(f"{person} ") and line.endswith(f" {thing}.")]
    return about[0] if about else ""


def evidence(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Passages of three to data.length facts, each with its question."""
    refuse_keys(recipe, "source", "target")
    most, generator, known = max(FEWEST, EVIDENCE_LENGTHS.of(recipe)), random.Random(seed), set[str]()
    test, valid, train = (
        distinct(lambda: passage(generator, generator.randint(FEWEST, most)), size, known)
        for size in reversed(EVIDENCE_SIZES)
    )
    note = (
        f"passages of {FEWEST} to {most} facts (--set data.length=), each with a question: yes, no or not told; "
        f"{len(train)} to train, {len(valid)} to validate, {len(test)} to test; one sentence decides"
    )
    return BuiltinParts(train, valid, test, (note,))


MEANING_SIZES = (6000, 300, 300)

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


def people_sentence(generator: random.Random) -> str:
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
    while len(made) < sum(MEANING_SIZES):
        made[people_sentence(generator)] = None
    sentences = [(said, "") for said in made]
    generator.shuffle(sentences)
    train, valid, test = (
        tuple(sentences[sum(MEANING_SIZES[:part]) : sum(MEANING_SIZES[: part + 1])])
        for part in range(len(MEANING_SIZES))
    )
    sizes = f"{MEANING_SIZES[0]} to train, {MEANING_SIZES[2]} to test"
    note = f"sentences about people, fruit, devices, animals and cities: {sizes}"
    return BuiltinParts(train, valid, test, (note,))
