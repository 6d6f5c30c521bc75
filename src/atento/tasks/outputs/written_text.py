"""Written text as an output: an encoder–decoder reads a source and writes a text, token by token."""

from collections import Counter
from collections.abc import Collection, Sequence
from functools import partial
from typing import NamedTuple, Self

import torch
from torch import Tensor

from atento.baselines.frequent import Majority
from atento.baselines.images import NearestImage
from atento.baselines.text_to_text import AffixRules, NearestText
from atento.baselines.time_warping import DTWNearest
from atento.data.examples.batches import pad, read_as_unknown
from atento.data.images.loading import load_image
from atento.data.tables.number_lists import require_numbers
from atento.data.text.levels import learn_target, load_vocabulary
from atento.data.text.vocabulary import END, START, Vocabulary
from atento.decoding import Hypothesis, search
from atento.errors import InputError
from atento.metrics.metric import Metric
from atento.metrics.text import BLEU4, CHARACTER_ERROR, CHRF2, EDITS, EXACT_MATCH, SYMBOL_ERROR
from atento.models.backbones.recurrent import RecurrentDecoder
from atento.models.backbones.transformer import TransformerDecoder
from atento.models.ensemble import Ensemble, ensemble_of, first_of
from atento.models.protocols import Encoded
from atento.models.translator import TranslationBatch, Translator
from atento.spec import DecodeRecipe, ModelRecipe, TokensRecipe
from atento.tasks.inputs.input import READ, E, EncoderDecoderInput, on_device
from atento.tasks.inputs.text import LEVEL_WORDS
from atento.tasks.outputs.exposure import TextOutput, measure_exposure
from atento.tasks.outputs.output import Autoregressive, BaselineMaker, Example
from atento.tasks.outputs.sequence_loss import SPECIAL_TOKENS, TRUNCATED_BPTT, mix_own_tokens, next_token_loss
from atento.tasks.task import Answer, Pair, Saved, TextExample
from atento.tasks.traces import Alignment, TraceMatrix, trace_matrix

# Axes: B batch, N source items, T target time, V vocabulary, L layers, H heads.

SAMPLE = 20_000  # pairs whose lengths are looked at
MOST_TOKENS = 1_000_000
ROUGHLY = 32  # tokens: of sources that are all of one length, short targets of unlike length are learned together
PROBABLE = 4  # tokens of each step that a trace shows
LAST = ["contexts", "decoder states"]  # titles of what the logits are computed from
THUMBNAIL = 16  # pixels a side of the images that baselines see

METRICS: dict[str, dict[str, tuple[Metric, ...]]] = {  # by kind of source and level of target, the headline first
    "text": {
        "char": (EXACT_MATCH, CHARACTER_ERROR, EDITS, CHRF2),
        "word": (EXACT_MATCH, SYMBOL_ERROR, CHRF2, BLEU4),
        "subword": (CHRF2, BLEU4, EXACT_MATCH),
    },
    "numbers": {
        "char": (EXACT_MATCH, CHARACTER_ERROR, EDITS, CHRF2),
        "word": (EXACT_MATCH, SYMBOL_ERROR, CHARACTER_ERROR, CHRF2),
        "subword": (CHARACTER_ERROR, CHRF2, EXACT_MATCH),
    },
    "image": {
        "char": (EXACT_MATCH, CHRF2, BLEU4),
        "word": (EXACT_MATCH, CHRF2, BLEU4),
        "subword": (CHRF2, BLEU4, EXACT_MATCH),
    },
}
BY_KIND: dict[str, tuple[BaselineMaker, ...]] = {
    "text": (NearestText, AffixRules),
    "two texts": (NearestText,),
    "numbers": (Majority, partial(DTWNearest, require_numbers)),
    "image": (Majority, partial(NearestImage, partial(load_image, side=THUMBNAIL))),
}


class LengthLimit(NamedTuple):
    """How long an output may become, from what the training part had."""

    longest: int  # for any source
    growth: float | None  # output tokens for each item of the source; None: the source bounds nothing

    @classmethod
    def of(cls, sources: Sequence[int | None], targets: Sequence[int]) -> "LengthLimit":
        """Half as long again as the longest; twice the growth that 999 in 1000 keep."""
        longest = max(targets) + max(targets) // 2 + 5
        growths = [
            tokens / max(1, length) for length, tokens in zip(sources, targets, strict=True) if length is not None
        ]
        return cls(longest, 2 * sorted(growths)[int(0.999 * (len(growths) - 1))] if growths else None)

    def tokens(self, source: int | None) -> int:
        """The most tokens for a source of that length."""
        if source is None or self.growth is None:
            return self.longest
        return min(self.longest, int(self.growth * source) + 10)


