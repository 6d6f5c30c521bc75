"""What is learned at a time, and its loss, against each token taken by itself."""

import pytest
import torch

from atento.data.text.vocabulary import END, PAD
from atento.models import MaskedBatch, TextBatch
from atento.models.builders import build_language_model, build_masked_model
from atento.spec import ModelRecipe, TokensRecipe, TrainRecipe
from atento.tasks.generate.codec import TextCodec
from atento.tasks.generate.training import TRUNCATED_BPTT, WindowBatch, batch_rows, cut_windows, text_loss

TEXT = "a rose is a rose is a rose; and so on"


def codec_of(pairs, **choices):
    return TextCodec.learn(TokensRecipe(source="char"), pairs).suited(TrainRecipe(**choices))


def model_of(codec, name="gru", build=build_language_model):
    torch.manual_seed(0)
    return build(ModelRecipe(name=name, hidden=10, heads=2, dropout=0.0), len(codec.vocabulary)).double().eval()


def documents():
    return [(TEXT[: 7 + number], "") for number in range(25)]


@pytest.mark.spec("K06")
def test_documents_are_learned_whole_and_long_ones_in_parts():
    recipe = TrainRecipe(sequence_length=11, stateful=True)
    codec = codec_of(documents(), sequence_length=11)
    rows = [codec.row(text) for text, _ in documents()]
    windows = cut_windows(rows, recipe, codec)
    assert not windows.carried  # documents begin anew
    parts = iter(windows.examples)
    for row in rows:
        said = []
        while len(said) < len(row) - 1:
            said += next(parts)[1:].tolist()
        assert said == row[1:].tolist()
    assert next(parts, None) is None
    assert sorted(index for batch in windows.order.epoch(0) for index in batch) == list(range(len(windows.examples)))


@pytest.mark.spec("K06")
@pytest.mark.parametrize("name", ["gru", "transformer"])
def test_the_loss_is_that_of_every_token_once(name):
    codec = codec_of([(TEXT, "")])
    model, row = model_of(codec, name), codec.row(TEXT)
    whole = batch_rows(codec, [row[:9], row[9:18]])
    ragged = batch_rows(codec, [row[:9], row[9:15]])
    assert isinstance(whole, WindowBatch) and isinstance(ragged, TextBatch)
    for batch, parts in ((whole, [row[:9], row[9:18]]), (ragged, [row[:9], row[9:15]])):
        expected = 0.0
        for part in parts:
            logits = model.decoder(part[None, :-1], model.empty_source(1))[0].log_softmax(-1)
            expected -= logits[torch.arange(len(part) - 1), part[1:]].sum()
        loss = text_loss(model, batch, 0.0)
        assert loss.items == sum(len(part) - 1 for part in parts)
        torch.testing.assert_close(loss.total, expected, rtol=0, atol=1e-10)


def test_stretches_add_up_to_the_whole():
    codec = codec_of(documents())
    model = model_of(codec)
    for rows in ([codec.row(TEXT[:9]), codec.row(TEXT[2:11])], [codec.row(TEXT[:9]), codec.row(TEXT[2:7])]):
        batch = batch_rows(codec, rows)
        state, total, items = TRUNCATED_BPTT.start(model, batch), 0.0, 0
        for stretch in TRUNCATED_BPTT.cut(batch, 4):
            loss, state = TRUNCATED_BPTT.loss(model, stretch, state, 0.0)
            total, items = total + loss.total, items + loss.items
        whole = text_loss(model, batch, 0.0)
        assert items == whole.items == TRUNCATED_BPTT.items(batch)
        torch.testing.assert_close(total, whole.total, rtol=0, atol=1e-10)


@pytest.mark.spec("T10")
@pytest.mark.parametrize("pairs", [documents(), [(TEXT * 3, "")]])
def test_no_mark_is_hidden_and_others_are_each_time(pairs):
    codec = codec_of(pairs, objective="masked", mask_probability=0.4, sequence_length=12)
    recipe = TrainRecipe(objective="masked", mask_probability=0.4, sequence_length=12, stateful=True)
    windows = cut_windows([codec.row(text) for text, _ in pairs], recipe, codec)
    assert not windows.carried
    chosen = [windows.examples[index] for index in windows.order.epoch(0)[0]]
    first, second = batch_rows(codec, chosen), batch_rows(codec, chosen)
    assert isinstance(first, MaskedBatch)
    assert torch.equal(first.target, second.target) and not torch.equal(first.selected, second.selected)
    assert not (first.selected & ((first.target == END) | (first.target == PAD))).any()
    share = first.selected.sum().item() / (first.valid & (first.target != END)).sum().item()
    assert 0.2 < share < 0.6
    model = model_of(codec, "transformer", build_masked_model)
    assert text_loss(model, first, 0.0).items == first.selected.sum().item()
