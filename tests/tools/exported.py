"""Small untrained models of every task as bundles, ready to be exported, and sources to ask them with."""

import json
from dataclasses import replace

import numpy as np
import torch
from torch import nn

from atento.bundle import Bundle
from atento.data.series import Frequency, Past, Series
from atento.models.conformal import ConformalQuantiles
from atento.spec import Recipe, TokensRecipe
from atento.tasks.catalogue import TASKS
from atento.tasks.encoding import build_module, suited
from atento.tasks.forecast.windows import WindowSpec

TEXTS = ["one", "two one", "three two. one", "four five six seven", "six five, four three two", "never met words"]
TWO = ["one\ttwo", "two one\tone", "a b c\td e", "four\tfive six seven", "six walks\twalking three two one", "x\ty"]
WORDS = [
    "one",
    "two\tone",
    "three\ttwo\tone",
    "four\tfive\tsix\tseven",
    "six five four, three",
    "un\tanti" + 9 * "dis",
]
NUMBERS = ["1,2", "2,1 3,4", "0,0 1,1 2,2", "5,4 3,2 1,0 9,9", "1,0 0,1 1,0 0,1 1,0", "7,7 7,6 5,5"]
IMAGES = [f"drawn:16 {colour} star {at} 8 3" for at, colour in enumerate(["red", "blue", "green"] * 2, 5)]
QUESTIONS = [f"drawn:16 red star {at} 8 3\tis it {'big ' * at}?" for at in range(1, 7)]
DOCUMENTS = ["one two three. four five", "six seven one", "two two one", "four", "one one", "seven"] * 4
SOURCES = {
    "text": TEXTS,
    "two texts": TWO,
    "words": WORDS,
    "numbers": NUMBERS,
    "image": IMAGES,
    "image and question": QUESTIONS,
    "documents": DOCUMENTS[:6],
}
LABEL = ["x", "y", "x", "z", "y", "z"]
LABELS = ["x\ty", "", "z", "x", "y\tz", "x"]
NUMBER = ["1.5", "-2", "0.25", "7", "3", "11"]
TEXT = ["uno", "dos uno", "tres", "cuatro uno", "cinco dos tres", "seis"]
TAGS = ["B-A", "O\tB-A", "B-A\tI-A\tO", "O\tO\tB-A\tI-A", "O\tB-A\tI-A\tO\tO", "O\tO"]
TARGETS = {
    **dict.fromkeys(["classify", "classify-series", "classify-images", "classify-windows"], LABEL),
    **dict.fromkeys(["match", "match-images"], LABEL),
    **dict.fromkeys(["label", "label-series", "label-images", "label-pairs"], LABELS),
    **dict.fromkeys(["estimate", "estimate-text", "estimate-images"], NUMBER),
    **dict.fromkeys(["translate", "rewrite", "transcribe", "caption"], TEXT),
    "tag": TAGS,
    **dict.fromkeys(["generate", "embed"], [""] * 24),
}
SMALL = {"model.hidden": 6, "model.heads": 2, "model.layers": 1, "model.dropout": 0.0, "decode.max_tokens": 7}


def bundle_of(folder, name, model, **values):
    """A bundle of a task and a model, with random weights everywhere."""
    task, covariates = TASKS[name], values.pop("covariates", 0)
    recipe = Recipe().with_values({**SMALL, "task": name, "model.name": model, **values})
    if name in ("forecast", "autoencode"):
        pairs = series_pairs(0 if name == "autoencode" else 3, covariates)
    else:
        sources = DOCUMENTS if task.reading.kind == "documents" else SOURCES[task.reading.kind]
        pairs = list(zip(sources, TARGETS[name], strict=True))[: len(sources) - (len(sources) == 6)]  # one is unmet
    codec = suited(task, task.learning.learn(TokensRecipe(), pairs), recipe)
    torch.manual_seed(0)
    module = build_module(task, recipe.model, codec)
    for part in module.parameters():
        if not part.detach().any() or part.dim() == 1:
            nn.init.normal_(part, std=0.3)
    for part in module.modules():
        if isinstance(part, ConformalQuantiles):
            nn.init.uniform_(part.offsets)
            part.offsets.copy_(part.offsets.sort(dim=-1).values)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text(json.dumps({}))
    return Bundle(folder, task, recipe, codec, module.eval(), {})


def series_pairs(horizon, covariates):
    frame = WindowSpec(5, horizon, ("a", "b"), tuple("kl"[:covariates]), Frequency(1, ""), 1)
    rng = np.random.default_rng(0)
    known = rng.normal(size=(30, covariates))
    return [(Series(f"s{at}", rng.normal(size=(30, 2)).cumsum(axis=0) * 9 + 50, known), frame) for at in range(2)]


def sources_of(bundle):
    """Sources as the task answers them, one of which training never met."""
    if bundle.task.name not in ("forecast", "autoencode"):
        return SOURCES[bundle.task.reading.kind]
    frame, rng = bundle.codec.frame, np.random.default_rng(1)
    steps, found = frame.look_back + 3 * max(1, frame.horizon), []
    for extra, name in enumerate(["s0", "s1", "unseen"]):
        values, known = (frame.look_back + extra, 2), (steps + extra, len(frame.covariates))
        found.append(Past(name, "now", rng.normal(size=values) * 9 + 50, rng.normal(size=known)))
    return found


def masked(bundle):
    """A masked language model in place of a causal one."""
    codec = replace(bundle.codec, objective="masked")
    torch.manual_seed(0)
    return bundle._replace(codec=codec, module=bundle.task.learning.build(bundle.recipe.model, codec).eval())
