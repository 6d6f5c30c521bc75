"""Searches for a good output. They see a `Writer`: `start` and `step`, and nothing else."""

from atento.decoding.beam import beam
from atento.decoding.greedy import Hypothesis, Marks, greedy
from atento.decoding.sampling import sample
from atento.decoding.search import search

__all__ = ["Hypothesis", "Marks", "beam", "greedy", "sample", "search"]
