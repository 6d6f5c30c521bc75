"""What a trained network computes on one source: every attention map, generated tokens, attributions, hidden states.

Every function takes the `Predictor` of a run, and a source as `explain_series.source_of` gives it.
"""

from typing import Any

import torch

from atento.bundle import read_predictions
from atento.data.text.encoding import TYPED
from atento.errors import InputError
from atento.models.diagnostics.attention_maps import AttentionMap, maps_of_calls, record_attention
from atento.models.diagnostics.attribution import MOST, integrated_gradients
from atento.models.diagnostics.recurrent_states import TokenStates, find_units, recorded_states, states_of_tokens
from atento.predictor import Predictor
from atento.tasks.baselines import is_baseline, no_network
from atento.tasks.traces import Alignment, ForwardPass, Generation
from atento.views.attention.maps import AttentionMapsView, AttributionView, ExplainedAlignment
from atento.views.states import StatesView
from atento.views.steps import StepsView, with_attention

POINTS_BESIDE = 128  # most points of the integral where attributions stand beside maps
READ_TOGETHER = 40  # sources of the test part in which patterns are searched


def forward_pass(predictor: Predictor, source: Any, what: str) -> ForwardPass:
    """The pass of a source; a baseline, and a network that is only a table of vectors, has none."""
    bundle = predictor.bundle
    if is_baseline(predictor.module):
        raise no_network(predictor.module, what)
    if bundle.task.answering.forward_pass is None:
        raise InputError(
            f"a model of {bundle.task.name} has no {what}.",
            found=bundle.recipe.model.name,
            fix="--what embeddings shows its vectors",
        )
    return bundle.task.answering.forward_pass(predictor.module, bundle.codec, source, bundle.recipe.decode)


@torch.no_grad()
def maps_of(predictor: Predictor, passed: ForwardPass) -> list[AttentionMap]:
    """Every attention map of a pass."""
    with record_attention(predictor.module) as calls:
        passed.score(passed.values)
    return maps_of_calls(calls, passed.places)


def examine(predictor: Predictor, source: Any) -> AttentionMapsView:
    """What the viewer shows of one source, but for attributions."""
    passed = forward_pass(predictor, source, "attention maps")
    generation = Generation() if passed.generation is None else passed.generation()
    return AttentionMapsView(
        model=predictor.bundle.recipe.model.name,
        source=written_source(source, passed),
        output=passed.text,
        score=passed.log_probability,
        image=passed.image,
        run=str(predictor.bundle.folder),
        maps=maps_of(predictor, passed),
        steps=generation.tokens,
        finished=generation.finished,
    )


def explained(predictor: Predictor, source: Any) -> ExplainedAlignment:
    """The alignment of a source, which shows all maps when it is asked for them."""
    alignment = predictor.look(source)
    name = predictor.bundle.recipe.model.name

    if is_baseline(predictor.module) or predictor.bundle.task.answering.forward_pass is None:
        return ExplainedAlignment.of(alignment, name, lambda: without_network(alignment, name, source))

    def attributed() -> AttributionView:
        passed = forward_pass(predictor, source, "gradients to attribute")
        return attribution_of(predictor, source, passed, most=POINTS_BESIDE)

    return ExplainedAlignment.of(alignment, name, lambda: examine(predictor, source), attributed)


def without_network(alignment: Alignment, model: str, source: Any) -> AttentionMapsView:
    """The answer alone, with what moved it in words."""
    return AttentionMapsView(
        model=model,
        source=str(source),
        output=alignment.text,
        score=alignment.score,
        explanation=alignment.explanation or f"{model} has no attention.",
    )


def attribute(predictor: Predictor, source: Any) -> AttributionView:
    """How much each token of a source moved its answer."""
    return attribution_of(predictor, source, forward_pass(predictor, source, "gradients to attribute"))


def attribution_of(predictor: Predictor, source: Any, passed: ForwardPass, *, most: int = MOST) -> AttributionView:
    """Integrated gradients of a pass, one number for each token, step or region, by at most so many points."""
    found = integrated_gradients(passed.reader or predictor.module, passed.score, passed.values, most=most)
    values = found.tokens.tolist()
    if found.values is not None and passed.by_item is not None:
        values += passed.by_item(found.values.double()).cpu().tolist()
    return AttributionView(
        model=predictor.bundle.recipe.model.name,
        source=written_source(source, passed),
        output=passed.text,
        target=passed.target,
        tokens=passed.tokens,
        values=spread(values, passed.tokens),
        remainder=found.remainder,
        score=found.score,
        baseline=found.baseline,
        points=found.points,
    )


def spread(values: list[float], tokens: Any) -> list[float]:
    """A value for each token; signs between sentences that a hierarchical model does not embed have 0."""
    words = [token for token in tokens if token != "¶"]
    if len(values) == len(tokens) or len(values) != len(words):
        return values
    left = iter(values)
    return [0.0 if token == "¶" else next(left) for token in tokens]


def written_source(source: Any, passed: ForwardPass) -> str:
    """A source as a person reads it: of an image with a question the question, of two texts both."""
    text = str(source)
    first, tab, second = text.partition("\t")
    if passed.image:
        return second
    return f"{first} {TYPED} {second}" if tab and "\t" not in second else text.replace("\t", " ")


def walk(predictor: Predictor, source: Any) -> StepsView:
    """One forward pass, matrix by matrix, with queries, keys and values of every head."""
    bundle = predictor.bundle
    trace = bundle.task.answering.trace(predictor.module, bundle.codec, source, bundle.recipe.decode)
    if bundle.task.answering.forward_pass is None:
        return StepsView(model=bundle.recipe.model.name, source=str(source), output="", steps=trace)
    passed = forward_pass(predictor, source, "forward pass to show")
    return StepsView(
        model=bundle.recipe.model.name,
        source=written_source(source, passed),
        output=passed.text,
        steps=with_attention(trace, maps_of(predictor, passed)),
    )


def look_at_states(predictor: Predictor, source: str) -> StatesView:
    """The hidden state of a recurrent network at each token, and which units follow a simple pattern."""
    lines = read_predictions(predictor.bundle.folder)[:READ_TOGETHER]
    own = states_of(predictor, source)
    return StatesView(
        model=predictor.bundle.recipe.model.name,
        source=source.replace("\t", " "),
        states=own,
        patterns=find_units([states_of(predictor, str(line["source"])) for line in lines]),
    )


@torch.no_grad()
def states_of(predictor: Predictor, source: Any) -> TokenStates:
    """The states of the first recurrent stack that has one for each token of the source."""
    passed = forward_pass(predictor, source, "hidden states")
    with recorded_states(predictor.module) as found:
        passed.score(passed.values)
    states = states_of_tokens(found, passed.tokens)
    if states is None:
        raise InputError(
            "this model has no recurrent layer that reads the source token by token.",
            found=predictor.bundle.recipe.model.name,
            fix="look at a recurrent model such as lstm; --what attention shows a Transformer",
        )
    return states
