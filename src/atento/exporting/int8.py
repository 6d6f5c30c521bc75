"""Weights as int8, and what that costs: the headline metric of the task on rows of the run, before and after.

onnxruntime quantizes the matrices of a graph; those inside a loop over time stay as they are.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from atento.bundle import Bundle, read_predictions
from atento.data.series import Past
from atento.errors import InputError
from atento.exporting.folder import EXPORT, MANIFEST, Json, write_json, write_manifest
from atento.exporting.runtime.model import ExportedModel
from atento.exporting.runtime.writing import Completer, MaskedScorer
from atento.exporting.tracing import quiet

MOST_ROWS = 500


class Measured(NamedTuple):
    """A metric on so many rows."""

    metric: str
    value: float
    smaller_is_better: bool


class JudgedRows(NamedTuple):
    """Sources with their right answers, and which part of the data they are."""

    sources: Sequence[Any]
    references: Sequence[Sequence[Any]]
    part: str


def rows_of(bundle: Bundle) -> JudgedRows:
    """The validation part where the data is still there, else the test rows that the run has kept."""
    try:
        questions = bundle.read().valid[:MOST_ROWS]
        if len(questions):
            return JudgedRows([one.source for one in questions], [one.references for one in questions], "validation")
    except (InputError, OSError):
        pass
    kept = read_predictions(bundle.folder)[:MOST_ROWS]
    if not kept or bundle.task.reading.kind in ("series", "documents"):
        raise InputError(
            "the loss of quality by --int8 cannot be measured.",
            found=f"{bundle.recipe.data.train}, the data of the run, is not there",
            fix="put the data back in its place, or leave --int8 out",
        )
    return JudgedRows([line["source"] for line in kept], [line["references"] for line in kept], "test")


def measure(bundle: Bundle, folder: Path, rows: JudgedRows) -> Measured:
    """The headline metric of an exported model."""
    model = ExportedModel(folder)
    if isinstance(model.answerer, Completer):
        return Measured("nats per token", model.answerer.nats(rows.sources), True)
    if isinstance(model.answerer, MaskedScorer):
        scores = [model.answerer.score(str(source)) for source in rows.sources]
        return Measured("nats per text", -sum(scores) / max(1, len(scores)), True)
    headline = bundle.task.judging.metrics(bundle.codec)[0].for_sources(rows.sources)
    sources = [source if isinstance(source, Past) else str(source) for source in rows.sources]
    outputs = [answer.judged for answer in model.answer(sources)]
    return Measured(headline.name, headline.value(outputs, rows.references), headline.smaller_is_better)


def loss_of(before: Measured, after: Measured, rows: JudgedRows) -> Json:
    """Both values, and how much worse the second is."""
    gap = after.value - before.value if before.smaller_is_better else before.value - after.value
    return {
        "metric": before.metric,
        "before": before.value,
        "after": after.value,
        "loss": gap,
        "smaller_is_better": before.smaller_is_better,
        "part": rows.part,
        "examples": len(rows.sources),
    }


def to_int8(bundle: Bundle, folder: Path, facts: Json, rows: JudgedRows, tell: Callable[[str], None]) -> Json:
    """Put int8 weights in the place of the graphs' own, and measure what that costs."""
    write_json(folder / EXPORT, facts)
    tell(f"quality before int8, on {len(rows.sources)} {rows.part} rows")
    before = measure_folder(bundle, folder, rows)
    for saved in facts["graphs"].values():
        quantize(folder / saved["file"])
    tell("quality with int8")
    return loss_of(before, measure_folder(bundle, folder, rows), rows)


def measure_folder(bundle: Bundle, folder: Path, rows: JudgedRows) -> Measured:
    """The headline metric of a folder that has no manifest yet."""
    write_manifest(folder, {})
    found = measure(bundle, folder, rows)
    (folder / MANIFEST).unlink()
    return found


def quantize(path: Path) -> None:
    """The weights of the graph in a file as int8."""
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    model, small = onnx.load(path), path.with_suffix(".int8")
    give_own_matrices(model.graph)
    forget_shapes(model.graph, onnx)  # which the library would compare with those of matrices that it turns around
    with quiet():
        quantize_dynamic(model, small, weight_type=QuantType.QInt8)
    small.replace(path)


def give_own_matrices(graph: Any) -> None:
    """A copy of its matrix for each product that shares one, as an output layer does with an embedding: the library
    turns the matrices of products around in their place.
    """
    matrices = {matrix.name: matrix for matrix in graph.initializer}
    readers = Counter(name for node in graph.node for name in node.input)
    for node in graph.node:
        if node.op_type == "Gemm" and node.input[1] in matrices and readers[node.input[1]] > 1:
            own = graph.initializer.add()
            own.CopyFrom(matrices[node.input[1]])
            node.input[1] = own.name = f"{own.name}_of_{node.output[0]}"


def forget_shapes(graph: Any, onnx: Any) -> None:
    """Leave the shapes of all values in a graph, and in those inside it, to be inferred."""
    graph.ClearField("value_info")
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                forget_shapes(attribute.g, onnx)
