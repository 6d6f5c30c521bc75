"""Generated language: a grammar of ambiguous words to tag, passages with questions to match, sentences for embeddings.

In `grammar` the part of speech follows from the context, in `evidence` one sentence of a passage gives the answer, in
`meaning` words of a kind occur in the same contexts.
"""

import random
from collections.abc import Callable
from typing import NamedTuple

from atento.data.builtin.builtin import BuiltinParts, Lengths, distinct, draw_parts, refuse_keys
from atento.data.records import join_items
from atento.spec import DataRecipe

# Grammar. `watch` is a noun after `the` and a verb after `they`. Invented names, verbs and adverbs can be recognised by
# their letters alone (`Brenkosk`, `plomgraled`, `stulvimly`); most of those in the test part are in no training
# sentence.

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


def invented(generator: random.Random) -> str:
    """An invented word of two syllables, such as `brenkosk`."""
    return "".join(generator.choice(part) for _ in range(2) for part in (ONSETS, VOWELS, CODAS))


def noun_phrase(generator: random.Random) -> Tagged:
    """A pronoun, a name, or a determiner and a noun with an optional adjective."""
    kind = generator.random()
    if kind < 0.2:
        return [(generator.choice(PRONOUNS), "PRON")]
    if kind < 0.35:
        return [(invented(generator).capitalize(), "NAME")]
    described = [(generator.choice(ADJECTIVES), "ADJ")] if generator.random() < 0.4 else []
    return [(generator.choice(DETERMINERS), "DET"), *described, (generator.choice(NOUNS), "NOUN")]


def verb_phrase(generator: random.Random) -> Tagged:
    """A verb with an optional infinitive (`want to watch`), object, place and manner."""
    verb = generator.choice(VERBS) if generator.random() < 0.8 else invented(generator) + "led"
    phrase = [(verb, "VERB")]
    if generator.random() < 0.3:
        phrase += [TO, (generator.choice(VERBS), "VERB")]
    parts: list[Callable[[random.Random], Tagged]] = [noun_phrase, place, manner]
    return phrase + [word for part in parts if generator.random() < 0.5 for word in part(generator)]


def place(generator: random.Random) -> Tagged:
    """A prepositional phrase such as `near the water`."""
    return [(generator.choice(PREPOSITIONS), "PREP"), *noun_phrase(generator)]


def manner(generator: random.Random) -> Tagged:
    """An invented adverb such as `stulvimly`."""
    return [(invented(generator) + "ly", "ADV")]


def grammar_sentence(generator: random.Random) -> tuple[str, str]:
    """A sentence: its words and its tags, each separated by tabs."""
    words = noun_phrase(generator) + verb_phrase(generator)
    if generator.random() < 0.25:
        words += [AND, *noun_phrase(generator), *verb_phrase(generator)]
    return join_items(word for word, _ in words), join_items(tag for _, tag in words)


def grammar(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Sentences of the grammar, none of them in two parts."""
    refuse_keys(recipe, "source", "target", "label", "length")
    generator, known = random.Random(seed), set[str]()
    train, valid, test = (distinct(lambda: grammar_sentence(generator), size, known) for size in GRAMMAR_SIZES)
    parts = BuiltinParts(train, valid, test)
    return parts.with_note(
        f"sentences of a small grammar, {len(BOTH)} of whose words are nouns and verbs: {parts.counts()}"
    )


# Evidence. A passage answers its question with yes, with no, or not at all. One sentence decides: the one with both the
# person and the thing of the question. Others have the same person or the same thing, and the number of negations does
# not depend on the answer, so counts of words do not help. Without the label `not told` it would suffice to find a
# negation.

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
    """A person and a thing that belongs to that person."""

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
    verbs = {False: FACT_VERBS[verb], True: f"does not {verb}"}  # whether denied -> `lives`, `does not live`
    text = " ".join(f"{fact.person} {verbs[fact in denials]} {fact.thing}." for fact in facts)
    return join_items((text, f"Does {asked.person} {verb} {asked.thing}?")), label


def some_facts(generator: random.Random, count: int, things: tuple[str, ...]) -> list[Fact]:
    """Distinct facts: that of the question, one of the same person, one of the same thing, and others."""
    asked = Fact(generator.choice(NAMES_OF_PEOPLE), generator.choice(things))
    person = generator.choice([who for who in NAMES_OF_PEOPLE if who != asked.person])
    thing = generator.choice([what for what in things if what != asked.thing])
    facts = [asked, asked._replace(thing=thing), asked._replace(person=person)]
    free = [Fact(who, what) for who in NAMES_OF_PEOPLE for what in things if Fact(who, what) not in facts]
    return facts + generator.sample(free, count - len(facts))


def evidence(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Passages of three to data.length facts, each with a question and its answer."""
    refuse_keys(recipe, "source", "target")
    most, generator = max(FEWEST, EVIDENCE_LENGTHS.of(recipe)), random.Random(seed)
    parts = draw_parts(lambda: passage(generator, generator.randint(FEWEST, most)), EVIDENCE_SIZES)
    return parts.with_note(
        f"passages of {FEWEST} to {most} facts (--set data.length=), each with a question: yes, no or not told; "
        f"{parts.counts()}; one sentence decides"
    )


# Meaning. Each trait has sentences of its own, so words that share traits share contexts: a king is `he` and `royal`, a
# queen is `she` and `royal`.

MEANING_SIZES = (6000, 300, 300)
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
OPENINGS = (
    "", "today", "once", "they say", "yesterday", "on monday", "last year", "in the end", "of course", "perhaps",
)  # fmt: skip
CLOSINGS = ("", "again", "at last", "and smiled", "for a while", "in the rain", "before noon")


def meaning_sentence(generator: random.Random) -> str:
    """A sentence about people, with probability 1/3, or about things; the opening and the closing are random."""
    if generator.random() < 1 / 3:
        person = generator.choice(list(PEOPLE))
        text = generator.choice(TRAITS[generator.choice(PEOPLE[person])]).format(person)
    else:
        words, templates = KINDS[generator.choice(list(KINDS))]
        text = generator.choice(templates).format(*generator.sample(words.split(), 2))
    return f"{generator.choice(OPENINGS)} {text} {generator.choice(CLOSINGS)}".strip()


def meaning(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Distinct sentences about people and things, without targets."""
    refuse_keys(recipe, "source", "target", "length")
    generator = random.Random(seed)
    made: dict[str, None] = {}
    while len(made) < sum(MEANING_SIZES):
        made[meaning_sentence(generator)] = None
    pairs = [(text, "") for text in made]
    generator.shuffle(pairs)
    train, valid, test = MEANING_SIZES
    parts = BuiltinParts(tuple(pairs[:train]), tuple(pairs[train : train + valid]), tuple(pairs[train + valid :]))
    return parts.with_note(
        f"sentences about people, fruit, devices, animals and cities: {train} to train, {test} to test"
    )
