"""C kernels for a CPU, where torch would take a call for each step of a loop.

library           how the C files are compiled, found and called
vectors.h         vectors, and exp, sigmoid and tanh of them
products          the product of the rows of a step with a matrix
gru, lstm, elman  cells over a whole sequence
additive          additive scores
attention         softmax attention of packed sequences
"""
