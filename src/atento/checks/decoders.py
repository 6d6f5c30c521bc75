"""Contracts of encoders and decoders: source padding, the future of the target, cache, weights.

Images have no padding, so an image encoder has the contracts of a batch alone.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from atento.checks.attention_parts import why_side_matters
from atento.checks.finding import CLOSE, EXACT, Finding, difference, judged, not_applicable
from atento.checks.sequences import FUTURE, NOT_FUTURE, check_sequence
from atento.checks.subject import (
    ROWS,
    TIME,
    Outputs,
    Subject,
    check_laws,
    exact_copy,
    numbers_of,
    ragged,
    seeded,
    some_numbers,
    tokens_of,
    vocabulary_of,
    widths_that_fit,
)
from atento.layers.masking import clean, masked_mean
from atento.models.backbones.images import ImageEncoder, all_valid
from atento.models.protocols import Decoder, Encoded, Encoder, reorder

# Axes: B rows, S side.

SIDE = 16
NUMBERS = 3 * SIDE * SIDE
NOT_PADDED = "an image has no padding"
NOT_IN_TIME = "an image is no sequence in time"


def some_images(values: Tensor) -> Tensor:
    """Numbers (B, T, D) as pixels (B, 3, S, S)."""
    return values.flatten(1)[:, :NUMBERS].reshape(-1, 3, SIDE, SIDE)


def check_image_rows(module: nn.Module, outputs: Callable[[Any, Tensor], Tensor]) -> list[Finding]:
    """The contracts of a batch of images; `outputs` takes a module and pixels (B, 3, S, S) and gives a row for each."""

    def read(one: nn.Module, values: Tensor, valid: Tensor) -> Outputs:
        return Outputs(whole=outputs(one, some_images(values)))

    draw = numbers_of(-(-NUMBERS // TIME))
    return check_sequence(
        Subject(module, read, draw, unmasked=NOT_PADDED, side_matters=NOT_PADDED, not_causal=NOT_IN_TIME)
    )


# Axes: B rows, N source time, T target time, V vocabulary, D size.

TARGET = 5
READS_ALL = "an encoder reads the whole source"


def check_encoder(module: Encoder) -> list[Finding]:
    """The contracts of an encoder: states of tokens and a summary, or states of the regions of an image."""
    if isinstance(module, ImageEncoder):
        return check_image_rows(module, lambda one, pixels: one.encode(pixels, all_valid(pixels)).states)

    def read(one: Encoder, tokens: Tensor, valid: Tensor) -> Outputs:
        encoded = one.encode(tokens, valid)
        return Outputs(encoded.states, encoded.summary)

    draw, sided = tokens_of(vocabulary_of(module), least=4), why_side_matters(module)
    return check_sequence(Subject(module, read, draw, side_matters=sided, not_causal=READS_ALL))


def check_decoder(module: Decoder[Any], *, source_size: int = 0) -> list[Finding]:
    """The contracts of a decoder over a source of random states, then over its target."""
    size = source_size or width_of_source(module)

    def over_source(one: nn.Module, states: Tensor, valid: Tensor) -> Outputs:
        encoded = Encoded(states, valid, masked_mean(clean(states, valid), valid))
        return Outputs(whole=one(some_beginning(one, len(states)), encoded))

    def over_target(one: nn.Module, previous: Tensor, valid: Tensor) -> Outputs:
        return Outputs(items=one(previous, some_source(size, len(previous))))

    sided, tokens = why_side_matters(module, ahead=module), tokens_of(vocabulary_of(module), least=4)
    target = Subject(module, over_target, tokens, unmasked="a decoder takes no mask of its target")
    laws = {"cache": decoder_cache, "state rows": state_rows, "weights": decoder_weights}
    return [
        *check_sequence(Subject(module, over_source, numbers_of(size), side_matters=sided), only=NOT_FUTURE),
        *check_sequence(target, only=FUTURE),
        *check_laws(module, {name: partial(law, encoded=some_source(size)) for name, law in laws.items()}),
    ]


def width_of_source(module: Decoder[Any]) -> int:
    """The width of source states that a decoder reads."""
    decoder = exact_copy(module)
    (size,) = widths_that_fit(
        decoder, lambda width: decoder(some_beginning(decoder, ROWS), some_source(width)), sizes=1
    )
    return size


def some_beginning(decoder: nn.Module, rows: int) -> Tensor:
    """Target tokens (B, T) as a decoder reads them, the same in every row."""
    with seeded(1):
        return tokens_of(vocabulary_of(decoder), least=4)(1, TARGET).expand(rows, -1)


def some_source(size: int, rows: int = ROWS) -> Encoded:
    """Encoded sources of unequal lengths."""
    states, valid = some_numbers(ROWS, TIME, size, seed=2)[:rows], ragged()[:rows]
    return Encoded(states, valid, masked_mean(states, valid))


def decoder_cache(decoder: Any, encoded: Encoded) -> Finding:
    """Steps from a cache, one parallel pass, and each prefix anew give the same logits."""
    previous, state, logits, anew = some_target(decoder), decoder.start(encoded), [], []
    with torch.no_grad():
        parallel = decoder(previous, encoded)
        for at in range(TARGET):
            step = decoder.step(previous[:, at], state)
            state = step.state
            logits.append(step.logits)
            anew.append(decoder(previous[:, : at + 1], encoded)[:, -1])
    gap = max(difference(torch.stack(one, dim=1), parallel) for one in (logits, anew))
    return judged("cache", gap, CLOSE, "steps from a cache = each prefix anew = all steps at once")


def state_rows(decoder: Any, encoded: Encoded) -> Finding:
    """Rows of a state can be reordered, repeated and dropped, as beam search does."""
    previous, rows = some_target(decoder), torch.tensor([2, 0, 2, 1])
    with torch.no_grad():
        state = decoder.start(encoded)
        for at in range(2):
            state = decoder.step(previous[:, at], state).state
        moved = decoder.step(previous[rows, 2], reorder(state, rows))
        again = decoder.step(previous[rows, 3], moved.state).logits
        whole = decoder(previous, encoded)
    gap = max(difference(moved.logits, whole[rows, 2]), difference(again, whole[rows, 3]))
    return judged("state rows", gap, CLOSE, "rows of a state can be reordered and repeated, as beam search does")


def decoder_weights(decoder: Any, encoded: Encoded) -> Finding:
    """Weights are 0 on padding, and those of a step do not depend on later steps."""
    if not decoder.attends:
        return not_applicable("weights", "it has no attention")
    previous = some_target(decoder)
    with torch.no_grad():
        weights = decoder.weights(previous, encoded)  # (B, L, H, T, N)
        prefix = decoder.weights(previous[:, :2], encoded)
    hidden = ~encoded.valid[:, None, None, None].expand_as(weights)
    moved, gap = difference(prefix, weights[..., :2, :]), float(weights[hidden].abs().sum())
    gap = gap if moved <= CLOSE else max(gap, moved)
    return judged("weights", gap, EXACT, "0 on padding, and independent of later steps")


def some_target(decoder: nn.Module) -> Tensor:
    """Target tokens (B, T), each row its own."""
    with seeded(3):
        return tokens_of(vocabulary_of(decoder), least=4)(ROWS, TARGET)
