"""Kinds of input: how a source becomes tensors."""
