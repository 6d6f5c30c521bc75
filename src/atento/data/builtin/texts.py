"""Opinions whose sense turns on the order of their words: each has a twin of the very same words and the other label.

`sí, no me gustó mucho, la vi completa` is against, `sí, me gustó mucho, no la vi completa` for. A bag of words sees no
difference; pairs of words see one only where nothing stands between the no and what it denies.

DNA-like strings with no words: does the motif stand anywhere, on either strand?
The motif is TATA, a gap of 2 or 3 letters, GC. On the other strand a string is read backwards with A for T and C for G,
so that the motif is GC, the gap, TATA. Every string has a TATA, and many a GC too near or too far: which letters or
short runs occur is not enough to know.
Small stories of a small grammar, whose entropy is known: each choice is among equally likely words.
What has one right answer must be remembered: a verb agrees with a noun several words before it, a pronoun with who was
named, a quotation and a bracket are closed as they were opened.
"""

import math
import random
import re
from collections.abc import Callable
from typing import NamedTuple

from atento.data.builtin.builtin import BuiltinParts, Lengths, Pairs, distinct, refuse_keys
from atento.errors import unknown_name
from atento.spec import DataRecipe

OPINIONS_SIZES = (8000, 500, 1000)


class Language(NamedTuple):
    """What opinions are made of."""

    openings: tuple[str, ...]
    likes: tuple[str, ...]
    dislikes: tuple[str, ...]
    asides: tuple[str, ...]  # clauses that say nothing of the opinion, though they may be denied
    fillers: tuple[str, ...]  # between the no and what it denies
    subject: str  # before the no
    no: str
    labels: tuple[str, str]  # for, against


SPANISH = Language(
    openings=("sí", "bueno", "mira", "pues", "ayer fui al cine", "me preguntas por la película"),
    likes=("me gustó mucho", "me encantó", "me hizo reír", "me pareció buena", "me emocionó", "la recomiendo"),
    dislikes=("me aburrió", "me pareció larga", "me decepcionó", "me dio sueño", "me pareció mala", "me enfadó"),
    asides=("la vi completa", "fui con mi hermana", "pagué la entrada", "llegué tarde", "leí el libro", "cené después"),
    fillers=("", "", "la verdad", "esta vez", "en realidad", "al final", "que yo sepa", "como siempre"),
    subject="",
    no="no",
    labels=("a favor", "en contra"),
)
ENGLISH = Language(
    openings=("yes", "well", "look", "so", "I went to the cinema", "you ask about the film"),
    likes=("like it a lot", "love it", "laugh", "find it good", "enjoy it", "tell my friends to go"),
    dislikes=("get bored", "find it long", "fall asleep", "find it bad", "want to leave", "regret it"),
    asides=("see all of it", "go with my sister", "pay for the ticket", "come late", "read the book", "eat afterwards"),
    fillers=("", "", "to be honest", "this time", "in fact", "in the end", "as far as I know", "as always"),
    subject="I did",
    no="not",
    labels=("for", "against"),
)
LANGUAGES = {"es": SPANISH, "en": ENGLISH}


def twins(generator: random.Random, language: Language) -> Pairs:
    """Two opinions of the same words: in one the opinion is denied, in the other what stands beside it."""
    liked = generator.random() < 0.5
    opinion = generator.choice(language.likes if liked else language.dislikes)
    clauses = [opinion, *generator.sample(language.asides, generator.randint(1, 2))]
    fillers = generator.choices(language.fillers, k=len(clauses))
    order = generator.sample(range(len(clauses)), len(clauses))
    opening = generator.choice(language.openings)
    other = generator.randrange(1, len(clauses))

    def told(denied: int) -> tuple[str, str]:
        parts = [opening]
        for number in order:
            words = [language.subject, language.no if number == denied else "", fillers[number], clauses[number]]
            parts.append(" ".join(word for word in words if word))
        return ", ".join(parts), language.labels[0 if liked != (denied == 0) else 1]

    return told(0), told(other)


