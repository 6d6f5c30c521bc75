"""What `import atento` gives: the functions of `atento.api` for any data that Python holds.

calling     habits of other libraries, advice in words of Python, progress
notebook    progress in the output of a notebook's cell
functions   fit, compare, tune, backtest, inspect, recipe, load
"""

from atento.python.functions import backtest, compare, fit, inspect, load, recipe, tune

__all__ = ["backtest", "compare", "fit", "inspect", "load", "recipe", "tune"]
