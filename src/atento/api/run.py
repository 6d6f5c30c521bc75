"""A trained run in Python."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from atento.errors import MachineError
from atento.looking.embeddings import Embeddings
from atento.looking.wording import score
from atento.predictor import Predictor
from atento.tasks.task import Alignment
from atento.tasks.word_table import table_of, vectors_in


class Run:
    """A trained model and what is known of it."""

    def __init__(self, predictor: Predictor) -> None:
        self.predictor = predictor
        self.folder: Path = predictor.bundle.folder
        self.metrics: dict[str, Any] = predictor.bundle.metrics
        self.recipe = predictor.bundle.recipe
        self.module: torch.nn.Module = predictor.module

    def predict(self, sources: str | Sequence[str]) -> list[str]:
        """An answer for each text."""
        texts = [sources] if isinstance(sources, str) else list(sources)
        return [answer.text for answer in self.predictor.answer(texts)]

    def look(self, source: str) -> Alignment:
        """The answer, and where the model looked while writing it."""
        return self.predictor.look(source)

    def embeddings(self, *, outputs: bool = False) -> Embeddings:
        """The vectors of the words it reads; with `outputs` those of the words its last layer says."""
        found = table_of(self.module, self.predictor.bundle.codec, outputs=outputs)
        return Embeddings(found.words, vectors_in(found))

    def __repr__(self) -> str:
        name = self.metrics.get("metric", "")
        value = self.metrics.get("scores", {}).get(name, [float("nan")])[0]
        return f"Run({str(self.folder)!r}, {self.recipe.model.name}, {name} {score(value)})"


def load(folder: str | Path, *, device: str = "auto") -> Run:
    """A trained model from its folder; every file is checked first."""
    return Run(Predictor.load(Path(folder), device=find_device(device)))


def find_device(name: str) -> torch.device:
    """`auto` takes a GPU where there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name == "cuda" and not torch.cuda.is_available():
        raise MachineError("--device cuda: there is no GPU here.", found="torch sees none", fix="--device cpu")
    return torch.device(name)
