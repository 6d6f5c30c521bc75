"""Small files exactly as well-known tools write them, each with the reading that a user expects of it.

`FILES[name](folder)` writes the file or files below a folder and returns an `Expected`. Everything is drawn from a
seed and written by the standard library alone, so that delimiters, quotes, marks and line ends are those of the tool.

contents      what the files hold, and how each is entered
excel         Excel in eight locales, and other things that it writes as text
workbooks     Excel's own format
statistics    pandas, R, SAS, SPSS and Stata
exports       forms, databases, banks and monitors
archives      competitions and archives
times         times as people write them
words         sentences with a tag for each word
annotations   what annotation tools write
images        captions of images, as COCO has them
public_sets   public data sets of text, with their official parts
public_series public data sets of series and of number sequences
texts         translations, labelled lines and JSON documents
"""

from tests.journeys.real_files import (  # noqa: F401  (each enters its files)
    annotations,
    archives,
    excel,
    exports,
    images,
    public_series,
    public_sets,
    statistics,
    texts,
    times,
    words,
    workbooks,
)
from tests.journeys.real_files.contents import FILES, Expected

__all__ = ["FILES", "Expected"]
