"""Contracts of a matcher of pictures: its questions are padded, moved and changed beside one picture."""

from typing import Any

import torch
from torch import Tensor

from atento.checking.finding import Finding
from atento.checking.one_sided import READING
from atento.checking.pictures import NUMBERS, check_seeing, some_pictures
from atento.checking.places import why_sided
from atento.checking.sequences import check_sequence
from atento.checking.subject import Outputs, Subject, chance, tokens_of, vocabulary_of
from atento.models.picture_matcher import PictureMatcher, PictureQuestions

# Axes: B rows, N words.

WORDS = 5
OF_PICTURES = ("batch order", "neighbours")


def check_picture_matcher(module: PictureMatcher) -> list[Finding]:
    """Questions in beside a picture, outputs of the head for each row; then pictures in beside a question."""
    draw = tokens_of(vocabulary_of(module.reader), least=4)
    with chance(2):
        picture, words = some_pictures(torch.randn(1, NUMBERS, dtype=torch.float64)), draw(1, WORDS)

    def view(one: Any) -> Subject:
        def read(tokens: Tensor, valid: Tensor) -> Outputs:
            pixels = picture.expand(len(tokens), -1, -1, -1)
            return Outputs(whole=one(asked(pixels, tokens, valid)))

        return Subject(one, read, draw, over=view, sided=why_sided(module.reader))

    def outputs(one: Any, pixels: Tensor) -> Tensor:
        tokens = words.expand(len(pixels), -1)
        said: Tensor = one(asked(pixels, tokens, torch.ones_like(tokens, dtype=torch.bool)))
        return said

    reading = check_sequence(module, view, only=READING)
    seeing = [found for found in check_seeing(module, outputs) if found.contract in OF_PICTURES]
    return [*reading, *(found._replace(contract=f"{found.contract}, pictures") for found in seeing)]


def asked(pixels: Tensor, tokens: Tensor, valid: Tensor) -> PictureQuestions:
    """Pairs whose answers nobody knows."""
    return PictureQuestions(pixels, tokens, valid, torch.zeros(len(tokens), dtype=torch.long))
