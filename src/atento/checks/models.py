"""Contracts of models of one half: a classifier and a tagger only read, a language model only writes.

Contracts of models that learn vectors of words: what they foresee of each word of a text.
Contracts of a matcher: each of its two sequences in turn is padded, moved and changed beside the other.
Contracts of a matcher of pictures: its questions are padded, moved and changed beside one picture.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from atento.checks.decoders import NUMBERS, check_seeing, decoder_cache, some_pictures, state_rows
from atento.checks.finding import Finding, tried
from atento.checks.parts import why_sided
from atento.checks.sequences import FUTURE, SEQUENCES, check_sequence
from atento.checks.subject import (
    ROWS,
    Outputs,
    Subject,
    chance,
    exact_copy,
    numbers_of,
    tokens_of,
    vocabulary_of,
    widths_that_fit,
)
from atento.models.backbones.images import PictureEncoder, all_there
from atento.models.backbones.numbers import PatchedNumbers
from atento.models.classifier import Classifier, LabelledBatch, OneEach
from atento.models.embedder import MARKS, NextWord, SkipGram, WordsBatch
from atento.models.image_matcher import PictureMatcher, PictureQuestions
from atento.models.language_model import LanguageModel, MaskedModel, TextBatch
from atento.models.matcher import ECHOES, MatchBatch, Matcher
from atento.models.tagger import Tagger, WordEmbedding

# Axes: B rows, N time, V vocabulary, M real tokens.

LETTERS = 5  # of the longest word
READING = [name for name in SEQUENCES if name not in FUTURE]


def check_classifier(module: Classifier | OneEach) -> list[Finding]:
    """Tokens, numbers or pictures in, outputs of the head, or of one head a label, for each row."""
    if isinstance(module, Classifier) and isinstance(module.encoder, PictureEncoder):
        return [found for found in check_seeing(module, outputs_of) if found.contract in READING]
    draw = drawing((module if isinstance(module, Classifier) else module.each()[0]).encoder)

    def view(one: Any) -> Subject:
        def read(values: Tensor, valid: Tensor) -> Outputs:
            return Outputs(whole=one(LabelledBatch(values, valid, valid)))

        return Subject(one, read, draw, over=view, sided=why_sided(module))

    return check_sequence(module, view, only=READING)


def outputs_of(module: Any, pixels: Tensor) -> Tensor:
    """What the head says of pictures (B, 3, S, S)."""
    there = all_there(pixels)
    said: Tensor = module(LabelledBatch(pixels, there, there))
    return said


def check_tagger(module: Tagger) -> list[Finding]:
    """Tokens, words or numbers in, outputs of the head for each step, of a chain also log Z for each row."""
    draw = drawing(module.encoder)

    def view(one: Any) -> Subject:
        def read(values: Tensor, valid: Tensor) -> Outputs:
            items = one.head(one.encoder.encode(values, valid).states)
            return Outputs(items, None if one.chain is None else one.chain.log_partition(items, valid=valid))

        return Subject(one, read, draw, over=view, sided=why_sided(module))

    return check_sequence(module, view, only=READING)


def check_language_model(module: LanguageModel) -> list[Finding]:
    """Tokens in, for each what may come next; then one at a time."""
    draw = tokens_of(vocabulary_of(module), least=4)

    def view(one: nn.Module) -> Subject:
        def read(tokens: Tensor, valid: Tensor) -> Outputs:
            logits = one(TextBatch(tokens, tokens, valid))  # (M, V)
            items = logits.new_zeros(*valid.shape, logits.size(-1)).masked_scatter(valid.unsqueeze(-1), logits)
            return Outputs(items=items)

        return Subject(one, read, draw, over=view, sided=why_sided(module))

    copy = exact_copy(module)
    laws: dict[str, Callable[..., Finding]] = {"cache": decoder_cache, "state rows": state_rows}
    own = [tried(name, partial(law, exact_copy(module).decoder, copy.begin(ROWS))) for name, law in laws.items()]
    return [*check_sequence(module, view), *own]


def check_masked_model(module: MaskedModel) -> list[Finding]:
    """Tokens in, for each what stands in its place."""
    draw = drawing(module.encoder)

    def view(one: Any) -> Subject:
        def read(tokens: Tensor, valid: Tensor) -> Outputs:
            return Outputs(items=one.to_logits(one.encoder.encode(tokens, valid).states))

        return Subject(one, read, draw, over=view, sided=why_sided(module))

    return check_sequence(module, view, only=READING)


def drawing(encoder: nn.Module) -> Callable[[int, int], Tensor]:
    """Tokens where it has a table of them, words with letters where it reads those, else numbers of its width."""
    words = next((part for part in encoder.modules() if isinstance(part, WordEmbedding)), None)
    if words is not None:
        return words_of(words)
    vocabulary = vocabulary_of(encoder)
    if vocabulary:
        return tokens_of(vocabulary, least=getattr(encoder, "end", 4))  # the end of a sentence too, where it is read
    if isinstance(encoder, PatchedNumbers):
        return numbers_of(encoder.channels)
    copy: Any = exact_copy(encoder)

    def attempt(size: int) -> None:
        copy.encode(torch.zeros(1, 2, size, dtype=torch.float64), torch.ones(1, 2, dtype=torch.bool))

    (size,) = widths_that_fit(copy, attempt, sizes=1)
    return numbers_of(size)


def words_of(embedding: WordEmbedding) -> Callable[[int, int], Tensor]:
    """Draws words (B, N, 1 + L): a number and some letters, 0 after the last."""
    alphabet = 5 if embedding.letters is None else embedding.letters.alphabet

    def draw(rows: int, time: int) -> Tensor:
        words = tokens_of(embedding.table.num_embeddings, least=4)(rows, time)
        letters = torch.randint(1, alphabet, (rows, time, LETTERS))
        spelled = torch.arange(LETTERS) < torch.randint(1, LETTERS + 1, (rows, time, 1))
        return torch.cat([words.unsqueeze(-1), letters * spelled], dim=-1)

    return draw


def check_embedder(module: SkipGram | NextWord) -> list[Finding]:
    """Tokens in, for each the scores of every word in its place, from those before."""
    draw = tokens_of(vocabulary_of(module), least=MARKS)

    def view(one: nn.Module) -> Subject:
        def read(tokens: Tensor, valid: Tensor) -> Outputs:
            scores: Any = one(WordsBatch(tokens, valid))  # (M, V)
            items = scores.new_zeros(*valid.shape, scores.size(-1)).masked_scatter(valid.unsqueeze(-1), scores)
            return Outputs(items=items)

        return Subject(one, read, draw, over=view)

    return check_sequence(module, view)


# Axes: B rows, T time, N time of the other sequence.

OTHER = 5
ONLY_HERE, SAME = ECHOES.index("only here"), ECHOES.index("the same there")


def check_matcher(module: Matcher) -> list[Finding]:
    """Tokens in, outputs of the head for each row, beside another sequence on either side."""
    draw = tokens_of(vocabulary_of(module), least=4)
    with chance(2):
        other = draw(1, OTHER)

    def view(one: Any) -> Subject:
        def read(values: Tensor, valid: Tensor) -> Outputs:
            batch = beside(values, valid, other.expand(len(values), -1))
            return Outputs(whole=torch.cat([one(batch), one(batch.swapped())], dim=-1))

        return Subject(one, read, draw, over=view, sided=why_sided(module, ahead=module))

    return check_sequence(module, view, only=READING)


def beside(values: Tensor, valid: Tensor, other: Tensor) -> MatchBatch:
    """A batch of both; echoes at padding are left as they come."""
    shared = values.unsqueeze(-1) == other.unsqueeze(-2)  # (B, T, N)
    echo = echo_of(shared.any(dim=-1))
    other_echo = echo_of((shared & valid.unsqueeze(-1)).any(dim=-2))
    whole = torch.ones_like(other, dtype=torch.bool)
    return MatchBatch(values, valid, echo, other, whole, other_echo, torch.zeros(len(values), dtype=torch.long))


def echo_of(shared: Tensor) -> Tensor:
    """The echo of tokens that the other sequence has, or has not."""
    return torch.where(shared, SAME, ONLY_HERE)


# Axes: B rows, N words.

WORDS = 5
OF_PICTURES = ("batch order", "neighbours")


def check_picture_matcher(module: PictureMatcher) -> list[Finding]:
    """Questions in beside a picture, outputs of the head for each row; then pictures in beside a question."""
    draw = tokens_of(vocabulary_of(module.reader), least=4)
    with chance(2):
        picture, words = some_pictures(torch.randn(1, NUMBERS, dtype=torch.float64)), draw(1, WORDS)

    def view(one: Any) -> Subject:
        def read(tokens: Tensor, valid: Tensor) -> Outputs:
            pixels = picture.expand(len(tokens), -1, -1, -1)
            return Outputs(whole=one(asked(pixels, tokens, valid)))

        return Subject(one, read, draw, over=view, sided=why_sided(module.reader))

    def outputs(one: Any, pixels: Tensor) -> Tensor:
        tokens = words.expand(len(pixels), -1)
        said: Tensor = one(asked(pixels, tokens, torch.ones_like(tokens, dtype=torch.bool)))
        return said

    reading = check_sequence(module, view, only=READING)
    seeing = [found for found in check_seeing(module, outputs) if found.contract in OF_PICTURES]
    return [*reading, *(found._replace(contract=f"{found.contract}, pictures") for found in seeing)]


def asked(pixels: Tensor, tokens: Tensor, valid: Tensor) -> PictureQuestions:
    """Pairs whose answers nobody knows."""
    return PictureQuestions(pixels, tokens, valid, torch.zeros(len(tokens), dtype=torch.long))
