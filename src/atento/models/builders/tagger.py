"""Taggers from a recipe, by names FAMILY[+SCORE][+DISTRIBUTION][+EXTENT][+crf][+wide].

In a Transformer the composition is its self-attention; a recurrent tagger has none. With `crf` the tags of a sequence
are predicted jointly. With `wide` a linear model of word features stands beside the network.
"""

from typing import NamedTuple

import torch

from atento.errors import InputError
from atento.layers.crf import LinearChainCRF, Transitions
from atento.layers.embeddings import PositionedEmbedding
from atento.metrics.tags import OUTSIDE, is_valid_transition
from atento.models.backbones.recurrent import RecurrentEncoder
from atento.models.backbones.transformer import TransformerEncoder
from atento.models.backbones.words import CharacterEncoder, WordEmbedding
from atento.models.builders.choices import (
    OF_LANGUAGE_MODELS,
    HeadMaker,
    one_part,
    require_defaults,
    require_no_attention,
    without_suffix,
)
from atento.models.builders.encoder_decoder import build_encoder
from atento.models.heads import LabelHead
from atento.models.names import ModelName
from atento.models.protocols import Encoder
from atento.models.tagger import Tagger
from atento.models.wide_words import WideWords
from atento.spec import ModelRecipe

CHAIN, WIDE = "crf", "wide"
MOST_FEATURES = 100_000  # of a wide part
MOST_WEIGHTS = 10_000_000  # of all tags: 40 MB


class Tagset(NamedTuple):
    """The tags, and the scheme of spans that they follow, e.g. BIO; empty: none."""

    tags: tuple[str, ...]
    scheme: str


def build_tagger(recipe: ModelRecipe, vocabulary_size: int, head: HeadMaker, width: int) -> Tagger:
    """A tagger of token sequences with `width` outputs for each token."""
    part = one_part(ModelName.parse(recipe.name), "a tagger")
    require_no_attention(
        part, recipe.name, "a recurrent tagger predicts from the state of each step, without attention"
    )
    require_defaults(recipe, "pooling", "context", "attend", *OF_LANGUAGE_MODELS)
    encoder = build_encoder(part, recipe, vocabulary_size)
    return Tagger(encoder, head(encoder.size, width))


def build_word_tagger(recipe: ModelRecipe, vocabulary_size: int, alphabet: int, tagset: Tagset) -> Tagger:
    """A tagger of words, with model.characters also of their characters: sources (B, N, 1 + L)."""
    deep, width = without_suffix(recipe, WIDE), len(tagset.tags)
    plain = without_suffix(deep, CHAIN)
    tagger = build_tagger(plain, vocabulary_size, LabelHead, width)
    embed_words(tagger.encoder, recipe, vocabulary_size, alphabet)
    chain = LinearChainCRF(width, allowed=allowed_in(tagset)) if plain.name != deep.name else None
    capacity = max(1, min(MOST_FEATURES, MOST_WEIGHTS // width))
    wide = WideWords(alphabet, width, capacity=capacity) if deep.name != recipe.name else None
    return Tagger(tagger.encoder, tagger.head, chain=chain, wide=wide)


def embed_words(encoder: Encoder, recipe: ModelRecipe, vocabulary_size: int, alphabet: int) -> None:
    """Replace the encoder's token embedding by one of words with characters."""
    characters = character_encoder(recipe, alphabet)
    if isinstance(encoder, RecurrentEncoder):
        encoder.embedding = WordEmbedding(
            vocabulary_size, recipe.hidden, characters=characters, scaled=True, dropout=recipe.dropout
        )
    elif isinstance(encoder, TransformerEncoder) and isinstance(encoder.embedding, PositionedEmbedding):
        encoder.embedding.tokens = WordEmbedding(vocabulary_size, recipe.hidden, characters=characters)
    else:
        raise InputError(
            f"model {recipe.name!r} does not read words.",
            found=type(encoder).__name__,
            fix="name another family, e.g. lstm",
        )


def character_encoder(recipe: ModelRecipe, alphabet: int) -> CharacterEncoder | None:
    """The character encoder that model.characters asks for."""
    width = recipe.characters
    if width % 2:
        raise InputError(
            "model.characters must be even: characters are read in both directions, each half as wide.",
            found=f"model.characters={width}",
            fix=f"--set model.characters={width + 1}",
        )
    return CharacterEncoder(alphabet, width, dropout=recipe.dropout) if width else None


def allowed_in(tagset: Tagset) -> Transitions | None:
    """The tags that the scheme allows at both ends and in sequence; None without a scheme."""
    tags, scheme = tagset
    if not scheme:
        return None
    return Transitions(
        torch.tensor([is_valid_transition(scheme, OUTSIDE, tag) for tag in tags]),
        torch.tensor([[is_valid_transition(scheme, before, tag) for tag in tags] for before in tags]),
        torch.tensor([is_valid_transition(scheme, tag, OUTSIDE) for tag in tags]),
    )
