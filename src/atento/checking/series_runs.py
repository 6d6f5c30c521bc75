"""Contracts of a run whose answers are arrays of numbers, on its own test part."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from safetensors.numpy import load

from atento.bundle import OUTPUTS, Bundle
from atento.checking.finding import SHORT, Checked, Finding, aside, judged, tried
from atento.errors import InputError
from atento.spec import DecodeRecipe

EXAMPLES = 6
NO_EXAMPLES = "the run has no test part, or its data is gone"

Gap = Callable[[Any, Any], float]  # how far two answers lie apart
Asked = list[tuple[int, Any]]  # sources of the test part with their numbers


def check_series_run(bundle: Bundle, of_its_module: Sequence[Finding], gap: Gap) -> Checked:
    """What was found of its module, then the contracts of its answers."""
    asked = some_questions(bundle)
    laws = {"answers": answers_alone, "as tested": as_tested}
    own = [
        tried(name, partial(law, bundle, asked, gap)) if asked else aside(name, NO_EXAMPLES)
        for name, law in laws.items()
    ]
    return Checked(f"{bundle.recipe.model.name} ({bundle.task.name})", [*of_its_module, *own])


def some_questions(bundle: Bundle) -> Asked:
    """A few of the test part, spread over it."""
    try:
        test = bundle.read().test
    except InputError:
        return []
    return [(at, test[at].source) for at in range(0, len(test), max(1, -(-len(test) // EXAMPLES)))]


def answers_alone(bundle: Bundle, asked: Asked, gap: Gap) -> Finding:
    """What else is asked in the same call changes no answer."""
    sources, decode = [source for _, source in asked], DecodeRecipe()
    together = bundle.task.answer(bundle.module, bundle.codec, sources, decode)
    alone = [bundle.task.answer(bundle.module, bundle.codec, [source], decode)[0] for source in sources]
    worst = max(gap(one.value, other.value) for one, other in zip(together, alone, strict=True))
    return judged("answers", worst, SHORT, "a window asked alone gets the answer it gets in company")


def as_tested(bundle: Bundle, asked: Asked, gap: Gap) -> Finding:
    """The loaded model answers as the trained one did when it was tested."""
    path = bundle.folder / OUTPUTS
    if not path.exists():
        return aside("as tested", NO_EXAMPLES)
    then = load(path.read_bytes())["outputs"]
    now = bundle.task.answer(bundle.module, bundle.codec, [source for _, source in asked], bundle.recipe.decode)
    worst = max(gap(one.value, then[at]) for one, (at, _) in zip(now, asked, strict=True))
    return judged("as tested", worst, SHORT, "the loaded model answers as the trained one did when it was tested")
