"""`check`: every contract that applies to a module.

Our own modules are known by their class (`KINDS`). Any other is called by the signature of its forward: (values,
valid) -> values, or as one of torch's sequence modules.
"""

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.attention.distributions.distributions import Distribution
from atento.attention.extents.extents import Extent
from atento.attention.heads import MultiHead
from atento.attention.scores.product import Score
from atento.blocks.transformer import TransformerDecoderLayer, TransformerEncoderLayer
from atento.checks.attention import check_attention, check_heads
from atento.checks.attention_parts import check_distribution, check_extent, check_score, why_side_matters
from atento.checks.decoders import check_decoder, check_encoder
from atento.checks.finding import Checked, Finding
from atento.checks.layers import check_decoder_layer, check_encoder_layer
from atento.checks.models import (
    check_classifier,
    check_embedder,
    check_image_matcher,
    check_judges,
    check_language_model,
    check_masked_model,
    check_matcher,
    check_tagger,
)
from atento.checks.recurrent import check_cell, check_stack
from atento.checks.sequences import check_sequence
from atento.checks.series import check_autoencoder, check_forecaster
from atento.checks.subject import (
    ROWS,
    TIME,
    Draw,
    Outputs,
    Subject,
    exact_copy,
    numbers_of,
    seeded,
    tokens_of,
    vocabulary_of,
)
from atento.checks.translators import check_translator
from atento.errors import InputError
from atento.lines import lines_of
from atento.models.autoencoder import Autoencoder
from atento.models.classifier import Classifier, OneVsRest
from atento.models.embedder import NextWord, SkipGram
from atento.models.ensemble import JudgeEnsemble
from atento.models.forecaster import ForecastModel
from atento.models.image_matcher import ImageMatcher
from atento.models.language_model import LanguageModel, MaskedLanguageModel
from atento.models.matcher import Matcher
from atento.models.protocols import Decoder, Encoder
from atento.models.tagger import SequenceLabeller
from atento.models.translator import Translator
from atento.recurrent.cells import Cell
from atento.recurrent.stack import Stack

EXPECTED = (
    "forward(values, valid) -> values: values (B, T, D) or tokens (B, T), valid (B, T), True where an item is real"
)
MASKS = {"valid", "src_key_padding_mask", "key_padding_mask"}
UNMASKED = "its forward has no argument `valid`, so padding cannot be masked"
NOT_SAID_CAUSAL = "not declared causal: pass causal=True if outputs must not depend on later items"
SIZES = ("size", "input_size", "embed_dim", "d_model", "in_features")  # where modules keep the width they read


def check_any(module: nn.Module, *, values: Tensor | None, causal: bool) -> list[Finding]:
    """Every contract of sequences, for a module of any class."""
    draw, per_item = understood(exact_copy(module), values)
    unmasked = "" if MASKS & set(parameters(module)) else UNMASKED
    ahead = "" if causal and per_item else NOT_SAID_CAUSAL if per_item else "it gives one output for each row"

    def read(one: nn.Module, values: Tensor, valid: Tensor) -> Outputs:
        found = called(one, values, valid)
        return Outputs(items=found) if per_item else Outputs(whole=found)

    sided = why_side_matters(module)
    return check_sequence(Subject(module, read, draw, unmasked=unmasked, side_matters=sided, not_causal=ahead))


def understood(module: nn.Module, values: Tensor | None) -> tuple[Draw, bool]:
    """How to draw its inputs, and whether it gives an output for each item; an error where no input fits."""
    problems = []
    for draw in [like(values)] if values is not None else guesses(module):
        try:
            return draw, gives_items(module, draw)
        except Exception as error:  # noqa: BLE001 - it is reported when no other input fits either
            problems.append(f"{type(error).__name__}: {(lines_of(str(error)) or [''])[0][:200]}")
    raise InputError(
        f"{type(module).__name__} cannot be checked: it cannot be called with values and a mask of valid items.",
        found=problems[0],
        fix=f"write {EXPECTED}; or give an example: atento.check(module, values=torch.randn(3, 7, width))",
    )


