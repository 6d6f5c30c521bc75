"""Captions of pictures that are arrays or files: the same pixels, the same words."""

import numpy as np
import pytest
from PIL import Image

from atento.data.images import draw, parse_scene
from atento.errors import InputError


def test_arrays_files_and_scenes_are_one(cases, made, tmp_path):
    scenes, captions = cases["CaptionerEstimator"]
    arrays = np.stack([draw(parse_scene(scene)) for scene in scenes])
    files = [tmp_path / f"{number}.png" for number in range(len(scenes))]
    for path, pixels in zip(files, arrays, strict=True):
        Image.fromarray(pixels).save(path)
    model = made("CaptionerEstimator", settings={"model.hidden": 8, "train.threads": 1, "data.image_size": 16})
    model.fit(arrays, np.array(captions))
    said = model.predict(arrays)
    assert isinstance(said, np.ndarray)
    assert said.shape == (len(scenes),)
    assert list(said) == model.predict([str(path) for path in files]) == model.predict(scenes)
    assert 0.0 <= model.score(files, captions) <= 1.0


@pytest.mark.parametrize("shape, kind", [((3, 8, 8), np.uint8), ((3, 8, 8, 3), np.float64), ((3, 8, 8, 4), np.uint8)])
def test_arrays_that_are_no_images(made, shape, kind):
    with pytest.raises(InputError, match=r"\(images, rows, columns, 3\)"):
        made("CaptionerEstimator").fit(np.zeros(shape, kind), ["a b", "c d", "e f"])
