"""Labels of the attention maps of networks that read a whole source: what each query and each key stands for.

Each function knows one kind of network and says which part of it attends from what to what.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from atento.models.backbones.hierarchical import HierarchicalEncoder, split_sentences
from atento.models.classifier import Classifier, OneVsRest
from atento.models.diagnostics.attention_maps import MapPlace
from atento.models.ensemble import JudgeEnsemble, count_members
from atento.models.image_matcher import ImageMatcher
from atento.models.matcher import CoAttentionMatcher, JointMatcher, Matcher, TwoTowers
from atento.models.protocols import Encoder
from atento.tasks.inputs.image import Image
from atento.tasks.inputs.image_question import ImageQuestion
from atento.tasks.inputs.input import SourceView
from atento.tasks.inputs.numbers import Numbers
from atento.tasks.inputs.text import Text
from atento.tasks.inputs.two_texts import TwoTexts

# Axes: S sentences, W words of a sentence, N tokens, H heads.

SENTENCE = 5  # words of a sentence that name it


def places_of(input: object, network: nn.Module, source: str, answer: str, batch: Sequence[Tensor]) -> list[MapPlace]:
    """The places of any many-to-one network; where each label has a network of its own, or several are one model, of
    all of them.
    """
    if isinstance(network, JudgeEnsemble):
        return of_members(network, places_of(input, network.each()[0], source, answer, batch))
    if isinstance(network, OneVsRest):
        return [
            replace(place, within=f".networks.{number}.", name=f"{place.name}, network {number + 1}")
            for number, one in enumerate(network.each())
            for place in places_of(input, one, source, answer, batch)
        ]
    if isinstance(network, Matcher) and isinstance(input, TwoTexts):
        return matcher_places(network, *input.tokens(source), answer)
    if isinstance(network, ImageMatcher) and isinstance(input, ImageQuestion):
        return image_matcher_places(network, input, source)
    if isinstance(network, Classifier) and isinstance(input, Text | Numbers | Image):
        view = input.view(network.encoder, source)
        return [*encoder_places(network.encoder, view, batch[0], batch[1], answer), pooling_place(view, answer)]
    return []


def of_members(module: nn.Module, places: Sequence[MapPlace]) -> list[MapPlace]:
    """The places of every member of an ensemble, given those of one; of any other model those themselves."""
    count = count_members(module)
    if count == 1:
        return list(places)
    return [
        replace(place, within=f".members.{number}{place.within or '.'}", name=f"{place.name}, member {number + 1}")
        for number in range(count)
        for place in places
    ]


def pooling_place(view: SourceView, answer: str, part: str = ".pooling.", name: str = "pooling") -> MapPlace:
    """A learned query over all items of a source."""
    return MapPlace(part, name, "regions" if view.image else "pooling", [answer], view.labels, view.grid)


def encoder_places(
    encoder: Encoder, view: SourceView, source: Tensor, valid: Tensor, answer: str, *, name: str = "encoder"
) -> list[MapPlace]:
    """The self-attention of an encoder, or both levels of a hierarchical one."""
    if isinstance(encoder, HierarchicalEncoder):
        return hierarchical_places(encoder, view.labels, source, valid, answer)
    return [MapPlace(".encoder.", f"{name} self-attention", "self", view.labels, view.labels)]


def hierarchical_places(
    encoder: HierarchicalEncoder, words: Sequence[str], source: Tensor, valid: Tensor, answer: str
) -> list[MapPlace]:
    """Words within their sentences, and sentences within the text; a word has no key outside its sentence."""
    sentence, place = (index[0].cpu() for index in split_sentences(source, valid, end=encoder.end))
    inside = (place >= 0).nonzero().squeeze(-1)  # (M,) the tokens that are words
    rows, columns, count = sentence[inside], place[inside], int(sentence[inside].max()) + 1
    names = [sentence_name([words[at] for at in inside[rows == number].tolist()]) for number in range(count)]

    def pooled(weights: Tensor) -> Tensor:  # (1, S, 1, 1, W) -> (1, S, N)
        found = weights.new_full((1, count, len(words)), torch.nan)
        found[0, rows, inside] = weights[0, rows, 0, 0, columns]
        return found

    def attended(weights: Tensor) -> Tensor:  # (S, H, W, W) -> (H, N, N)
        found = weights.new_full((weights.size(1), len(words), len(words)), torch.nan)
        for number in range(count):
            own = inside[rows == number]
            found[:, own.unsqueeze(1), own] = weights[number, :, : len(own), : len(own)]
        return found

    return [
        MapPlace(".word_encoder.", "self-attention of words", "self", words, words, arrange=attended),
        MapPlace(".word_pooling.", "words within their sentence", "words", names, words, arrange=pooled),
        MapPlace(".sentence_encoder.", "self-attention of sentences", "self", names, names),
        MapPlace(".sentence_pooling.", "sentences within the text", "sentences", [answer], names),
    ]


def sentence_name(words: Sequence[str]) -> str:
    """The first words of a sentence."""
    return " ".join(words[:SENTENCE]) + (" …" if len(words) > SENTENCE else "")


def matcher_places(network: Matcher, first: Sequence[str], second: Sequence[str], answer: str) -> list[MapPlace]:
    """Between two texts, or within each."""
    if isinstance(network, CoAttentionMatcher):
        return [
            MapPlace(".attention.", "first text to second", "cross", first, second),
            MapPlace(".attention.", "second text to first", "cross", second, first),
        ]
    if isinstance(network, JointMatcher):
        both = [*first, *second]
        return [MapPlace(".stack.", "self-attention of both texts", "self", both, both)]
    if isinstance(network, TwoTowers):
        return [
            place
            for text, labels in (("first", first), ("second", second))
            for place in (
                MapPlace(".encoder.", f"self-attention of the {text} text", "self", labels, labels),
                MapPlace(".pooling.", f"pooling of the {text} text", "pooling", [answer], labels),
            )
        ]
    return []


def image_matcher_places(network: ImageMatcher, input: ImageQuestion, source: str) -> list[MapPlace]:
    """Between the words of a question and the regions of an image."""
    words, view = input.tokens(source), input.regions(network, source)
    return [
        MapPlace(".question_encoder.", "self-attention of the question", "self", words, words),
        MapPlace(".coattention.opening.", "question, at first", "pooling", ["question"], words),
        MapPlace(".coattention.across.", "question to image", "regions", ["question"], view.labels, view.grid),
        MapPlace(".coattention.closing.", "image to question", "pooling", ["image"], words),
        MapPlace(".back.", "image to question", "cross", view.labels, words),
        MapPlace(".attention.", "question to image", "regions", words, view.labels, view.grid),
    ]
