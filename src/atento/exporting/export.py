"""`atento export`: what can be exported is said first, then graphs are made, checked, and written as one folder."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from atento.bundle import Bundle
from atento.errors import InputError, unknown_name
from atento.exporting.describing import facts_of, readme_of
from atento.exporting.folder import CARD, CODEC, EXPORT, RUNNER, Json, new_folder, write_json, write_manifest
from atento.exporting.graphs import Graph, graphs_of
from atento.exporting.int8 import rows_of, to_int8
from atento.exporting.runner import runner_of
from atento.exporting.runtime.graphs import OnnxGraph
from atento.exporting.tracing import CHECKED, Compute, largest_error, record, require_small, write_onnx
from atento.extras import require_extra
from atento.models.interpolated import InterpolatedLanguageModel
from atento.models.names import ModelName
from atento.tasks.baselines import BaselineModule
from atento.writing import write_atomically

FORMATS = ("onnx", "torch-export", "ct2")
SUFFIXES = {"onnx": ".onnx", "torch-export": ".pt2"}

Tell = Callable[[str], None]


@dataclass(frozen=True)
class ExportReport:
    """What was exported, and how exact it is."""

    run: str
    folder: str
    to: str
    files: dict[str, int]  # name -> bytes
    largest_error: float | None  # against torch; None: tokens were compared instead
    checked: list[list[int]]  # rows and length of each check
    quality: Json | None = None  # of int8: the headline metric before and after
    compared: Json | None = None  # of ct2: how many sources gave the same tokens

    def to_json(self) -> Json:
        """The same in dicts and lists."""
        return asdict(self)


def nothing(text: str) -> None:
    """Progress that nobody reads."""


def export_bundle(
    bundle: Bundle, *, to: str = "onnx", out: Path | None = None, int8: bool = False, tell: Tell = nothing
) -> ExportReport:
    """Export a trained model; what cannot be exported is refused before anything is made."""
    refuse(bundle, to, int8=int8)
    rows = rows_of(bundle) if int8 else None
    place = out or bundle.folder.with_name(f"{bundle.folder.name}-{to}{'-int8' if int8 else ''}")
    bundle.module.cpu().eval()
    with new_folder(place) as folder:
        write_json(folder / CODEC, bundle.codec.to_json())
        if to == "ct2":
            from atento.exporting.ctranslate import write_ct2

            error, quality, compared = None, *write_ct2(bundle, folder, rows, tell)
            facts = facts_of(bundle, [], {}, to=to, int8=int8)
        else:
            graphs = graphs_of(bundle.module, bundle.codec)
            files = {graph.name: f"{graph.name}{SUFFIXES[to]}" for graph in graphs}
            facts, compared = facts_of(bundle, graphs, files, to=to, int8=int8), None
            error = write_graphs(graphs, folder, to, tell)
            quality = None if rows is None else to_int8(bundle, folder, facts, rows, tell)
        write_json(folder / EXPORT, facts)
        write_atomically(folder / CARD, readme_of(bundle, facts, error, quality).encode())
        if to == "onnx":
            write_atomically(folder / RUNNER, runner_of(facts, bundle.codec.to_json()).encode())
        checked = [list(size) for size in CHECKED]
        write_manifest(folder, {"largest_error": error, "checked": checked, "quality": quality, "compared": compared})
        sizes = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
    return ExportReport(str(bundle.folder), str(place), to, sizes, error, checked, quality, compared)


def refuse(bundle: Bundle, to: str, *, int8: bool) -> None:
    """Say what cannot be exported, with the reason and the alternative, before the attempt."""
    if to not in FORMATS:
        raise unknown_name("format", to, FORMATS, where="--to")
    if to == "onnx":
        require_extra("export", "--to onnx")
    if to == "ct2":
        require_extra("ct2", "--to ct2")
    if isinstance(bundle.module, BaselineModule):
        baseline = bundle.module.baseline
        raise InputError(
            f"{baseline.name} is a simple baseline: it is counts and a formula, not a network with graphs to export.",
            found=baseline.summary,
            fix="use the run itself with atento predict or serve, or export a network: atento models lists them",
        )
    if isinstance(bundle.module, InterpolatedLanguageModel):
        plain = str(ModelName.parse(bundle.recipe.model.name).without("ngram"))
        raise InputError(
            "a language model with +ngram looks up counts, which no graph holds.",
            found=bundle.recipe.model.name,
            fix=f"use the run itself with atento predict or serve, or export {plain}",
        )
    if int8 and to == "torch-export":
        raise InputError("--int8 is for onnx and ct2.", found="--to torch-export", fix="--to onnx --int8")
    if int8 and bundle.task.name == "embed":
        raise InputError(
            "--int8: word vectors are looked up in a table, and int8 would only blur them.",
            found="--task embed",
            fix="leave --int8 out",
        )
    if to == "ct2":
        from atento.exporting.ctranslate import refuse_ct2

        refuse_ct2(bundle)


def write_graphs(graphs: list[Graph], folder: Path, to: str, tell: Tell) -> float:
    """Every graph as a file, each checked against torch; the largest error of all."""
    worst = 0.0
    for number, graph in enumerate(graphs, 1):
        tell(f"graph {number} of {len(graphs)}: {graph.name}")
        path = folder / f"{graph.name}{SUFFIXES[to]}"
        if to == "onnx":
            write_onnx(graph, path)
            compute = by_onnxruntime(graph, folder)
        else:
            compute = by_program(graph, path)
        error = largest_error(graph, compute)
        require_small(graph, error)
        worst = max(worst, error)
    return worst


def by_onnxruntime(graph: Graph, folder: Path) -> Compute:
    """The written graph as the runtime computes it."""
    written = OnnxGraph(folder, {"file": f"{graph.name}{SUFFIXES['onnx']}"})

    def compute(inputs: Any) -> Any:
        found = written(dict(zip(graph.inputs, (tensor.numpy() for tensor in inputs), strict=True)))
        return [found[name] for name in graph.outputs]

    return compute


def by_program(graph: Graph, path: Path) -> Compute:
    """Write the program without the inputs that it was recorded with, which would be pickled; then load it again."""
    program = record(graph)
    program._example_inputs = None
    torch.export.save(program, path)
    loaded = torch.export.load(path).module()

    def compute(inputs: Any) -> Any:
        found = loaded(*inputs)
        return [part.numpy() for part in (found if isinstance(found, list | tuple) else [found])]

    return compute
