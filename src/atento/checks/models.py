"""Contracts of classifiers, taggers, language models, word embedders, and matchers of texts and images."""

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from atento.checks.attention_parts import why_side_matters
from atento.checks.decoders import NUMBERS, check_image_rows, decoder_cache, some_images, state_rows
from atento.checks.finding import Finding
from atento.checks.sequences import NOT_FUTURE, check_sequence
from atento.checks.subject import (
    ROWS,
    Draw,
    Outputs,
    Subject,
    check_laws,
    exact_copy,
    numbers_of,
    seeded,
    tokens_of,
    vocabulary_of,
    widths_that_fit,
)
from atento.models.backbones.images import ImageEncoder, all_valid
from atento.models.backbones.numbers import PatchedNumberEncoder
from atento.models.backbones.words import WordEmbedding
from atento.models.classifier import Classifier, LabelledBatch
from atento.models.embedder import SPECIAL_TOKENS, NextWord, SkipGram, WordsBatch
from atento.models.ensemble import AnyJudge, JudgeEnsemble, first_network, whole_taggers
from atento.models.image_matcher import ImageMatcher, ImageQuestionBatch
from atento.models.language_model import LanguageModel, MaskedLanguageModel, TextBatch
from atento.models.matcher import OVERLAPS, MatchBatch, Matcher
from atento.models.tagger import SequenceLabeller

# Axes: B rows, T time, N time of the other sequence, V vocabulary, M valid tokens.

LETTERS = 5  # of the longest word
OTHER = 5  # tokens of the other sequence
QUESTION = 5  # tokens
OF_IMAGES = ("batch order", "neighbours")
ONLY_HERE, SAME = OVERLAPS.index("only here"), OVERLAPS.index("the same there")


def check_judges(module: JudgeEnsemble[Any]) -> list[Finding]:
    """The contracts of an ensemble of many-to-one models, which are those of its members."""
    match first_network(module):
        case Matcher():
            return check_matcher(module)
        case ImageMatcher():
            return check_image_matcher(module)
    return check_classifier(module)


def check_classifier(module: AnyJudge[Classifier]) -> list[Finding]:
    """The contracts of a classifier of tokens, numbers or images, also with one network for each label."""
    network = first_network(module)
    if isinstance(network.encoder, ImageEncoder):
        return [found for found in check_image_rows(module, outputs_of) if found.contract in NOT_FUTURE]
    draw = drawing(network.encoder)

    def read(one: nn.Module, values: Tensor, valid: Tensor) -> Outputs:
        return Outputs(whole=one(LabelledBatch(values, valid, valid)))

    return check_sequence(Subject(module, read, draw, side_matters=why_side_matters(module)), only=NOT_FUTURE)


def outputs_of(module: nn.Module, pixels: Tensor) -> Tensor:
    """The outputs of the head for images (B, 3, S, S)."""
    valid = all_valid(pixels)
    return module(LabelledBatch(pixels, valid, valid))


def check_tagger(module: SequenceLabeller) -> list[Finding]:
    """The contracts of a tagger: outputs for each step, and of a CRF also log Z for each row."""

    def read(one: Any, values: Tensor, valid: Tensor) -> Outputs:
        items = one.scores(values, valid)
        return Outputs(items, None if one.chain is None else one.chain.log_partition(items, valid=valid))

    encoder = whole_taggers(module)[0].encoder
    subject = Subject(module, read, drawing(encoder), side_matters=why_side_matters(module))
    return check_sequence(subject, only=NOT_FUTURE)


def check_language_model(module: LanguageModel) -> list[Finding]:
    """The contracts of a language model: logits of the next token, in one pass and step by step."""
    draw, empty = tokens_of(vocabulary_of(module), least=4), exact_copy(module).empty_source(ROWS)

    def read(one: nn.Module, tokens: Tensor, valid: Tensor) -> Outputs:
        return Outputs(items=in_places(one(TextBatch(tokens, tokens, valid)), valid))

    laws = {"cache": partial(decoder_cache, encoded=empty), "state rows": partial(state_rows, encoded=empty)}
    subject = Subject(module, read, draw, side_matters=why_side_matters(module))
    return check_sequence(subject) + check_laws(module.decoder, laws)


def in_places(logits: Tensor, valid: Tensor) -> Tensor:
    """Logits (M, V) of the valid tokens as (B, T, V), with zeros at padding."""
    return logits.new_zeros(*valid.shape, logits.size(-1)).masked_scatter(valid.unsqueeze(-1), logits)


def check_masked_model(module: MaskedLanguageModel) -> list[Finding]:
    """The contracts of a masked language model: logits for each token."""

    def read(one: Any, tokens: Tensor, valid: Tensor) -> Outputs:
        return Outputs(items=one.to_logits(one.encoder.encode(tokens, valid).states))

    subject = Subject(module, read, drawing(module.encoder), side_matters=why_side_matters(module))
    return check_sequence(subject, only=NOT_FUTURE)


