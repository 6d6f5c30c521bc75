"""gradient_flow on modules and runs."""

import json

import pytest
import torch

import atento
from atento.api.explain.answers import batches_of, look_at_gradients
from atento.errors import InputError
from atento.recurrent import GRUCell, Stack
from atento.views import save_gradient_flow


def test_a_module_and_its_batch():
    flow = atento.gradient_flow(Stack(GRUCell, 3, 5), torch.randn(2, 7, 3))
    assert flow.verdict == "vanishes"
    assert flow.parts[0].kind == "GRUCell"
    with pytest.raises(InputError, match="needs a batch"):
        atento.gradient_flow(Stack(GRUCell, 3, 5))


@pytest.mark.spec("R13")
def test_a_run_reads_its_own_test_sources(trained_run):
    lines = (trained_run.folder / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
    sources = [json.loads(line)["source"] for line in lines]
    batches = batches_of(trained_run.predictor)
    assert len(batches) == 8
    longest = max(map(len, sources))
    assert batches[0].source.shape == (1, longest)
    assert all(batch.source_valid.all() and batch.target_valid.all() for batch in batches)

    flow = atento.gradient_flow(trained_run)
    names = ["encoder.stack, forward", "encoder.stack, backward", "decoder.stack"]
    assert [(part.part, part.kind) for part in flow.parts] == [(name, "LSTMCell") for name in names]
    assert flow.parts[0].curve.lags[-1] == longest
    assert flow.attends
    assert set(flow.parts[0].gates) == {"input", "forget", "output"}


def test_a_text_of_the_user_s_own(trained_run):
    (batch,) = batches_of(trained_run.predictor, "dreiundvierzig")
    assert batch.source.shape == (1, 14)
    flow = look_at_gradients(trained_run.predictor, "dreiundvierzig")
    assert flow.model == "lstm+additive"
    assert flow.flow.parts[0].curve.lags[-1] == 14


def test_each_ending_is_its_own_kind_of_file(trained_run, tmp_path):
    flow = look_at_gradients(trained_run.predictor, "dreiundvierzig")
    starts = {"page.html": b"<!doctype html>", "picture.png": b"\x89PNG", "numbers.json": b"{", "drawing.svg": b"<?xml"}
    for name, start in starts.items():
        save_gradient_flow(flow, tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
    assert json.loads((tmp_path / "numbers.json").read_text(encoding="utf-8")) == json.loads(json.dumps(flow.to_json()))
