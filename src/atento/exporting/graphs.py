"""The graphs that a model is exported as: modules with plain tensors in and out, and inputs of any size to check them.

A network that answers in one pass is one graph. A decoder is two: one that reads the source and the first token, and
one step, whose state goes in and comes out; searches run outside. Sizes that may differ from call to call are found by
comparing inputs of two sizes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from atento.data.text.vocabulary import END, START
from atento.errors import InputError
from atento.models.autoencoder import Autoencoder
from atento.models.classifier import LabelledBatch
from atento.models.embedder import NextWord, SkipGram
from atento.models.forecaster import ForecastModel
from atento.models.image_matcher import ImageQuestionBatch
from atento.models.language_model import LanguageModel, MaskedLanguageModel
from atento.models.matcher import OVERLAPS, MatchBatch
from atento.models.protocols import Judge
from atento.models.tagger import SequenceLabeller
from atento.models.translator import Translator
from atento.recurrent.unroll import map_state
from atento.tasks.inputs.image import Image
from atento.tasks.inputs.image_question import ImageQuestion
from atento.tasks.inputs.numbers import Numbers
from atento.tasks.inputs.two_texts import TwoTexts
from atento.tasks.inputs.words import WordList

# Axes: B rows, N length of a source, T tokens, V vocabulary, C channels, L look-back, H horizon, K covariates.

LETTERS = 3  # of the shortest word in a batch of words

Sample = Callable[[int, int], tuple[Tensor, ...]]  # rows, length -> inputs of that size


@dataclass(frozen=True)
class Graph:
    """A module with tensors in and out, the names of both, and its inputs for any number of rows and any length."""

    name: str
    module: nn.Module
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    sample: Sample


class Called(nn.Module):
    """A function of a module and of tensors as a module of its own."""

    def __init__(self, module: nn.Module, call: Callable[..., Any]) -> None:
        super().__init__()
        self.module, self.call = module, call

    def forward(self, *tensors: Tensor) -> Any:
        """What the function gives."""
        return self.call(self.module, *tensors)


def graphs_of(module: nn.Module, codec: Any) -> list[Graph]:
    """The graphs of a trained model, whose inputs are made as its codec makes them."""
    half = getattr(codec, "input", None)
    match module:
        case SequenceLabeller():
            call = Called(module, lambda tagger, source, valid: tagger.scores(source, valid))
            return [Graph("model", call, ("source", "valid"), ("scores",), sources_like(half))]
        case Translator():
            one = padded(len(half.vocabulary)) if isinstance(half, TwoTexts) else sources_like(half)  # one sequence
            return decoder_graphs(module, ("source", "valid"), one, read_source)
        case LanguageModel():
            vocabulary = len(codec.vocabulary)
            return decoder_graphs(module, ("tokens",), lambda rows, length: (tokens(rows, length, vocabulary),), read)
        case MaskedLanguageModel():
            call = Called(module, lambda model, *source: model.to_logits(model.encoder.encode(*source).states))
            return [Graph("model", call, ("tokens", "valid"), ("logits",), padded(len(codec.vocabulary)))]
        case SkipGram() | NextWord():
            return embedding_graphs(module, len(codec.vocabulary))
        case ForecastModel():
            return [forecast_graph(module)]
        case Autoencoder():
            return window_graphs(module)
        case Judge():
            return [judge_graph(module, half)]
    raise InputError(
        f"a {type(module).__name__} cannot be exported.",
        found=type(module).__name__,
        fix="use the run itself: atento predict RUN FILE",
    )


def judge_graph(module: nn.Module, half: Any) -> Graph:
    """A network that gives outputs (B, C) for whole sources."""
    batch: Any = LabelledBatch
    names: tuple[str, ...] = ("source", "valid")
    if isinstance(half, TwoTexts):
        names, batch = MatchBatch._fields[:-1], MatchBatch
    elif isinstance(half, ImageQuestion):
        names, batch = ImageQuestionBatch._fields[:-1], ImageQuestionBatch
    call = Called(module, lambda network, *tensors: network(batch(*tensors, tensors[0])))  # the truth is not read
    return Graph("model", call, names, ("outputs",), sources_like(half))


def decoder_graphs(module: nn.Module, names: tuple[str, ...], sample: Sample, first: Callable[..., Any]) -> list[Graph]:
    """`first` reads what is given and returns logits and a state; `step` reads one token after it.

    Parts of the state that no step changes are outputs of the first graph alone.
    """
    with torch.no_grad():
        logits, like = first(module, *sample(2, 3))
        after = module.decoder.step(logits.flatten(0, -2)[:2].argmax(-1), like).state  # type: ignore[union-attr, operator]
    pairs = list(zip(tensors_of(like), tensors_of(after), strict=True))
    changed = [at for at, (before, then) in enumerate(pairs) if then is not before]
    states = tuple(f"state_{at}" for at in range(len(pairs)))

    def begin(model: Any, *given: Tensor) -> list[Tensor]:
        logits, state = first(model, *given)
        return [logits, *tensors_of(state)]

    def step(model: Any, token: Tensor, *given: Tensor) -> list[Tensor]:
        logits, state = model.decoder.step(token, rebuilt(like, given))
        parts = tensors_of(state)
        return [logits, *(parts[at] for at in changed)]

    @torch.no_grad()
    def sample_step(rows: int, length: int) -> tuple[Tensor, ...]:
        logits, state = first(module, *sample(rows, length))
        for _ in range(length % 4 + 1):
            token = torch.randint(END, logits.size(-1), (rows,))
            _, state = module.decoder.step(token, state)  # type: ignore[union-attr, operator]
        parts = [part.clone() for part in tensors_of(state)]  # torch.export takes one given twice for one input
        return (torch.randint(END, logits.size(-1), (rows,)), *parts)

    return [
        Graph("first", Called(module, begin), names, ("logits", *states), sample),
        Graph(
            "step",
            Called(module, step),
            ("token", *states),
            ("logits", *(f"next_{states[at]}" for at in changed)),
            sample_step,
        ),
    ]


def read_source(model: Translator, source: Tensor, valid: Tensor) -> tuple[Tensor, Any]:
    """The logits (B, V) after the start token, and the state that it leaves."""
    encoded = model.encode(source, valid)
    start = torch.full_like(valid[:, 0], START, dtype=torch.long)
    return model.decoder.step(start, model.decoder.start(encoded))


def read(model: LanguageModel, tokens: Tensor) -> tuple[Tensor, Any]:
    """The logits (B, T, V) after each token of a text, and the state at its end."""
    features, state = model.resume(tokens, model.decoder.start(model.empty_source(tokens.size(0))))
    return model.decoder.to_logits(features), state


def tensors_of(state: Any) -> list[Tensor]:
    """The tensors of a nested state, in order."""
    found: list[Tensor] = []
    map_state(found.append, state)
    return found


def rebuilt(like: Any, tensors: Sequence[Tensor]) -> Any:
    """A state of that structure with other tensors."""
    rest = iter(tensors)
    return map_state(lambda part: next(rest), like)


def embedding_graphs(module: nn.Module, vocabulary: int) -> list[Graph]:
    """The vectors of words, and the scores of every word as the next one."""
    names, sample = ("tokens",), lambda rows, length: (tokens(rows, length, vocabulary),)
    return [
        Graph("vectors", Called(module, lambda model, words: model.embedding(words)), names, ("vectors",), sample),
        Graph("model", Called(module, lambda model, words: model.predict(words)), names, ("scores",), sample),
    ]


def forecast_graph(module: ForecastModel) -> Graph:
    """One pass: a window of the past to the horizon, (B, H, C, Q)."""
    channels, covariates, look_back, horizon = module.sizes

    def call(model: ForecastModel, past: Tensor, *known: Tensor) -> Tensor:
        return model(past, *(known or [past.new_zeros(past.size(0), look_back + horizon, 0)]))

    def sample(rows: int, length: int) -> tuple[Tensor, ...]:
        known = [torch.randn(rows, look_back + horizon, covariates)] if covariates else []
        return (torch.randn(rows, look_back, channels), *known)

    names = ("past", "known") if covariates else ("past",)
    return Graph("model", Called(module, call), names, ("forecast",), sample)


def window_graphs(module: Autoencoder) -> list[Graph]:
    """A window to its latent, and a latent to its window."""
    sizes = module.sizes
    with torch.no_grad():
        latent = module.encode(torch.zeros(1, sizes.look_back, sizes.channels)).size(1)
    windows = lambda rows, length: (torch.randn(rows, sizes.look_back, sizes.channels),)  # noqa: E731
    latents = lambda rows, length: (torch.randn(rows, latent),)  # noqa: E731
    return [
        Graph("encoder", Called(module, lambda model, values: model.encode(values)), ("values",), ("latent",), windows),
        Graph("decoder", Called(module, lambda model, given: model.decode(given)), ("latent",), ("values",), latents),
    ]


def sources_like(half: Any) -> Sample:
    """Batches of random sources as an input of a task makes them."""
    match half:
        case TwoTexts():
            return two_texts(len(half.vocabulary))
        case ImageQuestion():
            question, side = padded(len(half.vocabulary)), half.images.side
            return lambda rows, length: (torch.rand(rows, 3, side, side) * 2 - 1, *question(rows, length))
        case Image():
            side = half.images.side
            return lambda rows, length: (torch.rand(rows, 3, side, side) * 2 - 1, torch.ones(rows, 1) > 0)
        case Numbers():
            channels = len(half.channels)
            return lambda rows, length: (torch.randn(rows, length, channels), valid_rows(rows, length))
        case WordList():
            return words(*half.sizes)
    return padded(len(half.vocabulary))


def tokens(rows: int, length: int, vocabulary: int) -> Tensor:
    """Any tokens but padding, (B, N)."""
    return torch.randint(1, vocabulary, (rows, length))


def valid_rows(rows: int, length: int) -> Tensor:
    """Padding on the right, (B, N): the first row has none, the others have some where there is room."""
    lengths = torch.tensor([max(1, length - 2 * row) for row in range(rows)])
    return torch.arange(length) < lengths.unsqueeze(1)


def padded(vocabulary: int) -> Sample:
    """Tokens (B, N), 0 at padding, and valid (B, N)."""

    def sample(rows: int, length: int) -> tuple[Tensor, Tensor]:
        valid = valid_rows(rows, length)
        return tokens(rows, length, vocabulary).masked_fill(~valid, 0), valid

    return sample


def two_texts(vocabulary: int) -> Sample:
    """Both texts, of different lengths, with what each has of the other's words."""
    text = padded(vocabulary)

    def side(rows: int, length: int) -> tuple[Tensor, Tensor, Tensor]:
        numbers, valid = text(rows, length)
        return numbers, valid, torch.randint(1, len(OVERLAPS), (rows, length)).masked_fill(~valid, 0)

    return lambda rows, length: (*side(rows, length), *side(rows, length + 1))


def words(words: int, letters: int) -> Sample:
    """The number of each word, then those of its letters: (B, N, 1 + letters)."""

    def sample(rows: int, length: int) -> tuple[Tensor, Tensor]:
        valid = valid_rows(rows, length)
        spelled = torch.randint(1, letters, (rows, length, LETTERS + length % 5))
        both = torch.cat([tokens(rows, length, words).unsqueeze(-1), spelled], dim=-1)
        return both.masked_fill(~valid.unsqueeze(-1), 0), valid

    return sample
