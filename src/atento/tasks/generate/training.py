"""Training of language models on plain text: windows of one long row, whole documents, or masked tokens."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from atento.data.examples.batches import Sampler
from atento.data.examples.streams import StoredTokens, Stream, StreamSampler
from atento.data.text.vocabulary import END, SPECIAL_TOKENS
from atento.layers.losses import Loss, token_cross_entropy
from atento.layers.masking import valid_from_lengths
from atento.models.backbones.recurrent import RecurrentDecoder
from atento.models.language_model import LanguageModel, MaskedBatch, MaskedLanguageModel, TextBatch, mask_tokens
from atento.recurrent.truncated import chunks
from atento.spec import TrainRecipe
from atento.tasks.encoding import EncodedOnDemand
from atento.tasks.generate.codec import MASK, TextCodec
from atento.tasks.task import TruncatedBPTT, Windows

# Axes: B batch, T time.

TextModel = LanguageModel | MaskedLanguageModel


class WindowBatch(NamedTuple):
    """Windows of equal length: nothing is padded, so nothing need be left out."""

    previous: Tensor  # (B, T)
    target: Tensor  # (B, T)


class Hidden(NamedTuple):
    """A row of which some tokens are to be hidden."""

    row: Tensor  # (N,)
    share: float
    size: int  # of the vocabulary


class HiddenRows(Sequence[Hidden]):
    """Rows of which tokens are to be hidden, others each time."""

    def __init__(self, rows: Sequence[Tensor], codec: TextCodec) -> None:
        self.rows, self.codec = rows, codec

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        """One row, or a slice of them."""
        share, size = self.codec.masked, len(self.codec.vocabulary)
        if isinstance(index, slice):
            return [Hidden(row, share, size) for row in self.rows[index]]
        return Hidden(self.rows[index], share, size)


class Beginnings(Sequence[Tensor]):
    """The beginning of each document on disk, as much of it as is learned at a time."""

    def __init__(self, rows: Sequence[Tensor], most: int) -> None:
        self.rows, self.most = rows, most

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        """One row, or a slice of them."""
        if isinstance(index, slice):
            return [row[: self.most] for row in self.rows[index]]
        return self.rows[index][: self.most]


def cut_windows(rows: Sequence[Tensor], recipe: TrainRecipe, codec: TextCodec) -> Windows:
    """What is learned at a time, and in which order: windows of running text, or documents, the long ones in parts."""
    if codec.ends and isinstance(rows, EncodedOnDemand):
        most = recipe.sequence_length + 1
        lengths = np.minimum(rows.lengths(), np.int32(most))
        shuffled = Sampler(lengths, batch_tokens=recipe.batch_tokens, seed=recipe.seed)
        begun = Beginnings(rows, most)
        return Windows(HiddenRows(begun, codec) if codec.objective == "masked" else begun, shuffled, carried=False)
    if codec.ends:
        window = recipe.sequence_length
        parts = [row[at : at + window + 1] for row in rows for at in range(0, max(1, len(row) - 1), window)]
        sampler = Sampler([len(part) for part in parts], batch_tokens=recipe.batch_tokens, seed=recipe.seed)
        return Windows(HiddenRows(parts, codec) if codec.objective == "masked" else parts, sampler, carried=False)
    stream = Stream(
        StoredTokens(rows) if isinstance(rows, EncodedOnDemand) else torch.cat(list(rows)), recipe.sequence_length
    )
    carried = recipe.stateful and codec.objective == "next"
    order = StreamSampler(stream, batch_tokens=recipe.batch_tokens, seed=recipe.seed, lanes=carried)
    return Windows(HiddenRows(stream, codec) if codec.objective == "masked" else stream, order, carried=carried)


AnyTextBatch = WindowBatch | TextBatch | MaskedBatch


def length(codec: TextCodec, row: Tensor) -> int:
    """How many tokens."""
    return len(row)


def batch_rows(codec: TextCodec, rows: Sequence[Tensor] | Sequence[Hidden]) -> AnyTextBatch:
    """Rows of one length side by side; others padded on the right. What is hidden is drawn by torch's own generator,
    which a checkpoint holds; never a mark.
    """
    if isinstance(rows[0], Hidden):
        tokens, valid = pad_rows([row.row for row in rows if isinstance(row, Hidden)])
        may = valid & (tokens != END)
        read, judged = mask_tokens(
            tokens, may, rate=rows[0].share, mask=MASK, first=len(SPECIAL_TOKENS), size=rows[0].size
        )
        return MaskedBatch(read, valid, tokens, judged)
    plain = [row for row in rows if isinstance(row, Tensor)]
    if len({len(row) for row in plain}) == 1:
        windows = torch.stack(plain)  # (B, T + 1)
        return WindowBatch(windows[:, :-1], windows[:, 1:])
    previous, valid = pad_rows([row[:-1] for row in plain])
    target, _ = pad_rows([row[1:] for row in plain])
    return TextBatch(previous, target, valid)


def pad_rows(rows: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Rows (N,) -> (B, N), zeros on the right, and valid (B, N)."""
    padded = nn.utils.rnn.pad_sequence(list(rows), batch_first=True)
    return padded, valid_from_lengths(torch.tensor([len(row) for row in rows]), padded.size(1))


