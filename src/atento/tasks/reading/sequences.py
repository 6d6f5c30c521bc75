"""Readers of number sequences: with a label, several labels, a text or a number each."""

from functools import partial

from atento.data.examples.labels import LabelSetTarget, LabelTarget
from atento.data.examples.numbers import NumberListSource, PairedNumberTarget
from atento.data.examples.texts import TextTarget, most_varied_text
from atento.data.sequences.labelled import SequenceSource
from atento.tasks.reading.reader import Reader, all_labels, by_source, share_out

LABELLED_SEQUENCES = Reader(
    SequenceSource(), LabelTarget(), share=partial(share_out, by_label=True), columns=("sequence", "label")
)
LABEL_SET_SEQUENCES = Reader(SequenceSource(), LabelSetTarget(), examples=all_labels, columns=("sequence", "labels"))
TRANSCRIBED = Reader(SequenceSource(), TextTarget(most_varied_text), examples=by_source, columns=("sequence", "text"))
ESTIMATES = Reader(NumberListSource(), PairedNumberTarget(), examples=by_source)
