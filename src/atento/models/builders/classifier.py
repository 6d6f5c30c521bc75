"""Text classifiers from a recipe, by names FAMILY[+SCORE][+DISTRIBUTION][+EXTENT][+hierarchical][+wide].

The composition of a recurrent classifier pools its states; that of a Transformer is its self-attention, and
`model.pooling=attention` pools its states. A hierarchical classifier encodes the words of each sentence, then the
sentences, and pools both by the composition of a recurrent name, else by additive attention. With `wide` a linear model
of n-grams stands beside the network.
"""

from atento.attention.presets import Composition
from atento.blocks.hierarchical import HierarchicalAttention
from atento.blocks.pooling import AttentionPooling
from atento.layers.embeddings import TokenEmbedding
from atento.models.backbones.hierarchical import HierarchicalEncoder
from atento.models.builders.choices import (
    OF_LANGUAGE_MODELS,
    HeadMaker,
    attention_pooling,
    one_part,
    require_defaults,
    require_no_linformer,
    state_pooling,
    without_suffix,
)
from atento.models.builders.encoder_decoder import build_encoder, family_of
from atento.models.classifier import Classifier, NGramFeatures
from atento.models.names import ModelName, ModelPart
from atento.models.wide import WideNGrams
from atento.spec import ModelRecipe

HIERARCHICAL, ONE_EACH, WIDE = "hierarchical", "one-each", "wide"
WIDE_NGRAM = 2  # words of the longest n-gram of a wide part
WIDE_CHARACTERS = 6  # the same of texts that are read by characters
FEW_TOKENS = 1000  # a vocabulary of fewer is one of characters
MOST_NGRAMS = 50_000  # of a wide part
MOST_WEIGHTS = 10_000_000  # of all labels: 40 MB
END = 3  # the token between sentences, in every vocabulary
ADDITIVE = Composition("additive")


def build_classifier(recipe: ModelRecipe, vocabulary_size: int, head: HeadMaker, width: int) -> Classifier:
    """A classifier of token sequences with `width` outputs, e.g. `LabelHead` and the number of labels."""
    deep = without_suffix(recipe, WIDE)
    plain = without_suffix(deep, HIERARCHICAL)
    part = one_part(ModelName.parse(plain.name), "a classifier")
    require_defaults(plain, "context", "attend", *OF_LANGUAGE_MODELS)
    ngrams = ngrams_of(recipe, width)
    wide = wide_ngrams(vocabulary_size, width) if deep.name != recipe.name else None
    if plain.name != deep.name:
        encoder = hierarchical_encoder(part, plain, vocabulary_size)
        return Classifier(encoder, head(encoder.size, width), ngrams=ngrams, wide=wide)
    read = build_encoder(part, encoder_recipe(deep), vocabulary_size)
    pooling = pooling_of(part, deep, read.size)
    return Classifier(read, head(read.size, width), pooling=pooling, ngrams=ngrams, wide=wide)


def wide_ngrams(vocabulary_size: int, width: int) -> WideNGrams:
    """An empty linear model of n-grams, as large as the vocabulary and the labels let it be."""
    longest = WIDE_CHARACTERS if vocabulary_size < FEW_TOKENS else WIDE_NGRAM
    capacity = max(1, min(MOST_NGRAMS, MOST_WEIGHTS // width))
    return WideNGrams(vocabulary_size, longest, width, capacity=capacity)


def ngrams_of(recipe: ModelRecipe, width: int) -> NGramFeatures | None:
    """The n-gram features that model.ngrams asks for."""
    return NGramFeatures(recipe.ngrams, width, dropout=recipe.dropout) if recipe.ngrams else None


def encoder_recipe(recipe: ModelRecipe) -> ModelRecipe:
    """The recipe of an encoder whose states are pooled by attention where model.pooling says so."""
    return recipe.model_copy(update={"pooling": "auto"}) if recipe.pooling == "attention" else recipe


def pooling_of(part: ModelPart, recipe: ModelRecipe, size: int) -> AttentionPooling | None:
    """The composition of a recurrent name, or additive attention for model.pooling=attention; else None."""
    pooling = state_pooling(part, recipe, size)
    if pooling is None and recipe.pooling == "attention":
        return attention_pooling(ADDITIVE, encoder_recipe(recipe), size)
    return pooling


def hierarchical_encoder(part: ModelPart, recipe: ModelRecipe, vocabulary_size: int) -> HierarchicalEncoder:
    """An encoder of the family for words and one for sentences, each with a pooling."""
    require_defaults(recipe, "pooling")
    require_no_linformer(part, recipe.name, "sentences are short, so that linformer would save nothing")
    composition = part.added_attention or ADDITIVE
    poolings = [attention_pooling(composition, recipe, recipe.hidden) for _ in range(2)]
    readers = [family_of(part).reader(part, recipe, scaled=words) for words in (True, False)]
    levels = HierarchicalAttention(readers[0], poolings[0], readers[1], poolings[1])
    embedding = TokenEmbedding(vocabulary_size, recipe.hidden, dropout=recipe.dropout)
    return HierarchicalEncoder(embedding, levels, size=recipe.hidden, end=END, dropout=recipe.dropout)
