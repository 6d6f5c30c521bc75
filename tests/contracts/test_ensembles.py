"""What an ensemble of every task whose answers have a mean promises: it is saved, loaded, asked and looked into like
any model, and no member answers for it.
"""

import numpy as np
import pytest
import torch

from atento.api.explain.maps import attribute, examine
from atento.bundle import VOCABULARY, load_bundle, save_bundle, write_json
from atento.errors import InputError
from atento.models.ensemble import Ensemble, count_members
from atento.predictor import Predictor
from atento.spec import DecodeRecipe
from atento.tasks.catalogue import TASKS
from atento.tasks.encoding import build_module
from atento.tasks.task import EvaluationExample, judged
from exported import bundle_of, sources_of

MEMBERS = 3
NO_MEAN = {"embed", "autoencode"}
MODELS = [  # every task that has a mean
    ("classify", "gru+additive"),
    ("classify", "gru+additive+wide"),
    ("classify", "gru+additive+hierarchical"),
    ("classify-series", "transformer"),
    ("classify-windows", "gru"),
    ("classify-images", "conv+additive"),
    ("label", "gru+one-each"),
    ("label", "transformer"),
    ("label-series", "gru"),
    ("label-images", "conv"),
    ("label-pairs", "transformer+co"),
    ("match", "gru+dot+co"),
    ("match-images", "conv/gru+dot+co"),
    ("tag", "transformer+crf"),
    ("tag", "gru"),
    ("estimate", "gru"),
    ("estimate-text", "gru"),
    ("estimate-images", "conv"),
    ("translate", "gru+dot"),
    ("rewrite", "transformer"),
    ("transcribe", "gru+dot"),
    ("caption", "conv/gru+dot"),
    ("generate", "gru"),
    ("generate", "transformer"),
    ("forecast", "transformer"),
    ("forecast", "linear"),
]


def test_every_task_with_a_mean_is_asked():
    assert {name for name, task in TASKS.items() if task.learning.ensemble is None} == NO_MEAN
    assert {task for task, _ in MODELS} == set(TASKS) - NO_MEAN


@pytest.fixture(params=MODELS, ids=lambda case: " ".join(case))
def bundle(request, tmp_path):
    task, model = request.param
    values = {"model.quantiles": "0.1,0.5,0.9"} if task == "forecast" else {}
    return bundle_of(tmp_path / "run", task, model, **{"model.members": MEMBERS, **values})


def members_of(bundle):
    """Each member as a model of its own, with its own weights."""
    task, recipe = bundle.task, bundle.recipe.model
    parts = [part for part in bundle.module.modules() if isinstance(part, Ensemble)]
    one = recipe.model_copy(update={"members": 1})
    for number in range(MEMBERS):
        module = build_module(task, one, bundle.codec)
        for part in parts:
            name = next(name for name, found in bundle.module.named_modules() if found is part)
            target = module.get_submodule(name) if name else module
            target.load_state_dict(part.members[number].state_dict())
        yield module.eval()


def outputs(bundle, module):
    """What metrics take, with probabilities or scores beside it."""
    decode = DecodeRecipe(max_tokens=7)
    found, answers = judged(bundle.task, module, bundle.codec, sources_of(bundle), decode)
    return [(one, answer.score) for one, answer in zip(found, answers, strict=True)] if answers else list(found)


def are_equal(some, others):
    pairs = (pair for rows in zip(some, others, strict=True) for pair in zip(*rows, strict=True))
    return all(np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other for one, other in pairs)


def test_it_is_loaded_as_it_was_saved_and_differs_from_each_member(bundle):
    assert count_members(bundle.module) == MEMBERS
    own = outputs(bundle, bundle.module)
    for member in members_of(bundle):
        assert not are_equal(own, outputs(bundle, member))
    (bundle.folder / "recipe.toml").write_text(bundle.recipe.to_toml(), encoding="utf-8")
    write_json(bundle.folder / VOCABULARY, bundle.codec.to_json())
    save_bundle(bundle.folder, module=bundle.module, metrics={}, card="")
    loaded = load_bundle(bundle.folder)
    assert are_equal(own, outputs(loaded, loaded.module))


def test_every_member_is_looked_into(bundle):
    predictor, source = Predictor(bundle), sources_of(bundle)[1]
    shown = predictor.look(source)
    (member, *_) = members_of(bundle)
    alone = bundle.task.answering.look(member, bundle.codec, source, bundle.recipe.decode)
    assert shown.weights.size(0) == MEMBERS * alone.weights.size(0)
    maps = examine(predictor, source).maps
    assert len({one.name for one in maps}) == len(maps)
    assert all(any(f"member {number + 1}" in one.name for number in range(MEMBERS)) for one in maps)
    assert bundle.task.answering.trace(bundle.module, bundle.codec, source, bundle.recipe.decode)
    found = attribute(predictor, source)
    assert len(found.values) == len(found.tokens)


@pytest.mark.parametrize(("task", "model"), [("embed", "skip-gram"), ("autoencode", "linear")])
def test_what_has_no_mean_is_refused(tmp_path, task, model):
    bundle = bundle_of(tmp_path / "run", task, model)
    recipe = bundle.recipe.model.model_copy(update={"members": 2})
    with pytest.raises(InputError, match="no mean"):
        build_module(bundle.task, recipe, bundle.codec)


def test_thresholds_are_chosen_anew(tmp_path):
    bundle = bundle_of(tmp_path / "run", "label", "gru", **{"model.members": MEMBERS})
    questions = [(source, ("x",)) for source in sources_of(bundle)]
    task = bundle.task
    task.learning.calibrate(bundle.module, bundle.codec, [EvaluationExample(*one) for one in questions])
    assert not torch.equal(bundle.module.thresholds, torch.full((3,), 0.5))
