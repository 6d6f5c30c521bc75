"""What an exported folder says of its model: `export.json`, the card of a served model, and the README.

`export.json` holds all that the runtime needs beside the graphs and the codec; no path of this machine is in it.
"""

import hashlib
from typing import Any

import torch
from torch import nn

from atento.bundle import MANIFEST, Bundle
from atento.exporting.folder import FORMAT, Json
from atento.exporting.graphs import Graph
from atento.layers.losses import median_weights
from atento.models.embedder import NextWord, SkipGram
from atento.models.ensemble import thresholds_of
from atento.models.forecaster import ForecastModel
from atento.models.language_model import LanguageModel
from atento.models.tagger import SequenceLabeller
from atento.tasks.baselines import is_baseline
from atento.tasks.embed.vectors import words_of
from atento.version import __version__

READING = ("header", "sheet", "source", "target", "label", "time", "series", "decimal", "look_back", "horizon")
# keys of data.* by which another file is read alike


def facts_of(bundle: Bundle, graphs: list[Graph], files: dict[str, str], *, to: str, int8: bool) -> Json:
    """The content of `export.json`."""
    card = card_of(bundle)
    card["streams"] = bool(card.get("streams")) and to == "onnx"
    return {
        "format": FORMAT,
        "atento": __version__,
        "to": to,
        "int8": int8,
        "task": bundle.task.name,
        "model": bundle.recipe.model.name,
        "input": card["input"],
        "output": card["output"],
        "card": card,
        "graphs": {
            graph.name: {
                "file": files[graph.name],
                "inputs": list(graph.inputs),
                "outputs": list(graph.outputs),
            }
            for graph in graphs
        },
        "decode": bundle.recipe.decode.model_dump(),
        "data": data_of(bundle),
        **model_facts(bundle.module, bundle.codec),
    }


def model_facts(module: nn.Module, codec: Any) -> Json:
    """What answers need beside the outputs of graphs: thresholds, transitions, weights and offsets of quantiles."""
    if isinstance(module, SequenceLabeller) and module.chain is not None:
        with torch.no_grad():
            parts = module.chain.transitions()._asdict()
        return {"transitions": {name: part.tolist() for name, part in parts.items()}}
    thresholds = thresholds_of(module)
    if thresholds:
        return {"thresholds": torch.cat(thresholds).tolist()}
    if isinstance(module, ForecastModel):
        offsets = module.offsets()
        moved = {} if offsets is None else {"conformal": offsets.tolist()}  # (H, C, Q)
        return {"point": median_weights(codec.levels), **moved}
    if isinstance(module, SkipGram | NextWord):
        return {"words": list(words_of(codec)[0])}
    if isinstance(module, LanguageModel):
        return {"recurrent": module.decoder.is_recurrent}
    return {}


def data_of(bundle: Bundle) -> Json:
    """The keys of data.* that say how another file is read; columns are those that the training read."""
    data = bundle.recipe.data.model_dump()
    found = {key: data[key] for key in READING if key in data}
    saved = bundle.metrics.get("data", {}).get("columns")
    columns = {str(key): str(name) for key, name in saved.items()} if isinstance(saved, dict) else {}
    return {**found, **{key: name for key, name in columns.items() if key in data}}


def card_of(bundle: Bundle, *, attends: bool = False) -> Json:
    """What a model is, as its server and its callers know it; an exported one gives no attention weights."""
    kind, facts = bundle.task.reading.kind, bundle.codec.answer_facts()
    simple = is_baseline(bundle.module)
    card: Json = {
        "id": hashlib.sha256((bundle.folder / MANIFEST).read_bytes()).hexdigest()[:12],
        "task": bundle.task.name,
        "model": bundle.recipe.model.name,
        "summary": bundle.task.summary,
        "input": "text" if kind == "documents" else kind,
        "attends": attends,
        "streams": isinstance(bundle.module, LanguageModel) or (facts["output"] == "text" and not simple),
        **facts,
    }
    if "horizon" in card:
        card["horizon"] = bundle.recipe.decode.horizon or card["horizon"]
        card["quantiles"] = [] if simple else card["quantiles"]
    return card


def readme_of(bundle: Bundle, facts: Json, error: float | None, quality: Json | None) -> str:
    """The card of the folder: what the model is, how good, how exact the export."""
    metric = str(bundle.metrics.get("metric", ""))
    value = (bundle.metrics.get("scores", {}).get(metric) or [None])[0]
    worth = f", {metric} {value:.4g} on its test part" if isinstance(value, float) else ""
    lines = [f"# {facts['model']}, {facts['task']}", "", f"{bundle.task.summary} A {facts['model']} model{worth}."]
    if error is not None:
        lines.append(f"Exported to {facts['to']}: the largest difference from torch was {error:.1e}.")
    if quality is not None:
        lines.append(
            f"Weights are int8: {quality['metric']} was {quality['before']:.4g} before and {quality['after']:.4g} "
            f"after, on {quality['examples']} {quality['part']} rows."
        )
    use = {
        "onnx": "`atento predict FOLDER FILE` answers a file and `atento serve FOLDER` other programs, both without "
        "torch. `run.py` shows the same in a few lines with numpy and onnxruntime.",
        "torch-export": "`torch.export.load` reads the `.pt2` programs. Load only programs that you trust.",
        "ct2": "`ctranslate2.Translator(FOLDER)` reads this folder, and so does `atento predict FOLDER FILE`.",
    }
    return "\n".join([*lines, "", use[str(facts["to"])], ""])
