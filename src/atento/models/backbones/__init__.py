"""Encoders and decoders of every family.

- `recurrent`: RecurrentEncoder and the base of recurrent decoders; `recurrent_decoders`: without attention, with it
  after each step (Luong) and before each step (Bahdanau). `marginal_decoder`: exact hard attention. `copy_decoder`:
  a decoder that may copy source tokens.
- `transformer`: encoder, decoder and decoder-only Transformer.
- `hierarchical`: words, then sentences. `words`: word embeddings with characters.
- `numbers`: encoders of numeric sequences, by steps or patches. `images`: encoder of image regions.
"""

from atento.models.backbones.copy_decoder import CopyDecoder
from atento.models.backbones.hierarchical import HierarchicalEncoder
from atento.models.backbones.images import ImageEncoder, small_convolutions
from atento.models.backbones.marginal_decoder import MarginalDecoder
from atento.models.backbones.numbers import PatchedNumberEncoder, RecurrentNumberEncoder, TransformerNumberEncoder
from atento.models.backbones.recurrent import RecurrentDecoder, RecurrentEncoder
from atento.models.backbones.recurrent_decoders import BahdanauDecoder, FixedVectorDecoder, LuongDecoder
from atento.models.backbones.transformer import CausalTransformer, TransformerDecoder, TransformerEncoder
from atento.models.backbones.words import CharacterEncoder, WordEmbedding

__all__ = [
    "BahdanauDecoder",
    "CausalTransformer",
    "CharacterEncoder",
    "CopyDecoder",
    "FixedVectorDecoder",
    "HierarchicalEncoder",
    "ImageEncoder",
    "LuongDecoder",
    "MarginalDecoder",
    "PatchedNumberEncoder",
    "RecurrentDecoder",
    "RecurrentEncoder",
    "RecurrentNumberEncoder",
    "TransformerDecoder",
    "TransformerEncoder",
    "TransformerNumberEncoder",
    "WordEmbedding",
    "small_convolutions",
]
