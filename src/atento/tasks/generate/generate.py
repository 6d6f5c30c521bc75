"""The generate task: language models of plain text, by characters, words or subwords: complete, score, fill a blank.

Its explanations are the self-attention of a text and the matrices of one forward pass.
"""

import random
from collections.abc import Sequence
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from atento.baselines.kneser_ney import SEEN_TWICE, WORDS, KneserNeyText, character_kneser_ney
from atento.baselines.ngrams import CharacterNGram
from atento.data.examples.batches import sample_of
from atento.data.text.vocabulary import END, LosslessWords, Vocabulary
from atento.errors import InputError
from atento.metrics.language_model import (
    BITS_PER_CHARACTER,
    MASKED_NATS_PER_CHARACTER,
    NATS_PER_CHARACTER,
    WORD_PERPLEXITY,
)
from atento.metrics.metric import Metric
from atento.models.backbones.transformer import TransformerEncoder
from atento.models.builders.language_model import build_language_model, build_masked_model
from atento.models.diagnostics.attention_maps import MapPlace
from atento.models.ensemble import count_members, language_ensemble
from atento.models.interpolated import InterpolatedLanguageModel
from atento.models.language_model import LanguageModel, MaskedLanguageModel
from atento.spec import DecodeRecipe, ModelRecipe, TokensRecipe
from atento.tasks.generate.codec import TextCodec, prepare_text
from atento.tasks.generate.defaults import MODELS, defaults, sized
from atento.tasks.generate.scoring import calibrate, fill, has_blank, judge_texts, log_probabilities
from atento.tasks.generate.training import (
    TRUNCATED_BPTT,
    AnyTextBatch,
    TextModel,
    batch_rows,
    cut_windows,
    text_loss,
)
from atento.tasks.generate.writing import go_on
from atento.tasks.inputs.map_places import of_members
from atento.tasks.leaks import require_training_tokens
from atento.tasks.outputs.forward_pass import generated_tokens
from atento.tasks.outputs.written_text import PROBABLE, seeds_of
from atento.tasks.reading.text import DOCUMENTS
from atento.tasks.recognising.text import plain_text
from atento.tasks.task import (
    Answer,
    Answering,
    Baseline,
    Dataset,
    Defaults,
    ExtraBaseline,
    Judging,
    Learning,
    Pair,
    Reading,
    Task,
)
from atento.tasks.traces import Alignment, ForwardPass, Generation, TraceMatrix, trace_matrix

MOST_COUNTED = 5_000_000  # tokens
SHOWN = 48  # tokens of a text, the last ones
LOOKED_INTO = 128  # tokens of a text whose attention maps and attributions are shown, the last ones


def token_names(codec: TextCodec, tokens: Tensor) -> list[str]:
    """The tokens as text: the end token by name, a line break as a visible character."""
    names = codec.vocabulary.tokens(tokens.tolist())
    return [
        "<end>" if token == END else name.replace("\n", "⏎") for token, name in zip(tokens.tolist(), names, strict=True)
    ]


@torch.no_grad()
def self_attention(module: TextModel, row: Tensor) -> Tensor:
    """The self-attention weights of a row (N,): (L, H, N, N), of an ensemble one member after the other; of a recurrent
    model (0, 0, N, N).
    """
    tokens = row.unsqueeze(0).to(next(module.parameters()).device)
    if isinstance(module, LanguageModel) and module.decoder.attends:
        return module.decoder.weights(tokens, module.empty_source(1))[0].float().cpu()
    if isinstance(module, MaskedLanguageModel) and isinstance(module.encoder, TransformerEncoder):
        return module.encoder.weights(tokens, torch.ones_like(tokens, dtype=torch.bool))[0].float().cpu()
    return torch.zeros(0, 0, len(row), len(row))


@torch.no_grad()
def trace(module: TextModel, codec: TextCodec, source: str, recipe: DecodeRecipe) -> list[TraceMatrix]:
    """The tokens, states and attention weights of a text, and the most probable next (or masked) tokens."""
    row = codec.row(source, whole=False)[-SHOWN:]
    tokens = row.unsqueeze(0).to(next(module.parameters()).device)
    labels = token_names(codec, row)
    traces = [trace_matrix("tokens", "each token is a number", labels, row.unsqueeze(1).float(), columns=["number"])]
    if isinstance(module, MaskedLanguageModel):
        states = module.encoder.encode(tokens, torch.ones_like(tokens, dtype=torch.bool)).states[0]
        logits, asked = module.to_logits(states), "what stands in this place?"
    else:
        states = module.decoder.features(tokens, module.empty_source(1))[0]
        logits, asked = module.decoder.to_logits(states), "what comes next?"
    count = count_members(module)
    states_of = "one vector per token" if count == 1 else f"one vector per token, those of {count} members side by side"
    traces.append(trace_matrix("states", states_of, labels, states, made_of=["tokens"]))
    for layer, heads in enumerate(self_attention(module, row)):
        for head, matrix in enumerate(heads):
            title = f"weights, layer {layer + 1}, head {head + 1}"
            traces.append(trace_matrix(title, "softmax(q · k / √d)", labels, matrix, columns=labels))
    best = logits.softmax(dim=-1).topk(min(PROBABLE, logits.size(-1)), dim=-1)
    for place, label in enumerate(labels):
        names = token_names(codec, best.indices[place].cpu())
        title = f"step {place + 1}: at {label!r}, {asked}"
        probable = best.values[place][None]
        traces.append(trace_matrix(title, "softmax of the logits", ["p"], probable, columns=names, made_of=["states"]))
    return traces


