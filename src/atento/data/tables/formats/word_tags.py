"""Lines of words with their tags behind a slash or an underscore, `The/DT dog/NN`, to one row per sentence."""

import re
from collections.abc import Sequence

from atento.data.records import Place, Records, Refusal, excerpt, in_words, join_items, without_blank_end

SEPARATORS = ("/", "_")
TAG = re.compile(r"[A-Za-z][\w$*+-]*|[^\w\s]{1,4}|-[LR]RB-")
MOST_TAGS = 150
FEWEST_WORDS = 20
NEARLY_ALL = 0.95


def tag_separator(lines: Sequence[str]) -> str:
    """What separates words from tags in lines of both; empty where lines are anything else."""
    words = [word for line in lines for word in line.split()]
    for separator in SEPARATORS:
        cut = [word.rpartition(separator) for word in words if separator in word]
        tagged = [tag for before, _, tag in cut if before and TAG.fullmatch(tag)]
        many = len(words) >= FEWEST_WORDS and len(tagged) >= NEARLY_ALL * len(words)
        if many and 2 <= len({*tagged}) <= min(MOST_TAGS, len(tagged) / 3):
            return separator
    return ""


def read_word_tags(text: str, file: str) -> Records:
    """The sentences, one per line, with the columns words and tags; blank lines are passed over."""
    lines = without_blank_end(text.split("\n"))
    separator = tag_separator(lines)
    rows, starts, refused = list[tuple[str, ...]](), list[int](), list[Refusal]()
    for number, line in enumerate(lines, start=1):
        cut = [word.rpartition(separator) for word in line.split()]
        wrong = next((at for at, (before, _, tag) in enumerate(cut) if not before or not tag), -1)
        if wrong >= 0:
            problem = f"word {wrong + 1} has no tag."
            fix = f"write a tag behind it: {line.split()[wrong]}{separator}TAG"
            refused.append(Refusal(file, number, 1, problem, found=excerpt(line), fix=fix))
        elif cut:
            rows.append((join_items(word for word, _, _ in cut), join_items(tag for _, _, tag in cut)))
            starts.append(number)
    names = ("words", "tags")
    note = (
        f"{file}: each line is a sentence, a tag stands behind each word after {separator!r}, columns {in_words(names)}"
    )
    return Records(names, rows, starts, refused, lambda line, _: Place(file, line, 1), (note,))
