"""Every task: a name, an input, an output, how its files are recognised and read, and its defaults.

Task names become tasks here and nowhere else.
"""

from collections.abc import Callable

from atento.data.evidence.evidence import Evidence
from atento.tasks.autoencode.autoencode import AUTOENCODE
from atento.tasks.defaults.labels import (
    IMAGE_QUESTION_TO_LABEL,
    IMAGE_TO_LABEL,
    IMAGE_TO_LABELS,
    NUMBERS_TO_LABEL,
    NUMBERS_TO_LABELS,
    TEXT_TO_LABEL,
    TEXT_TO_LABELS,
    TWO_TEXTS_TO_LABEL,
    TWO_TEXTS_TO_LABELS,
)
from atento.tasks.defaults.numbers import IMAGE_TO_NUMBER, NUMBERS_TO_NUMBER, TEXT_TO_NUMBER
from atento.tasks.defaults.tags import WORDS_TO_TAGS
from atento.tasks.defaults.written_text import IMAGE_TO_TEXT, NUMBERS_TO_TEXT, TEXT_TO_TEXT
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
from atento.tasks.task import Pair, Reading, Recognition, Task

Recogniser = Callable[[Evidence], Recognition]


def files(reader: Reader | WindowReader, recognise: Recogniser) -> Reading[Pair, str, str]:
    """How the files of a task are recognised and read."""
    return Reading(
        recognise=recognise,
        keys=reader.keys,
        read=reader.read,
        read_labelled=reader.read_labelled,
        read_unlabelled=reader.read_unlabelled,
    )


def only_when_asked(task: str) -> Recogniser:
    """The recogniser of a task that no file is guessed to be meant for."""
    return lambda evidence: Recognition(0.0, f"only when asked for: --task {task}")


# A table: name, input, output, summary; how files are read and recognised, defaults.
# fmt: off
CLASSIFY = pair("classify", Text, OneLabel, "Give one label to each text.",
    files(LABELLED, label_texts), TEXT_TO_LABEL)
CLASSIFY_SERIES = pair("classify-series", Numbers, OneLabel, "Give one label to each sequence of numbers.",
    files(LABELLED_SEQUENCES, label_sequences), NUMBERS_TO_LABEL)
CLASSIFY_IMAGES = pair("classify-images", Image, OneLabel, "Give one label to each image.",
    files(LABELLED_IMAGES, label_images), IMAGE_TO_LABEL)
CLASSIFY_WINDOWS = pair("classify-windows", Numbers, OneLabel,
    "Give a label to the newest row of a series, from the rows before it.",
    files(LABELLED_WINDOWS, only_when_asked("classify-windows")), NUMBERS_TO_LABEL)
LABEL = pair("label", Text, SeveralLabels, "Give any number of labels to each text.",
    files(LABEL_SETS, label_sets), TEXT_TO_LABELS)
LABEL_SERIES = pair("label-series", Numbers, SeveralLabels, "Give any number of labels to each sequence of numbers.",
    files(LABEL_SET_SEQUENCES, label_sequence_sets), NUMBERS_TO_LABELS)
LABEL_IMAGES = pair("label-images", Image, SeveralLabels, "Give any number of labels to each image.",
    files(LABEL_SET_IMAGES, label_image_sets), IMAGE_TO_LABELS)
LABEL_PAIRS = pair("label-pairs", TwoTexts, SeveralLabels, "Give any number of labels to each pair of texts.",
    files(LABEL_SET_PAIRS, only_when_asked("label-pairs")), TWO_TEXTS_TO_LABELS)
MATCH = pair("match", TwoTexts, OneLabel, "Say how two texts stand to each other, or answer yes or no about a passage.",
    files(MATCHES, match_texts), TWO_TEXTS_TO_LABEL)
MATCH_IMAGES = pair("match-images", ImageQuestion, OneLabel,
    "Answer a question about each image, yes or no or one of a few answers.",
    files(IMAGE_QUESTIONS, question_images), IMAGE_QUESTION_TO_LABEL)
TAG = pair("tag", WordList, Tags, "Give each word of a sequence a tag.",
    files(TAGGED, tag_words), WORDS_TO_TAGS)
ESTIMATE = pair("estimate", Numbers, Number, "Give a number to each sequence of numbers.",
    files(ESTIMATES, estimate_sequences), NUMBERS_TO_NUMBER)
ESTIMATE_TEXT = pair("estimate-text", Text, Number, "Give a number to each text.",
    files(TEXT_ESTIMATES, only_when_asked("estimate-text")), TEXT_TO_NUMBER)
ESTIMATE_IMAGES = pair("estimate-images", Image, Number, "Give a number to each image.",
    files(IMAGE_ESTIMATES, only_when_asked("estimate-images")), IMAGE_TO_NUMBER)
TRANSLATE = pair("translate", Text, WrittenText, "Turn one text into another.",
    files(PAIRS, translate_texts), TEXT_TO_TEXT)
REWRITE = pair("rewrite", TwoTexts, WrittenText, "Write a text from two others.",
    files(REWRITES, only_when_asked("rewrite")), TEXT_TO_TEXT)
TRANSCRIBE = pair("transcribe", Numbers, WrittenText, "Write the text of a sequence of numeric frames.",
    files(TRANSCRIBED, write_of_sequences), NUMBERS_TO_TEXT)
CAPTION = pair("caption", Image, WrittenText, "Write a line about each image.",
    files(CAPTIONED, caption_images), IMAGE_TO_TEXT)

TASKS: dict[str, Task] = {task.name: task for task in (
    TRANSLATE, TAG, ESTIMATE, FORECAST, AUTOENCODE, CLASSIFY, CLASSIFY_SERIES, TRANSCRIBE, LABEL, MATCH, GENERATE,
    EMBED, CAPTION, CLASSIFY_IMAGES, CLASSIFY_WINDOWS, MATCH_IMAGES, LABEL_SERIES, LABEL_IMAGES, LABEL_PAIRS,
    ESTIMATE_TEXT, ESTIMATE_IMAGES, REWRITE,
)}
# fmt: on
