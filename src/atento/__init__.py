"""atento: learning from sequences, from the plain RNN to the Transformer.

>>> import atento
>>> run = atento.fit("numbers", model="lstm+additive", budget="60s")  # doctest: +SKIP
>>> run.predict(["dreiundvierzig"])  # doctest: +SKIP
['forty-three']
"""

from typing import TYPE_CHECKING, Any

from atento.version import __version__ as __version__

if TYPE_CHECKING:
    from atento.api import Backtest, Board, Run, Tuning, backtest, check, compare, fit, gradient_flow, load, tune

__all__ = ["Backtest", "Board", "Run", "Tuning", "backtest", "check", "compare", "fit", "gradient_flow", "load", "tune"]


def __getattr__(name: str) -> Any:
    """`import atento` is instant: torch comes with the first real use."""
    if name in __all__:
        from atento import api

        return getattr(api, name)
    raise AttributeError(f"module 'atento' has no attribute {name!r}")