def build(recipe: ModelRecipe, codec: TextCodec) -> TextModel:
    """A language model with the sizes that follow from the data."""
    if codec.objective == "masked":
        return build_masked_model(recipe, len(codec.vocabulary))
    return build_language_model(recipe, len(codec.vocabulary), order=codec.ngram_order)


def join(models: Sequence[TextModel]) -> TextModel:
    """The mean of the probabilities of the next token; masked models, which are not compared, are not joined."""
    causal = [model for model in models if isinstance(model, LanguageModel)]
    if len(causal) < len(models):
        raise InputError("masked models have no mean.", found="train.objective=masked", fix="--set model.members=1")
    return language_ensemble(causal)


def count_ngrams(module: TextModel, codec: TextCodec, pairs: Sequence[Pair]) -> str:
    """Give a model with counts beside it those of the training part, or of as much of it as is counted."""
    if not isinstance(module, InterpolatedLanguageModel):
        return ""
    rows, left = list[NDArray[np.int64]](), MOST_COUNTED
    for text, _ in sample_of(pairs):
        rows.append(codec.row(text).numpy()[:left])
        left -= len(rows[-1])
        if left <= 0:
            break
    module.ngram.count(rows, skipped=1)
    return f"n-grams: up to {codec.ngram_order} tokens in a row, counted in {sum(map(len, rows)):,} tokens"


def adopt(recipe: TokensRecipe, pairs: Sequence[Pair], vocabulary: Vocabulary) -> TextCodec:
    """Other text with a vocabulary that is there already."""
    return TextCodec.over(vocabulary, pairs, reason="of the run started from")


def complete(module: TextModel, codec: TextCodec, sources: Sequence[str], recipe: DecodeRecipe) -> list[Answer]:
    """The completion of each text, or its filled blanks (`___`); a masked model scores a text without blanks."""
    answers = {at: fill(module, codec, source) for at, source in enumerate(sources) if has_blank(source)}
    others = [at for at in range(len(sources)) if at not in answers]
    rows = [codec.row(sources[at], whole=False) for at in others]
    if isinstance(module, MaskedLanguageModel):
        for at, scored in zip(others, log_probabilities(module, codec, rows), strict=True):
            answers[at] = Answer(prepare_text(sources[at]), float(scored.sum()))
    else:
        for at, row, more in zip(others, rows, go_on(module, codec, rows, recipe), strict=True):
            text = codec.vocabulary.decode([*row.tolist(), *more.tokens])
            added = text[len(codec.vocabulary.decode(row.tolist())) :]
            answers[at] = Answer(prepare_text(sources[at]) + added, more.score, value=added)
    return [answers[at] for at in range(len(sources))]


def baseline_answers(
    codec: TextCodec, baseline: Baseline, sources: Sequence[str], recipe: DecodeRecipe
) -> list[Answer]:
    """Each text continued token by token: the most probable one, or one that is drawn."""
    if not isinstance(baseline, CharacterNGram | KneserNeyText):
        raise TypeError(f"only an n-gram model continues a text, not {type(baseline).__name__}")
    answers = []
    for source, seed in zip(sources, seeds_of([[source] for source in sources], recipe.seed), strict=True):
        text, chance = prepare_text(source), random.Random(seed)
        added, score = baseline.continuation(text, recipe.max_tokens or codec.longest, partial(choose, recipe, chance))
        answers.append(Answer(text + added, score, value=added))
    return answers


def choose(recipe: DecodeRecipe, chance: random.Random, probabilities: NDArray[np.float64]) -> int:
    """The number of the most probable character; with a temperature one drawn among the first."""
    if not recipe.temperature:
        return int(probabilities.argmax())
    order = np.argsort(-probabilities, kind="stable")
    before = np.cumsum(probabilities[order]) - probabilities[order]
    kept = order[(before < recipe.top_p) & (np.arange(len(order)) < (recipe.top_k or len(order)))]
    weights = (probabilities[kept] / probabilities.max()) ** (1 / recipe.temperature)
    return int(chance.choices(kept.tolist(), weights.tolist())[0])


