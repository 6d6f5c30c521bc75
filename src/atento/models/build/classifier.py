"""Classifiers by the names of a recipe.

A name is FAMILY[+SCORE][+DISTRIBUTION][+EXTENT][+hierarchical] as in `atento.models.names`. A recurrent classifier
pools its states by the composition; in a Transformer the composition is its self-attention, and
`model.summary=attention` pools its states. A hierarchical one reads the words of each sentence, then the sentences, and
sums both up by the composition of a recurrent name, else by additive attention. Several labels may have a network each:
`+one-each`.

Classifiers of numeric sequences, and writers of text from numeric frames, by the names of a recipe.
A name is FAMILY[+SCORE][+DISTRIBUTION][+EXTENT] as in `atento.models.names`: a recurrent classifier pools its states by
the composition, in a Transformer it is the self-attention. A transcriber is ENCODER/DECODER, or one name for both.
`model.patch` steps are read together; 0 and 1: each by itself.
"""

from atento.attention.presets import Composition
from atento.blocks.hierarchical import Hierarchical, Reader, RecurrentReader
from atento.blocks.pooling import AttentionPooling
from atento.blocks.transformer import TransformerStack
from atento.errors import InputError
from atento.layers.embeddings import TokenEmbedding
from atento.models.backbones.hierarchical import HierarchicalEncoder, PlacedReader, RunsOfWords
from atento.models.backbones.numbers import PatchedNumbers, build_number_encoder
from atento.models.build.encoder_decoder import build_decoder, build_encoder, cells_of
from atento.models.build.one_sided import (
    HeadMaker,
    attention_pooling,
    one_part,
    require_defaults,
    require_no_linformer,
    without_suffix,
)
from atento.models.build.recurrent import require_even
from atento.models.build.transformer import ADDED, own_layers
from atento.models.classifier import Classifier, OneEach
from atento.models.heads import LabelHead
from atento.models.names import ModelName, ModelPart, require_encoder_decoder
from atento.models.protocols import Encoder
from atento.models.translator import Translator
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


NO_LINFORMER = "linformer needs the longest length, which numbers do not have yet"


def build_series_classifier(recipe: ModelRecipe, channels: int, labels: int) -> Classifier:
    """Reads numeric sequences and says one of so many labels of each."""
    part = one_part(ModelName.parse(recipe.name), "a classifier")
    require_defaults(recipe, "handover", "attend", "runs")
    encoder = patched_encoder(part, recipe, channels)
    return Classifier(encoder, LabelHead(encoder.size, labels), pooling=pooling_of(part, recipe, encoder.size))


def build_transcriber(recipe: ModelRecipe, channels: int, vocabulary_size: int) -> Translator:
    """Reads numeric frames and writes tokens of such a vocabulary."""
    name = ModelName.parse(recipe.name)
    require_encoder_decoder(name)
    require_no_linformer(name.decoder, recipe.name, NO_LINFORMER)
    if recipe.summary == "attention":
        raise InputError(
            "model.summary=attention pools the states of a classifier.",
            found="model.summary=attention",
            fix="leave it out, or take last, mean or max",
        )
    encoder = patched_encoder(name.encoder, recipe, channels)
    return Translator(encoder, build_decoder(name.decoder, recipe, vocabulary_size, source_size=encoder.size))


def patched_encoder(part: ModelPart, recipe: ModelRecipe, channels: int) -> Encoder:
    """An encoder of any family over so many channels, step by step or patch by patch."""
    require_no_linformer(part, recipe.name, NO_LINFORMER)
    attends = recipe.summary == "attention"  # a pooling sums up, not the encoder
    read = recipe.model_copy(update={"summary": "auto"}) if attends else recipe
    patch = max(1, recipe.patch)
    encoder = build_number_encoder(part, read, channels * patch)
    return encoder if patch == 1 else PatchedNumbers(channels, patch, encoder)
