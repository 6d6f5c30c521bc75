"""How the gradient travels through time in a module or a trained run."""

import json
from pathlib import Path
from typing import Any

import torch
from torch import nn

from atento.api.run import Run
from atento.bundle import PREDICTIONS
from atento.errors import InputError
from atento.looking.flow_page import render_flow
from atento.looking.flow_picture import flow_picture
from atento.looking.saving import save_view
from atento.models.gradients import GradientFlow
from atento.models.gradients import gradient_flow as flow_of_module

SOURCES = 8  # of the test part, the longest


def gradient_flow(model: nn.Module | Run, batch: Any = None) -> GradientFlow:
    """Norms of ∂s_t/∂s_k against lag, singular values, gates, a verdict in words and a remedy.

    Of any module with a `Stack`, a cell or layers of attention, on what it reads (several batches: a list); a run
    reads some of its own test sources when no batch is given.
    """
    if batch is None:
        if not isinstance(model, Run):
            raise InputError("gradient_flow needs a batch.", found=f"a {type(model).__name__} alone", fix="give one")
        batch = batches_of(model)
    return flow_of_module(model.module if isinstance(model, Run) else model, batch)


def batches_of(run: Run, text: str = "") -> list[Any]:
    """One batch a source, so that nothing is padded: the given text with its answer, or the longest test sources."""
    bundle = run.predictor.bundle
    pairs = [(text, run.predict(text)[0])] if text.strip() else longest_pairs(run)
    device = next(run.module.parameters()).device
    batches = [bundle.task.batch([bundle.task.encode(bundle.codec, pair)]) for pair in pairs]
    return [
        type(batch)(*(part.to(device) if isinstance(part, torch.Tensor) else part for part in batch))
        for batch in batches
    ]


def longest_pairs(run: Run) -> list[tuple[str, str]]:
    """Sources of the test part with a right answer each."""
    path = run.folder / PREDICTIONS
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    found = sorted((json.loads(line) for line in lines), key=lambda line: -len(str(line["source"])))[:SOURCES]
    if not found:
        raise InputError("there is no text to look at.", found="no test part", fix='give one: atento look RUN "a text"')
    return [(line["source"], line["references"][0]) for line in found]


def look_at_gradients(run: Run, text: str = "") -> dict[str, Any]:
    """The whole diagnosis as plain data."""
    return {"model": run.recipe.model.name, **gradient_flow(run, batches_of(run, text)).to_json()}


def save_flow(flow: dict[str, Any], out: Path) -> None:
    """A page, a picture or the numbers, by the name given."""
    save_view(flow, out, page=render_flow, picture=flow_picture)
