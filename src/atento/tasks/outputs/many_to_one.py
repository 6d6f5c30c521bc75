"""The common part of outputs that a many-to-one network gives for a whole source: label, labels or number."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Generic

import torch
from torch import Tensor, nn

from atento.layers.losses import Loss, at_least_float32
from atento.models.ensemble import AnyJudge, JudgeEnsemble, first_network, whole_networks
from atento.models.protocols import Judge
from atento.spec import DecodeRecipe
from atento.tasks.inputs.input import E, HasWords, Labelled, ManyToOneInput, Network
from atento.tasks.outputs.output import Example, Output, T
from atento.tasks.task import Answer
from atento.tasks.traces import Alignment, TraceMatrix, trace_matrix

# Axes: B batch, C outputs.

SUMMARIES = ["summary", "summaries"]  # titles of what a head reads
EACH = "outputs of each member"  # the title of what an ensemble is the mean of


class ManyToOneOutput(
    Output[ManyToOneInput[E, Labelled, Network], E, T, Labelled, AnyJudge[Network]],
    Generic[E, Labelled, Network, T],
):
    """Targets that a many-to-one network gives for a whole source, as outputs (B, C)."""

    @property
    @abstractmethod
    def names(self) -> Sequence[str]:
        """What each output is called."""

    @abstractmethod
    def truth(self, targets: Sequence[T]) -> Tensor:
        """Encoded targets as the head wants them, with a leading axis (B,)."""

    @abstractmethod
    def answers(self, module: nn.Module, outputs: Tensor) -> list[Answer]:
        """What outputs (B, C) mean."""

    @abstractmethod
    def trace_outputs(self, module: nn.Module, outputs: Tensor) -> TraceMatrix:
        """Outputs (1, C) turned into the answer."""

    def explain(self, module: nn.Module, input: object, source: str) -> str:
        """What moved an answer, in words, where the module can say more than its attention; empty: it cannot."""
        return ""

    def batch(self, input: ManyToOneInput[E, Labelled, Network], examples: Sequence[Example[E, T]]) -> Labelled:
        """Padded sources with the truth of each."""
        truth = self.truth([example.target for example in examples])
        return input.batch([example.source for example in examples], truth)

    @staticmethod
    def drop_words(input: type[ManyToOneInput[E, Labelled, Network]], batch: Labelled, share: float) -> Labelled:
        """Some tokens of the sources unknown, where they have any."""
        return input.drop_words(batch, share) if issubclass(input, HasWords) else batch

    @staticmethod
    def ensemble(members: Sequence[AnyJudge[Network]]) -> JudgeEnsemble[Network]:
        """The mean of probabilities or of numbers."""
        return JudgeEnsemble(members)

    @staticmethod
    def loss(module: Judge[Any], batch: Labelled, smoothing: float) -> Loss:
        """The loss of the network's head."""
        return module.loss(batch, smoothing=smoothing)

    @torch.no_grad()
    def outputs(
        self, module: AnyJudge[Network], input: ManyToOneInput[E, Labelled, Network], sources: Sequence[str]
    ) -> Iterator[tuple[list[int], Labelled, Tensor]]:
        """Sources in groups of like length: their places, their batch, and its outputs (B, C) on the CPU."""
        for places, encoded in input.groups(sources):
            batch = input.asked(module, encoded)
            yield places, batch, at_least_float32(module(batch)).cpu()

    def answer(
        self,
        module: AnyJudge[Network],
        input: ManyToOneInput[E, Labelled, Network],
        sources: Sequence[str],
        recipe: DecodeRecipe,
    ) -> list[Answer]:
        """An answer for each source, with what it rests on where the network can say."""
        found: dict[int, Answer] = {}
        networks = whole_networks(module)
        for places, batch, outputs in self.outputs(module, input, sources):
            texts = [sources[place] for place in places]
            unknown: list[str | None] = [None] * len(texts)
            evidence = input.evidence(networks, batch, texts) if networks else unknown
            for place, answer, words in zip(places, self.answers(module, outputs), evidence, strict=True):
                found[place] = answer._replace(evidence=words)
        return [found[place] for place in range(len(sources))]

    def look(
        self,
        module: AnyJudge[Network],
        input: ManyToOneInput[E, Labelled, Network],
        source: str,
        recipe: DecodeRecipe,
    ) -> Alignment:
        """An answer, and what of the source it was taken from: of an ensemble, by one member after the other; nothing
        where each label has a network of its own.
        """
        (answer,) = self.answer(module, input, [source], recipe)
        shown = [input.align(network, source, answer) for network in whole_networks(module)]
        if shown:
            weights, words = torch.cat([one.weights for one in shown]), self.explain(module, input, source)
            return shown[0]._replace(weights=weights, explanation=words)
        nothing = input.align(first_network(module), source, answer)
        return nothing._replace(output=[answer.text], weights=torch.zeros(0, 0, 1, len(nothing.source)))

    @torch.no_grad()
    def trace(
        self,
        module: AnyJudge[Network],
        input: ManyToOneInput[E, Labelled, Network],
        source: str,
        recipe: DecodeRecipe,
    ) -> list[TraceMatrix]:
        """A forward pass up to the answer; where each label has a network of its own, of the first. Of an ensemble
        that of the first member, then the outputs of all.
        """
        network = first_network(module)
        ((_, batch, outputs),) = self.outputs(module, input, [source])
        formula, made_of, found = "W · summary + b", SUMMARIES, input.trace(network, source)
        if getattr(network, "wide", None) is not None:
            formula = f"weighted: the linear model of n-grams, and {formula}"
        if isinstance(module, JudgeEnsemble):
            each = torch.cat([at_least_float32(member(batch)).cpu() for member in module.each()])  # (M, C)
            members = [f"member {number + 1}" for number in range(len(each))]
            formula = f"{formula}; the matrices before this one are of member 1 of {len(each)}"
            found.append(trace_matrix(EACH, formula, members, each, columns=self.names, made_of=made_of))
            formula, made_of = module.head.mean_formula, [EACH]
        return [
            *found,
            trace_matrix("outputs", formula, ["output"], outputs, columns=self.names, made_of=made_of),
            self.trace_outputs(module, outputs),
        ]
