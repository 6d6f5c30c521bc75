"""The exported model of every family and every task gives what torch gives, at sizes that were not recorded."""

import numpy as np
import pytest
import torch

from atento.exporting.export import export_bundle
from atento.exporting.graphs import graphs_of
from atento.exporting.runtime.graphs import OnnxGraph
from atento.exporting.runtime.model import ExportedModel
from atento.models import wide_words
from atento.models.names import FAMILIES, FORECASTERS, IMAGE_ENCODERS, SUFFIXES, ModelName
from atento.spec import DecodeRecipe
from atento.tasks.catalogue import TASKS
from exported import bundle_of, masked, sources_of

pytestmark = pytest.mark.usefixtures("light_recording")

LETTERS = 5  # that are read of a word: each is a step of the graph of a tagger's wide part
ONE_WAY = {"model.directions": 1}  # half as many loops to record
MODELS = [  # every task, every family that reads and every one that writes, as few times as may be
    ("classify", "gru+additive+wide", {}),
    ("classify", "rnn+hierarchical", ONE_WAY),
    ("classify-series", "transformer", {}),
    ("classify-series", "gru", {**ONE_WAY, "model.patch": 5}),
    ("classify-windows", "mgu", ONE_WAY),
    ("classify-images", "conv+additive", {}),
    ("label", "jordan+one-each", ONE_WAY),
    ("label-series", "gru-before", ONE_WAY),
    ("label-images", "conv", {}),
    ("label-pairs", "transformer+co", {}),
    ("match", "gru+dot+co", ONE_WAY),
    ("match-images", "conv/minlstm", ONE_WAY),
    ("tag", "lstm+crf+wide", {}),
    ("tag", "transformer", {}),
    ("estimate", "transformer", {}),
    ("estimate-text", "mingru", ONE_WAY),
    ("estimate-images", "conv", {}),
    ("translate", "lstm+additive", ONE_WAY),
    ("translate", "gru+additive+hard-monotonic", ONE_WAY),
    ("translate", "rnn+dot+hard-exact", ONE_WAY),
    ("translate", "gru+dot+copy", ONE_WAY),
    ("translate", "transformer", {"model.norm": "post"}),
    ("rewrite", "rnn/mgu+dot", ONE_WAY),
    ("transcribe", "transformer/gru-before+general", {}),
    ("caption", "conv/mingru+dot", {"model.attend": "bahdanau"}),
    ("generate", "rnn", {}),
    ("generate", "jordan", {}),
    ("generate", "minlstm", {}),
    ("generate", "transformer", {"train.sequence_length": 8}),
    ("embed", "next-word", {}),
    ("embed", "skip-gram", {}),
    ("forecast", "linear", {}),
    ("forecast", "transformer+patches", {"model.quantiles": "0.1,0.5,0.9", "covariates": 2}),
    ("forecast", "gru", {"decode.horizon": 7}),
    ("forecast", "linear", {"decode.horizon": 7, "model.quantiles": "0.1,0.5,0.9"}),
    ("classify", "transformer+wide", {"model.members": 2}),
    ("label", "gru", {**ONE_WAY, "model.members": 2}),
    ("tag", "gru+crf", {**ONE_WAY, "model.members": 2}),
    ("tag", "gru", {**ONE_WAY, "model.members": 2}),
    ("estimate-images", "conv", {"model.members": 2}),
    ("match", "transformer+co", {"model.members": 2}),
    ("translate", "gru+dot", {**ONE_WAY, "model.members": 2}),
    ("generate", "gru", {"model.members": 2}),
    ("generate", "transformer", {"train.sequence_length": 8, "model.members": 2}),
    ("forecast", "gru", {"decode.horizon": 7, "model.quantiles": "0.1,0.5,0.9", "model.members": 2}),
    ("autoencode", "transformer", {}),
    ("autoencode", "linear", {}),
    ("autoencode", "mlp", {}),
]
WRITING = ("translate", "rewrite", "transcribe", "caption", "generate")
AUTOENCODERS = ("linear", "mlp")
UNSEEN = [(6, 13), (1, 2)]
SEARCHES = [DecodeRecipe(max_tokens=7), DecodeRecipe(max_tokens=7, beam=3), DecodeRecipe(max_tokens=7, temperature=1.0)]


def test_every_task_and_every_family_is_asked():
    assert {task for task, _, _ in MODELS} == set(TASKS)
    names = [(task, ModelName.parse(name)) for task, name, _ in MODELS]
    assert {name.encoder.family for _, name in names} >= {*FAMILIES, *IMAGE_ENCODERS, *FORECASTERS, *AUTOENCODERS}
    assert {name.decoder.family for task, name in names if task in WRITING} >= set(FAMILIES)
    asked = {suffix for suffix in SUFFIXES if any(name.has(suffix) for _, name in names)}
    assert set(SUFFIXES) - asked == {"ngram"}  # counts, which are refused


def compare_graphs(bundle, folder):
    """What a graph gives at sizes that neither the recording nor the export's own check had."""
    for graph in graphs_of(bundle.module, bundle.codec):
        written = OnnxGraph(folder, {"file": f"{graph.name}.onnx"})
        torch.manual_seed(7)
        for size in UNSEEN:
            inputs = graph.sample(*size)
            found = written(dict(zip(graph.inputs, (one.numpy() for one in inputs), strict=True)))
            with torch.no_grad():
                wanted = graph.module(*inputs)
            wanted = wanted if isinstance(wanted, list | tuple) else [wanted]
            for name, true in zip(graph.outputs, wanted, strict=True):
                torch.testing.assert_close(torch.from_numpy(found[name]), true, rtol=1e-5, atol=1e-5)


def same_answers(bundle, model, sources, decode):
    ours = bundle.task.answering.answer(bundle.module, bundle.codec, sources, decode)
    theirs = model.answer(sources, decode=decode)
    assert [one.text for one in theirs] == [one.text for one in ours]
    for one, other in zip(theirs, ours, strict=True):
        assert one.score == pytest.approx(other.score, abs=1e-4)
        if isinstance(other.value, np.ndarray):
            np.testing.assert_allclose(one.value, other.value, rtol=1e-5, atol=1e-4)
        else:
            assert one.value == other.value
        if other.probabilities is not None:
            assert dict(one.probabilities) == pytest.approx(dict(other.probabilities), abs=1e-5)


@pytest.mark.parametrize(
    ("task", "name", "values"), MODELS, ids=lambda part: str(part) if isinstance(part, str) else ""
)
def test_the_exported_model_is_the_model(tmp_path, monkeypatch, task, name, values):
    monkeypatch.setattr(wide_words, "MOST_LETTERS", LETTERS)
    bundle = bundle_of(tmp_path / "run", task, name, **values)
    report = export_bundle(bundle, out=tmp_path / "out")
    assert report.largest_error <= 1e-5
    compare_graphs(bundle, tmp_path / "out")
    model = ExportedModel(tmp_path / "out", threads=1)
    searched = SEARCHES if task in ("translate", "generate", "rewrite") else [bundle.recipe.decode]
    for decode in searched:
        same_answers(bundle, model, sources_of(bundle), decode)


def test_a_masked_language_model_scores_texts_alike(tmp_path):
    bundle = masked(bundle_of(tmp_path / "run", "generate", "gru", **{"train.sequence_length": 4}))
    export_bundle(bundle, out=tmp_path / "out")
    compare_graphs(bundle, tmp_path / "out")
    same_answers(bundle, ExportedModel(tmp_path / "out", threads=1), sources_of(bundle), bundle.recipe.decode)
