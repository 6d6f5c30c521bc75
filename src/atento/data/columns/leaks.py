"""Label leakage and near-duplicates in a table of texts and labels.

A label leaks where its name or one word is in nearly all of its texts alone, or where another column predicts it:
a model learns nothing else, and its score on held-out rows says nothing about new texts. Texts that differ only in
case, spaces and punctuation are near-duplicates; a model that was trained on one has seen the other.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from atento.data.files.image_names import is_image_name
from atento.data.records import join_items, split_items

MIN_ROWS = 10  # of a label: with fewer, a word in all of its texts may be chance
MAX_ROWS = 20_000  # examined
NAME_INSIDE, NAME_OUTSIDE = 0.9, 0.1  # least share of a label's texts with its name, and largest share of the others
WORD_INSIDE, WORD_OUTSIDE = 0.98, 0.01  # the same for any other word, which may be what the texts are about
MIN_AGREEMENT = 0.98  # share of rows whose label is the most frequent one of their value
MIN_GAIN = 0.9  # share of the errors of the most frequent label that the column avoids
MIN_ROWS_PER_VALUE = 5  # with fewer, the values of a column identify rows
WORDS = re.compile(r"[^\W_]+")
# A letter of a script written without spaces counts as a word: Thai to Khmer, kana, Han.
COMPARED_WORD = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]|[^\W_]+")
MIN_WORDS = 4  # of fewer words, `Go!` and `go` are two texts, and `'cause` is not `cause`


class LeakingWord(NamedTuple):
    """A word, or the name of a label, that is in nearly all texts of the label and in hardly any other text."""

    label: str
    word: str
    is_label_name: bool  # whether the word is the label itself
    inside: float  # share of the label's texts with the word
    outside: float  # share of the other texts with it


class LeakingColumn(NamedTuple):
    """A column whose values predict the label."""

    column: str
    values: int
    agreement: float  # share of rows whose label is the most frequent one of their value


def leaking_words(texts: Sequence[str], labels: Sequence[Sequence[str]]) -> list[LeakingWord]:
    """At most one word for each label, the most frequent label first; `labels` are those of each text."""
    step = 1 + len(texts) // MAX_ROWS
    held = [frozenset(words_of(text)) for text in texts[::step]]
    rows: dict[str, list[int]] = defaultdict(list)
    for at, names in enumerate(labels[::step]):
        for name in dict.fromkeys(names):
            rows[name].append(at)
    frequency = Counter(word for words in held for word in words)
    found = []
    for label, places in sorted(rows.items(), key=lambda item: -len(item[1])):
        if MIN_ROWS <= len(places) < len(held):
            found += leaking_name(label, places, held) or leaking_word(label, places, held, frequency)
    return found


def leaking_name(label: str, places: Sequence[int], held: Sequence[frozenset[str]]) -> list[LeakingWord]:
    """The name of the label, where it is in nearly all of its texts."""
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
    return [LeakingWord(label, label, True, inside / len(places), outside / others)]


def leaking_word(
    label: str, places: Sequence[int], held: Sequence[frozenset[str]], frequency: Counter[str]
) -> list[LeakingWord]:
    """The word that separates the texts of a label from all others, where there is one."""
    counts = Counter(word for at in places for word in held[at])
    others = len(held) - len(places)
    found = [
        LeakingWord(label, word, False, count / len(places), (frequency[word] - count) / others)
        for word, count in counts.items()
        if count >= WORD_INSIDE * len(places) and frequency[word] - count <= WORD_OUTSIDE * others
    ]
    return sorted(found, key=lambda one: (one.outside, -one.inside, one.word))[:1]


def leaking_columns(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, read: Sequence[int], label: int
) -> list[LeakingColumn]:
    """The columns, other than those that are read, whose values have one label each."""
    labels = [row[label] for row in rows]
    majority = Counter(labels).most_common(1)[0][1] / len(rows) if rows else 1.0
    found = []
    for at, name in enumerate(columns):
        if at == label or at in read:
            continue
        by_value: dict[str, Counter[str]] = defaultdict(Counter)
        for row, given in zip(rows, labels, strict=True):
            by_value[row[at]][given] += 1
        if len(by_value) < 2 or len(rows) < MIN_ROWS_PER_VALUE * len(by_value):
            continue
        agreement = sum(counts.most_common(1)[0][1] for counts in by_value.values()) / len(rows)
        if agreement >= MIN_AGREEMENT and agreement - majority >= MIN_GAIN * (1 - majority):
            found.append(LeakingColumn(name, len(by_value), agreement))
    return found


def words_of(text: str) -> list[str]:
    """The words of a text in lower case; a label such as `very_good` is two."""
    return WORDS.findall(text.casefold())


def near_duplicate_key(text: str) -> str:
    """A text without case, spaces and punctuation, equal for near-duplicates; empty for a short text or an image."""
    if is_image_name(split_items(text)[0] if text else ""):
        return ""
    items = [COMPARED_WORD.findall(unicodedata.normalize("NFKC", item).casefold()) for item in split_items(text)]
    words = [word for item in items for word in item]
    if len(words) < MIN_WORDS or all(word.isdigit() for word in words):  # -1.5 and 1,5 are two numbers
        return ""
    return join_items(" ".join(item) for item in items)


def near_duplicate_keys(texts: Iterable[str]) -> frozenset[str]:
    """The keys of the texts that have one."""
    return frozenset(filter(None, map(near_duplicate_key, texts)))


def near_duplicate_rows(sources: Sequence[str], held_out: Iterable[str]) -> list[int]:
    """The indices of the sources that are near-duplicates of a held-out one."""
    keys = near_duplicate_keys(held_out)
    return [at for at, source in enumerate(sources) if near_duplicate_key(source) in keys] if keys else []
