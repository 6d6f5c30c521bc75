"""What gives a label away: the label in its own text, a word that only its texts hold, a column that says it.

A model that reads such a thing learns nothing else, and its score on held-out rows says nothing of new texts.

Texts that differ in nothing but case, spaces and punctuation: near-duplicates.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from atento.data.files.image_names import is_picture_name
from atento.data.records import join, split

LEAST_ROWS = 10  # of a label, before something in all of its texts is no accident
MOST_ROWS = 20_000  # looked at
NAME_INSIDE, NAME_OUTSIDE = 0.9, 0.1  # a label's name stands in so many of its texts, and in so few of the others
WORD_INSIDE, WORD_OUTSIDE = 0.98, 0.01  # any other word may be what the texts are about, so it must be surer
SURE = 0.98  # a value of a column stands beside one label so often
LEAST_GAIN = 0.9  # of the mistakes of always saying the commonest label that the column saves
ROWS_A_VALUE = 5  # a column with fewer rows a value names its rows, and says nothing of others
WORDS = re.compile(r"[^\W_]+")


class Giveaway(NamedTuple):
    """A word, or the name of a label, that nearly all texts of the label hold and hardly any other text."""

    label: str
    word: str
    named: bool  # whether the word is the label itself
    inside: float  # share of the label's texts that hold it
    outside: float  # share of the others


class Telling(NamedTuple):
    """A column whose values say the label."""

    column: str
    values: int
    agreement: float  # share of rows whose label is the commonest beside their value


def giveaways(texts: Sequence[str], labels: Sequence[Sequence[str]]) -> list[Giveaway]:
    """One a label at most, the commonest label first; `labels` are those of each text."""
    step = 1 + len(texts) // MOST_ROWS
    held = [frozenset(words_of(text)) for text in texts[::step]]
    rows: dict[str, list[int]] = defaultdict(list)
    for at, names in enumerate(labels[::step]):
        for name in dict.fromkeys(names):
            rows[name].append(at)
    spread = Counter(word for words in held for word in words)
    found = []
    for label, places in sorted(rows.items(), key=lambda item: -len(item[1])):
        if LEAST_ROWS <= len(places) < len(held):
            found += name_inside(label, places, held) or word_inside(label, places, held, spread)
    return found


def name_inside(label: str, places: Sequence[int], held: Sequence[frozenset[str]]) -> list[Giveaway]:
    """The label's own name, where its texts hold it."""
    name = frozenset(words_of(label))
    if not name:
        return []
    inside = sum(name <= held[at] for at in places)
    if inside < NAME_INSIDE * len(places):
        return []
    outside = sum(name <= words for words in held) - inside
    others = len(held) - len(places)
    if outside > NAME_OUTSIDE * others:
        return []
    return [Giveaway(label, label, True, inside / len(places), outside / others)]


def word_inside(
    label: str, places: Sequence[int], held: Sequence[frozenset[str]], spread: Counter[str]
) -> list[Giveaway]:
    """The word that tells a label's texts from all others, where there is one."""
    counts = Counter(word for at in places for word in held[at])
    others = len(held) - len(places)
    found = [
        Giveaway(label, word, False, count / len(places), (spread[word] - count) / others)
        for word, count in counts.items()
        if count >= WORD_INSIDE * len(places) and spread[word] - count <= WORD_OUTSIDE * others
    ]
    return sorted(found, key=lambda one: (one.outside, -one.inside, one.word))[:1]


def tellings(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, read: Sequence[int], label: int
) -> list[Telling]:
    """The columns, beside those that are read, whose values stand beside one label each."""
    labels = [row[label] for row in rows]
    commonest = Counter(labels).most_common(1)[0][1] / len(rows) if rows else 1.0
    found = []
    for at, name in enumerate(columns):
        if at == label or at in read:
            continue
        beside: dict[str, Counter[str]] = defaultdict(Counter)
        for row, said in zip(rows, labels, strict=True):
            beside[row[at]][said] += 1
        if len(beside) < 2 or len(rows) < ROWS_A_VALUE * len(beside):
            continue
        agreement = sum(counts.most_common(1)[0][1] for counts in beside.values()) / len(rows)
        if agreement >= SURE and agreement - commonest >= LEAST_GAIN * (1 - commonest):
            found.append(Telling(name, len(beside), agreement))
    return found


def words_of(text: str) -> list[str]:
    """Words without case; a label such as `very_good` is two."""
    return WORDS.findall(text.casefold())


# A letter of a script written without spaces counts as a word: Thai to Khmer, kana, Han.
WORD = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]|[^\W_]+")
LEAST_WORDS = 4  # of fewer words, `Go!` and `go` are two texts, and `'cause` is not `cause`


def near_key(text: str) -> str:
    """What is left of a text without case, spaces and punctuation; a text too short to judge, or the name of a picture,
    has none.
    """
    if is_picture_name(split(text)[0] if text else ""):
        return ""
    items = [WORD.findall(unicodedata.normalize("NFKC", item).casefold()) for item in split(text)]
    words = [word for item in items for word in item]
    if len(words) < LEAST_WORDS or all(word.isdigit() for word in words):  # -1.5 and 1,5 are two numbers
        return ""
    return join(" ".join(item) for item in items)


def near_keys(texts: Iterable[str]) -> frozenset[str]:
    """The keys of texts long enough to have one."""
    return frozenset(filter(None, map(near_key, texts)))


def near_rows(sources: Sequence[str], held_out: Iterable[str]) -> list[int]:
    """The numbers of the sources that are near-duplicates of a held-out one."""
    keys = near_keys(held_out)
    return [at for at, source in enumerate(sources) if near_key(source) in keys] if keys else []


def near_groups(texts: Iterable[str]) -> int:
    """How many texts say what another text said in other case, spaces or punctuation; exact copies count once."""
    keys = [key for key in map(near_key, dict.fromkeys(texts)) if key]
    return len(keys) - len(set(keys))
