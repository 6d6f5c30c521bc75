"""What the command line, the server, the studio and Python users all call."""

from atento.api.backtest import Backtest, backtest
from atento.api.check import check
from atento.api.compare import Board, compare
from atento.api.explain import gradient_flow
from atento.api.fit import fit
from atento.api.run import Run, load
from atento.api.tune import Tuning, tune

__all__ = ["Backtest", "Board", "Run", "Tuning", "backtest", "check", "compare", "fit", "gradient_flow", "load", "tune"]