def look_at(module: TextModel, codec: TextCodec, source: str, recipe: DecodeRecipe) -> Alignment:
    """Complete the text, then show where its last tokens looked among themselves; a recurrent model looks nowhere."""
    (answer,) = complete(module, codec, [source], recipe)
    row = codec.row(answer.text, whole=False)[-SHOWN:]
    labels = token_names(codec, row)
    return Alignment(labels, labels, self_attention(module, row), answer.text, answer.score)


def forward_pass(module: TextModel, codec: TextCodec, source: str, recipe: DecodeRecipe) -> ForwardPass:
    """One pass over a text and its continuation; what is explained is the log-probability of the continuation, of a
    masked model that of all tokens in their places.
    """
    (answer,) = complete(module, codec, [source], recipe)
    whole = codec.row(answer.text, whole=False)
    row = whole[-LOOKED_INTO:]
    tokens, labels = row.unsqueeze(0).to(next(module.parameters()).device), token_names(codec, row)
    masked = isinstance(module, MaskedLanguageModel)
    begin = len(codec.row(source, whole=False)) - (len(whole) - len(row))
    begin = 0 if masked else min(max(begin, 1), len(row) - 1)  # the first token that is explained

    def log_probs() -> Tensor:
        if isinstance(module, MaskedLanguageModel):
            states = module.encoder.encode(tokens, torch.ones_like(tokens, dtype=torch.bool)).states[0]
            return module.to_logits(states).log_softmax(dim=-1)
        features = module.decoder.features(tokens, module.empty_source(1))[0, max(begin - 1, 0) : max(len(row) - 1, 1)]
        return module.decoder.to_logits(features).log_softmax(dim=-1)

    def score(values: Tensor | None) -> Tensor:
        return log_probs().gather(1, tokens[0, begin:].unsqueeze(1)).sum()

    @torch.no_grad()
    def generation() -> Generation:
        return Generation(generated_tokens(labels[begin:], log_probs().exp(), codec.vocabulary, []))

    target = "log-probability of the tokens in their places" if masked else "log-probability of the continuation"
    part = ".encoder." if masked else ".decoder."
    places = of_members(module, [MapPlace(part, "self-attention", "self", labels, labels)])
    return ForwardPass(
        score, target, places, labels, answer.text, answer.score, generation=None if masked else generation
    )


def word_kneser_ney() -> KneserNeyText:
    """Counts of words; one that is seen once is unknown, and spelled out."""
    words = LosslessWords([])
    return KneserNeyText("kneser-ney-words", WORDS, words.tokenize, words.detokenize, least=SEEN_TWICE)


def require_no_leak(codec: TextCodec, reading: Dataset) -> None:
    """Refuse words that no training text holds."""
    require_training_tokens([*codec.vocabulary.learned(), *codec.words], [(source,) for source, _ in reading.train])


def metrics(codec: TextCodec) -> tuple[Metric, ...]:
    """Nats per character first, so that all levels compare."""
    return (
        (MASKED_NATS_PER_CHARACTER,)
        if codec.objective == "masked"
        else (NATS_PER_CHARACTER, BITS_PER_CHARACTER, WORD_PERPLEXITY)
    )


GENERATE: Task[TextCodec, Tensor, AnyTextBatch, TextModel] = Task(
    name="generate",
    summary="Model plain text: complete it, score it, fill its blanks.",
    reading=Reading(
        kind="documents",
        texts={"text": lambda example: example[0]},
        recognise=plain_text,
        keys=DOCUMENTS.keys,
        read=DOCUMENTS.read,
        read_labelled=DOCUMENTS.read_labelled,
        read_unlabelled=DOCUMENTS.read_unlabelled,
    ),
    learning=Learning(
        learn=TextCodec.learn,
        bind=lambda codec, recipe: codec.suited(recipe.train),
        with_vocabulary=adopt,
        load=TextCodec.load,
        require_no_leak=require_no_leak,
        encode=lambda codec, pair: codec.row(pair[0]),
        length=lambda codec, row: len(row),
        windows=cut_windows,
        batch=batch_rows,
        build=build,
        ensemble=join,
        count=count_ngrams,
        loss=text_loss,
        calibrate=calibrate,
        truncated_bptt=TRUNCATED_BPTT,
    ),
    answering=Answering(answer=complete, score=judge_texts, look=look_at, trace=trace, forward_pass=forward_pass),
    judging=Judging(
        error=lambda codec, output, references: 0.0,  # a text is more or less likely, never wrong
        selects=NATS_PER_CHARACTER,
        metrics=metrics,
        baselines=(character_kneser_ney, partial(CharacterNGram, 1)),
        extra_baselines=(
            ExtraBaseline(word_kneser_ney, lambda codec: codec.level == "lossless"),
            ExtraBaseline(CharacterNGram, lambda codec: False),  # weaker than Kneser–Ney; trained by name
        ),
        baseline_answers=baseline_answers,
    ),
    defaults=Defaults(models=MODELS, model="lstm", values=defaults, data_values=sized),
)