def opinions(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Twins in the same part; no opinion is in two."""
    refuse_keys(recipe, "target", "length")
    name = recipe.source or "es"
    if name not in LANGUAGES:
        raise unknown_name("language", name, LANGUAGES, where="data.source")
    generator, known = random.Random(seed), set[str]()
    test, valid, train = (some(generator, LANGUAGES[name], size, known) for size in reversed(OPINIONS_SIZES))
    note = (
        f"opinions, half of them {LANGUAGES[name].labels[0]!r}: {len(train)} to train, {len(valid)} to validate, "
        f"{len(test)} to test; each has a twin of the same words and the other label"
    )
    return BuiltinParts(train, valid, test, (note,))


def some(generator: random.Random, language: Language, size: int, known: set[str]) -> Pairs:
    """So many opinions that are new."""
    found: list[tuple[str, str]] = []
    while len(found) < size:
        pair = twins(generator, language)
        if not known & {source for source, _ in pair}:
            known |= {source for source, _ in pair}
            found.extend(pair)
    return tuple(found)


DNA_LENGTHS = Lengths(usual=30, most=1000, unit="letters")
DNA_SIZES = (10_000, 500, 1000)
FEWEST = 16
FIRST, LAST, GAPS = "TATA", "GC", (2, 3)
MOTIF = re.compile(f"{FIRST}.{{{GAPS[0]},{GAPS[1]}}}{LAST}")
STRANDS = str.maketrans("ACGT", "TGCA")
LABELS = ("motif", "none")


def has_motif(string: str) -> bool:
    """On this strand or the other."""
    return bool(MOTIF.search(string) or MOTIF.search(string.translate(STRANDS)[::-1]))


def strand(generator: random.Random, letters: int) -> tuple[str, str]:
    """A string and its label, both labels equally often."""
    wanted = generator.random() < 0.5
    while True:
        string = plant(generator, "".join(generator.choices("ACGT", k=letters)), wanted)
        if has_motif(string) == wanted:
            return string, LABELS[0 if wanted else 1]


def plant(generator: random.Random, string: str, whole: bool) -> str:
    """TATA somewhere; the whole motif somewhere, on either strand, where it is wanted."""
    sign = FIRST
    if whole:
        gap = generator.randint(*GAPS)
        sign += "".join(generator.choices("ACGT", k=gap)) + LAST
        sign = sign.translate(STRANDS)[::-1] if generator.random() < 0.5 else sign
    place = generator.randint(0, len(string) - len(sign))
    return string[:place] + sign + string[place + len(sign) :]


def dna(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Strings of data.length letters, up to half of them fewer."""
    refuse_keys(recipe, "source", "target")
    most, generator = max(FEWEST, DNA_LENGTHS.of(recipe)), random.Random(seed)
    fewest, known = max(FEWEST, most // 2), set[str]()
    test, valid, train = (
        distinct(lambda: strand(generator, generator.randint(fewest, most)), size, known)
        for size in reversed(DNA_SIZES)
    )
    note = (
        f"strings of {fewest} to {most} letters (--set data.length=), half of them with the motif TATA, 2 or 3 "
        f"letters, GC on either strand: {len(train)} to train, {len(valid)} to validate, {len(test)} to test"
    )
    return BuiltinParts(train, valid, test, (note,))


STORIES_SIZES = (8000, 200, 400)

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
    train, valid, test = (distinct(lambda: (story(generator.randrange), ""), size, known) for size in STORIES_SIZES)
    characters = sum(len(source) for source, _ in test) / len(test)
    note = (
        f"stories of a small grammar: {len(train)} to train, {len(valid)} to validate, {len(test)} to test; choices "
        f"are worth {entropy():.2f} nats a story, {entropy() / characters:.3f} a character: no model can do much better"
    )
    return BuiltinParts(train, valid, test, (note,))
