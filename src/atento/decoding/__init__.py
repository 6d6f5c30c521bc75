"""Searches for a good output. They see `Decoder.start` and `Decoder.step` and nothing else."""

from atento.decoding.beam import beam
from atento.decoding.greedy import greedy
from atento.decoding.hypothesis import Hypothesis, Marks
from atento.decoding.sampling import sample

__all__ = ["Hypothesis", "Marks", "beam", "greedy", "sample"]
