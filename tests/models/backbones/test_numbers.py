"""Steps in patches: cut by hand, the same on either side of padding, and every contract of the models above them."""

import pytest
import torch

import atento
from atento.errors import InputError
from atento.models import LabelHead
from atento.models.backbones import PatchedNumberEncoder, RecurrentNumberEncoder
from atento.models.backbones.numbers import patch_labels
from atento.models.builders import build_series_classifier, build_transcriber
from atento.spec import ModelRecipe

ROWS, TIME, CHANNELS, PATCH = 2, 7, 3, 2


@pytest.fixture(scope="module")
def classifier():
    torch.manual_seed(0)
    return (
        build_series_classifier(ModelRecipe(name="gru+additive", hidden=8, patch=PATCH), CHANNELS, LabelHead, 5)
        .double()
        .eval()
    )


def test_patches_are_cut_from_the_first_real_step(classifier):
    torch.manual_seed(1)
    values = torch.randn(ROWS, TIME, CHANNELS, dtype=torch.float64)
    valid = torch.tensor([[False] * 2 + [True] * 5, [True] * 4 + [False] * 3])
    filled = values.masked_fill(~valid.unsqueeze(-1), torch.nan)
    patches, real = classifier.encoder.cut(filled, valid)
    assert patches.shape == (ROWS, 4, PATCH * CHANNELS)
    assert real.tolist() == [[True] * 3 + [False], [True] * 2 + [False] * 2]
    steps = torch.cat([values[0, 2:], torch.zeros(1, CHANNELS, dtype=torch.float64)])
    torch.testing.assert_close(patches[0, :3], steps.reshape(3, -1))
    torch.testing.assert_close(patches[1, :2], values[1, :4].reshape(2, -1))
    assert not patches[~real].any()


@pytest.mark.spec("K02")
@pytest.mark.parametrize("name, patch", [("rnn", 1), ("lstm", 3), ("gru+additive", 2), ("transformer", 3)])
def test_a_classifier_keeps_every_contract(name, patch):
    torch.manual_seed(0)
    found = atento.check(build_series_classifier(ModelRecipe(name=name, hidden=8, patch=patch), CHANNELS, LabelHead, 5))
    assert not found.broken
    assert len(found) > 5


@pytest.mark.spec("K13")
@pytest.mark.parametrize("name, patch", [("gru+dot", 1), ("lstm+additive", 3), ("transformer/gru+dot", 2)])
def test_a_transcriber_keeps_every_contract(name, patch):
    torch.manual_seed(0)
    found = atento.check(build_transcriber(ModelRecipe(name=name, hidden=8, patch=patch), CHANNELS, 11))
    assert not found.broken
    assert found["cache"].verdict == "held"


def test_names_and_sizes(classifier):
    encoder = classifier.encoder
    assert isinstance(encoder, PatchedNumberEncoder) and encoder.channels == CHANNELS
    assert patch_labels(encoder, ["a", "b", "c"]) == ["1–2", "3–3"]
    assert patch_labels(torch.nn.Identity(), ["a", "b"]) == ["a", "b"]
    plain = build_series_classifier(ModelRecipe(name="gru", hidden=8), CHANNELS, LabelHead, 5)
    assert isinstance(plain.encoder, RecurrentNumberEncoder)
    pooled = build_series_classifier(
        ModelRecipe(name="transformer", hidden=8, pooling="attention"), CHANNELS, LabelHead, 5
    )
    assert pooled.pooling is not None


@pytest.mark.parametrize(
    "changes, problem",
    [
        ({"name": "transformer+linformer"}, "linformer needs the longest length"),
        ({"name": "gru", "ngrams": 2}, "model.ngrams has no meaning"),
        ({"name": "gru/gru"}, "a classifier has one part"),
        ({"name": "gru+additive", "pooling": "mean"}, "model.pooling has no meaning"),
    ],
)
def test_what_has_no_meaning_is_refused(changes, problem):
    with pytest.raises(InputError, match=problem):
        build_series_classifier(ModelRecipe(hidden=8, **changes), CHANNELS, LabelHead, 5)


def test_a_transcriber_and_a_patch_refuse_too(classifier):
    with pytest.raises(InputError, match="pools the states of a classifier"):
        build_transcriber(ModelRecipe(name="gru+dot", hidden=8, pooling="attention"), CHANNELS, 11)
    with pytest.raises(InputError, match="patch must be positive"):
        PatchedNumberEncoder(CHANNELS, 0, classifier.encoder.encoder)
