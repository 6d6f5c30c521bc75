"""CTranslate2 writes the tokens that torch writes, and what it cannot express is refused."""

import pytest

from atento.errors import InputError
from atento.exporting.export import export_bundle
from atento.exporting.runtime.model import ExportedModel
from atento.spec import DecodeRecipe
from exported import SOURCES, bundle_of

FORMS = {
    "before each sublayer": {"model.norm": "pre"},
    "after each sublayer": {"model.norm": "post", "model.layers": 2},
    "learned positions": {"model.positions": "learned", "model.tied_embeddings": False},
}
REFUSED = {
    "other attention": ("translate", "transformer+additive", {}),
    "turned keys": ("translate", "transformer", {"model.positions": "rotary", "model.hidden": 8}),
    "no norm": ("translate", "transformer", {"model.norm": "none"}),
    "a recurrent decoder": ("translate", "transformer/gru+dot", {}),
    "a source that is no text": ("transcribe", "transformer", {}),
    "no text": ("classify", "transformer", {}),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_tokens_are_the_same(tmp_path, form):
    bundle = bundle_of(tmp_path / "run", "translate", "transformer", **FORMS[form])
    report = export_bundle(bundle, to="ct2", out=tmp_path / "out")
    assert report.compared["same"] == report.compared["sources"]
    model = ExportedModel(tmp_path / "out", threads=1)
    for decode in (DecodeRecipe(max_tokens=9), DecodeRecipe(beam=3, length_penalty=0.0), DecodeRecipe(beam=3)):
        ours = bundle.task.answering.answer(bundle.module, bundle.codec, SOURCES["text"], decode)
        theirs = model.answer(SOURCES["text"], decode=decode)
        assert [one.text for one in theirs] == [one.text for one in ours]
        assert [one.score for one in theirs] == pytest.approx([one.score for one in ours], abs=1e-3)
        assert len({round(one.score, 2) for one in ours}) > 1


@pytest.mark.parametrize("kind", REFUSED)
def test_what_it_cannot_express_is_refused(tmp_path, kind):
    task, name, values = REFUSED[kind]
    with pytest.raises(InputError, match="CTranslate2 cannot express this model") as raised:
        export_bundle(bundle_of(tmp_path / "run", task, name, **values), to="ct2", out=tmp_path / "out")
    assert "--to onnx" in raised.value.fix


def test_a_seed_cannot_draw_there(tmp_path):
    bundle = bundle_of(tmp_path / "run", "translate", "transformer")
    export_bundle(bundle, to="ct2", out=tmp_path / "out")
    with pytest.raises(InputError, match="draws by its own generator"):
        ExportedModel(tmp_path / "out").answer(["one"], decode=DecodeRecipe(temperature=1.0))
