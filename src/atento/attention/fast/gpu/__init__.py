"""One Triton template for attention on a GPU: a score, a distribution and an extent are plugged in when it compiles.

plan           which compositions it takes, and why it declines the others; imports no Triton
composing      modules and tensors of a call in the form of the template
distributions  plugs: scores -> weights and slopes
scores         plugs: what follows a product of query and key
extents        plugs: which keys are visible, biases by distance
arguments      the arguments of the kernels
tiles          scores of a tile, and the walk over all tiles
forward        the kernel of the context
backward       the kernels of the gradients
pairs          the kernels of scores that are sums over features, and of their gradients
launch         one call made ready, its kernels launched
summing        gradients that are sums over pairs, launched
additive       a call of additive attention
opposed        a call of de-attention
strided        strided extents in two parts
context        the autograd function
"""
