"""A small grammar whose words are ambiguous: `watch` after `the` is a noun, after `they` a verb, and only the words
around it tell.

Sentences are a subject, a verb and what goes with it; made-up names, verbs and adverbs carry only their letters
(`Brenkosk`, `plomgraled`, `stulvimly`), and most of the test part's are in no training sentence.
"""

import random
from collections.abc import Callable

from atento.data.builtin.parts import BuiltinParts, distinct, refuse_keys
from atento.data.lists import join
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

SIZES = (3000, 300, 500)

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


def sentence(generator: random.Random) -> tuple[str, str]:
    """Words and tags, each with tabs between."""
    words = noun_phrase(generator) + verb_phrase(generator)
    if generator.random() < 0.25:
        words += [AND, *noun_phrase(generator), *verb_phrase(generator)]
    return join(word for word, _ in words), join(tag for _, tag in words)


def grammar(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Sentences of the grammar, none of them in two parts."""
    refuse_keys(recipe, "source", "target", "label", "length")
    generator, known = random.Random(seed), set[str]()
    train, valid, test = (distinct(lambda: sentence(generator), size, known) for size in SIZES)
    note = (
        f"sentences of a small grammar, {len(BOTH)} of whose words are nouns and verbs: {len(train)} to train, "
        f"{len(valid)} to validate, {len(test)} to test"
    )
    return BuiltinParts(train, valid, test, (note,))
