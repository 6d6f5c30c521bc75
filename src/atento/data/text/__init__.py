"""Text: vocabularies, sentences and words, word vectors.

vocabulary    text to token ids and back, by characters or words; the special tokens
subwords      the same by byte-pair encoding
levels        which of these levels suits a text; learning and loading a vocabulary
words         splitting of text into sentences and words
vectors       word vectors in the format of word2vec and GloVe
word_space    nearest neighbours, analogies, projections of word vectors
"""
