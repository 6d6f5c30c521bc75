"""Generated texts: opinions and DNA strings to classify, and stories for a language model.

`opinions` come in pairs of the same words with opposite labels, so the label follows from the order of the words.
`dna` strings contain a motif or not. `stories` come from a grammar whose entropy is known.
"""

import math
import random
import re
from collections.abc import Callable
from typing import NamedTuple

from atento.data.builtin.builtin import BuiltinParts, Lengths, Pairs, distinct, draw_parts, refuse_keys
from atento.errors import unknown_name
from atento.spec import DataRecipe

# Opinions. `sí, no me gustó mucho, la vi completa` is against, `sí, me gustó mucho, no la vi completa` is for. A bag of
# words cannot tell them apart; bigrams can only where no words stand between the negation and the clause it negates.

OPINIONS_SIZES = (8000, 500, 1000)


class Language(NamedTuple):
    """The phrases of one language from which opinions are composed."""

    openings: tuple[str, ...]
    likes: tuple[str, ...]
    dislikes: tuple[str, ...]
    asides: tuple[str, ...]  # clauses without an opinion, which may be negated
    fillers: tuple[str, ...]  # between the negation and the clause it negates
    subject: str  # before the negation
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


def opposite_opinions(generator: random.Random, language: Language) -> Pairs:
    """Two opinions of the same words and opposite labels: the negation is in the opinion or in another clause."""
    liked = generator.random() < 0.5
    opinion = generator.choice(language.likes if liked else language.dislikes)
    clauses = [opinion, *generator.sample(language.asides, generator.randint(1, 2))]
    fillers = generator.choices(language.fillers, k=len(clauses))
    order = generator.sample(range(len(clauses)), len(clauses))
    opening = generator.choice(language.openings)
    other = generator.randrange(1, len(clauses))

    def with_negated(clause: int) -> tuple[str, str]:
        parts = [opening]
        for number in order:
            words = [language.subject, language.no if number == clause else "", fillers[number], clauses[number]]
            parts.append(" ".join(word for word in words if word))
        return ", ".join(parts), language.labels[0 if liked != (clause == 0) else 1]

    return with_negated(0), with_negated(other)