class WrittenText(TextOutput[E], Autoregressive[EncoderDecoderInput[E], TranslationBatch, Translator]):
    """Texts <-> token numbers; a decoder writes them."""

    kind = "text"

    selects = CHRF2
    truncated_bptt = TRUNCATED_BPTT
    ensemble = staticmethod(ensemble_of)
    loss = staticmethod(next_token_loss)
    mix_own_tokens = staticmethod(mix_own_tokens)

    def __init__(self, vocabulary: Vocabulary, limit: LengthLimit, *, notes: tuple[str, ...] = ()) -> None:
        self.vocabulary, self.limit, self.notes = vocabulary, limit, notes

    @property
    def learned_tokens(self) -> Collection[str]:
        """The tokens of the vocabulary."""
        return self.vocabulary.learned()

    @classmethod
    def learn(cls, recipe: TokensRecipe, input: EncoderDecoderInput[E], pairs: Sequence[Pair]) -> Self:
        """Level and vocabulary of the training targets, and how long they are beside their sources."""
        texts = [target for _, target in pairs]
        learned = learn_target(recipe.target, texts, size=recipe.vocab_size, least_count=recipe.min_count)
        vocabulary, level, reason = learned
        sample = pairs[:: 1 + len(pairs) // SAMPLE]
        limit = LengthLimit.of(
            [input.output_length(input.encode(source)) for source, _ in sample],
            [min(len(vocabulary.encode(target)), recipe.max_length) for _, target in sample],
        )
        return cls(vocabulary, limit, notes=(f"target: {len(vocabulary)} {LEVEL_WORDS[level]} ({reason})",))

    @classmethod
    def load(cls, saved: Saved) -> Self:
        """What `to_json` wrote."""
        longest, growth = saved.get("longest"), saved.get("growth")
        known = isinstance(longest, int) and 1 <= longest <= MOST_TOKENS
        if not known or not (growth is None or isinstance(growth, float)) or not isinstance(longest, int):
            raise InputError("the vocabulary file names no longest output.", found=repr(longest), fix="train again")
        return cls(load_vocabulary(saved.get("vocabulary")), LengthLimit(longest, growth))

    def to_json(self) -> dict[str, object]:
        """The vocabulary, and how long an output may become."""
        return {"vocabulary": self.vocabulary.to_json(), **self.limit._asdict()}

    def encode(self, target: str) -> list[int]:
        """Token numbers, without start and end."""
        return self.vocabulary.encode(target)[: self.max_length]

    def length(self, input: EncoderDecoderInput[E], example: Example[E, list[int]]) -> int:
        """Tokens that are read and tokens that are written."""
        tokens = len(example.target) + 1
        return input.length(example.source) + (tokens if input.has_length else ROUGHLY * -(-tokens // ROUGHLY))

    def batch(self, input: EncoderDecoderInput[E], examples: Sequence[Example[E, list[int]]]) -> TranslationBatch:
        """Padded sources and targets; what a step reads is the target shifted right."""
        previous, _ = pad([[START, *example.target] for example in examples])
        target, target_valid = pad([[*example.target, END] for example in examples])
        return TranslationBatch(
            *input.tensors([example.source for example in examples]), previous, target, target_valid
        )

    @staticmethod
    def drop_words(input: object, batch: TranslationBatch, share: float) -> TranslationBatch:
        """Some source tokens unknown; padding stays padding."""
        return batch._replace(source=read_as_unknown(batch.source, share))

    def build(self, recipe: ModelRecipe, input: EncoderDecoderInput[E]) -> Translator:
        """An encoder–decoder from the input's encoder to this vocabulary."""
        return input.build_translator(recipe, self.vocabulary)

    @torch.no_grad()
    def write(
        self, module: Translator, input: EncoderDecoderInput[E], sources: Sequence[str], recipe: DecodeRecipe
    ) -> list[Hypothesis]:
        """The best output for each source; sources of like length are decoded together."""
        found: dict[int, Hypothesis] = {}
        seeds = seeds_of([input.seed_key(source) for source in sources], recipe.seed)
        for places, encoded in input.groups(sources, beam=recipe.beam):
            read = encode_sources(module, input, encoded)
            longest = [recipe.max_tokens or self.limit.tokens(input.output_length(one)) for one in encoded]
            own = [seeds[place] for place in places]
            best = search(module.decoder, read, recipe, special_tokens=SPECIAL_TOKENS, max_tokens=longest, seeds=own)
            found.update(zip(places, best, strict=True))
        return [found[place] for place in range(len(sources))]

    def answer(
        self, module: Translator, input: EncoderDecoderInput[E], sources: Sequence[str], recipe: DecodeRecipe
    ) -> list[Answer]:
        """The text that the search finds for each source."""
        found = self.write(module, input, sources, recipe)
        return [Answer(self.vocabulary.decode(best.tokens), best.score) for best in found]

    @torch.no_grad()
    def look(self, module: Translator, input: EncoderDecoderInput[E], source: str, recipe: DecodeRecipe) -> Alignment:
        """The text by the fast path, then the weights of that very text in one pass."""
        (best,) = self.write(module, input, [source], recipe)
        read = encode_sources(module, input, [input.encode(source)])
        previous = torch.tensor([[START, *best.tokens]], device=read.states.device)
        weights: Tensor = module.decoder.weights(previous, read)[0].float().cpu()  # (L, H, T, N)
        view, output = input.view(first_of(module.encoder), source), [*self.vocabulary.tokens(best.tokens), "<end>"]
        text = self.vocabulary.decode(best.tokens)
        return Alignment(view.labels, output, weights, text, best.score, view.image, view.grid)

    @torch.no_grad()
    def trace(
        self, module: Translator, input: EncoderDecoderInput[E], source: str, recipe: DecodeRecipe
    ) -> list[TraceMatrix]:
        """One forward pass of the text that the search finds."""
        (best,) = self.write(module, input, [source], recipe)
        read = encode_sources(module, input, [input.encode(source)])
        encoder = first_of(module.encoder)
        view, name = input.view(encoder, source), type(encoder).__name__
        if isinstance(module.encoder, Ensemble):
            name = f"{name}, {len(module.encoder.members)} of them side by side"
        return [
            *input.trace_source(encoder, source, view),
            trace_matrix("encoder states", f"{name}: one vector each", view.labels, read.states[0], made_of=READ),
            trace_matrix(
                "summary", "the whole source in one vector", ["summary"], read.summary, made_of=["encoder states"]
            ),
            *trace_decoder(module, read, self.vocabulary, view.labels, best.tokens),
        ]

    def exposure(
        self,
        module: Translator,
        input: EncoderDecoderInput[E],
        questions: Sequence[TextExample],
        answers: Sequence[Answer],
    ) -> dict[str, dict[str, float]]:
        """How much more often a token is right after true tokens than after the model's own."""
        return measure_exposure(module, input, self, questions, answers)

    def metrics(self, input: EncoderDecoderInput[E]) -> tuple[Metric, ...]:
        """Exact match where outputs are short or of a closed vocabulary, and beside it the edits they need; characters
        in common for open text.
        """
        return METRICS.get(input.kind, METRICS["text"])[self.vocabulary.level]

    @classmethod
    def baselines(cls, kind: str) -> tuple[BaselineMaker, ...]:
        """The target of the nearest training source, and simple rewriting."""
        return BY_KIND[kind]


def encode_sources(module: Translator, input: EncoderDecoderInput[E], encoded: Sequence[E]) -> Encoded:
    """Sources, read where the module is."""
    return module.encode(*on_device(input.tensors(encoded), module))


def seeds_of(keys: Sequence[Sequence[object]], seed: int) -> list[str]:
    """A seed for each source: what it is and how often it was asked before, so that no other source matters."""
    asked: Counter[tuple[object, ...]] = Counter()
    seeds = []
    for key in keys:
        seeds.append(f"{seed} {asked[tuple(key)]} {key}")
        asked[tuple(key)] += 1
    return seeds


def trace_decoder(
    module: Translator, read: Encoded, vocabulary: Vocabulary, labels: Sequence[str], written: Sequence[int]
) -> list[TraceMatrix]:
    """From the states of a source to the tokens written."""
    outputs = [*vocabulary.tokens(written), "<end>"]
    previous = torch.tensor([[START, *written]], device=read.states.device)
    found = trace_attention(module, previous, read, labels, outputs)
    probabilities = module.decoder(previous, read)[0].softmax(dim=-1)  # (T, V)
    for time, output in enumerate(outputs):
        best = probabilities[time].topk(min(PROBABLE, probabilities.size(-1)))
        title = f"step {time + 1}: the token after {(['<start>', *outputs])[time]!r}"
        names = vocabulary.tokens(best.indices.tolist())
        formula = f"softmax of the logits; written: {output!r}"
        found.append(trace_matrix(title, formula, ["p"], best.values[None], columns=names, made_of=LAST))
    return found


def trace_attention(
    module: Translator, previous: Tensor, read: Encoded, labels: Sequence[str], outputs: Sequence[str]
) -> list[TraceMatrix]:
    """Scores, weights and contexts of a decoder that attends."""
    decoder = module.decoder
    if isinstance(decoder, TransformerDecoder):
        return [
            trace_matrix(
                f"weights, layer {layer + 1}, head {head + 1}", "softmax(q · k / √d)", outputs, matrix, columns=labels
            )
            for layer, heads in enumerate(decoder.weights(previous, read)[0])  # (L, H, T, N)
            for head, matrix in enumerate(heads)
        ]
    if not isinstance(decoder, RecurrentDecoder):
        return []
    state, attention = decoder.start(read), decoder.attention
    queries = decoder.unroll(decoder.inputs(previous, state), state).queries
    states = trace_matrix("decoder states", decoder.equation, outputs, queries[0], made_of=["summary"])
    if attention is None:
        return [states]
    score, distribution = type(attention.score).__name__, type(attention.distribution).__name__
    compared, mixed = ["decoder states", "encoder states"], ["weights", "encoder states"]
    scores = attention.score.compare(queries, state.source.key).flatten(0, -3)  # one matrix, or a pair
    weights = attention.weights_from(queries, state.source)[0]
    return [
        states,
        *(
            trace_matrix("scores", f"{score}: a(k_i, q_t)", outputs, matrix, columns=labels, made_of=compared)
            for matrix in scores
        ),
        trace_matrix("weights", f"{distribution}: p(a)", outputs, weights, columns=labels, made_of=["scores"]),
        trace_matrix("contexts", "c_t = Σ p_i v_i", outputs, attention.read(queries, state.source)[0], made_of=mixed),
    ]