def drawing(encoder: nn.Module) -> Draw:
    """A function that draws inputs of an encoder: tokens, words with letters, or numbers of its width."""
    words = next((part for part in encoder.modules() if isinstance(part, WordEmbedding)), None)
    if words is not None:
        return words_of(words)
    vocabulary = vocabulary_of(encoder)
    if vocabulary:
        return tokens_of(vocabulary, least=getattr(encoder, "end", 4))  # the end of a sentence too, where it is read
    if isinstance(encoder, PatchedNumberEncoder):
        return numbers_of(encoder.channels)
    copy: Any = exact_copy(encoder)

    def attempt(size: int) -> None:
        copy.encode(torch.zeros(1, 2, size, dtype=torch.float64), torch.ones(1, 2, dtype=torch.bool))

    (size,) = widths_that_fit(copy, attempt, sizes=1)
    return numbers_of(size)


def words_of(embedding: WordEmbedding) -> Draw:
    """A function that draws words (B, N, 1 + L): a number and some letters, 0 after the last."""
    alphabet = 5 if embedding.characters is None else embedding.characters.alphabet

    def draw(rows: int, time: int) -> Tensor:
        words = tokens_of(embedding.table.num_embeddings, least=4)(rows, time)
        letters = torch.randint(1, alphabet, (rows, time, LETTERS))
        spelled = torch.arange(LETTERS) < torch.randint(1, LETTERS + 1, (rows, time, 1))
        return torch.cat([words.unsqueeze(-1), letters * spelled], dim=-1)

    return draw


def check_embedder(module: SkipGram | NextWord) -> list[Finding]:
    """The contracts of a model of word embeddings: scores of every word for each token."""

    def read(one: nn.Module, tokens: Tensor, valid: Tensor) -> Outputs:
        return Outputs(items=in_places(one(WordsBatch(tokens, valid)), valid))

    return check_sequence(Subject(module, read, tokens_of(vocabulary_of(module), least=SPECIAL_TOKENS)))


def check_matcher(module: AnyJudge[Matcher]) -> list[Finding]:
    """The contracts of a matcher: each of its two sequences in turn is padded and changed."""
    draw = tokens_of(vocabulary_of(module), least=4)
    with seeded(2):
        other = draw(1, OTHER)

    def read(one: nn.Module, values: Tensor, valid: Tensor) -> Outputs:
        batch = match_batch(values, valid, other.expand(len(values), -1))
        return Outputs(whole=torch.cat([one(batch), one(batch.swapped())], dim=-1))

    subject = Subject(module, read, draw, side_matters=why_side_matters(module, ahead=module))
    return check_sequence(subject, only=NOT_FUTURE)


def match_batch(values: Tensor, valid: Tensor, other: Tensor) -> MatchBatch:
    """A batch of both sequences; the overlap at padding is arbitrary."""
    shared = values.unsqueeze(-1) == other.unsqueeze(-2)  # (B, T, N)
    overlap = overlap_of(shared.any(dim=-1))
    other_overlap = overlap_of((shared & valid.unsqueeze(-1)).any(dim=-2))
    whole = torch.ones_like(other, dtype=torch.bool)
    return MatchBatch(values, valid, overlap, other, whole, other_overlap, torch.zeros(len(values), dtype=torch.long))


def overlap_of(shared: Tensor) -> Tensor:
    """Whether the other sequence has a token too, as a number of OVERLAPS."""
    return torch.where(shared, SAME, ONLY_HERE)


def check_image_matcher(module: AnyJudge[ImageMatcher]) -> list[Finding]:
    """The contracts of a matcher of images and questions: of its questions, then of its images."""
    questions = first_network(module).question_encoder
    draw = tokens_of(vocabulary_of(questions), least=4)
    with seeded(2):
        image, words = some_images(torch.randn(1, NUMBERS, dtype=torch.float64)), draw(1, QUESTION)

    def read(one: nn.Module, tokens: Tensor, valid: Tensor) -> Outputs:
        return Outputs(whole=one(asked(image.expand(len(tokens), -1, -1, -1), tokens, valid)))

    def outputs(one: nn.Module, pixels: Tensor) -> Tensor:
        tokens = words.expand(len(pixels), -1)
        return one(asked(pixels, tokens, torch.ones_like(tokens, dtype=torch.bool)))

    subject = Subject(module, read, draw, side_matters=why_side_matters(questions))
    reading = check_sequence(subject, only=NOT_FUTURE)
    images = [found for found in check_image_rows(module, outputs) if found.contract in OF_IMAGES]
    return [*reading, *(found._replace(contract=f"{found.contract}, images") for found in images)]


def asked(pixels: Tensor, tokens: Tensor, valid: Tensor) -> ImageQuestionBatch:
    """A batch of images and questions with arbitrary labels."""
    return ImageQuestionBatch(pixels, tokens, valid, torch.zeros(len(tokens), dtype=torch.long))