def text_loss(module: TextModel, batch: AnyTextBatch, smoothing: float) -> Loss:
    """Cross-entropy of each token given those before it, or of each masked one given all others."""
    if isinstance(batch, MaskedBatch):
        if not isinstance(module, MaskedLanguageModel):
            raise TypeError(f"masked tokens are learned by a MaskedLanguageModel, not by a {type(module).__name__}")
        return module.loss(batch)
    if not isinstance(module, LanguageModel):
        raise TypeError(f"next tokens are learned by a LanguageModel, not by a {type(module).__name__}")
    if isinstance(batch, TextBatch):
        return token_cross_entropy(module(batch), batch.target[batch.valid], smoothing=smoothing)
    logits = module.decoder(batch.previous, module.empty_source(len(batch.previous)))  # (B, T, V)
    return token_cross_entropy(logits.flatten(0, 1), batch.target.flatten(), smoothing=smoothing)


def count_tokens(batch: WindowBatch | TextBatch) -> int:
    """What a loss is the mean over."""
    return int(batch.valid.sum()) if isinstance(batch, TextBatch) else batch.target.numel()


def first_state(module: LanguageModel, batch: WindowBatch | TextBatch) -> Any:
    """The state before the first step."""
    return module.decoder.start(module.empty_source(len(batch.previous)))


def cut_steps(batch: WindowBatch | TextBatch, steps: int) -> list[WindowBatch | TextBatch]:
    """Chunks of the windows, or of documents with padding on the right."""
    return [type(batch)(*(part[:, here] for part in batch)) for here in chunks(batch.target.size(1), steps)]


def chunk_loss(module: LanguageModel, chunk: WindowBatch | TextBatch, state: Any, smoothing: float) -> tuple[Loss, Any]:
    """The loss of a chunk from a state of the model, and the state after it."""
    features, state = module.resume(chunk.previous, state)
    logits = module.decoder.to_logits(features)  # (B, T, V)
    if isinstance(chunk, TextBatch):
        return token_cross_entropy(logits[chunk.valid], chunk.target[chunk.valid], smoothing=smoothing), state
    return token_cross_entropy(logits.flatten(0, 1), chunk.target.flatten(), smoothing=smoothing), state


TRUNCATED_BPTT = TruncatedBPTT(items=count_tokens, start=first_state, cut=cut_steps, loss=chunk_loss)


def recurs(module: nn.Module) -> bool:
    """Whether a model remembers by a state, however long the text."""
    return isinstance(module, LanguageModel) and isinstance(module.decoder, RecurrentDecoder)
