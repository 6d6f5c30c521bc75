"""The recurrent decoder that reads its own context (Bahdanau) over a whole known target on a GPU, forward and backward.

plan       which decoders and inputs it takes, and why it leaves the others to single steps; imports no Triton
attending  additive scores, softmax and context of one query for each row, and their gradients
together   what all programs of a kernel do together: wait, and share out the tiles of a product
forward    the kernel of contexts and hidden vectors
backward   the kernel of the gradients
walk       tensors in, contexts and hidden vectors out: the kernels launched, with their gradient
"""