def like(values: Tensor) -> Draw:
    """Inputs like the example: numbers of its width, or tokens of its range."""
    if values.dim() != (3 if values.is_floating_point() else 2):
        raise InputError(
            "check: values must be numbers (rows, time, width) or tokens (rows, time).",
            found=f"{values.dtype} of shape {tuple(values.shape)}",
            fix="give, e.g., values=torch.randn(3, 7, 16)",
        )
    return numbers_of(values.size(-1)) if values.is_floating_point() else tokens_of(int(values.max()) + 1)


def guesses(module: nn.Module) -> list[Draw]:
    """Inputs to try: tokens for an embedding; else numbers of a width among its attributes or its weights."""
    vocabulary = vocabulary_of(module)
    if vocabulary:
        return [tokens_of(vocabulary, least=4)]
    named = [getattr(part, name, None) for part in module.modules() for name in SIZES]
    sizes = [size for size in named if isinstance(size, int) and size > 0]
    sizes += [size for weight in module.parameters() for size in weight.shape]
    return [numbers_of(size) for size in dict.fromkeys([*sizes, 8])]


def called(module: nn.Module, values: Tensor, valid: Tensor) -> Any:
    """A call of the module with its own kind of mask: `valid`, or torch's masks, where True means padding."""
    theirs = type(module).__module__.startswith("torch.")
    time_first = theirs and any(getattr(part, "batch_first", True) is False for part in module.modules())
    masks = {name: valid if name == "valid" else ~valid for name in MASKS & set(parameters(module))}
    values = values.transpose(0, 1) if time_first else values
    several = [values] * 3 if isinstance(module, nn.MultiheadAttention) else [values]
    found = module(*several, **masks)
    first = found[0] if isinstance(found, tuple) else found
    return first.transpose(0, 1) if time_first else first


def parameters(module: nn.Module) -> dict[str, inspect.Parameter]:
    """The arguments of a module's forward."""
    return dict(inspect.signature(module.forward).parameters)


def gives_items(module: nn.Module, draw: Draw) -> bool:
    """Whether the module gives an output for each item, not one for each row."""
    shapes = []
    for time in (TIME, TIME - 2):
        with torch.no_grad():
            found = called(module, draw(ROWS, time), torch.ones(ROWS, time, dtype=torch.bool))
        shapes.append(tuple(found.shape))
    if any(len(shape) < 2 or shape[0] != ROWS for shape in shapes):
        raise ValueError(f"an output of shape {shapes[0]} for {ROWS} rows: the first axis must be the rows")
    return [shape[1] for shape in shapes] == [TIME, TIME - 2]


KINDS: dict[type[nn.Module], Callable[[Any], list[Finding]]] = {
    Attention: check_attention,
    MultiHead: check_heads,
    Distribution: check_distribution,
    Score: check_score,
    Extent: check_extent,
    Cell: check_cell,
    Stack: check_stack,
    TransformerEncoderLayer: check_encoder_layer,
    TransformerDecoderLayer: check_decoder_layer,
    Encoder: check_encoder,
    Decoder: check_decoder,
    Translator: check_translator,
    Classifier: check_classifier,
    OneVsRest: check_classifier,
    JudgeEnsemble: check_judges,
    SequenceLabeller: check_tagger,
    Matcher: check_matcher,
    ImageMatcher: check_image_matcher,
    LanguageModel: check_language_model,
    MaskedLanguageModel: check_masked_model,
    ForecastModel: check_forecaster,
    Autoencoder: check_autoencoder,
    SkipGram: check_embedder,
    NextWord: check_embedder,
}


def check(module: nn.Module, *, values: Tensor | None = None, causal: bool = False) -> Checked:
    """Every contract that applies to a module, run on float64 copies of it.

    A module of ours is known by its class; any other is called as forward(values, valid) -> values, with random
    numbers of the width it reads, or like the example `values`; `causal`: outputs must not depend on later items.
    """
    if not isinstance(module, nn.Module):
        raise InputError(
            "check takes a torch module.", found=type(module).__name__, fix="give a module, e.g. run.module"
        )
    known = next((kind for kind in KINDS if isinstance(module, kind)), None) if values is None else None
    with seeded():  # the caller's generator is not used
        findings = check_any(module, values=values, causal=causal) if known is None else KINDS[known](module)
    return Checked(type(module).__name__, findings)
