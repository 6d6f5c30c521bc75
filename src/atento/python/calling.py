"""How functions are called from Python: an answer to habits of other libraries, advice in words of Python, progress."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

from torch import nn

from atento.api.advice import advice_in, in_python
from atento.errors import InputError
from atento.spec.recipe import key_fields
from atento.training.events import EventCallback, no_callback

P = ParamSpec("P")
R = TypeVar("R")

HABITS = {  # keywords of other libraries -> the argument or the recipe key that does it here
    "batch_size": "train.batch_tokens",
    "callbacks": "on_event",
    "dropout_rate": "model.dropout",
    "gpu": "device",
    "hidden_size": "model.hidden",
    "label_column": "data.label",
    "learning_rate": "train.lr",
    "max_epochs": "train.epochs",
    "max_steps": "train.steps",
    "n_epochs": "train.epochs",
    "num_epochs": "train.epochs",
    "num_layers": "model.layers",
    "num_train_epochs": "train.epochs",
    "output_dir": "out",
    "random_state": "seed",
    "target_column": "data.target",
    "test_size": "data.split",
    "text_column": "data.source",
    "time_limit": "budget",
    "validation_split": "data.split",
    "y": "data",
}


class CallError(InputError, TypeError):
    """An argument that the function does not have."""


def for_python(function: Callable[P, R]) -> Callable[P, R]:
    """The function with an answer to arguments that it does not have, and errors in words of Python."""
    known = signature(function)

    @wraps(function)
    def call(*given: P.args, **named: P.kwargs) -> R:
        try:
            known.bind(*given, **named)
        except TypeError as error:
            raise wrong_call(function.__name__, given, named, list(known.parameters), str(error)) from None
        with advice_in(in_python):
            return function(*given, **named)

    return call


def wrong_call(
    name: str, given: Sequence[object], named: Mapping[str, object], own: Sequence[str], why: str
) -> CallError:
    """What to write instead of an argument that is not there."""
    unknown = next((key for key in named if key not in own), None)
    if unknown is None:
        if len(given) == 2 and isinstance(given[0], nn.Module):
            fix = f"atento.{name}(data, model=module, loss=loss)"
        elif len(given) == 2:
            fix = f"give X and y as one argument: atento.{name}((X, y))"
        else:
            fix = f"atento.{name}({own[0]}, {own[1]}=...)"
        return CallError(f"{name}: {why}.", found=", ".join(type(one).__name__ for one in given) or "nothing", fix=fix)
    value = repr(named[unknown])[:40]
    meant = HABITS.get(unknown) or next((key for key in key_fields() if key.rpartition(".")[2] == unknown), "")
    if meant == "data":
        fix = f"give X and y as one argument: atento.{name}((X, y))"
    elif not meant or (meant not in own and "settings" not in own):
        fix = f"{name} takes {', '.join(own)}"
    elif "." in meant:
        fix = f'settings={{"{meant}": {RELATED.get(meant, value)}}}'
        fix += ", in tokens, not in examples" if meant == "train.batch_tokens" else ""
    else:
        fix = f"{meant}={value}"
    return CallError(f"{name} has no argument {unknown!r}.", found=f"{unknown}={value}", fix=fix)


RELATED = {
    "data.split": '"80/10/10"',
    "train.batch_tokens": "1536",
}  # keys whose values have another form than those of the habit


def kernel_shell() -> Any:
    """IPython's shell where it runs in a kernel, as in Jupyter, VS Code and Colab; else None."""
    if "ipykernel" not in sys.modules or "IPython" not in sys.modules:
        return None
    shell = sys.modules["IPython"].get_ipython()
    return shell if getattr(shell, "kernel", None) is not None else None


@contextmanager
def shown(verbose: bool | None, on_event: EventCallback) -> Iterator[EventCallback]:
    """Who is told of events: the user's function, the output of a notebook's cell, standard error, or nobody."""
    kernel = kernel_shell()
    looking = sys.stderr.isatty() or kernel is not None
    if on_event is not no_callback or verbose is False or (verbose is None and not looking):
        yield on_event
        return
    from atento.cli.output import ShowProgress  # only where it is shown
    from atento.python.notebook import NotebookProgress

    with ShowProgress() if kernel is None else NotebookProgress() as watch:
        yield watch
