"""Recording of graphs by torch.export with open sizes, their conversion to ONNX, and the check of what came out.

Nothing is kept that was not computed again, at sizes that were not recorded, and found to be the same.
"""

import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.export import Dim, ExportedProgram, export
from torch.fx import GraphModule

from atento.errors import RunError
from atento.exporting.graphs import Graph

RECORDED, OTHER = (3, 5), (4, 8)  # rows and length that are recorded; a size that differs from one to the other is open
CHECKED = ((1, 1), (2, 3), (5, 11), (7, 6))  # rows and length at which a graph is computed again
MOST_ERROR = 1e-5
SMALL_NUMBERS = ("UINT8", "INT8", "BOOL")  # types that ONNX cannot sort

Arrays = list[NDArray[Any]]
Compute = Callable[[Sequence[Tensor]], Arrays]  # the inputs of a graph -> its outputs


def record(graph: Graph) -> ExportedProgram:
    """The graph as a program in which rows and lengths are open."""
    first, other = graph.sample(*RECORDED), graph.sample(*OTHER)
    sizes = [
        {axis: Dim.DYNAMIC for axis in range(one.dim()) if one.size(axis) != two.size(axis)}
        for one, two in zip(first, other, strict=True)
    ]
    torch.compiler.reset()  # what was recorded before must fix no size
    with quiet(), torch.no_grad():
        program = export(graph.module, first, dynamic_shapes=(tuple(sizes),), strict=False)
    for part in program.graph_module.modules():  # the bodies of loops are parts of their own
        for node in part.graph.nodes if isinstance(part, GraphModule) else ():
            node.meta.pop("stack_trace", None)  # which holds the paths of this machine
    return program


def write_onnx(graph: Graph, path: Path) -> None:
    """The graph as an ONNX file."""
    program = record(graph)
    with quiet(), torch.no_grad():
        made = torch.onnx.export(
            program,
            dynamo=True,
            verbose=False,
            input_names=list(graph.inputs),
            output_names=list(graph.outputs),
            custom_translation_table=MISSING_IN_ONNX,
        )
        if made is None:
            raise RunError(f"torch could not make the graph {graph.name!r}.", fix="use the run itself")
        for node in made.model.graph.all_nodes():  # what torch noted of itself is longer than a small graph
            node.metadata_props.clear()
        made.save(path)


def stable_sort(values: Any, stable: bool | None = None, dim: int = -1, descending: bool = False) -> Any:
    """torch's stable sort in ONNX, whose TopK puts the first of equal values first."""
    op = onnx_operators()

    wide = op.Cast(values, to=6) if values.dtype is not None and values.dtype.name in SMALL_NUMBERS else values
    size = op.Gather(op.Shape(values), op.Constant(value_ints=[dim]))
    ordered, places = op.TopK(wide, size, axis=dim, largest=int(descending), sorted=1)
    return op.CastLike(ordered, values), places


def distances(query: Any, key: Any, power: float, mode: int | None = None) -> Any:
    """torch's matrix of distances (..., Q, K) of vectors (..., Q, D) and (..., K, D) in ONNX."""
    op = onnx_operators()

    last, before, above = (op.Constant(value_ints=[axis]) for axis in (-1, -2, -3))
    gaps = op.Abs(op.Sub(op.Unsqueeze(query, before), op.Unsqueeze(key, above)))  # (..., Q, K, D)
    if power == 1.0:
        return op.ReduceSum(gaps, last, keepdims=0)
    if power == 2.0:
        return op.Sqrt(op.ReduceSum(op.Mul(gaps, gaps), last, keepdims=0))
    raised = op.CastLike(op.Constant(value_float=power), query)
    return op.Pow(op.ReduceSum(op.Pow(gaps, raised), last, keepdims=0), op.Reciprocal(raised))


def onnx_operators() -> Any:
    """The operators of ONNX as functions."""
    from onnxscript import opset18

    return opset18


MISSING_IN_ONNX: dict[Callable[..., Any], Callable[..., Any]] = {  # operators of torch that its exporter cannot write
    torch.ops.aten.sort.stable: stable_sort,
    torch.ops.aten._cdist_forward.default: distances,
}


def largest_error(graph: Graph, compute: Compute, *, seed: int = 0) -> float:
    """The largest error of what was exported, against torch, at sizes that were not recorded: that of numbers above 1
    relative to them.
    """
    worst = 0.0
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        for size in CHECKED:
            inputs = graph.sample(*size)
            wanted = graph.module(*inputs)
            wanted = list(wanted) if isinstance(wanted, list | tuple) else [wanted]
            for found, true in zip(compute(inputs), wanted, strict=True):
                worst = max(worst, difference(found, true.numpy()))
    return worst


def difference(found: NDArray[Any], true: NDArray[Any]) -> float:
    """The largest difference; infinite where shapes differ or a number is not finite in one of them alone."""
    if found.shape != true.shape:
        return float("inf")
    one, other = found.astype(np.float64), true.astype(np.float64)
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    with np.errstate(invalid="ignore"):
        gaps = np.where(same, 0.0, np.abs(one - other) / np.maximum(1.0, np.abs(other)))
    return float(np.nan_to_num(gaps, nan=np.inf).max(initial=0.0))


def require_small(graph: Graph, error: float) -> None:
    """Refuse a graph that does not compute what torch does."""
    if not error <= MOST_ERROR:
        raise RunError(
            f"the exported graph {graph.name!r} does not give what torch gives; nothing was kept.",
            found=f"an error of {error:.2g} where {MOST_ERROR:g} is allowed",
            fix="use the run itself: atento predict RUN FILE",
        )


@contextmanager
def quiet() -> Iterator[None]:
    """Without the remarks of torch's exporters."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
