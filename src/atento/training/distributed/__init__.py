"""Many processes that train one model: who they are, how they share the work, and what they save together."""

from atento.training.distributed.ranks import ALONE, Ranks, join
from atento.training.distributed.strategies import STRATEGIES, Together

__all__ = ["ALONE", "STRATEGIES", "Ranks", "Together", "join"]
