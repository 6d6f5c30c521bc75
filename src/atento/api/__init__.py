"""What the command line, the server, the studio and Python users all call."""

from atento.api.compare import Board, compare
from atento.api.fit import fit
from atento.api.run import Run, load

__all__ = ["Board", "Run", "compare", "fit", "load"]
