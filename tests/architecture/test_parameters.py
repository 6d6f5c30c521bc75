"""Every parameter of a public function, class or method of `atento` and `atento.estimators` is explained."""

import inspect

import pytest

import atento
from atento import estimators

OWN = {"self", "cls"}
RESULTS = {name for name in atento.__all__ if name[0].isupper()}  # which functions give back


def described(function, *others):
    """Parameters that no docstring of these names, as `name: what it is` at the start of a line."""
    text = "\n".join(inspect.getdoc(one) or "" for one in (function, *others))
    started = {line.strip().partition(":")[0] for line in text.split("\n") if ":" in line}
    return [name for name in inspect.signature(function).parameters if name not in OWN and name not in started]


def public():
    """Functions, methods and constructors by name, each with what else may describe its parameters."""
    for package in (atento, estimators):
        for name in package.__all__:
            value = getattr(package, name)
            if not inspect.isclass(value):
                yield name, (value,)
                continue
            if name not in RESULTS:
                yield name, (value.__init__, value)
            for method, function in inspect.getmembers(value, inspect.isroutine):
                own = str(getattr(function, "__module__", "")).startswith("atento.")
                if own and not method.startswith("_") and "." in function.__qualname__:
                    yield f"{name}.{method}", (function,)


@pytest.mark.parametrize("described_by", [pytest.param(one, id=name) for name, one in public()])
def test_every_parameter_is_explained(described_by):
    assert not described(*described_by)
