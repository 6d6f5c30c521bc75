import pytest
import torch

from atento.attention import (
    Additive,
    Attention,
    Causal,
    Dot,
    General,
    Linformer,
    ScaledDot,
    Softmax,
    Sparsemax,
    Window,
)
from atento.attention.extents.extents import Intersection
from atento.blocks import TransformerDecoderLayer, TransformerEncoderLayer
from atento.errors import InputError
from atento.layers import ACTIVATIONS
from atento.models.backbones import RecurrentDecoder, RecurrentEncoder, TransformerDecoder, TransformerEncoder
from atento.models.builders import Vocabularies, build_translator, count_parameters
from atento.models.builders.encoder_decoder import SEQUENCE_FAMILIES
from atento.models.builders.recurrent import CELLS
from atento.models.names import FAMILIES
from atento.recurrent import ElmanCell, GRUCell, LSTMCell
from atento.spec import ModelRecipe

VOCABULARIES = Vocabularies(13, 11)


def build(name, **choices):
    return build_translator(ModelRecipe(name=name, **{"hidden": 10, "heads": 2, **choices}), VOCABULARIES)


def test_every_family_of_sequences_is_built():
    assert set(SEQUENCE_FAMILIES) == set(FAMILIES)


@pytest.mark.parametrize(
    "name, encoder, decoder, cell",
    [
        ("rnn", RecurrentEncoder, RecurrentDecoder, ElmanCell),
        ("gru+dot", RecurrentEncoder, RecurrentDecoder, GRUCell),
        ("transformer/lstm+general", TransformerEncoder, RecurrentDecoder, LSTMCell),
        ("gru/transformer", RecurrentEncoder, TransformerDecoder, None),
    ],
)
def test_names_become_modules(name, encoder, decoder, cell):
    model = build(name, layers=2)
    assert isinstance(model.encoder, encoder)
    assert isinstance(model.decoder, decoder)
    if cell is not None:
        assert [type(one) for one in model.decoder.stack.cells] == [cell, cell]


def test_states_of_every_family_are_equally_wide():
    assert {family: build(family).encoder.size for family in FAMILIES} == dict.fromkeys(FAMILIES, 10)


def test_attention_of_a_recurrent_decoder():
    attention = build("lstm+additive+sparsemax+local", window=3).decoder.attention
    assert [type(part) for part in attention.children()] == [Additive, Sparsemax, Window]
    assert attention.extent.reach == 3
    assert type(build("rnn+dot").decoder.attention.score) is Dot


def test_attention_of_a_transformer_is_causal_over_its_own_past():
    layer = build("transformer+general+local", window=3).decoder.layers[0]
    own, cross = layer.self_attention.attention, layer.cross_attention.attention
    assert isinstance(own.score, General)
    assert isinstance(own.extent, Intersection)
    assert (type(own.extent.left), own.extent.right.reach) == (Causal, 3)
    assert type(cross.extent) is Window
    plain = build("transformer").decoder.layers[0].self_attention.attention
    assert [type(part) for part in plain.children()] == [ScaledDot, Softmax, Causal]


@pytest.mark.spec("C05")
def test_linformer_projects_the_source_and_leaves_a_decoder_s_past_alone():
    model = build("transformer+general+linformer", linformer_rank=3, max_length=7)
    layers = {
        type(layer): layer
        for layer in model.modules()
        if isinstance(layer, TransformerEncoderLayer | TransformerDecoderLayer)
    }
    encoder, decoder = layers[TransformerEncoderLayer].self_attention, layers[TransformerDecoderLayer]
    for pressed in (encoder.attention, decoder.cross_attention.attention):
        assert isinstance(pressed, Linformer)
        assert (pressed.rank, pressed.max_length, type(pressed.score)) == (3, 7, General)
    own = decoder.self_attention.attention
    assert (type(own), type(own.extent)) == (Attention, Causal)
    assert isinstance(build("gru+dot+linformer", linformer_rank=3).decoder.attention, Linformer)
    half = build("transformer+linformer/gru+dot")
    assert type(half.decoder.attention) is Attention
    with pytest.raises(InputError, match="may depend on positions"):
        build("transformer+linformer", positions="alibi")


def test_an_extent_on_the_wrong_kind_of_sequence_is_refused():
    with pytest.raises(InputError) as caught:
        build("lstm+additive+strided")
    assert "strided has a meaning within one sequence only" in caught.value.problem
    assert caught.value.found == "strided"
    assert "local" in caught.value.fix


def test_sizes_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="must be even"):
        build("gru", hidden=7)
    with pytest.raises(InputError, match=r"model\.heads must divide model\.hidden") as caught:
        build("transformer", heads=3)
    assert caught.value.fix == "heads that fit: 1, 2, 5, 10"
    with pytest.raises(InputError, match=r"model\.positions=rotary turns pairs"):
        build("transformer", heads=2, hidden=10, positions="rotary")


def test_parameters_are_counted():
    """An Elman cell of 10 -> 5 twice, one of 20 -> 10, two embeddings, the first state, a bias for each token."""
    encoder = 13 * 10 + 2 * (10 * 5 + 5 + 5 * 5 + 5)
    decoder = 11 * 10 + (20 * 10 + 10 + 10 * 10 + 10) + (10 * 10 + 10) + 11
    assert count_parameters(build("rnn")) == encoder + decoder


def test_the_feed_forward_part_is_four_times_as_wide_unless_told():
    assert build("transformer").encoder.stack.layers[0].feed_forward.widen.out_features == 40
    assert build("transformer", feed_forward=7).encoder.stack.layers[0].feed_forward.widen.out_features == 7


@pytest.mark.parametrize("name", CELLS)
def test_every_cell_takes_every_activation(name):
    for activation in ACTIVATIONS:
        matrices = CELLS[name].has_recurrent_weights
        model = build(name, activation=activation, init="orthogonal" if matrices else "uniform")
        for cell in (*model.encoder.stack.cells, *model.decoder.stack.cells):
            assert cell.activation == ACTIVATIONS[activation]
            for block in () if not matrices else cell.recur.weight.detach().split(cell.hidden_size):
                torch.testing.assert_close(block @ block.mT, torch.eye(len(block)), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_has_the_activation_of_its_paper_unless_told(name):
    expected = ACTIVATIONS["identity" if name in ("mingru", "minlstm") else "tanh"]
    assert {cell.activation for cell in build(name).encoder.stack.cells} == {expected}


def test_a_way_to_start_is_refused_where_no_part_has_matrices_for_it():
    with pytest.raises(InputError, match=r"model\.init has no meaning here; mingru has no recurrent matrices"):
        build("mingru/minlstm+dot", init="orthogonal")
    for name in ("mingru/gru", "transformer/minlstm+dot"):
        build(name, init="xavier")


@pytest.mark.parametrize("key, named", [("activation", "activation 'tanhh'"), ("init", "init 'tanhh'")])
def test_unknown_ways_to_bend_and_to_start_are_refused(key, named):
    with pytest.raises(InputError, match=f"model.{key}: there is no {named}"):
        build("rnn", **{key: "tanhh"})
