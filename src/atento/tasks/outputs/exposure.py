"""Exposure bias: what an encoder–decoder loses when it goes on from its own tokens instead of the true ones."""

from collections.abc import Sequence

import torch

from atento.data.examples.batches import like_lengths
from atento.data.text.levels import prepare
from atento.data.text.vocabulary import END
from atento.decoding.greedy import log_probabilities
from atento.metrics.language_model import TokenMatches, match_rates, match_tokens
from atento.models.translator import TranslationBatch, Translator
from atento.tasks.inputs.input import E, EncoderDecoderInput, on_device
from atento.tasks.outputs.output import Example, Output
from atento.tasks.outputs.sequence_loss import SPECIAL_TOKENS
from atento.tasks.task import Answer, TextExample

TextOutput = Output[EncoderDecoderInput[E], E, list[int], TranslationBatch, Translator]


def measure_exposure(
    module: Translator,
    input: EncoderDecoderInput[E],
    output: TextOutput[E],
    questions: Sequence[TextExample],
    answers: Sequence[Answer],
) -> dict[str, dict[str, float]]:
    """Token accuracy and exact match of the same questions, each step `forced` after the true tokens, and `free` after
    the model's own; of several references the one that agrees best.
    """
    asked = [(place, reference) for place, question in enumerate(questions) for reference in question.references]
    examples = [
        Example(input.encode(questions[place].source), output.encode(prepare(reference, lower=False)))
        for place, reference in asked
    ]
    forced: list[list[TokenMatches]] = [[] for _ in questions]
    free: list[list[TokenMatches]] = [[] for _ in questions]
    for (place, _), example, written in zip(asked, examples, next_tokens(module, input, output, examples), strict=True):
        truth = [*example.target, END]
        forced[place].append(match_tokens(written, truth))
        free[place].append(match_tokens([*output.encode(answers[place].text), END], truth))
    return {"forced": match_rates(best_of(forced)), "free": match_rates(best_of(free))}


@torch.no_grad()
def next_tokens(
    module: Translator, input: EncoderDecoderInput[E], output: TextOutput[E], examples: Sequence[Example[E, list[int]]]
) -> list[list[int]]:
    """The most probable token after each true beginning of each target."""
    found: dict[int, list[int]] = {}
    lengths = [output.length(input, example) for example in examples]
    for places in like_lengths(lengths, batch_tokens=input.at_once):
        batch = on_device(output.batch(input, [examples[place] for place in places]), module)
        encoded = module.encode(batch.source, batch.source_valid)
        best = log_probabilities(module.decoder(batch.previous, encoded), SPECIAL_TOKENS).argmax(dim=-1)
        for place, row in zip(places, best.tolist(), strict=True):
            found[place] = row[: len(examples[place].target) + 1]
    return [found[place] for place in range(len(examples))]


def best_of(matches: Sequence[Sequence[TokenMatches]]) -> list[TokenMatches]:
    """The best match of each question."""
    return [max(some, key=lambda one: one.share) for some in matches]
