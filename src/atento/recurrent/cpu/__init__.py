"""Whole sequences of a cell on a CPU, forward and backward, without an autograd graph of every step.

`steps`: a batch in the order of its steps, without padding; `gru` and `elman`: the walks of these cells.
"""
