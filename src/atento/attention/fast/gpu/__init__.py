"""One Triton template for attention on a GPU: a score, a distribution and an extent are plugged in when it compiles.

plan           which compositions it takes, and why it declines the others; imports no Triton
distributions  plugs: scores -> weights and slopes
scores         plugs: what follows a product of query and key
extents        plugs: which keys are visible, biases by distance
arguments      the arguments of the kernels
tiles          scores of a tile, and the walk over all tiles
forward        the kernel of the context
backward       the kernels of the gradients
pairs          the kernels of additive scores
launch         one call made ready, its kernels launched
additive       the same for additive scores
context        the autograd function
"""
