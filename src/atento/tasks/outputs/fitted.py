"""What an output may fit beside the gradient steps: numbers that the validation part chooses, and a first solution."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic

from atento.tasks.outputs.output import In
from atento.tasks.task import M, Pair, TextExample


class HasCalibration(ABC, Generic[In, M]):
    """An output of which the validation part chooses a few numbers: thresholds, or how much a wide part counts."""

    @abstractmethod
    def calibrate(self, module: M, input: In, questions: Sequence[TextExample]) -> None:
        """Choose them."""


class HasClosedForm(ABC, Generic[In, M]):
    """An output that can begin with a simple model, solved from the training part before the first step."""

    @abstractmethod
    def closed_form(self, module: M, input: In, pairs: Sequence[Pair]) -> str:
        """Solve it, and say in words what it is; empty where the module has no such part."""
