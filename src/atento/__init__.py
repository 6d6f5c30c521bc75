"""atento: learning from sequences, from the plain RNN to the Transformer.

>>> import atento
>>> run = atento.fit("numbers", model="lstm+additive", budget="60s")  # doctest: +SKIP
>>> run.predict(["dreiundvierzig"])  # doctest: +SKIP
['forty-three']

The commands stand here as functions: fit, compare, tune, backtest, inspect, recipe, check, load. The parts stand in
packages: attention, recurrent, blocks, layers, models, decoding, metrics, baselines, data, estimators …
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from atento.version import __version__ as __version__

if TYPE_CHECKING:
    from atento.api import (
        Backtest,
        Board,
        Evaluation,
        ExplainedRecipe,
        Inspection,
        ModuleRun,
        Run,
        Tuning,
        check,
        gradient_flow,
        model_graph,
    )
    from atento.python import backtest, compare, fit, inspect, load, recipe, tune
    from atento.training import Callback, EarlyStopping, Training

__all__ = [
    "Backtest",
    "Board",
    "Callback",
    "EarlyStopping",
    "Evaluation",
    "ExplainedRecipe",
    "Inspection",
    "ModuleRun",
    "Run",
    "Training",
    "Tuning",
    "backtest",
    "check",
    "compare",
    "fit",
    "gradient_flow",
    "inspect",
    "load",
    "model_graph",
    "recipe",
    "tune",
]
FUNCTIONS = ("backtest", "compare", "fit", "inspect", "load", "recipe", "tune")  # which take any data from Python
CALLBACKS = ("Callback", "EarlyStopping", "Training")
PACKAGES = (
    "attention",
    "baselines",
    "blocks",
    "checks",
    "data",
    "decoding",
    "errors",
    "estimators",
    "layers",
    "metrics",
    "models",
    "recurrent",
    "spec",
    "tasks",
    "training",
    "views",
)


def __getattr__(name: str) -> Any:
    """`import atento` is instant: torch is imported with the first real use."""
    if name in FUNCTIONS:
        return getattr(import_module("atento.python"), name)
    if name in CALLBACKS:
        return getattr(import_module("atento.training"), name)
    if name in __all__:
        return getattr(import_module("atento.api"), name)
    if name in PACKAGES:
        return import_module(f"atento.{name}")
    raise AttributeError(f"module 'atento' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Every public name, so that completion finds them."""
    return sorted([*__all__, *PACKAGES, "__version__"])
