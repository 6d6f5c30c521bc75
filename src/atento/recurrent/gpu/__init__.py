"""A cell over a whole sequence on a GPU, forward and backward, in one Triton kernel each way.

plan      which cells and batches it takes, and why it leaves the others to cuDNN or to single steps; imports no Triton
steps     plugs: one step of each cell, and its derivative
products  the product of some rows of states with a matrix, block by block
forward   the kernel of the outputs
backward  the kernel of the gradients
walk      tensors in, outputs out: the kernels launched, with their gradient
"""
