"""int8: smaller files, and what they cost, measured on rows of the run."""

import json

import numpy as np
import onnx
import onnxruntime
import pytest

from atento.bundle import write_json
from atento.errors import InputError
from atento.exporting import int8
from atento.exporting.export import export_bundle
from atento.exporting.folder import check_folder
from exported import LABEL, TEXTS, bundle_of

pytestmark = pytest.mark.usefixtures("light_recording")


def with_predictions(bundle):
    """A run that has kept the rows of its test part."""
    lines = [{"source": text, "references": [label]} for text, label in zip(TEXTS, LABEL, strict=True)]
    (bundle.folder / "predictions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return bundle


def test_the_loss_stands_in_the_manifest(tmp_path):
    bundle = with_predictions(bundle_of(tmp_path / "run", "classify", "transformer", **{"model.hidden": 32}))
    plain = export_bundle(bundle, out=tmp_path / "plain")
    small = export_bundle(bundle, out=tmp_path / "small", int8=True)
    assert small.files["model.onnx"] < 0.8 * plain.files["model.onnx"]
    found = check_folder(tmp_path / "small")["quality"]
    outputs = [
        one.text for one in bundle.task.answering.answer(bundle.module, bundle.codec, TEXTS, bundle.recipe.decode)
    ]
    right = sum(one == label for one, label in zip(outputs, LABEL, strict=True)) / len(TEXTS)
    assert found["before"] == pytest.approx(right)
    assert found["loss"] == pytest.approx(found["before"] - found["after"])
    assert (found["metric"], found["part"], found["examples"]) == ("accuracy", "test", len(TEXTS))
    assert "int8" in (tmp_path / "small" / "README.md").read_text()


def test_an_embedding_that_is_the_output_layer_too_stays_as_it_is(tmp_path):
    """Logits are the products of a looked up row with all rows; a table that is turned around looks up a column."""
    table = np.arange(25, dtype=np.float32).reshape(5, 5) / 10  # square: nothing else would tell
    nodes = [
        onnx.helper.make_node("Gather", ["table", "tokens"], ["row"]),
        onnx.helper.make_node("Gemm", ["row", "table"], ["logits"], transB=1),
    ]
    tokens = onnx.helper.make_tensor_value_info("tokens", onnx.TensorProto.INT64, ["B"])
    logits = onnx.helper.make_tensor_value_info("logits", onnx.TensorProto.FLOAT, ["B", 5])
    graph = onnx.helper.make_graph(nodes, "tied", [tokens], [logits], [onnx.numpy_helper.from_array(table, "table")])
    path = tmp_path / "tied.onnx"
    opset = onnx.helper.make_opsetid("", 18)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[opset], ir_version=9), path)
    int8.quantize(path)
    (found,) = onnxruntime.InferenceSession(path).run(None, {"tokens": np.array([0, 3])})
    np.testing.assert_allclose(found, table[[0, 3]] @ table.T, atol=0.1)


def test_a_transformer_with_one_table_for_reading_and_writing_is_made_smaller(tmp_path):
    bundle = with_predictions(bundle_of(tmp_path / "run", "translate", "transformer"))
    assert any(weight is bundle.module.decoder.embedding.tokens.table.weight for weight in bundle.module.parameters())
    report = export_bundle(bundle, out=tmp_path / "small", int8=True)
    assert report.quality["examples"] == len(TEXTS)


def test_a_smaller_error_is_a_gain_where_smaller_is_better():
    rows = int8.JudgedRows(["a"], [["b"]], "test")
    worse = int8.loss_of(int8.Measured("mse", 1.0, True), int8.Measured("mse", 1.5, True), rows)
    assert worse["loss"] == pytest.approx(0.5)


def test_without_rows_int8_is_refused(tmp_path):
    bundle = bundle_of(tmp_path / "run", "classify", "transformer")
    write_json(bundle.folder / "metrics.json", {})
    with pytest.raises(InputError, match="cannot be measured"):
        export_bundle(bundle, out=tmp_path / "out", int8=True)
    assert not (tmp_path / "out").exists()
