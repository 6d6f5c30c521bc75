"""Classifiers by the names of a recipe.

A name is FAMILY[+SCORE][+DISTRIBUTION][+EXTENT][+hierarchical] as in `atento.models.names`. A recurrent classifier
pools its states by the composition; in a Transformer the composition is its self-attention, and
`model.summary=attention` pools its states. A hierarchical one reads the words of each sentence, then the sentences, and
sums both up by the composition of a recurrent name, else by additive attention. Several labels may have a network each:
`+one-each`.
"""

from atento.attention.presets import Composition
from atento.blocks.hierarchical import Hierarchical, Reader, RecurrentReader
from atento.blocks.pooling import AttentionPooling
from atento.blocks.stack import TransformerStack
from atento.layers.embeddings import TokenEmbedding
from atento.models.build import build_encoder, cells_of
from atento.models.build_one_sided import (
    HeadMaker,
    attention_pooling,
    one_part,
    require_defaults,
    require_no_linformer,
    without_suffix,
)
from atento.models.build_recurrent import require_even
from atento.models.build_transformer import ADDED, own_layers
from atento.models.classifier import Classifier, OneEach
from atento.models.hierarchical import HierarchicalEncoder, PlacedReader
from atento.models.names import ModelName, ModelPart
from atento.models.runs_of_words import RunsOfWords
from atento.recurrent.stack import Stack
from atento.spec import ModelRecipe

HIERARCHICAL, ONE_EACH = "hierarchical", "one-each"
END = 3  # the token that stands between sentences, as in every vocabulary
POOLING = Composition("additive")


def build_classifier(recipe: ModelRecipe, vocabulary_size: int, head: HeadMaker, width: int) -> Classifier:
    """Reads sequences of tokens and says `width` outputs of each, e.g. `LabelHead` and the number of labels."""
    plain = without_suffix(recipe, HIERARCHICAL)
    part = one_part(ModelName.parse(plain.name), "a classifier")
    require_defaults(plain, "handover", "attend")
    if plain.name != recipe.name:
        encoder = hierarchical_encoder(part, plain, vocabulary_size)
        return Classifier(encoder, head(encoder.size, width), runs=runs_of(recipe, width))
    attends = recipe.summary == "attention"
    read = build_encoder(part, recipe.model_copy(update={"summary": "auto"}) if attends else recipe, vocabulary_size)
    pooling = pooling_of(part, recipe, read.size)
    return Classifier(read, head(read.size, width), pooling=pooling, runs=runs_of(recipe, width))


def build_one_each(recipe: ModelRecipe, vocabulary_size: int, head: HeadMaker, width: int) -> OneEach:
    """A classifier of its own for each of the outputs, to compare with one for all."""
    return OneEach([build_classifier(recipe, vocabulary_size, head, 1) for _ in range(width)])


def build_label_sets(recipe: ModelRecipe, vocabulary_size: int, head: HeadMaker, width: int) -> Classifier | OneEach:
    """One network for all labels, or one each where the name says so."""
    plain = without_suffix(recipe, ONE_EACH)
    build = build_classifier if plain.name == recipe.name else build_one_each
    return build(plain, vocabulary_size, head, width)


def runs_of(recipe: ModelRecipe, width: int) -> RunsOfWords | None:
    """What short runs of words say of each output, where the recipe asks for them."""
    return RunsOfWords(recipe.runs, width, dropout=recipe.dropout) if recipe.runs else None


def pooling_of(part: ModelPart, recipe: ModelRecipe, size: int) -> AttentionPooling | None:
    """By the composition of a recurrent name, by additive attention where the recipe says attention, else none."""
    if part.family != "transformer" and part.attention is not None:
        require_no_linformer(part, recipe.name, "a pooling asks once, and there is nothing to save")
        return attention_pooling(part.attention, recipe, size)
    if recipe.summary == "attention":
        return attention_pooling(POOLING, recipe.model_copy(update={"summary": "auto"}), size)
    return None


def hierarchical_encoder(part: ModelPart, recipe: ModelRecipe, vocabulary_size: int) -> HierarchicalEncoder:
    """Two readers of the family, one for words and one for sentences, and a pooling above each."""
    require_defaults(recipe, "summary")
    require_no_linformer(part, recipe.name, "sentences are short, and there is nothing to save")
    recurrent = part.family != "transformer"
    composition = part.attention or POOLING if recurrent else POOLING
    poolings = [attention_pooling(composition, recipe, recipe.hidden) for _ in range(2)]
    readers = [
        recurrent_reader(part, recipe) if recurrent else placed_reader(part, recipe, scaled=w) for w in (True, False)
    ]
    levels = Hierarchical(readers[0], poolings[0], readers[1], poolings[1])
    embedding = TokenEmbedding(vocabulary_size, recipe.hidden, dropout=recipe.dropout)
    return HierarchicalEncoder(embedding, levels, size=recipe.hidden, end=END, dropout=recipe.dropout)


def recurrent_reader(part: ModelPart, recipe: ModelRecipe) -> Reader:
    """In both directions each is half as wide."""
    require_even(recipe)
    width, both = recipe.hidden // recipe.directions, recipe.directions == 2
    cells = cells_of(part.family, recipe)
    return RecurrentReader(
        Stack(cells, recipe.hidden, width, layers=recipe.layers, bidirectional=both, dropout=recipe.dropout)
    )


def placed_reader(part: ModelPart, recipe: ModelRecipe, *, scaled: bool) -> Reader:
    """Self-attention of the composition; words are scaled as in any Transformer, sentences are not."""
    layers = own_layers(part.compose(), recipe, causal=recipe.directions == 1)
    positions = ADDED.get(recipe.positions, ADDED["none"])(recipe)
    return PlacedReader(positions, TransformerStack(layers), scale=recipe.hidden**0.5 if scaled else 1.0)
