"""The graphs of a folder, computed by onnxruntime."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atento.errors import MachineError
from atento.exporting.folder import Json, damaged
from atento.extras import install_line

Array = NDArray[Any]
Arrays = dict[str, Array]


class OnnxGraph:
    """One graph: named arrays in, named arrays out."""

    def __init__(self, folder: Path, saved: Json, *, threads: int = 0) -> None:
        runtime = onnxruntime()
        options = runtime.SessionOptions()
        options.intra_op_num_threads = threads  # 0: as many as there are cores
        options.log_severity_level = 3
        name = str(saved.get("file"))
        try:  # of bytes: a graph cannot name other files as its weights
            self.session = runtime.InferenceSession(
                (folder / name).read_bytes(), options, providers=["CPUExecutionProvider"]
            )
        except OSError:
            raise
        except Exception as error:  # noqa: BLE001  the library raises types of its own
            raise damaged(folder, name, str(error).split("\n")[0][:200]) from None
        self.inputs = [one.name for one in self.session.get_inputs()]
        self.outputs = [one.name for one in self.session.get_outputs()]

    def __call__(self, given: Mapping[str, Array]) -> Arrays:
        """All outputs by name."""
        feeds = {name: given[name] for name in self.inputs}
        return dict(zip(self.outputs, self.session.run(self.outputs, feeds), strict=True))


def onnxruntime() -> Any:
    """The library; its absence is told with the line that installs it."""
    try:
        import onnxruntime as found
    except ImportError:
        raise MachineError(
            "an exported model needs onnxruntime, which is not installed.",
            found="no onnxruntime",
            fix=install_line("export"),
        ) from None
    return found


def log_softmax(logits: Array) -> Array:
    """Over the last axis, in float32 as torch does."""
    values = logits.astype(np.float32)
    largest = values.max(axis=-1, keepdims=True)
    shifted = values - np.where(np.isfinite(largest), largest, 0)
    with np.errstate(divide="ignore"):
        return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)), dtype=np.float32)


def like_lengths(lengths: Sequence[int], at_once: int) -> list[list[int]]:
    """All places, the shortest first, in groups of at most so many tokens with padding."""
    groups: list[list[int]] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if not groups or max(1, lengths[place]) * (len(groups[-1]) + 1) > at_once:
            groups.append([])
        groups[-1].append(place)
    return groups
