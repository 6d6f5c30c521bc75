"""Rows become examples, examples become batches."""
