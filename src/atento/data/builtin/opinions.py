"""Opinions whose sense turns on the order of their words: each has a twin of the very same words and the other label.

`sí, no me gustó mucho, la vi completa` is against, `sí, me gustó mucho, no la vi completa` for. A bag of words sees no
difference; pairs of words see one only where nothing stands between the no and what it denies.
"""

import random
from typing import NamedTuple

from atento.data.builtin.parts import BuiltinParts, Pairs, refuse_keys
from atento.errors import unknown_name
from atento.spec import DataRecipe

SIZES = (8000, 500, 1000)


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
    test, valid, train = (some(generator, LANGUAGES[name], size, known) for size in reversed(SIZES))
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
