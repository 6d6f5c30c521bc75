"""Data: from files to examples, one room above the other. A room imports only from those below it in this list.

evidence     facts about a source, from which a task is recognised
builtin      generated data sets
dynamics     dynamical systems: trajectories, embeddings, Lyapunov exponents
images       images and videos: found, checked, loaded, drawn
sequences    labelled sequences of numbers
series       time series on a regular grid
examples     rows to examples, splits and batches
sources      what a user names as data to a table; sibling files
columns      what a column holds, its likely role, label leakage
tables       every file format to rows and columns
text         vocabularies, sentences, word vectors
files        bytes: opening, decoding, archives
records      rows, places and refusals, which every reader returns
"""

from atento.data.records import Refusal
from atento.data.series import Series, SeriesSet
from atento.data.sources.reading import read_source
from atento.data.tables.table import Table, read_table
from atento.data.tables.writing import write_table
from atento.data.text.levels import learn_vocabulary, load_vocabulary
from atento.data.text.subwords import Subwords
from atento.data.text.vectors import WordVectors, read_vectors, write_vectors
from atento.data.text.vocabulary import SPECIAL_TOKENS, Characters, LosslessWords, Vocabulary, Words
from atento.data.text.word_space import WordSpace

__all__ = [
    "SPECIAL_TOKENS",
    "Characters",
    "LosslessWords",
    "Refusal",
    "Series",
    "SeriesSet",
    "Subwords",
    "Table",
    "Vocabulary",
    "WordSpace",
    "WordVectors",
    "Words",
    "learn_vocabulary",
    "load_vocabulary",
    "read_source",
    "read_table",
    "read_vectors",
    "write_table",
    "write_vectors",
]
