"""Codecs of labelled text with the vocabulary of a model that was trained on another task."""

from collections.abc import Sequence

from atento.data.text.vocabulary import JOIN, MARKS, RunningWords, Vocabulary, Words
from atento.errors import InputError
from atento.spec import TokensRecipe
from atento.tasks.classify.text_codec import LabelCodec
from atento.tasks.classify.two_texts_codec import MatchCodec
from atento.tasks.tag.codec import TagCodec

Pairs = Sequence[tuple[str, str]]


def said(vocabulary: Vocabulary) -> str:
    """The note that takes the place of the first one."""
    return f"text: the {len(vocabulary)} tokens of the run started from"


def adopt_label(recipe: TokensRecipe, pairs: Pairs, vocabulary: Vocabulary) -> LabelCodec:
    """One label a text."""
    return with_labels(LabelCodec.learn(recipe, pairs, several=False), vocabulary)


def adopt_labels(recipe: TokensRecipe, pairs: Pairs, vocabulary: Vocabulary) -> LabelCodec:
    """Any number of labels a text."""
    return with_labels(LabelCodec.learn(recipe, pairs, several=True), vocabulary)


def with_labels(own: LabelCodec, vocabulary: Vocabulary) -> LabelCodec:
    """The labels of the training part, the vocabulary of another run; it knows capital letters."""
    notes = (said(vocabulary), *own.notes[1:])
    return LabelCodec(vocabulary, own.labels, own.counts, texts=own.texts, lower=False, notes=notes)


def adopt_match(recipe: TokensRecipe, pairs: Pairs, vocabulary: Vocabulary) -> MatchCodec:
    """Two texts and their label."""
    own = MatchCodec.learn(recipe, pairs)
    return MatchCodec(vocabulary, own.labels, own.counts, lower=False, notes=(said(vocabulary), *own.notes[1:]))


def adopt_tags(recipe: TokensRecipe, pairs: Pairs, vocabulary: Vocabulary) -> TagCodec:
    """Words and their tags; a tagger takes words as they are given, so the vocabulary must hold whole words."""
    if not isinstance(vocabulary, Words | RunningWords):
        raise InputError(
            "a tagger takes whole words, and the run started from has none.",
            found=f"a vocabulary of {vocabulary.level}s",
            fix="train that run with --set tokens.source=word",
        )
    own = TagCodec.learn(recipe, pairs)
    words = bare(vocabulary.tokens[len(MARKS) :])
    notes = (said(vocabulary), *own.notes[1:])
    return TagCodec(words, own.letters, own.tagset, lower=False, seen=sorted(own.seen), notes=notes)


def bare(tokens: Sequence[str]) -> list[str]:
    """Tokens without the signs that join them to their neighbours; of equal ones the first, the commonest, is bared."""
    words: dict[str, None] = {}
    for token in tokens:
        word = token.replace(JOIN, "")
        words[token if word in words or not word else word] = None
    return list(words)
