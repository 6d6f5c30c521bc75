"""Which texts name an image, beside what pathlib says of their suffix."""

import itertools
from pathlib import PurePath

import pytest

from atento.data.files.image_names import IMAGE_FORMATS, is_image_name

PARTS = ("a", ".", ".png", ".JPG", "/", "\\", "#3", " ", "x.jpeg", "b c")


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_a_path_with_the_suffix_of_an_image_format_names_one(length):
    for parts in itertools.product(PARTS, repeat=length):
        text = "".join(parts)
        path = text.strip().removesuffix("#3").replace("\\", "/")
        if path.rstrip("/.") != path.rstrip("/") or path.endswith("#3"):  # a folder's own dot, two numbers of captions
            continue
        assert is_image_name(text) == (PurePath(path).suffix.lower() in IMAGE_FORMATS), text


@pytest.mark.parametrize("text", ["drawn:red circle", " cat.webp ", "c:\\images\\cat.tiff#12"])
def test_names_of_images(text):
    assert is_image_name(text)


@pytest.mark.parametrize("text", ["", "a.png\nb.png", "see cat.png now", f"{'a' * 1000}.png", "png"])
def test_other_texts(text):
    assert not is_image_name(text)
