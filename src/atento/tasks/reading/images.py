"""Readers of images: with a caption, a label, several labels or a number each, or with a question and its answer.

Parts are split by what an image looks like: the same bytes under two names are one image, which never stands in two
parts.
"""

import hashlib
from functools import partial

from atento.data.examples.labels import LabelSetTarget, LabelTarget
from atento.data.examples.numbers import NumberTarget
from atento.data.examples.pairs import ExampleSource, ExampleTarget
from atento.data.examples.texts import TextTarget
from atento.data.files.image_names import is_drawn
from atento.data.images.finding import check_image
from atento.data.images.loading import UnusableImage
from atento.data.images.reading import ImageQuestionSource, ImageSource, caption_column
from atento.data.records import counted, split_items
from atento.spec import DataRecipe
from atento.tasks.reading.reader import Examples, Reader, TextDataset, all_labels, by_source, one_each, share_out


def digest_of(source: str, recipe: DataRecipe) -> str:
    """A digest of an image's bytes, the same under every name; of a drawn scene, its text."""
    image = split_items(source)[0]
    if is_drawn(image):
        return image
    try:
        return check_image(image, largest=recipe.max_megapixels).digest
    except UnusableImage:
        return image


def without_held_out_images(dataset: TextDataset, recipe: DataRecipe) -> TextDataset:
    """The parts without training rows of an image that is also held out, and with a fingerprint of the images."""
    examples = (*dataset.valid, *dataset.test)
    held = {digest_of(one.source, recipe) for one in examples}
    kept = tuple(pair for pair in dataset.train if digest_of(pair[0], recipe) not in held)
    copies = len(dataset.train) - len(kept)
    note = f"{counted(copies, 'training row')} left out: the same image is in validation or test"
    digest = hashlib.sha256(dataset.fingerprint.encode())
    for source in (*(source for source, _ in kept), *(one.source for one in examples)):
        digest.update(digest_of(source, recipe).encode())
    notes = (*dataset.notes, note) if copies else dataset.notes
    return dataset._replace(train=kept, notes=notes, fingerprint=digest.hexdigest())


share_images = partial(share_out, key_of=digest_of)


def image_reader(source: ExampleSource, target: ExampleTarget, column: str, examples: Examples = one_each) -> Reader:
    """A reader whose parts share no image."""
    columns = ("image", column)
    return Reader(source, target, examples, share_images, without_held_out_images, columns)


CAPTIONED = image_reader(ImageSource(), TextTarget(caption_column, "caption", "the captions"), "caption", by_source)
LABELLED_IMAGES = image_reader(ImageSource(), LabelTarget(names_beside=True), "label")
LABEL_SET_IMAGES = image_reader(ImageSource(), LabelSetTarget(), "labels", all_labels)
IMAGE_ESTIMATES = image_reader(ImageSource(), NumberTarget(), "number", by_source)
IMAGE_QUESTIONS = image_reader(ImageQuestionSource(), LabelTarget("answer", "the answers"), "answer")
