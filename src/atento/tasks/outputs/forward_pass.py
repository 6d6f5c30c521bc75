"""One forward pass of a task that is an input × an output, ready for attention maps and attributions.

What is explained: the log-probability of the answer, of a label, of a set of labels, of tags or of a written text, or
the number that is estimated.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from atento.data.text.vocabulary import END, START, Vocabulary
from atento.data.text.words import split_words
from atento.decoding import Hypothesis
from atento.decoding.beam import BeamStep, beam
from atento.decoding.greedy import log_probabilities
from atento.layers.losses import at_least_float32
from atento.models.classifier import OneVsRest
from atento.models.diagnostics.attention_maps import MapPlace
from atento.models.ensemble import first_network, first_of
from atento.models.protocols import Encoded
from atento.models.tagger import SequenceLabeller
from atento.models.translator import Translator
from atento.spec import DecodeRecipe
from atento.tasks.inputs.image import Image
from atento.tasks.inputs.image_question import ImageQuestion
from atento.tasks.inputs.input import EncoderDecoderInput, Input, SourceView, on_device
from atento.tasks.inputs.map_places import encoder_places, of_members, places_of
from atento.tasks.inputs.numbers import Numbers
from atento.tasks.inputs.two_texts import TwoTexts
from atento.tasks.inputs.words import WordList
from atento.tasks.outputs.many_to_one import ManyToOneOutput
from atento.tasks.outputs.number import Number
from atento.tasks.outputs.one_label import OneLabel
from atento.tasks.outputs.output import Output
from atento.tasks.outputs.sequence_loss import SPECIAL_TOKENS
from atento.tasks.outputs.several_labels import SeveralLabels
from atento.tasks.outputs.tags import Tags
from atento.tasks.outputs.written_text import WrittenText
from atento.tasks.traces import ForwardPass, GeneratedToken, Generation, PartialOutput, TokenAlternative

# Axes: B batch, C outputs, N items of a source, T target time, V vocabulary, S side of an image, h and w regions.

ALTERNATIVES = 5  # most probable tokens shown in the place of one that was written
SHOWN_BEAM = 4  # texts that are followed where the recipe asks for no beam


def forward_pass(
    output: Output[Any, Any, Any, Any, Any], module: nn.Module, input: Input[Any], source: str, recipe: DecodeRecipe
) -> ForwardPass:
    """The pass of any pair of input and output."""
    if isinstance(output, ManyToOneOutput):
        return judging_pass(output, module, input, source, recipe)
    if isinstance(output, WrittenText) and isinstance(module, Translator) and isinstance(input, EncoderDecoderInput):
        return writing_pass(output, module, input, source, recipe)
    if isinstance(output, Tags) and isinstance(module, SequenceLabeller) and isinstance(input, WordList):
        return tagging_pass(output, module, input, source, recipe)
    raise TypeError(f"{type(output).__name__} has no forward pass to look into")


def judging_pass(
    output: ManyToOneOutput[Any, Any, Any, Any], module: Any, input: Any, source: str, recipe: DecodeRecipe
) -> ForwardPass:
    """A whole source to one label, several labels or a number."""
    ((_, batch, outputs),) = output.outputs(module, input, [source])
    (answer,) = output.answers(module, outputs)
    target, explained = target_of(output, outputs)
    numeric, alone = batch[0].is_floating_point(), isinstance(module, OneVsRest)
    reader = module.each()[int(outputs[0].argmax())] if alone else module

    def score(values: Tensor | None) -> Tensor:
        given = batch if values is None else type(batch)(values, *batch[1:])
        logits = at_least_float32(reader(given))
        return explained(logits.expand(-1, module.width) if alone else logits)

    view = view_of(input, module, source)
    return ForwardPass(
        score,
        target,
        places_of(input, module, source, answer.text, batch),
        tokens=attributed_tokens(input, source, view),
        text=answer.text,
        log_probability=answer.score,
        values=batch[0] if numeric else None,
        by_item=by_item(input, view) if numeric else None,
        image=view.image,
        reader=reader,
    )


def view_of(input: Any, module: Any, source: str) -> SourceView:
    """The labels of a source, and its image where it is one."""
    network = first_network(module)
    if isinstance(input, TwoTexts):
        first, second = input.tokens(source)
        return SourceView([*first, *second])
    if isinstance(input, ImageQuestion):
        return input.regions(network, source)
    return input.view(network.encoder, source)


def attributed_tokens(input: object, source: str, view: SourceView) -> list[str]:
    """What attributions are given for: tokens, steps of numbers, or regions, those of a question before them."""
    if isinstance(input, ImageQuestion):
        return [*input.tokens(source), *view.labels]
    return source.split() if isinstance(input, Numbers) else list(view.labels)


def by_item(input: object, view: SourceView) -> Callable[[Tensor], Tensor]:
    """Attributions of numbers (1, N, C) summed for each step, or of pixels (1, 3, S, S) for each region."""
    if isinstance(input, Image | ImageQuestion):
        return lambda values: region_sums(values[0].sum(dim=0), view.grid)
    return lambda values: values[0].sum(dim=-1)


def region_sums(pixels: Tensor, grid: tuple[int, int]) -> Tensor:
    """Pixels (S, S) summed over regions, row by row: (h·w,); each pixel belongs to one region."""
    rows, columns = (torch.arange(size) * parts // size for size, parts in zip(pixels.shape, grid, strict=True))
    region = (rows.unsqueeze(1) * grid[1] + columns).flatten().to(pixels.device)
    return pixels.new_zeros(grid[0] * grid[1]).index_add(0, region, pixels.flatten())


def target_of(output: object, outputs: Tensor) -> tuple[str, Callable[[Tensor], Tensor]]:
    """What of outputs (1, C) is explained, in words and as a function."""
    if isinstance(output, OneLabel):
        best = int(outputs[0].argmax())
        return f"log-probability of {output.labels[best]!r}", lambda logits: logits[0].log_softmax(dim=-1)[best]
    if isinstance(output, SeveralLabels):
        best = int(outputs[0].argmax())
        return f"log-probability of {output.labels[best]!r}", lambda logits: logsigmoid(logits[0, best])
    if isinstance(output, Number):
        scale = output.scale
        return "the estimate", lambda numbers: scale.mean + scale.std * numbers[0, 0]
    raise TypeError(f"{type(output).__name__} gives nothing that can be explained")


def tagging_pass(
    output: Tags, module: SequenceLabeller, input: WordList, source: str, recipe: DecodeRecipe
) -> ForwardPass:
    """A tag for each word."""
    (answer,) = output.answer(module, input, [source], recipe)
    words, valid = on_device(input.tensors([input.encode(source)]), module)
    with torch.no_grad():
        tags = module.predict(words, valid).labels

    def score(values: Tensor | None) -> Tensor:
        scores = at_least_float32(module.scores(words, valid))
        if module.chain is not None:
            return -module.chain.loss(scores, tags, valid=valid).total
        return scores.log_softmax(dim=-1).gather(2, tags.unsqueeze(-1)).sum()

    labels = split_words(source) or ["<unknown>"]
    tagged = [f"{word} {tag}" for word, tag in zip(split_words(source), answer.value, strict=True)] or labels
    places = of_members(module, [MapPlace(".encoder.", "encoder self-attention", "self", tagged, labels)])
    return ForwardPass(score, "log-probability of the tags", places, labels, answer.text, answer.score)


def writing_pass(
    output: WrittenText[Any],
    module: Translator,
    input: EncoderDecoderInput[Any],
    source: str,
    recipe: DecodeRecipe,
) -> ForwardPass:
    """A text of a source, token by token, with the alternatives at each step."""
    (best,) = output.write(module, input, [source], recipe)
    tensors = on_device(input.tensors([input.encode(source)]), module)
    previous = torch.tensor([[START, *best.tokens]], device=tensors.valid.device)
    target = torch.tensor([*best.tokens, END], device=previous.device)

    def logits_of(values: Tensor | None) -> Tensor:
        read = module.encode(tensors.source if values is None else values, tensors.valid)
        return log_probabilities(module.decoder(previous, read)[0], SPECIAL_TOKENS)  # (T, V)

    def score(values: Tensor | None) -> Tensor:
        return logits_of(values).gather(1, target.unsqueeze(1)).sum()

    encoder = first_of(module.encoder)
    view = input.view(encoder, source)
    written = [*output.vocabulary.tokens(best.tokens), "<end>"]

    @torch.no_grad()
    def generation() -> Generation:
        limit = recipe.max_tokens or output.limit.tokens(input.output_length(input.encode(source)))
        held, finished = follow_beam(module, module.encode(*tensors), output.vocabulary, recipe, limit)
        return Generation(generated_tokens(written, logits_of(None).exp(), output.vocabulary, held), finished)

    numeric = tensors.source.is_floating_point()
    return ForwardPass(
        score,
        "log-probability of the text",
        of_members(module, [*encoder_places(encoder, view, *tensors, ""), *decoder_places(view, written)]),
        tokens=source.split() if isinstance(input, Numbers) else view.labels,
        text=output.vocabulary.decode(best.tokens),
        log_probability=best.score,
        values=tensors.source if numeric else None,
        by_item=by_item(input, view) if numeric else None,
        image=view.image,
        generation=generation,
    )


def decoder_places(view: SourceView, written: Sequence[str]) -> list[MapPlace]:
    """What a decoder attends to: its own past, which begins with the start token, and the source."""
    past = ["<start>", *written[:-1]]
    over_source = MapPlace(
        ".cross_attention.", "cross-attention", "regions" if view.image else "cross", written, view.labels, view.grid
    )
    return [
        MapPlace(".decoder.layers.self_attention.", "decoder self-attention", "self", past, past),
        over_source,
        replace(over_source, part=".decoder.attention."),
        replace(over_source, part=".decoder.generator.attention."),
    ]


def generated_tokens(
    written: Sequence[str], probabilities: Tensor, vocabulary: Vocabulary, beams: Sequence[list[PartialOutput]]
) -> list[GeneratedToken]:
    """Each token written, with the most probable ones in its place by probabilities (T, V)."""
    best = probabilities.topk(min(ALTERNATIVES, probabilities.size(-1)), dim=-1)
    found = []
    for time, token in enumerate(written):
        names = ["<end>" if number == END else vocabulary.tokens([number])[0] for number in best.indices[time].tolist()]
        values = best.values[time].tolist()
        others = [TokenAlternative(name, value) for name, value in zip(names, values, strict=True)]
        found.append(GeneratedToken(token, others, beams[time] if time < len(beams) else []))
    return found


def follow_beam(
    module: Translator, read: Encoded, vocabulary: Vocabulary, recipe: DecodeRecipe, limit: int
) -> tuple[list[list[PartialOutput]], list[PartialOutput]]:
    """The texts that beam search holds after each token, and those it ends with, best first."""
    steps: list[BeamStep] = []
    (kept,) = beam(
        module.decoder,
        read,
        special_tokens=SPECIAL_TOKENS,
        max_tokens=[limit],
        width=recipe.beam if recipe.beam > 1 else SHOWN_BEAM,
        length_penalty=recipe.length_penalty,
        followed=steps,
    )

    def texts(held: Sequence[Hypothesis]) -> list[PartialOutput]:
        return [PartialOutput(vocabulary.decode(one.tokens), one.score) for one in held]

    return [texts(step) for step in steps], texts(kept)
