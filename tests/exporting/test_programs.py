"""Programs for torch.export.load: checked as ONNX is, and without a pickle inside."""

import zipfile

import pytest
import torch

from atento.errors import InputError
from atento.exporting.export import export_bundle
from atento.exporting.graphs import graphs_of
from atento.exporting.runtime.model import ExportedModel
from exported import bundle_of


def test_programs_give_what_the_model_gives(tmp_path):
    bundle = bundle_of(tmp_path / "run", "generate", "lstm")
    report = export_bundle(bundle, to="torch-export", out=tmp_path / "out")
    assert report.largest_error <= 1e-5
    for graph in graphs_of(bundle.module, bundle.codec):
        path = tmp_path / "out" / f"{graph.name}.pt2"
        with zipfile.ZipFile(path) as archive:
            starts = {name: archive.read(name)[:2] for name in archive.namelist()}
            assert not [name for name, start in starts.items() if start == b"PK" or start[:1] == b"\x80"]
        loaded, inputs = torch.export.load(path).module(), graph.sample(6, 9)
        with torch.no_grad():
            torch.testing.assert_close(list(loaded(*inputs)), list(graph.module(*inputs)), rtol=1e-5, atol=1e-5)
    with pytest.raises(InputError, match=r"torch\.export\.load"):
        ExportedModel(tmp_path / "out")
