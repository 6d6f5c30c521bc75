"""Torch's optimizers without its compiler, which takes more than a second to load."""

import inspect
from typing import TypeVar

import torch

Kind = TypeVar("Kind", bound=torch.optim.Optimizer)
DECORATED = ("add_param_group", "load_state_dict", "state_dict", "zero_grad")  # by torch._disable_dynamo


def without_compiler(kind: type[Kind]) -> type[Kind]:
    """A class of optimizers whose methods are torch's without their decorators, which tell its compiler what to leave
    alone, and load it for that: more than a second of every run that compiles nothing.
    """
    methods = {name: inspect.unwrap(getattr(kind, name)) for name in DECORATED}
    methods["step"] = torch.no_grad()(inspect.unwrap(kind.step))  # what its decorator does besides
    return type(kind.__name__, (kind,), {**methods, "__module__": __name__, "__doc__": kind.__doc__})
