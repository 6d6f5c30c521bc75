"""What context does to a word: the same word in several sentences, before and after each layer."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import nn

from atento.data.text.vocabulary import Words
from atento.data.text.word_space import unit
from atento.errors import InputError
from atento.models.diagnostics.recording import stages
from atento.tasks.embed.vectors import read_by

# Axes: S stages, D size.

BETWEEN = "|"
NAMED = ":"
EXAMPLE = 'write e.g. "apple: an apple and an orange | an apple phone"'

Vectors = list[NDArray[np.float64]]  # (D,) at each stage


class Sentences(NamedTuple):
    """What was asked."""

    words: list[str]  # those to follow
    sentences: list[str]
    others: list[str]  # those they are compared with


def look_in_context(module: nn.Module, codec: Any, asked: str) -> list[dict[str, Any]]:
    """For each word that the sentences share: its cosine, stage by stage, with the words that they do not share.

    Those are each read alone; so is nothing compared with a word that its own neighbours moved.
    """
    words, sentences, others = sentences_of(asked, lower=getattr(codec, "lower", False))
    names = [stage.name for stage in stages(module, read_by(codec, sentences[0]).tokens.to(device_of(module)))]
    alone = {other: vectors_of(module, codec, other, other) for other in others}
    found = []
    for word in words:
        inside = [vectors_of(module, codec, sentence, word) for sentence in sentences]
        found.append(
            {
                "word": word,
                "stages": names,
                "others": others,
                "sentences": [
                    {"sentence": sentence, "cosines": {other: cosines(own, alone[other]) for other in others}}
                    for sentence, own in zip(sentences, inside, strict=True)
                ],
                "between": cosines(inside[0], inside[1]),
            }
        )
    return found


def sentences_of(asked: str, *, lower: bool = False) -> Sentences:
    """`apple: one sentence | another`; where no word is named, all that every sentence has."""
    named, sign, rest = asked.partition(NAMED)
    word, rest = (named.strip(), rest) if sign and len(named.split()) == 1 else ("", asked)
    word, rest = (word.lower(), rest.lower()) if lower else (word, rest)
    sentences = [sentence.strip() for sentence in rest.split(BETWEEN) if sentence.strip()]
    if len(sentences) < 2:
        raise InputError("context is seen in two sentences or more.", found=repr(asked), fix=EXAMPLE)
    cut = [list(dict.fromkeys(words_in(sentence))) for sentence in sentences]
    shared = [one for one in cut[0] if all(one in other for other in cut[1:])]
    if (word and word not in shared) or not shared:
        raise InputError(
            f"the sentences do not all have {repr(word) if word else 'a word in common'}.",
            found="; ".join(sentences),
            fix=EXAMPLE,
        )
    everywhere = [one for one in dict.fromkeys(one for words in cut for one in words) if one not in shared]
    if not everywhere:
        raise InputError("the sentences do not differ.", found="; ".join(sentences), fix=EXAMPLE)
    return Sentences([word] if word else shared, sentences, everywhere)


def words_in(text: str) -> list[str]:
    """The words of a text, without its punctuation."""
    return [text[start:end] for start, end in Words([]).offsets(text) if text[start:end].isalnum()]


def vectors_of(module: nn.Module, codec: Any, text: str, word: str) -> Vectors:
    """A word's vectors in a text, stage by stage: the mean of its tokens at the first place where it stands."""
    read = read_by(codec, text)
    begin, end = next(
        (place for place in Words([]).offsets(read.text) if read.text[slice(*place)] == word), (0, len(read.text))
    )
    at = [place for place, (start, stop) in enumerate(read.places) if start < end and stop > begin]
    passed = stages(module, read.tokens.to(device_of(module)))
    return [stage.vectors[at].double().mean(dim=0).cpu().numpy() for stage in passed]


def cosines(one: Sequence[NDArray[np.float64]], other: Sequence[NDArray[np.float64]]) -> list[float]:
    """At each stage how alike two words are."""
    return [
        round(float(unit(first[None])[0] @ unit(second[None])[0]), 6) for first, second in zip(one, other, strict=True)
    ]


def device_of(module: nn.Module) -> Any:
    """Where its numbers lie."""
    return next(module.parameters()).device


def context_text(found: Sequence[dict[str, Any]]) -> str:
    """A table for each word: a column a stage, a row for each word it is compared with, in each sentence."""
    blocks = []
    for one in found:
        rows = [(f"  {other}", line["cosines"][other], line) for line in one["sentences"] for other in one["others"]]
        last = f"the same {one['word']} in the first two"
        width = max(len(last), *(len(label) for label, _, _ in rows)) + 2
        lines = [f"{one['word']}: cosine with each word read alone"]
        lines.append(" " * width + "".join(f"{name:>11}" for name in one["stages"]))
        before = None
        for label, numbers, line in rows:
            if line is not before:
                lines.append(line["sentence"])
            before = line
            lines.append(f"{label:<{width}}" + "".join(f"{number:>11.3f}" for number in numbers))
        lines.append(f"{last:<{width}}" + "".join(f"{number:>11.3f}" for number in one["between"]))
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)