def opinions(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Opinions about films with the labels for and against; both opinions of a pair are in the same part."""
    refuse_keys(recipe, "target", "length")
    name = recipe.source or "es"
    if name not in LANGUAGES:
        raise unknown_name("language", name, LANGUAGES, where="data.source")
    generator, known = random.Random(seed), set[str]()
    test, valid, train = (new_opinions(generator, LANGUAGES[name], size, known) for size in reversed(OPINIONS_SIZES))
    parts = BuiltinParts(train, valid, test)
    return parts.with_note(
        f"opinions, half of them {LANGUAGES[name].labels[0]!r}: {parts.counts()}; for each there is one of the same "
        "words with the other label"
    )


def new_opinions(generator: random.Random, language: Language, size: int, known: set[str]) -> Pairs:
    """`size` opinions that are not in `known`; they are added to it."""
    found: list[tuple[str, str]] = []
    while len(found) < size:
        pair = opposite_opinions(generator, language)
        if not known & {source for source, _ in pair}:
            known |= {source for source, _ in pair}
            found.extend(pair)
    return tuple(found)


# DNA. The motif is TATA, a gap of 2 or 3 letters, GC; on the reverse-complement strand it is GC, the gap, TATA. Every
# string has a TATA, and many have a GC too near or too far: counts of letters or short n-grams do not give the label.

DNA_LENGTHS = Lengths(usual=30, most=1000, unit="letters")
DNA_SIZES = (10_000, 500, 1000)
FEWEST = 16
FIRST, LAST, GAPS = "TATA", "GC", (2, 3)
MOTIF = re.compile(f"{FIRST}.{{{GAPS[0]},{GAPS[1]}}}{LAST}")
STRANDS = str.maketrans("ACGT", "TGCA")
LABELS = ("motif", "none")


def has_motif(string: str) -> bool:
    """Whether the motif occurs on this strand or on the reverse complement."""
    return bool(MOTIF.search(string) or MOTIF.search(string.translate(STRANDS)[::-1]))


def strand(generator: random.Random, letters: int) -> tuple[str, str]:
    """A random string and its label; both labels are equally likely."""
    wanted = generator.random() < 0.5
    while True:
        string = plant(generator, "".join(generator.choices("ACGT", k=letters)), wanted)
        if has_motif(string) == wanted:
            return string, LABELS[0 if wanted else 1]


def plant(generator: random.Random, string: str, whole: bool) -> str:
    """The string with TATA, or with the whole motif on either strand, at a random position."""
    motif = FIRST
    if whole:
        gap = generator.randint(*GAPS)
        motif += "".join(generator.choices("ACGT", k=gap)) + LAST
        motif = motif.translate(STRANDS)[::-1] if generator.random() < 0.5 else motif
    start = generator.randint(0, len(string) - len(motif))
    return string[:start] + motif + string[start + len(motif) :]


def dna(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """DNA strings of 50 to 100 % of data.length letters, labelled by whether they have the motif."""
    refuse_keys(recipe, "source", "target")
    most, generator = max(FEWEST, DNA_LENGTHS.of(recipe)), random.Random(seed)
    fewest = max(FEWEST, most // 2)
    parts = draw_parts(lambda: strand(generator, generator.randint(fewest, most)), DNA_SIZES)
    return parts.with_note(
        f"strings of {fewest} to {most} letters (--set data.length=), half of them with the motif TATA, 2 or 3 "
        f"letters, GC on either strand: {parts.counts()}"
    )


# Stories. Each choice is uniform, so the entropy is known. What has one correct continuation needs memory: a verb
# agrees with a noun several words before it, a pronoun with a person, quotation marks and brackets are closed.

STORIES_SIZES = (8000, 200, 400)
PEOPLE = {"Ana": "she", "Ben": "he", "Clara": "she", "David": "he", "Eva": "she", "Felix": "he"}
ANIMALS = ("cat", "dog", "horse", "bird")
PLACES = ("in the garden", "by the river", "near the old house", "under the bridge")
COLOURS = ("black", "brown", "white")
VERBS = {"see": "sees", "follow": "follows", "hear": "hears", "like": "likes"}
SAYINGS = ("I am hungry", "it is late", "we should go home", "nobody is here")

Choose = Callable[[int], int]  # number of equally likely options -> one of them


def story(choose: Choose) -> str:
    """Two sentences: animals meet a person, who says something."""
    person = pick(choose, tuple(PEOPLE))
    many = bool(choose(2))
    animal = f"{pick(choose, COLOURS)} {pick(choose, ANIMALS)}"
    owner = f"the {animal}s" if many else f"the {animal}"
    aside = f" ({PEOPLE[person]} {'knows' if choose(2) else 'feeds'} {'them' if many else 'it'})" if choose(2) else ""
    verb = pick(choose, tuple(VERBS))
    first = f"{owner} {pick(choose, PLACES)}{aside} {verb if many else VERBS[verb]} {person}."
    quotation = f'"{pick(choose, SAYINGS)}", {PEOPLE[person]} says.'
    return f"{first[0].upper()}{first[1:]} {quotation}"


def pick(choose: Choose, words: tuple[str, ...]) -> str:
    """One of the words, all equally likely."""
    return words[choose(len(words))]


def entropy() -> float:
    """The entropy of a story in nats: the sum of the logarithms of its choices, of which half the stories have one
    more, the verb in brackets.
    """
    plain = [len(PEOPLE), 2, len(COLOURS), len(ANIMALS), 2, len(VERBS), len(PLACES), len(SAYINGS)]
    return sum(map(math.log, plain)) + math.log(2) / 2


def stories(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Stories of the grammar; no story is in two parts."""
    refuse_keys(recipe, "source", "target", "length")
    generator, known = random.Random(seed), set[str]()
    train, valid, test = (distinct(lambda: (story(generator.randrange), ""), size, known) for size in STORIES_SIZES)
    parts = BuiltinParts(train, valid, test)
    characters = sum(len(source) for source, _ in parts.test) / len(parts.test)
    return parts.with_note(
        f"stories of a small grammar: {parts.counts()}; choices are worth {entropy():.2f} nats a story, "
        f"{entropy() / characters:.3f} per character: no model can do much better"
    )
