"""Decoders over a whole known target on a CPU, without an autograd graph of every step.

`attending`: attention before each step, by additive scores; `cells`: the steps of an LSTM and a GRU within it.
"""
