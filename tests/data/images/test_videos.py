"""Videos as series: arrays and folders of images, and what of them is refused."""

import numpy as np
import pytest
from PIL import Image

from atento.data.images.videos import frame_shape, is_video, read_video, video_series
from atento.errors import InputError
from atento.spec import DataRecipe

FRAMES, HEIGHT, WIDTH = 11, 5, 7


@pytest.fixture
def frames():
    return np.random.default_rng(0).uniform(size=(FRAMES, HEIGHT, WIDTH))


@pytest.mark.spec("D07")
def test_an_array_of_frames_is_one_series_of_pixels(frames, tmp_path):
    np.save(tmp_path / "video.npy", frames)
    np.savez(tmp_path / "video.npz", frames=frames, names=np.arange(3))
    for name in ("video.npy", "video.npz"):
        assert is_video(str(tmp_path / name))
        found = read_video(DataRecipe(), str(tmp_path / name))
        (series,) = found.series
        np.testing.assert_array_equal(series.values.reshape(frames.shape), frames)
        assert (found.channels[0], found.channels[8], found.channels[-1]) == ("0,0", "1,1", "4,6")
        assert frame_shape(found.channels) == (HEIGHT, WIDTH)
        assert found.notes[0] == "a video of 11 frames, 5 × 7 pixels"


def test_other_arrays_and_channels_are_no_video(tmp_path):
    np.save(tmp_path / "table.npy", np.zeros((9, 3)))
    assert not is_video(str(tmp_path / "table.npy"))
    assert not is_video(str(tmp_path))
    assert not is_video(str(tmp_path / "none.npy"))
    for channels in ((), ("x", "y"), ("0,0", "0,1", "1,1"), ("1,0", "1,1")):
        assert frame_shape(channels) == (0, 0)
    assert frame_shape(video_series("a", np.zeros((2, 1, 3))).channels) == (1, 3)


@pytest.mark.spec("D07")
def test_numbered_images_come_in_the_order_of_their_numbers(tmp_path):
    for number in (9, 10, 11, 8):
        Image.new("L", (24, 24), 20 * number).save(tmp_path / f"shot-{number}.png")
    (tmp_path / "notes.txt").write_text("nothing")
    found = read_video(DataRecipe(), str(tmp_path))
    values = found.series[0].values
    assert values.shape == (4, 576)
    np.testing.assert_allclose(values[:, 100], np.asarray([8, 9, 10, 11]) * 20 / 255)
    assert "24 × 24 pixels in greyscale" in found.notes[1]
    small = read_video(DataRecipe(image_size=10), str(tmp_path))
    assert frame_shape(small.channels) == (10, 10)


def test_what_is_refused(frames, tmp_path):
    frames[3, 2, 1] = np.nan
    np.save(tmp_path / "holes.npy", frames)
    with pytest.raises(InputError, match="frame 3, row 2, column 1 is not a finite number"):
        read_video(DataRecipe(), str(tmp_path / "holes.npy"))
    (tmp_path / "words.npy").write_bytes(b"no array at all")
    with pytest.raises(InputError, match="not an array of numbers"):
        is_video(str(tmp_path / "words.npy"))
    np.save(tmp_path / "texts.npy", np.asarray([[["a"]]]))
    with pytest.raises(InputError, match="a video is an array of numbers"):
        is_video(str(tmp_path / "texts.npy"))
    np.savez(tmp_path / "two.npz", a=np.zeros((2, 2, 2)), b=np.zeros((2, 2, 2)))
    with pytest.raises(InputError, match="several arrays have three axes"):
        is_video(str(tmp_path / "two.npz"))


@pytest.mark.parametrize(
    "names, message",
    [
        (("a-1.png", "a-2.png", "a-4.png"), "frame 3 is missing"),
        (("a-1.png", "a-01.png"), "two frames have the number 1"),
        (("a-1.png", "first.png"), "a frame's name has no number"),
    ],
)
def test_frames_that_cannot_be_put_in_order(names, message, tmp_path):
    for name in names:
        Image.new("L", (8, 8)).save(tmp_path / name)
    with pytest.raises(InputError, match=message):
        read_video(DataRecipe(), str(tmp_path))
