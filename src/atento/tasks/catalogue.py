"""Every task: a name, an input, an output, how its files are recognised and read, and its defaults.

Task names become tasks here and nowhere else.
"""

from collections.abc import Callable

from atento.data.evidence.evidence import Evidence
from atento.tasks.autoencode.autoencode import AUTOENCODE
from atento.tasks.defaults.labels import (
    IMAGE_MODELS,
    IMAGE_QUESTION_MODELS,
    LABEL_SET_MODELS,
    NUMBERS_MODELS,
    TEXT_MODELS,
    TWO_TEXT_MODELS,
    image_defaults,
    image_question_defaults,
    label_set_defaults,
    label_set_image_defaults,
    label_set_number_defaults,
    label_set_pair_defaults,
    numbers_defaults,
    numbers_sizes,
    text_defaults,
    two_text_defaults,
    two_text_sizes,
)
from atento.tasks.defaults.numbers import (
    NUMBER_MODELS,
    image_number_defaults,
    number_defaults,
    text_number_defaults,
)
from atento.tasks.defaults.tags import TAG_MODELS, tag_defaults
from atento.tasks.defaults.written_text import (
    CAPTION_MODELS,
    TRANSCRIBE_MODELS,
    TRANSLATE_MODELS,
    caption_defaults,
    transcribe_defaults,
    transcribe_sizes,
    translate_defaults,
    translate_sizes,
)
from atento.tasks.embed.embed import EMBED
from atento.tasks.forecast.forecast import FORECAST
from atento.tasks.generate.generate import GENERATE
from atento.tasks.inputs.image import Image
from atento.tasks.inputs.image_question import ImageQuestion
from atento.tasks.inputs.numbers import Numbers
from atento.tasks.inputs.text import Text
from atento.tasks.inputs.two_texts import TwoTexts
from atento.tasks.inputs.words import WordList
from atento.tasks.outputs.number import Number
from atento.tasks.outputs.one_label import OneLabel
from atento.tasks.outputs.several_labels import SeveralLabels
from atento.tasks.outputs.tags import Tags
from atento.tasks.outputs.written_text import WrittenText
from atento.tasks.pairs import pair
from atento.tasks.reading.images import (
    CAPTIONED,
    IMAGE_ESTIMATES,
    IMAGE_QUESTIONS,
    LABEL_SET_IMAGES,
    LABELLED_IMAGES,
)
from atento.tasks.reading.reader import Reader
from atento.tasks.reading.sequences import ESTIMATES, LABEL_SET_SEQUENCES, LABELLED_SEQUENCES, TRANSCRIBED
from atento.tasks.reading.text import (
    LABEL_SET_PAIRS,
    LABEL_SETS,
    LABELLED,
    MATCHES,
    PAIRS,
    REWRITES,
    TAGGED,
    TEXT_ESTIMATES,
)
from atento.tasks.reading.windows import LABELLED_WINDOWS, WindowReader
from atento.tasks.recognising.images import caption_images, label_image_sets, label_images, question_images
from atento.tasks.recognising.sequences import (
    estimate_sequences,
    label_sequence_sets,
    label_sequences,
    write_of_sequences,
)
from atento.tasks.recognising.text import (
    label_sets,
    label_texts,
    match_texts,
    tag_words,
    translate_texts,
)
from atento.tasks.task import Defaults, Reading, Recognition, Task

Recogniser = Callable[[Evidence], Recognition]


def files(reader: Reader | WindowReader, recognise: Recogniser) -> Reading:
    """How the files of a task are recognised and read."""
    return Reading(
        recognise=recognise,
        keys=reader.keys,
        read=reader.read,
        read_labelled=reader.read_labelled,
        read_unlabelled=reader.read_unlabelled,
    )


def only_when_asked(task: str) -> Recogniser:
    """A task that no file is guessed to be meant for."""
    return lambda evidence: Recognition(0.0, f"only when asked for: --task {task}")


