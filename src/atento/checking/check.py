"""Which contracts apply to what."""

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.attention.distributions import Distribution
from atento.attention.extents import Extent
from atento.attention.heads import MultiHead
from atento.attention.scores import Score
from atento.blocks.transformer import DecoderLayer, EncoderLayer
from atento.checking.attentions import check_attention, check_heads
from atento.checking.autoencoders import check_autoencoder
from atento.checking.by_signature import check_any
from atento.checking.decoders import check_decoder, check_encoder
from atento.checking.distributions import check_distribution
from atento.checking.embedders import check_embedder
from atento.checking.finding import Checked, Finding
from atento.checking.forecasters import check_forecaster
from atento.checking.layers import check_decoder_layer, check_encoder_layer
from atento.checking.matchers import check_matcher
from atento.checking.one_sided import check_classifier, check_language_model, check_masked_model, check_tagger
from atento.checking.parts import check_extent, check_score
from atento.checking.picture_matchers import check_picture_matcher
from atento.checking.recurrences import check_cell, check_stack
from atento.checking.subject import chance
from atento.checking.translators import check_translator
from atento.errors import InputError
from atento.models.autoencoder import Autoencoder
from atento.models.classifier import Classifier, OneEach
from atento.models.forecaster import Forecaster
from atento.models.language_model import LanguageModel
from atento.models.masked import MaskedModel
from atento.models.matcher import Matcher
from atento.models.next_word import NextWord
from atento.models.picture_matcher import PictureMatcher
from atento.models.protocols import Decoder, Encoder
from atento.models.skip_gram import SkipGram
from atento.models.tagger import Tagger
from atento.models.translator import Translator
from atento.recurrent.cells import Cell
from atento.recurrent.stack import Stack

KINDS: dict[type[nn.Module], Callable[[Any], list[Finding]]] = {
    Attention: check_attention,
    MultiHead: check_heads,
    Distribution: check_distribution,
    Score: check_score,
    Extent: check_extent,
    Cell: check_cell,
    Stack: check_stack,
    EncoderLayer: check_encoder_layer,
    DecoderLayer: check_decoder_layer,
    Encoder: check_encoder,
    Decoder: check_decoder,
    Translator: check_translator,
    Classifier: check_classifier,
    OneEach: check_classifier,
    Tagger: check_tagger,
    Matcher: check_matcher,
    PictureMatcher: check_picture_matcher,
    LanguageModel: check_language_model,
    MaskedModel: check_masked_model,
    Forecaster: check_forecaster,
    Autoencoder: check_autoencoder,
    SkipGram: check_embedder,
    NextWord: check_embedder,
}


def check(module: nn.Module, *, values: Tensor | None = None, causal: bool = False) -> Checked:
    """Every contract that applies to a module, run on float64 copies of it.

    A module of ours is known by its kind; any other is called as forward(values, valid) -> values, with random
    numbers of the width it reads, or like the example `values`; `causal`: its outputs must not know later items.
    """
    if not isinstance(module, nn.Module):
        raise InputError(
            "check takes a torch module.", found=type(module).__name__, fix="give a module, e.g. run.module"
        )
    known = next((kind for kind in KINDS if isinstance(module, kind)), None) if values is None else None
    with chance():  # none is taken from the caller
        findings = check_any(module, values=values, causal=causal) if known is None else KINDS[known](module)
    return Checked(type(module).__name__, findings)
