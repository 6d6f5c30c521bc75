"""Contracts of encoders, decoders and translators: source padding, the future of the target, cache, weights.

Contracts of models that read pictures: none of them is padded, and no neighbour in a batch may matter.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from atento.checks.finding import CLOSE, EXACT, Finding, apart, aside, judged, tried
from atento.checks.parts import why_sided
from atento.checks.sequences import FUTURE, SEQUENCES, check_sequence
from atento.checks.subject import (
    ROWS,
    TIME,
    Outputs,
    Subject,
    chance,
    exact_copy,
    numbers_of,
    ragged,
    tokens_of,
    vocabulary_of,
    widths_that_fit,
)
from atento.layers.masking import clean, masked_mean
from atento.models.backbones.images import PictureEncoder, all_there
from atento.models.protocols import Decoder, Encoded, Encoder, reorder

# Axes: B rows, S side.

SIDE = 16
NUMBERS = 3 * SIDE * SIDE
NOT_PADDED = "a picture has no padding"
NOT_IN_TIME = "a picture is seen at once"


def some_pictures(values: Tensor) -> Tensor:
    """Numbers (B, T, D) as pixels (B, 3, S, S)."""
    return values.flatten(1)[:, :NUMBERS].reshape(-1, 3, SIDE, SIDE)


def check_seeing(module: nn.Module, outputs: Callable[[Any, Tensor], Tensor]) -> list[Finding]:
    """The contracts of rows; `outputs` is of a module and pixels (B, 3, S, S), a row each."""

    def view(one: nn.Module) -> Subject:
        def read(values: Tensor, valid: Tensor) -> Outputs:
            return Outputs(whole=outputs(one, some_pictures(values)))

        draw = numbers_of(-(-NUMBERS // TIME))
        return Subject(one, read, draw, over=view, masks=NOT_PADDED, sided=NOT_PADDED, causal=NOT_IN_TIME)

    return check_sequence(module, view)


# Axes: B rows, N source time, T target time, V vocabulary, D size.

TARGET = 5
NOT_AHEAD = [name for name in SEQUENCES if name not in FUTURE]
READS_ALL = "an encoder reads the whole source"


def check_encoder(module: Encoder) -> list[Finding]:
    """Tokens in, a state a token and a summary out; or pixels in, a state a region."""
    if isinstance(module, PictureEncoder):
        return check_seeing(module, lambda one, pixels: one.encode(pixels, all_there(pixels)).states)

    def view(one: nn.Module) -> Subject:
        def read(tokens: Tensor, valid: Tensor) -> Outputs:
            encoded = one.encode(tokens, valid)  # type: ignore[operator]
            return Outputs(encoded.states, encoded.summary)

        draw = tokens_of(vocabulary_of(one), least=4)
        return Subject(one, read, draw, over=view, sided=why_sided(module), causal=READS_ALL)

    return check_sequence(module, view)


def check_decoder(module: Decoder[Any], *, source_size: int = 0) -> list[Finding]:
    """Over a source of random states; then over the target it writes."""
    size = source_size or width_of_source(module)

    def over_source(one: nn.Module) -> Subject:
        def read(states: Tensor, valid: Tensor) -> Outputs:
            encoded = Encoded(states, valid, masked_mean(clean(states, valid), valid))
            return Outputs(whole=one(written(one, len(states)), encoded))

        return Subject(one, read, numbers_of(size), over=over_source, sided=why_sided(module, ahead=module))

    def over_target(one: nn.Module) -> Subject:
        def read(previous: Tensor, valid: Tensor) -> Outputs:
            return Outputs(items=one(previous, some_source(size, len(previous))))

        return Subject(one, read, tokens_of(vocabulary_of(one), least=4), over=over_target, masks="it is not told")

    laws = {"cache": decoder_cache, "state rows": state_rows, "weights": decoder_weights}
    return [
        *check_sequence(module, over_source, only=NOT_AHEAD),
        *check_sequence(module, over_target, only=FUTURE),
        *(tried(name, partial(law, exact_copy(module), some_source(size))) for name, law in laws.items()),
    ]


def width_of_source(module: Decoder[Any]) -> int:
    """The width of states that it can read."""
    decoder = exact_copy(module)
    (size,) = widths_that_fit(decoder, lambda width: decoder(written(decoder, ROWS), some_source(width)), sizes=1)
    return size


def written(module: nn.Module, rows: int) -> Tensor:
    """Target tokens (B, T) as a decoder reads them, alike in every row."""
    with chance(1):
        return tokens_of(vocabulary_of(module), least=4)(1, TARGET).expand(rows, -1)


def some_source(size: int, rows: int = ROWS) -> Encoded:
    """Encoded sources of unequal lengths."""
    with chance(2):
        states, valid = torch.randn(ROWS, TIME, size, dtype=torch.float64)[:rows], ragged()[:rows]
    return Encoded(states, valid, masked_mean(states, valid))


def decoder_cache(decoder: Any, encoded: Encoded) -> Finding:
    """One token at a time from a cache, all at once, and each prefix anew."""
    previous, state, logits, anew = some_target(decoder), decoder.start(encoded), [], []
    with torch.no_grad():
        parallel = decoder(previous, encoded)
        for at in range(TARGET):
            step = decoder.step(previous[:, at], state)
            state = step.state
            logits.append(step.logits)
            anew.append(decoder(previous[:, : at + 1], encoded)[:, -1])
    gap = max(apart(torch.stack(one, dim=1), parallel) for one in (logits, anew))
    return judged("cache", gap, CLOSE, "steps from a cache = each prefix anew = all steps at once")


def state_rows(decoder: Any, encoded: Encoded) -> Finding:
    """A beam moves rows about, and finished ones leave: what stays goes on as before."""
    previous, rows = some_target(decoder), torch.tensor([2, 0, 2, 1])
    with torch.no_grad():
        state = decoder.start(encoded)
        for at in range(2):
            state = decoder.step(previous[:, at], state).state
        moved = decoder.step(previous[rows, 2], reorder(state, rows))
        again = decoder.step(previous[rows, 3], moved.state).logits
        whole = decoder(previous, encoded)
    gap = max(apart(moved.logits, whole[rows, 2]), apart(again, whole[rows, 3]))
    return judged("state rows", gap, CLOSE, "rows of a state can be picked and repeated, as a beam does")


def decoder_weights(decoder: Any, encoded: Encoded) -> Finding:
    """Nothing on padding, and each step's weights the same whatever comes after it."""
    if not decoder.attends:
        return aside("weights", "it has no attention")
    previous = some_target(decoder)
    with torch.no_grad():
        weights = decoder.weights(previous, encoded)  # (B, L, H, T, N)
        prefix = decoder.weights(previous[:, :2], encoded)
    hidden = ~encoded.valid[:, None, None, None].expand_as(weights)
    moved = apart(prefix, weights[..., :2, :])
    gap = float(weights[hidden].abs().sum())
    return judged("weights", gap if moved <= CLOSE else max(gap, moved), EXACT, "0 on padding, and of their own step")


def some_target(decoder: nn.Module) -> Tensor:
    """Target tokens (B, T), each row its own."""
    with chance(3):
        return tokens_of(vocabulary_of(decoder), least=4)(ROWS, TARGET)
