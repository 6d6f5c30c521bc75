"""Pronouncing dictionaries: a word and its phones on each line, as in CMUdict, lexicon.txt of Kaldi, and MFA."""

import re
from collections.abc import Sequence
from statistics import fmean

from atento.data.records import Place, Records, Refusal, collect, counted, excerpt, without_blank_end

COMMENT = ";;;"
ENTRY = re.compile(
    r"(\S+)[ \t]+(?:\d+(?:\.\d+)?[ \t]+)?(\S.*?)(?:\s+#.*)?\s*"
)  # Kaldi writes a probability between them
VARIANT = re.compile(r"(?<=.)\(\d+\)$")  # READ(2) is another pronunciation of READ
PHONE = re.compile(r"[^\W\d_]+[\W\d_]*")
MIN_ENTRIES = 50
MOST_PHONES = 150  # different ones
LONGEST_PHONE = 4  # characters, on average
LEAST_DIFFERENT = 0.6  # of the words; each has few pronunciations
FEWEST_USES = 20  # of a phone, on average


def is_lexicon(lines: Sequence[str]) -> bool:
    """Whether lines are words, each followed by about as many phones from a small set as it has letters."""
    found = [ENTRY.fullmatch(line) for line in lines if line.strip() and not line.startswith(COMMENT)]
    entries = [(entry[1], entry[2].split()) for entry in found if entry is not None]
    if len(entries) < max(MIN_ENTRIES, 0.98 * len(found)):
        return False
    phones = [phone for _, some in entries for phone in some]
    different = set(phones)
    if len(different) > MOST_PHONES or FEWEST_USES * len(different) > len(phones):
        return False
    if fmean(map(len, different)) > LONGEST_PHONE or not all(map(PHONE.fullmatch, different)):
        return False
    words = [VARIANT.sub("", word) for word, _ in entries]
    letters = sum(map(len, words))
    return len(set(words)) >= LEAST_DIFFERENT * len(words) and letters / 2 <= len(phones) <= 2 * letters


def read_lexicon(text: str, file: str) -> Records:
    """The rows of a pronouncing dictionary, with columns word and phones; comments are left out, and counted."""
    lines = without_blank_end(text.split("\n"))
    kept = [(number, line) for number, line in enumerate(lines, start=1) if not line.startswith(COMMENT)]
    rows, starts, refused = collect((number, entry_of(line) or refusal(file, number, line)) for number, line in kept)
    notes = ["each line is a word and its phones; what numbers a further pronunciation, as in READ(2), is left out"]
    if len(kept) < len(lines):
        notes.append(f"{counted(len(lines) - len(kept), 'comment')} left out")

    def locate(line: int, at: int) -> Place:
        found = ENTRY.fullmatch(lines[line - 1])
        return Place(file, line, found.start(min(at, 1) + 1) + 1 if found is not None else 1)

    return Records(("word", "phones"), rows, starts, refused, locate, tuple(notes))


def entry_of(line: str) -> tuple[str, str] | None:
    """The word and the phones of a line."""
    found = ENTRY.fullmatch(line)
    return None if found is None else (VARIANT.sub("", found[1]), " ".join(found[2].split()))


def refusal(file: str, number: int, line: str) -> Refusal:
    """The refusal of a line without phones."""
    return Refusal(file, number, 1, "the line is no word with its phones.", excerpt(line), "write it as WORD  W ER1 D")
