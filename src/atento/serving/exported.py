"""An exported folder as a served model: the same rows and answers as of a run, without torch."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from atento.exporting.runtime.model import ExportedModel
from atento.exporting.runtime.writing import Completer
from atento.serving.rows import Decode, Follow, RowAnswerer
from atento.serving.served import ModelCard

NO_WEIGHTS = "an exported model gives no attention weights: serve the run itself"


class ExportedServed(RowAnswerer):
    """An exported model, loaded and checked, that answers rows."""

    def __init__(self, model: ExportedModel) -> None:
        super().__init__(ModelCard.from_json(model.facts["card"]))
        self.model = model

    def answer_all(self, sources: Sequence[Any], follow: Follow | None) -> Sequence[Any]:
        """By the graphs of the folder."""
        return self.model.answer(sources, emit=follow)

    def attention_of(self, source: Any) -> dict[str, Any]:
        """There are none."""
        return {"explanation": NO_WEIGHTS}

    def decode_written(self, source: str) -> Decode:
        """By the vocabulary of its targets."""
        writer = self.model.answerer
        if isinstance(writer, Completer):
            before = writer.row(source)
            begun = len(writer.vocabulary.decode(before))
            return lambda tokens: writer.vocabulary.decode([*before, *tokens])[begun:]
        return lambda tokens: str(writer.vocabulary.decode(tokens))


def load_exported(folder: Path) -> ExportedServed:
    """The model of an exported folder. Every file is checked first, and none is executed."""
    return ExportedServed(ExportedModel(folder))