CLASSIFY = pair(
    "classify",
    Text,
    OneLabel,
    summary="Give one label to each text.",
    reading=files(LABELLED, label_texts),
    defaults=Defaults(models=TEXT_MODELS, model="gru+additive", values=text_defaults),
)
CLASSIFY_SERIES = pair(
    "classify-series",
    Numbers,
    OneLabel,
    summary="Give one label to each sequence of numbers.",
    reading=files(LABELLED_SEQUENCES, label_sequences),
    defaults=Defaults(models=NUMBERS_MODELS, model="gru+additive", values=numbers_defaults, data_values=numbers_sizes),
)
CLASSIFY_IMAGES = pair(
    "classify-images",
    Image,
    OneLabel,
    summary="Give one label to each image.",
    reading=files(LABELLED_IMAGES, label_images),
    defaults=Defaults(models=IMAGE_MODELS, model="conv+scaled-dot", values=image_defaults),
)
CLASSIFY_WINDOWS = pair(
    "classify-windows",
    Numbers,
    OneLabel,
    summary="Give a label to the newest row of a series, from the rows before it.",
    reading=files(LABELLED_WINDOWS, only_when_asked("classify-windows")),
    defaults=Defaults(models=NUMBERS_MODELS, model="gru+additive", values=numbers_defaults, data_values=numbers_sizes),
)
LABEL = pair(
    "label",
    Text,
    SeveralLabels,
    summary="Give any number of labels to each text.",
    reading=files(LABEL_SETS, label_sets),
    defaults=Defaults(models=LABEL_SET_MODELS, model="transformer", values=label_set_defaults),
)
LABEL_SERIES = pair(
    "label-series",
    Numbers,
    SeveralLabels,
    summary="Give any number of labels to each sequence of numbers.",
    reading=files(LABEL_SET_SEQUENCES, label_sequence_sets),
    defaults=Defaults(
        models=NUMBERS_MODELS, model="gru+additive", values=label_set_number_defaults, data_values=numbers_sizes
    ),
)
LABEL_IMAGES = pair(
    "label-images",
    Image,
    SeveralLabels,
    summary="Give any number of labels to each image.",
    reading=files(LABEL_SET_IMAGES, label_image_sets),
    defaults=Defaults(models=IMAGE_MODELS, model="conv+scaled-dot", values=label_set_image_defaults),
)
LABEL_PAIRS = pair(
    "label-pairs",
    TwoTexts,
    SeveralLabels,
    summary="Give any number of labels to each pair of texts.",
    reading=files(LABEL_SET_PAIRS, only_when_asked("label-pairs")),
    defaults=Defaults(
        models=TWO_TEXT_MODELS,
        model="lstm+dot+sparsemax+co",
        values=label_set_pair_defaults,
        data_values=two_text_sizes,
    ),
)
MATCH = pair(
    "match",
    TwoTexts,
    OneLabel,
    summary="Say how two texts stand to each other, or answer yes or no about a passage.",
    reading=files(MATCHES, match_texts),
    defaults=Defaults(
        models=TWO_TEXT_MODELS, model="lstm+dot+sparsemax+co", values=two_text_defaults, data_values=two_text_sizes
    ),
)
MATCH_IMAGES = pair(
    "match-images",
    ImageQuestion,
    OneLabel,
    summary="Answer a question about each image, yes or no or one of a few answers.",
    reading=files(IMAGE_QUESTIONS, question_images),
    defaults=Defaults(models=IMAGE_QUESTION_MODELS, model="conv/gru+scaled-dot+co", values=image_question_defaults),
)
TAG = pair(
    "tag",
    WordList,
    Tags,
    summary="Give each word of a sequence a tag.",
    reading=files(TAGGED, tag_words),
    defaults=Defaults(models=TAG_MODELS, model="lstm+crf", values=tag_defaults),
)
ESTIMATE = pair(
    "estimate",
    Numbers,
    Number,
    summary="Give a number to each sequence of numbers.",
    reading=files(ESTIMATES, estimate_sequences),
    defaults=Defaults(models=NUMBER_MODELS, model="gru+additive", values=number_defaults),
)
ESTIMATE_TEXT = pair(
    "estimate-text",
    Text,
    Number,
    summary="Give a number to each text.",
    reading=files(TEXT_ESTIMATES, only_when_asked("estimate-text")),
    defaults=Defaults(models=TEXT_MODELS, model="gru+additive", values=text_number_defaults),
)
ESTIMATE_IMAGES = pair(
    "estimate-images",
    Image,
    Number,
    summary="Give a number to each image.",
    reading=files(IMAGE_ESTIMATES, only_when_asked("estimate-images")),
    defaults=Defaults(models=IMAGE_MODELS, model="conv+scaled-dot", values=image_number_defaults),
)
TRANSLATE = pair(
    "translate",
    Text,
    WrittenText,
    summary="Turn one text into another.",
    reading=files(PAIRS, translate_texts),
    defaults=Defaults(
        models=TRANSLATE_MODELS, model="lstm+additive", values=translate_defaults, data_values=translate_sizes
    ),
)
REWRITE = pair(
    "rewrite",
    TwoTexts,
    WrittenText,
    summary="Write a text from two others.",
    reading=files(REWRITES, only_when_asked("rewrite")),
    defaults=Defaults(
        models=TRANSLATE_MODELS, model="lstm+additive", values=translate_defaults, data_values=translate_sizes
    ),
)
TRANSCRIBE = pair(
    "transcribe",
    Numbers,
    WrittenText,
    summary="Write the text of a sequence of numeric frames.",
    reading=files(TRANSCRIBED, write_of_sequences),
    defaults=Defaults(
        models=TRANSCRIBE_MODELS, model="gru+dot", values=transcribe_defaults, data_values=transcribe_sizes
    ),
)
CAPTION = pair(
    "caption",
    Image,
    WrittenText,
    summary="Write a line about each image.",
    reading=files(CAPTIONED, caption_images),
    defaults=Defaults(models=CAPTION_MODELS, model="conv/lstm+additive", values=caption_defaults),
)

TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        TRANSLATE,
        TAG,
        ESTIMATE,
        FORECAST,
        AUTOENCODE,
        CLASSIFY,
        CLASSIFY_SERIES,
        TRANSCRIBE,
        LABEL,
        MATCH,
        GENERATE,
        EMBED,
        CAPTION,
        CLASSIFY_IMAGES,
        CLASSIFY_WINDOWS,
        MATCH_IMAGES,
        LABEL_SERIES,
        LABEL_IMAGES,
        LABEL_PAIRS,
        ESTIMATE_TEXT,
        ESTIMATE_IMAGES,
        REWRITE,
    )
}
