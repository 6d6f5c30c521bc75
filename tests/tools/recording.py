"""What torch records of a call gives what the call gives: as one compiled graph, and exported for all sizes."""

import torch
from torch import nn
from torch.export import export


class Called(nn.Module):
    """A call with plain tensors in and out, as torch.export wants it."""

    def __init__(self, module, call):
        super().__init__()
        self.module, self.call = module, call

    def forward(self, *arguments):
        return self.call(self.module, *arguments)


def same_recorded(module, call, make, others, open_sizes):
    """One graph of a call, and one exported program for all sizes, give what the module gives."""
    called = Called(module.eval(), call)
    torch.compiler.reset()
    first = make(*others[0])
    compiled = torch.compile(called, fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(*first), called(*first), rtol=1e-12, atol=1e-12)
    exported = export(called, first, dynamic_shapes=(open_sizes,)).module()
    for sizes in others[1:]:
        arguments = make(*sizes)
        torch.testing.assert_close(exported(*arguments), called(*arguments), rtol=1e-12, atol=1e-12)
