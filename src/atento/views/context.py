"""What context does to the vector of a word: the same word in several sentences, before and after each layer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import nn

from atento.data.text.vocabulary import Words
from atento.data.text.word_space import unit_vectors
from atento.errors import InputError
from atento.models.diagnostics.recording import hidden_states
from atento.tasks.embed.vectors import read_by
from atento.views.saving import ModelView

# Axes: S stages, D size.

BETWEEN = "|"
NAMED = ":"
EXAMPLE = 'write e.g. "apple: an apple and an orange | an apple phone"'

Vectors = list[NDArray[np.float64]]  # (D,) at each stage


class Sentences(NamedTuple):
    """A parsed question: which words are followed in which sentences, and which words they are compared with."""

    words: list[str]
    sentences: list[str]
    others: list[str]


@dataclass(frozen=True, kw_only=True)
class SentenceCosines:
    """The cosines of a word in one sentence with each other word read alone, stage by stage."""

    sentence: str
    cosines: dict[str, list[float]]


@dataclass(frozen=True, kw_only=True)
class WordInContext:
    """One word in every sentence."""

    word: str
    stages: list[str]  # the embedding and each layer
    others: list[str]  # the words it is compared with
    sentences: list[SentenceCosines]
    between: list[float]  # its cosine in the first sentence with itself in the second


@dataclass(frozen=True, kw_only=True)
class ContextView(ModelView):
    """Every word that the sentences share, stage by stage."""

    words: list[WordInContext]


def context_view(module: nn.Module, codec: Any, asked: str, *, model: str = "") -> ContextView:
    """For each word that the sentences share: its cosine, stage by stage, with the words that they do not share.

    Those are each read alone, so that they are not changed by neighbours of their own.
    """
    words, sentences, others = sentences_of(asked, lower=getattr(codec, "lower", False))
    names = [stage.name for stage in hidden_states(module, read_by(codec, sentences[0]).tokens.to(device_of(module)))]
    alone = {other: vectors_of(module, codec, other, other) for other in others}
    found = []
    for word in words:
        inside = [vectors_of(module, codec, sentence, word) for sentence in sentences]
        found.append(
            WordInContext(
                word=word,
                stages=names,
                others=others,
                sentences=[
                    SentenceCosines(sentence=sentence, cosines={other: cosines(own, alone[other]) for other in others})
                    for sentence, own in zip(sentences, inside, strict=True)
                ],
                between=cosines(inside[0], inside[1]),
            )
        )
    return ContextView(model=model, words=found)


def sentences_of(asked: str, *, lower: bool = False) -> Sentences:
    """Parse `apple: one sentence | another`; where no word is named, all words that every sentence has are followed."""
    named, sign, rest = asked.partition(NAMED)
    word, rest = (named.strip(), rest) if sign and len(named.split()) == 1 else ("", asked)
    word, rest = (word.lower(), rest.lower()) if lower else (word, rest)
    sentences = [sentence.strip() for sentence in rest.split(BETWEEN) if sentence.strip()]
    if len(sentences) < 2:
        raise InputError("context needs two sentences or more.", found=repr(asked), fix=EXAMPLE)
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
    """The vectors of a word in a text, stage by stage: the mean over the tokens of its first occurrence."""
    read = read_by(codec, text)
    begin, end = next(
        (place for place in Words([]).offsets(read.text) if read.text[slice(*place)] == word), (0, len(read.text))
    )
    at = [place for place, (start, stop) in enumerate(read.places) if start < end and stop > begin]
    passed = hidden_states(module, read.tokens.to(device_of(module)))
    return [stage.vectors[at].double().mean(dim=0).cpu().numpy() for stage in passed]


def cosines(one: Sequence[NDArray[np.float64]], other: Sequence[NDArray[np.float64]]) -> list[float]:
    """The cosine of two words at each stage."""
    return [
        round(float(unit_vectors(first[None])[0] @ unit_vectors(second[None])[0]), 6)
        for first, second in zip(one, other, strict=True)
    ]


def device_of(module: nn.Module) -> Any:
    """The device of the parameters."""
    return next(module.parameters()).device


def context_text(view: ContextView, *, width: int = 80) -> str:
    """A table for each word: a column for each stage, a row for each word it is compared with, in each sentence."""
    blocks = []
    for one in view.words:
        last = f"the same {one.word} in the first two"
        label = max(len(last), *(len(other) + 2 for other in one.others)) + 2
        lines = [f"{one.word}: cosine with each word read alone"]
        lines.append(" " * label + "".join(f"{name:>11}" for name in one.stages))
        for line in one.sentences:
            lines.append(line.sentence)
            lines += [row(f"  {other}", line.cosines[other], label) for other in one.others]
        lines.append(row(last, one.between, label))
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def row(name: str, numbers: Sequence[float], label: int) -> str:
    """A name and its numbers in columns."""
    return f"{name:<{label}}" + "".join(f"{number:>11.3f}" for number in numbers)
