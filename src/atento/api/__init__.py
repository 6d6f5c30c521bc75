"""What the command line and Python users call: fit, compare, tune, backtest, inspect, and what they give back."""

from atento.api.backtest import Backtest, backtest
from atento.api.check import check
from atento.api.compare import Board, compare
from atento.api.fit import fit
from atento.api.inspect import Inspection, inspect
from atento.api.modules.own_module import ModuleRun
from atento.api.predict import Evaluation
from atento.api.prepare import ExplainedRecipe
from atento.api.prepare import explain_recipe as recipe
from atento.api.run import Run, gradient_flow, load, model_graph
from atento.api.tune import Tuning, tune

__all__ = [
    "Backtest",
    "Board",
    "Evaluation",
    "ExplainedRecipe",
    "Inspection",
    "ModuleRun",
    "Run",
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
