"""Vocabularies, tokenization levels and word vectors."""
