"""Images as numbers: every kind of file, upright, on a square; and every way in which one can be broken."""

import io

import numpy as np
import pytest
from PIL import Image

from atento.data.images import load_image
from atento.data.images.loading import UnusableImage, decode_image, read_image_info
from atento.errors import InputError

SIDE = 12


def marked(width=12, height=12):
    """White, but a dark red upper left corner."""
    pixels = np.full((height, width, 3), 250, dtype=np.uint8)
    pixels[: height // 3, : width // 3] = (120, 0, 0)
    return pixels


def bytes_of(image, kind, **how):
    file = io.BytesIO()
    image.save(file, format=kind, **how)
    return file.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF", "GIF", "JPEG", "WEBP"])
def test_every_kind_gives_the_pixels(kind):
    data = bytes_of(Image.fromarray(marked()), kind, **({"lossless": True} if kind == "WEBP" else {}))
    pixels = decode_image(data, f"a.{kind.lower()}", side=SIDE)
    assert pixels.shape == (SIDE, SIDE, 3) and pixels.dtype == np.uint8
    if kind == "JPEG":
        assert abs(pixels.astype(int) - marked()).mean() < 8
    else:
        assert (pixels == marked()).all()


# What a camera held in each of eight ways wrote down: the marked corner is where the EXIF standard says.
TURNS = {
    1: lambda p: p,
    2: lambda p: p[:, ::-1],
    3: lambda p: p[::-1, ::-1],
    4: lambda p: p[::-1],
    5: lambda p: p.transpose(1, 0, 2),
    6: lambda p: np.rot90(p, 1),
    7: lambda p: p[::-1, ::-1].transpose(1, 0, 2),
    8: lambda p: np.rot90(p, -1),
}


@pytest.mark.parametrize("mark", TURNS)
def test_a_turned_image_is_turned_upright_and_left_where_asked(mark):
    stored = np.ascontiguousarray(TURNS[mark](marked()))
    exif = Image.Exif()
    exif[274] = mark
    data = bytes_of(Image.fromarray(stored), "PNG", exif=exif)
    assert read_image_info(data, "a.png").rotated == (mark != 1)
    assert (decode_image(data, "a.png", side=SIDE) == marked()).all()
    assert (decode_image(data, "a.png", side=SIDE, upright=False) == stored).all()


def test_other_numbers_become_red_green_and_blue():
    grey = np.linspace(0, 255, 144).astype(np.uint8).reshape(12, 12)
    three = np.stack([grey] * 3, axis=-1)
    deep = Image.fromarray(grey.astype(np.uint16) * 257)
    for image in (Image.fromarray(grey), deep, Image.fromarray(three).convert("P", palette=Image.Palette.ADAPTIVE)):
        seen = decode_image(bytes_of(image, "PNG"), "a.png", side=SIDE)
        assert abs(seen.astype(int) - three).max() <= 1, image.mode
    cmyk = decode_image(bytes_of(Image.fromarray(three).convert("CMYK"), "TIFF"), "a.tiff", side=SIDE)
    assert abs(cmyk.astype(int) - three).max() <= 1
    white = decode_image(bytes_of(Image.new("1", (12, 12), 1), "PNG"), "a.png", side=SIDE)
    assert (white == 255).all()


def test_grey_stands_behind_what_is_transparent():
    pixels = np.zeros((12, 12, 4), dtype=np.uint8)
    pixels[..., 0], pixels[:6, :, 3] = 255, 255
    seen = decode_image(bytes_of(Image.fromarray(pixels), "PNG"), "a.png", side=SIDE)
    assert (seen[:6] == (255, 0, 0)).all() and (seen[6:] == 128).all()


def test_all_of_a_image_lies_on_the_square():
    wide = decode_image(bytes_of(Image.new("RGB", (48, 24), (200, 10, 10)), "PNG"), "a.png", side=SIDE)
    assert (wide[3:9, :, 0] == 200).all() and (wide[:3] == 128).all() and (wide[9:] == 128).all()
    thin = decode_image(bytes_of(Image.new("RGB", (1, 600), (200, 10, 10)), "PNG"), "a.png", side=SIDE)
    assert (thin == (200, 10, 10)).all(axis=2).sum() == SIDE


def test_of_several_frames_the_first_is_read():
    frames = [Image.new("RGB", (12, 12), colour) for colour in ((200, 0, 0), (0, 200, 0))]
    data = bytes_of(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert read_image_info(data, "a.gif").frames == 2
    assert (decode_image(data, "a.gif", side=SIDE)[..., 1] < 10).all()


def test_drawn_scenes_and_files_load_alike(tmp_path):
    drawn = load_image("drawn:12 red square 6 6 3", side=SIDE)
    Image.fromarray(drawn).save(tmp_path / "a.png")
    assert (load_image(str(tmp_path / "a.png"), side=SIDE) == drawn).all()


def faulty(data, name="a.png", **limits):
    with pytest.raises(UnusableImage) as error:
        decode_image(data, name, side=SIDE, **limits)
    return error.value


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "BMP", "TIFF", "WEBP", "GIF"])
def test_a_image_that_is_cut_off_is_told(kind):
    noise = np.random.default_rng(0).integers(0, 255, (60, 60, 3)).astype(np.uint8)
    data = bytes_of(Image.fromarray(noise), kind)
    for share in (0.3, 0.6, 0.9):
        assert faulty(data[: int(share * len(data))], f"a.{kind.lower()}").problem in (
            "the image is cut off or damaged.",
            "this is not an image.",
        )


def test_what_is_no_image_is_told():
    assert faulty(b"").problem == "the file is empty."
    assert faulty(b"hello, I am a text").problem == "this is not an image."
    assert "PNG, JPEG" in faulty(b"%PDF-1.4").fix
    wrong = faulty(bytes_of(Image.new("RGB", (4, 4)), "PNG"), "b.jpg")
    assert wrong.problem == "its name says JPEG, its bytes say PNG." and wrong.fix == "rename it to b.png"


def test_a_huge_image_is_refused_before_it_is_decoded(monkeypatch):
    data = bytes_of(Image.new("1", (9000, 7000)), "PNG")
    assert len(data) < 20_000  # 63 megapixels in a few bytes
    monkeypatch.setattr(Image.Image, "load", lambda self: pytest.fail("it was decoded"))
    error = faulty(data)
    assert error.problem == "the image has more than 50 megapixels." and "data.max_megapixels=63" in error.fix
    assert "9000 × 7000" in error.found
    assert read_image_info(data, "a.png", largest=63.0).width == 9000


def test_a_path_that_leads_nowhere_names_the_nearest(tmp_path):
    (tmp_path / "cat.png").write_bytes(b"x")
    with pytest.raises(InputError, match=r"did you mean .*cat\.png"):
        load_image(str(tmp_path / "cta.png"), side=SIDE)
    with pytest.raises(InputError, match=r"cat\.png: this is not an image"):
        load_image(str(tmp_path / "cat.png"), side=SIDE)
