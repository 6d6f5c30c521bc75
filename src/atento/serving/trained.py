"""The folder of a run as a served model: rows become sources of its task, answers become JSON. This needs torch."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from atento.api.folders import find_model
from atento.attention import Attention, MultiHead
from atento.blocks.coattention import AlternatingCoAttention, ParallelCoAttention
from atento.blocks.pooling import AttentionPooling
from atento.decoding import follow_tokens
from atento.exporting.describing import card_of
from atento.predictor import Predictor, find_device
from atento.serving.answers import finite
from atento.serving.limits import IMAGES
from atento.serving.rows import Decode, Follow, RowAnswerer
from atento.serving.served import ModelCard

ATTENTIVE = (Attention, MultiHead, AttentionPooling, ParallelCoAttention, AlternatingCoAttention)
MOST_WEIGHTS = 300_000  # attention weights that are sent for one row


class TrainedModel(RowAnswerer):
    """A run, loaded and checked, that answers rows."""

    def __init__(self, predictor: Predictor) -> None:
        attends = any(isinstance(part, ATTENTIVE) for part in predictor.module.modules())
        super().__init__(ModelCard.from_json(card_of(predictor.bundle, attends=attends)))
        self.predictor, self.codec = predictor, predictor.bundle.codec
        if self.card.input in IMAGES:
            self.codec.input.images.room = 0  # no image of a request is kept

    def answer_all(self, sources: Sequence[Any], follow: Follow | None) -> Sequence[Any]:
        """By the predictor of the run."""
        if follow is None:
            return self.predictor.answer(sources)
        tokens: list[int] = []

        def take(token: int) -> None:
            tokens.append(token)
            follow(tokens)

        with follow_tokens(take):
            return self.predictor.answer(sources)

    def attention_of(self, source: Any) -> dict[str, Any]:
        """As `Alignment.to_json` writes them."""
        shown = self.predictor.look(source)
        written = shown._replace(weights=shown.weights[:0]) if shown.weights.numel() > MOST_WEIGHTS else shown
        weights: dict[str, Any] = dict(written.to_json())
        if self.card.input in ("image", "image and question", "series"):
            weights["source"] = [item.replace(str(source), "") for item in shown.source]
        if shown.weights.numel() > MOST_WEIGHTS:
            weights["explanation"] = f"{shown.weights.numel():,} weights are too many to send; give a shorter row"
        elif not shown.weights.numel() and not shown.explanation:
            weights["explanation"] = "this model attends to nothing"
        return dict(finite(weights))

    def decode_written(self, source: str) -> Decode:
        """By the vocabulary of its targets."""
        if self.card.output == "completion":
            vocabulary, before = self.codec.vocabulary, self.codec.row(source, whole=False).tolist()
            begun = len(vocabulary.decode(before))
            return lambda tokens: vocabulary.decode([*before, *tokens])[begun:]
        written = self.codec.output.vocabulary
        return lambda tokens: str(written.decode(tokens))


def load_trained(folder: Path, *, device: str) -> TrainedModel:
    """The model of a run; of a comparison its best. Every file is checked first."""
    return TrainedModel(Predictor.load(find_model(folder).folder, device=find_device(device)))
