"""Texts that differ in nothing but case, spaces and punctuation: near-duplicates."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from atento.data.lists import join, split
from atento.data.pictures.names import is_picture_name

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
