"""Every score, distribution and extent in ONNX, at sizes that were not recorded."""

import pytest
import torch
from torch import nn

from atento.attention import DISTRIBUTIONS, EXTENTS, SCORES, Composition, Sizes
from atento.exporting.graphs import Called, Graph
from atento.exporting.runtime.graphs import OnnxGraph
from atento.exporting.tracing import write_onnx
from compositions import has_meaning

pytestmark = pytest.mark.usefixtures("light_recording")

SIZE, LONGEST = 7, 31
SIZES = Sizes(query=SIZE, key=SIZE, reach=1, heads=1, block=2, max_length=LONGEST)
DRAWN = ("hard-reinforce", "hard-half")  # other gradients than hard's, and the same values
GROUPS = {
    "scores": [(score, "softmax", "everything") for score in SCORES],
    "distributions": [("scaled-dot", one, "everything") for one in DISTRIBUTIONS if one not in DRAWN],
    "extents": [("scaled-dot", "softmax", extent) for extent in EXTENTS],
}


def some_items(rows, length):
    valid = torch.rand(rows, length + 2) < 0.7
    valid[-1] = False  # it sees nothing
    return torch.randn(rows, length, SIZE), torch.randn(rows, length + 2, SIZE), valid


@pytest.mark.parametrize("group", GROUPS)
def test_every_part_of_attention_is_the_same_in_onnx(tmp_path, group):
    torch.manual_seed(0)
    cases = [case for case in GROUPS[group] if has_meaning(*case)]
    parts = nn.ModuleList(Composition(*case).build(SIZES).eval() for case in cases)
    for weight in parts.parameters():
        nn.init.normal_(weight, std=0.5)

    def call(attentions, query, key, valid):
        return [one(query, key, key, valid=valid) for one in attentions]

    names = tuple("+".join(case) for case in cases)
    graph = Graph("some", Called(parts, call), ("query", "key", "valid"), names, some_items)
    write_onnx(graph, tmp_path / "some.onnx")
    written = OnnxGraph(tmp_path, {"file": "some.onnx"}, threads=1)
    for size in [(5, 11), (1, 1), (2, 4)]:
        query, key, valid = some_items(*size)
        found = written({"query": query.numpy(), "key": key.numpy(), "valid": valid.numpy()})
        with torch.no_grad():
            for name, true in zip(names, call(parts, query, key, valid), strict=True):
                torch.testing.assert_close(torch.from_numpy(found[name]), true, rtol=1e-5, atol=1e-5, msg=name)
