"""Training of language models on plain text: windows of one long row, whole documents, or masked tokens."""

from collections.abc import Sequence
from typing import NamedTuple, overload

import numpy as np
import torch
from torch import Tensor, nn

from atento.data.examples.batches import Sampler
from atento.data.examples.stored import PooledSampler
from atento.data.examples.streams import StoredTokens, Stream, StreamSampler
from atento.data.text.vocabulary import END, SPECIAL_TOKENS
from atento.layers.losses import Loss
from atento.layers.masking import valid_from_lengths
from atento.models.language_model import LanguageModel, MaskedBatch, MaskedLanguageModel, TextBatch, mask_tokens
from atento.recurrent.unroll import chunks
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


class Beginnings(Sequence[Tensor]):
    """The beginning of each document on disk, as much of it as is learned at a time."""

    def __init__(self, rows: Sequence[Tensor], most: int) -> None:
        self.rows, self.most = rows, most

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, at: int) -> Tensor: ...

    @overload
    def __getitem__(self, at: slice) -> list[Tensor]: ...

    def __getitem__(self, at: int | slice) -> Tensor | list[Tensor]:
        """One row, or a slice of them."""
        return [row[: self.most] for row in self.rows[at]] if isinstance(at, slice) else self.rows[at][: self.most]


NextBatch = WindowBatch | TextBatch
AnyTextBatch = NextBatch | MaskedBatch


def cut_windows(rows: Sequence[Tensor], recipe: TrainRecipe, codec: TextCodec) -> Windows[Tensor, AnyTextBatch]:
    """What is learned at a time, and in which order: windows of running text, or documents, the long ones in parts."""
    window = recipe.sequence_length
    if codec.ends and isinstance(rows, EncodedOnDemand):
        tokens, most = recipe.batch_tokens, np.int32(window + 1)
        pooled = PooledSampler(lambda *span: np.minimum(rows.lengths(*span), most), len(rows), batch_tokens=tokens,
                               seed=recipe.seed)  # fmt: skip
        return Windows(Beginnings(rows, window + 1), pooled, carried=False)
    if codec.ends:
        parts = [row[at : at + window + 1] for row in rows for at in range(0, max(1, len(row) - 1), window)]
        sampler = Sampler([len(part) for part in parts], batch_tokens=recipe.batch_tokens, seed=recipe.seed)
        return Windows(parts, sampler, carried=False)
    stream = Stream(StoredTokens(rows) if isinstance(rows, EncodedOnDemand) else torch.cat(list(rows)), window)
    carried = recipe.stateful and codec.objective == "next"
    order = StreamSampler(stream, batch_tokens=recipe.batch_tokens, seed=recipe.seed, lanes=carried)
    return Windows(stream, order, carried=carried)


def batch_rows(codec: TextCodec, rows: Sequence[Tensor]) -> AnyTextBatch:
    """Rows of one length side by side; others padded on the right. What is hidden is drawn by torch's own generator,
    which a checkpoint holds; never a mark.
    """
    if codec.objective == "masked":
        tokens, valid = pad_rows(rows)
        may, size = valid & (tokens != END), len(codec.vocabulary)
        read, judged = mask_tokens(tokens, may, rate=codec.masked, mask=MASK, first=len(SPECIAL_TOKENS), size=size)
        return MaskedBatch(read, valid, tokens, judged)
    if len({len(row) for row in rows}) == 1:
        windows = torch.stack(list(rows))  # (B, T + 1)
        return WindowBatch(windows[:, :-1], windows[:, 1:])
    previous, valid = pad_rows([row[:-1] for row in rows])
    target, _ = pad_rows([row[1:] for row in rows])
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
        return module.loss(batch, smoothing=smoothing)
    features = module.decoder.features(batch.previous, module.empty_source(len(batch.previous)))  # (B, T, D)
    return module.token_loss(features.flatten(0, 1), batch.target.flatten(), smoothing=smoothing)


def count_tokens(batch: NextBatch) -> int:
    """What a loss is the mean over."""
    return int(batch.valid.sum()) if isinstance(batch, TextBatch) else batch.target.numel()


def first_state(module: LanguageModel, batch: NextBatch) -> object:
    """The state before the first step."""
    return module.decoder.start(module.empty_source(len(batch.previous)))


def cut_steps(batch: NextBatch, steps: int) -> list[NextBatch]:
    """Chunks of the windows, or of documents with padding on the right."""
    return [type(batch)(*(part[:, here] for part in batch)) for here in chunks(batch.target.size(1), steps)]


def chunk_loss(module: LanguageModel, chunk: NextBatch, state: object, smoothing: float) -> tuple[Loss, object]:
    """The loss of a chunk from a state of the model, and the state after it."""
    features, state = module.resume(chunk.previous, state)
    if isinstance(chunk, TextBatch):
        return module.token_loss(features[chunk.valid], chunk.target[chunk.valid], smoothing=smoothing), state
    return module.token_loss(features.flatten(0, 1), chunk.target.flatten(), smoothing=smoothing), state


TRUNCATED_BPTT = TruncatedBPTT(items=count_tokens, start=first_state, cut=cut_steps, loss=chunk_loss)


def recurs(module: LanguageModel) -> bool:
    """Whether a model remembers by a state, however long the text."""
    return module.decoder.is_recurrent
