"""Labels that are spelled differently but mean the same: `Positive`, `positive` and ` POSITIVE`, `1` and `1.0`."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from unicodedata import normalize

from atento.data.examples.pairs import Pair
from atento.data.records import counted, in_words, join_items, split_items

INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u2060\ufeff]")
WHOLE = re.compile(r"([+-]?\d+)\.0+")
SHOWN = 3  # groups of labels in a note
MERGE = "--set data.merge_labels=case merges them"


def plain_label(label: str) -> str:
    """A label in lower case, without invisible characters and surplus white space; `1.0` is `1`."""
    plain = " ".join(INVISIBLE.sub("", normalize("NFKC", label)).split()).lower()
    whole = WHOLE.fullmatch(plain)
    return whole[1] if whole else plain


def spellings(labels: Iterable[str]) -> list[list[str]]:
    """The labels that differ in case, white space and invisible characters alone, the commonest spelling first."""
    groups: dict[str, list[str]] = defaultdict(list)
    for label, _ in Counter(labels).most_common():
        groups[plain_label(label)].append(label)
    return [group for group in groups.values() if len(group) > 1]


def merge_spellings(pairs: Sequence[Pair]) -> tuple[tuple[Pair, ...], tuple[str, ...]]:
    """The examples with plain labels, each once, and a note on how many labels were merged."""
    labels = ([plain_label(label) for label in split_items(target)] for _, target in pairs)
    merged = tuple((pair[0], join_items(dict.fromkeys(some))) for pair, some in zip(pairs, labels, strict=True))
    before, after = ({label for _, target in some for label in split_items(target)} for some in (pairs, merged))
    if before == after:
        return merged, ()
    return merged, (f"{counted(len(before), 'label')} are {len(after)} in lower case, without surplus white space",)


def spelling_notes(pairs: Sequence[Pair]) -> tuple[str, ...]:
    """A note on labels that may be one."""
    groups = spellings(label for _, target in pairs for label in split_items(target))
    if not groups:
        return ()
    shown = "; ".join(in_words([repr(label) for label in group]) for group in groups[:SHOWN])
    more = f" and {len(groups) - SHOWN} more" if len(groups) > SHOWN else ""
    return (f"labels that differ in case, spaces or invisible characters alone: {shown}{more}; {MERGE}",)
