"""Taggers by the names of a recipe: FAMILY[+SCORE][+DISTRIBUTION][+EXTENT][+crf].

In a Transformer the composition is its self-attention; a recurrent tagger has none. With `crf` tags are judged
together."""

from typing import NamedTuple

import torch

from atento.errors import InputError
from atento.layers.crf import Allowed, LinearChain
from atento.layers.embeddings import PlacedEmbedding
from atento.metrics.tags import OUTSIDE, may_follow
from atento.models.backbones.recurrent import RecurrentEncoder
from atento.models.backbones.transformer import TransformerEncoder
from atento.models.build.encoder_decoder import build_encoder
from atento.models.build.one_sided import HeadMaker, one_part, require_defaults, require_no_attention, without_suffix
from atento.models.heads import LabelHead
from atento.models.names import ModelName
from atento.models.protocols import Encoder
from atento.models.tagger import LetterReader, Tagger, WordEmbedding
from atento.spec import ModelRecipe

CHAIN = "crf"


class Tagset(NamedTuple):
    """The tags there are, and the scheme of spans that they keep; empty: none."""

    tags: tuple[str, ...]
    scheme: str


def build_tagger(recipe: ModelRecipe, vocabulary_size: int, head: HeadMaker, width: int) -> Tagger:
    """Reads sequences of tokens and says `width` outputs of each step."""
    part = one_part(ModelName.parse(recipe.name), "a tagger")
    require_no_attention(part, recipe.name, "a recurrent tagger says of each step what its state says")
    require_defaults(recipe, "summary", "handover", "attend")
    encoder = build_encoder(part, recipe, vocabulary_size)
    return Tagger(encoder, head(encoder.size, width))


def build_word_tagger(recipe: ModelRecipe, vocabulary_size: int, alphabet: int, tagset: Tagset) -> Tagger:
    """Reads words, with model.characters also their letters, and says one tag of each: sources (B, N, 1 + L)."""
    plain, width = without_suffix(recipe, CHAIN), len(tagset.tags)
    tagger = build_tagger(plain, vocabulary_size, LabelHead, width)
    read_words(tagger.encoder, recipe, vocabulary_size, alphabet)
    if plain.name != recipe.name:
        tagger = Tagger(tagger.encoder, tagger.head, chain=LinearChain(width, allowed=allowed_in(tagset)))
    return tagger


def read_words(encoder: Encoder, recipe: ModelRecipe, vocabulary_size: int, alphabet: int) -> None:
    """The encoder's tokens become words with letters."""
    letters = LetterReader(alphabet, recipe.characters, dropout=recipe.dropout) if recipe.characters else None
    if isinstance(encoder, RecurrentEncoder):
        encoder.embedding = WordEmbedding(
            vocabulary_size, recipe.hidden, letters=letters, loud=True, dropout=recipe.dropout
        )
    elif isinstance(encoder, TransformerEncoder) and isinstance(encoder.embedding, PlacedEmbedding):
        encoder.embedding.tokens = WordEmbedding(vocabulary_size, recipe.hidden, letters=letters)
    else:
        raise InputError(
            f"model {recipe.name!r} reads no words.", found=type(encoder).__name__, fix="name another family, e.g. lstm"
        )


def allowed_in(tagset: Tagset) -> Allowed | None:
    """What the scheme allows at both ends and between; None where there is no scheme."""
    tags, scheme = tagset
    if not scheme:
        return None
    return Allowed(
        torch.tensor([may_follow(scheme, OUTSIDE, tag) for tag in tags]),
        torch.tensor([[may_follow(scheme, before, tag) for tag in tags] for before in tags]),
        torch.tensor([may_follow(scheme, tag, OUTSIDE) for tag in tags]),
    )
