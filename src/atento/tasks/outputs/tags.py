"""Tags as an output: each word of a source has one of the tags that the training part knows."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Protocol, Self

import torch
from torch import Tensor, nn

from atento.baselines.frequent import MostFrequentTag
from atento.baselines.tagging import AveragedPerceptron
from atento.data.records import split_items
from atento.data.text.words import split_words
from atento.errors import InputError
from atento.layers.losses import Loss, token_cross_entropy
from atento.metrics.classes import one_label_report, span_scores
from atento.metrics.metric import Metric
from atento.metrics.tags import (
    SCHEMES,
    SEQUENCE_ACCURACY,
    SPAN_F1,
    SPAN_PRECISION,
    SPAN_RECALL,
    TAG_ACCURACY,
    are_span_tags,
    find_scheme,
    unseen_accuracy,
)
from atento.models.backbones.transformer import TransformerEncoder
from atento.models.builders.tagger import Tagset, build_word_tagger
from atento.models.classifier import LabelledBatch
from atento.models.ensemble import TaggerEnsemble, whole_taggers
from atento.models.tagger import SequenceLabeller, Tagger
from atento.spec import DecodeRecipe, ModelRecipe, TokensRecipe
from atento.tasks.inputs.input import on_device
from atento.tasks.inputs.words import WordList, by_count, load_texts
from atento.tasks.outputs.fitted import HasCalibration, HasClosedForm
from atento.tasks.outputs.output import UNSEEN, BaselineMaker, Example, Output
from atento.tasks.outputs.wide_tagger import solve_wide_words, weigh_both_taggers
from atento.tasks.task import Answer, Baseline, Details, Pair, Saved, TargetLabels, TextExample
from atento.tasks.traces import Alignment, TraceMatrix, trace_matrix

# Axes: B batch, N words, L letters, C tags.


class Tags(
    Output[WordList, Tensor, Tensor, LabelledBatch, SequenceLabeller],
    HasCalibration[WordList, SequenceLabeller],
    HasClosedForm[WordList, SequenceLabeller],
):
    """Lists of tags <-> their numbers (N,)."""

    kind = "tags"

    target_labels = TargetLabels(split_items, of_words=True)

    def __init__(self, tagset: Tagset, *, notes: tuple[str, ...] = ()) -> None:
        self.tagset, self.notes = tagset, notes
        self.numbers = {tag: number for number, tag in enumerate(tagset.tags)}

    @classmethod
    def learn(cls, recipe: TokensRecipe, input: WordList, pairs: Sequence[Pair]) -> Self:
        """The tags of the training part, the commonest first, and the scheme of spans that they keep."""
        targets = [split_items(target) for _, target in pairs]
        counts, scheme = Counter(tag for tags in targets for tag in tags), find_scheme(targets)
        notes = [f"{len(counts)} tags"]
        if scheme:
            notes.append(f"tags mark spans ({scheme}): crf gives no sequence that the scheme does not have")
        return cls(Tagset(tuple(by_count(counts)), scheme), notes=tuple(notes))

    @property
    def learned_tokens(self) -> Collection[str]:
        """All tags."""
        return self.tagset.tags

    @classmethod
    def load(cls, saved: Saved) -> Self:
        """What `to_json` wrote."""
        tags, scheme = load_texts(saved, "tags"), saved.get("scheme")
        if scheme not in ("", *SCHEMES) or not tags:
            raise InputError("the vocabulary file names no tags.", found=repr(scheme), fix="train again")
        return cls(Tagset(tuple(tags), str(scheme)))

    def to_json(self) -> dict[str, object]:
        """The tags, and how they mark spans."""
        return {"tags": list(self.tagset.tags), "scheme": self.tagset.scheme}

    def encode(self, target: str) -> Tensor:
        """The number of each tag; a source without words is one unknown word, whose tag costs nothing."""
        tags = split_items(target)[: self.max_length]
        return torch.tensor([self.numbers.get(tag, UNSEEN) for tag in tags] or [UNSEEN])

    def unseen(self, references: Sequence[str]) -> Collection[str]:
        """Tags that training never met."""
        return [tag for reference in references for tag in split_items(reference) if tag not in self.numbers]

    def batch(self, input: WordList, examples: Sequence[Example[Tensor, Tensor]]) -> LabelledBatch:
        """Padded words and tags."""
        truth = nn.utils.rnn.pad_sequence([example.target for example in examples], batch_first=True)
        return LabelledBatch(*input.tensors([example.source for example in examples]), truth)

    @staticmethod
    def drop_words(input: type[WordList], batch: LabelledBatch, share: float) -> LabelledBatch:
        """Some words unknown."""
        return input.drop_words(batch, share)

    def build(self, recipe: ModelRecipe, input: WordList) -> Tagger:
        """A tagger with a score for each tag of each word."""
        return build_word_tagger(recipe, *input.sizes, self.tagset)

    @staticmethod
    def ensemble(members: Sequence[SequenceLabeller]) -> SequenceLabeller:
        """The mean of probabilities; with crf the logarithmic opinion pool."""
        return TaggerEnsemble([member for member in members if isinstance(member, Tagger)])

    @staticmethod
    def loss(module: SequenceLabeller, batch: LabelledBatch, smoothing: float) -> Loss:
        """Minus the log-probability of the tags, a word at a time or, with crf, all together."""
        if not smoothing:
            return module.loss(batch)
        if module.chain is not None:
            raise InputError(
                "train.label_smoothing: crf judges whole sequences, which have no share to spread.",
                found=f"train.label_smoothing={smoothing}",
                fix="leave train.label_smoothing out, or name a model without crf",
            )
        return token_cross_entropy(module(batch), batch.truth[batch.valid], smoothing=smoothing)

    def closed_form(self, module: SequenceLabeller, input: WordList, pairs: Sequence[Pair]) -> str:
        """A wide part begins as a linear model of word features."""
        if not isinstance(module, Tagger) or module.wide is None:
            return ""
        sources, targets = zip(*pairs, strict=True)
        return solve_wide_words(
            module, input, [input.encode(source) for source in sources], [self.encode(target) for target in targets]
        )

    def calibrate(self, module: SequenceLabeller, input: WordList, questions: Sequence[TextExample]) -> None:
        """How much the network and a wide part count, by the loss of the validation part; an ensemble's members keep
        their own weights.
        """
        if not isinstance(module, Tagger) or module.wide is None:
            return
        sources = [input.encode(question.source) for question in questions]
        weigh_both_taggers(module, input, sources, [self.encode(question.references[0]) for question in questions])

    @torch.no_grad()
    def answer(
        self, module: SequenceLabeller, input: WordList, sources: Sequence[str], recipe: DecodeRecipe
    ) -> list[Answer]:
        """The best tags of each source; a very long one is read in parts, and has a tag for each word all the same."""
        parts = [(number, words) for number, source in enumerate(sources) for words in input.parts(source)]
        found: dict[int, tuple[list[str], float]] = {}
        for places, encoded in input.group_encoded([input.encode_words(words) for _, words in parts]):
            best = module.predict(*on_device(input.tensors(encoded), module))
            rows = zip(places, best.labels.tolist(), best.log_probability.tolist(), strict=True)
            for place, labels, score in rows:
                tags = [self.tagset.tags[label] for label in labels[: len(parts[place][1])]]
                found[place] = tags, score
        tags_of, scores = [list[str]() for _ in sources], [0.0] * len(sources)
        for place, (number, _) in enumerate(parts):
            tags_of[number] += found[place][0]
            scores[number] += found[place][1]
        return [Answer(" ".join(tags), score, value=tags) for tags, score in zip(tags_of, scores, strict=True)]

    @torch.no_grad()
    def look(self, module: SequenceLabeller, input: WordList, source: str, recipe: DecodeRecipe) -> Alignment:
        """Where the words of a Transformer attended, by one member of an ensemble after the other; nothing for other
        models.
        """
        (answer,) = self.answer(module, input, [source], recipe)
        words = split_words(source)[: input.max_length]
        weights = torch.zeros(0, 0, len(words), len(words))
        encoders = [tagger.encoder for tagger in whole_taggers(module)]
        if words and all(isinstance(encoder, TransformerEncoder) for encoder in encoders):
            tensors = on_device(input.tensors([input.encode(source)]), module)
            every = [encoder.weights(*tensors)[0] for encoder in encoders if isinstance(encoder, TransformerEncoder)]
            weights = torch.cat(every)  # (layers, heads, N, N)
        output = [f"{word} {tag}" for word, tag in zip(words, answer.value, strict=False)]
        return Alignment(words, output, weights.float().cpu(), answer.text, answer.score)

    @torch.no_grad()
    def trace(self, module: SequenceLabeller, input: WordList, source: str, recipe: DecodeRecipe) -> list[TraceMatrix]:
        """Words to states, scores, the transitions of a crf, and the probability of each tag; of an ensemble the states
        of the first member, and the scores of all.
        """
        (answer,) = self.answer(module, input, [source], recipe)
        words, valid = on_device(input.tensors([input.encode(source)]), module)
        texts, tags = split_words(source)[: input.max_length], self.tagset.tags
        labels = texts or ["<unknown>"]
        taggers = whole_taggers(module)
        encoder, alone = taggers[0].encoder, len(taggers) == 1
        states, of_first = encoder.encode(words, valid).states[0], "" if alone else f", of member 1 of {len(taggers)}"
        formula = "W state + b"
        if taggers[0].wide is not None:
            formula = f"weighted: the linear model of word features, and {formula}"
        if not alone:
            formula = f"{'ln mean softmax' if module.chain is None else 'the mean'} of each member's {formula}"
        found = [
            trace_matrix("words", "number of the word, then of its letters", labels, words[0]),
            trace_matrix(
                "states", f"{type(encoder).__name__}: one vector per word{of_first}", labels, states, made_of=["words"]
            ),
            trace_matrix("scores", formula, labels, module.scores(words, valid)[0], columns=tags, made_of=["states"]),
        ]
        if module.chain is not None:
            start, between, end = module.chain.transitions()
            found += [
                trace_matrix("start", "score of a first tag", ["start"], start.unsqueeze(0), columns=tags),
                trace_matrix("transitions", "score of a tag (column) after another (row)", tags, between, columns=tags),
                trace_matrix("end", "score of a last tag", ["end"], end.unsqueeze(0), columns=tags),
            ]
        formula = "softmax of the scores" if module.chain is None else "share of all sequences with this tag here"
        named = [f"{word} {tag}" for word, tag in zip(texts, answer.value, strict=False)] or labels
        probabilities = module.probabilities(words, valid)[0]
        scored = ["scores", "start", "transitions", "end"]
        return [*found, trace_matrix("probabilities", formula, named, probabilities, columns=tags, made_of=scored)]

    def metrics(self, input: WordList) -> tuple[Metric, ...]:
        """Spans first where tags mark them, else the share of right tags."""
        of_words = (SEQUENCE_ACCURACY, unseen_accuracy(input.seen))
        if are_span_tags(self.tagset.tags):
            return (SPAN_F1, SPAN_PRECISION, SPAN_RECALL, TAG_ACCURACY, *of_words)
        return (TAG_ACCURACY, *of_words)

    def details(
        self, predictions: Sequence[Sequence[str]], references: Sequence[Sequence[str]], answers: object
    ) -> Details:
        """How well each type of span is found, or each tag where tags mark no spans."""
        pairs = [(tags, split_items(allowed[0])) for tags, allowed in zip(predictions, references, strict=True)]
        if not are_span_tags(self.tagset.tags):
            both = [pair for tags, true in pairs for pair in zip(tags, true, strict=False)]
            return {"class_report": one_label_report([one for one, _ in both], [[true] for _, true in both])}
        return {"class_report": {"classes": span_scores(pairs)}} if pairs else {}

    def error(self, output: Sequence[str], references: Sequence[str | Sequence[str]]) -> float:
        """How many tags are wrong, by the nearest reference: tags with tabs between, or a list of them."""
        return min(float(differences(output, split_items(one) if isinstance(one, str) else one)) for one in references)

    @classmethod
    def baselines(cls, kind: str) -> tuple[BaselineMaker, ...]:
        """The most frequent tag of each word, and a perceptron."""
        return (partial(TagBaseline, MostFrequentTag), partial(TagBaseline, AveragedPerceptron))

    def baseline_answers(self, baseline: Baseline, sources: Sequence[str]) -> list[Answer]:
        """The tags of each source."""
        return [Answer(" ".join(tags), None, value=tags) for tags in baseline.predict(sources)]


class WordTagger(Protocol):
    """A simple model of lists of words and lists of tags."""

    name: str
    summary: str

    def fit(self, sources: Sequence[list[str]], targets: Sequence[list[str]]) -> object:
        """Learn from the training part."""

    def predict(self, sources: Sequence[list[str]]) -> list[list[str]]:
        """The tags of each source."""


class TagBaseline:
    """A simple model that learns lists of tags from lists of words, asked with texts."""

    def __init__(self, make: Callable[[], WordTagger]) -> None:
        self.model = make()
        self.name, self.summary = self.model.name, self.model.summary

    def fit(self, sources: Sequence[str], targets: Sequence[str]) -> Self:
        """Learn from the training part."""
        self.model.fit([split_words(source) for source in sources], [split_items(target) for target in targets])
        return self

    def predict(self, sources: Sequence[str]) -> list[list[str]]:
        """The tags of each source, as a list."""
        return self.model.predict([split_words(source) for source in sources])


def differences(one: Sequence[str], other: Sequence[str]) -> int:
    """Places at which two lists differ; those that one lacks count too."""
    return sum(tag != own for tag, own in zip(one, other, strict=False)) + abs(len(one) - len(other))
