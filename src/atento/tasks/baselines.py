"""A baseline where a network stands: the same task, whose model is one of its simple models, trained by name.

`with_baseline(task, "tf-idf")` is the task with its learning and answering replaced; reading, metrics and all else are
the task's own.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from atento.baselines.explanation import Explains
from atento.data.examples.batches import sample_of
from atento.errors import InputError, unknown_name
from atento.models.names import FAMILIES, FORECASTERS, IMAGE_ENCODERS, ModelName
from atento.spec import DecodeRecipe, ModelRecipe
from atento.tasks.task import Answer, Answering, Baseline, Prediction, Task
from atento.tasks.traces import Alignment, TraceMatrix


class BaselineModule(nn.Module):
    """A baseline as a module without parameters."""

    def __init__(self, baseline: Baseline) -> None:
        super().__init__()
        self.baseline = baseline

    def fit(self, pairs: Sequence[tuple[Any, Any]]) -> None:
        """Learn from the training part; of very many pairs, from a sample."""
        some = sample_of(pairs)
        self.baseline.fit([source for source, _ in some], [target for _, target in some])


def baseline_makers(task: Task) -> dict[str, Callable[[], Baseline]]:
    """All baselines of a task by name, with those that only some data has."""
    extra = [one.make for one in task.judging.extra_baselines]
    return {make().name: make for make in (*task.judging.baselines, *extra)}


def with_baseline(task: Task, model: str) -> Task:
    """The task itself; where the model is named as one of its baselines, the task with that baseline as its model."""
    make = baseline_makers(task).get(model)
    if make is None:
        return task
    usual = ModelName.parse(task.defaults.model)
    learning = replace(
        task.learning,
        build=lambda recipe, codec: build(make, recipe),
        ensemble=None,
        windows=None,
        pair=None,
        closed_form=None,
        count=None,
        class_weights=None,
        calibrate=None,
        conformalize=None,
    )
    answering = Answering(
        answer=lambda module, codec, sources, recipe: answer(task, module, codec, sources, recipe),
        score=score if task.answering.score is not None else None,
        look=lambda module, codec, source, recipe: look(task, module, codec, source, recipe),
        trace=refuse_trace,
        views=task.answering.views,
        tabulate=task.answering.tabulate,
        source_notes=task.answering.source_notes,
    )
    return replace(
        task,
        learning=learning,
        answering=answering,
        judging=replace(task.judging, exposure=None),
        defaults=replace(task.defaults, values=lambda data, name: task.defaults.values(data, usual)),
    )


def build(make: Callable[[], Baseline], recipe: ModelRecipe) -> BaselineModule:
    """The baseline, not yet fitted."""
    return BaselineModule(make())


def is_baseline(module: nn.Module) -> bool:
    """Whether a module stands for a baseline."""
    return isinstance(module, BaselineModule)


def answer(
    task: Task, module: BaselineModule, codec: Any, sources: Sequence[Any], recipe: DecodeRecipe
) -> list[Answer]:
    """What the baseline answers, as the task writes it."""
    if task.judging.baseline_answers is not None:
        return task.judging.baseline_answers(codec, module.baseline, sources, recipe) if len(sources) else []
    return [Answer(str(prediction), None) for prediction in module.baseline.predict(sources)]


def score(module: BaselineModule, codec: Any, sources: Sequence[Any], recipe: DecodeRecipe) -> Sequence[Prediction]:
    """What the task's metrics take."""
    return module.baseline.predict(sources)


def look(task: Task, module: BaselineModule, codec: Any, source: Any, recipe: DecodeRecipe) -> Alignment:
    """An answer, and in words what moved it; a baseline attends to nothing."""
    (found,) = answer(task, module, codec, [source], recipe)
    baseline = module.baseline
    shown = baseline.explain(source) if isinstance(baseline, Explains) else None
    words = shown.text() if shown is not None else ""
    plain = f"{baseline.name} has no attention: {baseline.summary}"
    return Alignment(
        [str(source)], [found.text], torch.zeros(0, 0, 1, 1), found.text, found.score, explanation=words or plain
    )


def refuse_trace(module: BaselineModule, codec: Any, source: Any, recipe: DecodeRecipe) -> list[TraceMatrix]:
    """A baseline has no forward pass."""
    raise no_network(module, "forward pass to show")


def no_network(module: nn.Module, what: str) -> InputError:
    """The one message for what only a network can show."""
    baseline = module.baseline if isinstance(module, BaselineModule) else None
    name = baseline.name if baseline is not None else "this model"
    return InputError(
        f"{name} is a simple baseline and has no {what}.",
        found=baseline.summary if baseline is not None else "",
        fix="atento look RUN shows what moved an answer",
    )


def require_model(task: Task, name: str) -> None:
    """Refuse a name that is neither a model nor a baseline of the task; the nearest of both is proposed."""
    if name in baseline_makers(task):
        return
    families = [*FAMILIES, *IMAGE_ENCODERS, *FORECASTERS]
    usual = [ModelName.parse(model).family for model in task.defaults.models]
    for part in ModelName.parse(name).parts:
        if "/" not in part.family and part.family not in (*families, *usual):
            known = dict.fromkeys([*FAMILIES, *task.defaults.models, *baseline_makers(task)])
            raise unknown_name("model", part.family, known, where="" if part.family == name else f"model {name!r}")
    task.learning.check_name(ModelName.parse(name))
