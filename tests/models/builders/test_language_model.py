"""Regularization keys of language models become parts; other models refuse them."""

import pytest

from atento.errors import InputError
from atento.layers.regularization import LockedDropout
from atento.models.builders import Vocabularies, build_translator
from atento.models.builders.language_model import build_language_model, build_masked_model
from atento.models.interpolated import InterpolatedLanguageModel
from atento.spec import ModelRecipe, TrainRecipe
from atento.tasks.catalogue import TASKS
from atento.training.gradients import validate_truncation

KEYS = {
    "locked_dropout": True,
    "recurrent_dropout": 0.3,
    "embedding_dropout": 0.1,
    "activation_penalty": 2.0,
    "temporal_penalty": 1.0,
    "sampled_softmax": 5,
}


def recipe(name, **keys):
    return ModelRecipe(name=name, **{"hidden": 10, "heads": 2, **keys})


def test_every_key_becomes_a_part():
    model = build_language_model(recipe("lstm", layers=2, dropout=0.2, **KEYS), 13)
    decoder = model.decoder
    assert all(isinstance(part.dropout, LockedDropout) for part in (decoder, decoder.embedding, decoder.stack))
    assert {part.dropout.p for part in (decoder, decoder.embedding, decoder.stack)} == {0.2}
    assert decoder.stack.recurrent_dropout == 0.3 and decoder.embedding.word_dropout.p == 0.1
    assert (decoder.activation_penalty.activation, decoder.activation_penalty.temporal) == (2.0, 1.0)
    assert model.samples == 5
    assert build_language_model(recipe("lstm", sampled_softmax=13), 13).samples == 0, "the vocabulary is no larger"
    assert build_language_model(recipe("lstm"), 13).decoder.activation_penalty is None
    transformer = build_language_model(recipe("transformer", embedding_dropout=0.1), 13)
    assert transformer.decoder.embedding.tokens.word_dropout.p == 0.1
    assert build_language_model(recipe("lstm", tied_embeddings=False), 13).decoder.embedding.output_table is not None


@pytest.mark.parametrize("key", KEYS)
def test_other_models_refuse_them(key):
    keys = {key: KEYS[key]}
    with pytest.raises(InputError, match=f"model.{key} has no meaning here"):
        build_translator(recipe("lstm", **keys), Vocabularies(13, 11))
    with pytest.raises(InputError, match=f"model.{key} has no meaning here"):
        build_masked_model(recipe("gru", **keys), 13)
    if key not in ("embedding_dropout", "sampled_softmax"):
        with pytest.raises(InputError, match="no recurrent state"):
            build_language_model(recipe("transformer", **keys), 13)
    if key == "recurrent_dropout":
        with pytest.raises(InputError, match="no recurrent matrices"):
            build_language_model(recipe("mingru", **keys), 13)


@pytest.mark.parametrize("name", ["lstm+ngram", "transformer+ngram", "transformer+alibi+ngram"])
def test_counts_beside_a_network_are_a_suffix(name):
    model = build_language_model(recipe(name, sampled_softmax=5), 13, order=3)
    assert isinstance(model, InterpolatedLanguageModel)
    assert (model.ngram.order, model.ngram.vocabulary, model.samples) == (3, 13, 5)
    with pytest.raises(InputError, match="ngram"):
        build_masked_model(recipe(name), 13)
    with pytest.raises(InputError, match="ngram"):
        build_translator(recipe(name), Vocabularies(13, 11))


def test_penalties_need_whole_sequences():
    model = build_language_model(recipe("lstm", temporal_penalty=1.0), 13)
    with pytest.raises(InputError, match="penalties of activations need the whole sequence"):
        validate_truncation(TASKS["generate"], model, TrainRecipe(bptt_steps=5))
    validate_truncation(TASKS["generate"], model, TrainRecipe())
