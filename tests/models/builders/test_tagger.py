"""Names of taggers become modules: softmax and crf, words with and without characters; all laws of padding hold."""

import pytest
import torch

from atento.checks import check
from atento.errors import InputError
from atento.layers import LinearChainCRF, valid_from_lengths
from atento.models import LabelHead, LabelledBatch, Tagger
from atento.models.backbones import WordEmbedding
from atento.models.builders import Tagset, build_word_tagger
from atento.models.tagger import word_dropout
from atento.spec import ModelRecipe

BATCH, TIME, CHARACTERS, WORDS, ALPHABET = 3, 7, 5, 17, 11
TAGS = ("O", "B-a", "I-a", "B-b", "I-b")
NAMES = ["rnn", "gru", "lstm", "lstm+crf", "transformer", "transformer+additive+crf"]


def build(name, scheme="iob2", **choices):
    torch.manual_seed(0)
    sizes = {"hidden": 10, "heads": 2, "feed_forward": 7, "dropout": 0.0, "characters": 6, **choices}
    return build_word_tagger(ModelRecipe(name=name, **sizes), WORDS, ALPHABET, Tagset(TAGS, scheme))


def some_batch():
    torch.manual_seed(1)
    valid = valid_from_lengths(torch.tensor([7, 4, 1]), TIME)
    words = torch.randint(4, WORDS, (BATCH, TIME, 1))
    characters = torch.randint(4, ALPHABET, (BATCH, TIME, CHARACTERS)) * (torch.arange(CHARACTERS) < 3)
    source = torch.cat([words, characters], dim=-1) * valid.unsqueeze(-1)
    return LabelledBatch(source, valid, torch.tensor([[1, 2, 0, 3, 4, 4, 0]] * BATCH))


@pytest.mark.spec("K04")
@pytest.mark.parametrize("name", NAMES)
def test_every_contract_holds(name):
    assert not check(build(name)).broken


@pytest.mark.spec("K04")
@pytest.mark.parametrize("name", ["gru", "gru+crf"])
def test_what_is_decided_is_the_most_probable_sequence_and_its_probability(name):
    model, batch = build(name, scheme=""), some_batch()
    decided = model.predict(batch.source, batch.valid)
    truth = batch._replace(truth=decided.labels)
    said = torch.stack([-model.loss(row_of(truth, row)).total for row in range(BATCH)])
    torch.testing.assert_close(decided.log_probability, said)
    others = torch.stack([-model.loss(row_of(batch, row)).total for row in range(BATCH)])
    assert (decided.log_probability >= others).all()
    probabilities = model.probabilities(batch.source, batch.valid)
    torch.testing.assert_close(probabilities.sum(-1), batch.valid.double())


def row_of(batch, row):
    return LabelledBatch(*(part[row : row + 1] for part in batch))


@pytest.mark.spec("K04")
def test_crf_never_says_what_the_scheme_does_not_have():
    free, bound, batch = build("lstm+crf", scheme=""), build("lstm+crf"), some_batch()
    for model in (free, bound):
        with torch.no_grad():
            model.head.map.weight.normal_(std=9.0)
    said = [[TAGS[tag] for tag in row] for row in bound.predict(batch.source, batch.valid).labels.tolist()]
    for row, length in zip(said, (7, 4, 1), strict=True):
        for before, tag in zip(["O", *row], row[:length], strict=False):
            assert tag[0] != "I" or before[1:] == tag[1:], row
    sure = torch.zeros(1, 2, len(TAGS))
    sure[0, 0, TAGS.index("B-a")], sure[0, 1, TAGS.index("I-b")] = 7.0, 5.0
    both = torch.ones(1, 2, dtype=torch.bool)
    assert [TAGS[tag] for tag in free.chain.viterbi(sure, valid=both).labels[0]] == ["B-a", "I-b"]
    assert "I-b" not in [TAGS[tag] for tag in bound.chain.viterbi(sure, valid=both).labels[0]]
    loose = [[TAGS[tag] for tag in row] for row in free.predict(batch.source, batch.valid).labels.tolist()]
    assert any(
        tag[0] == "I" and before[1:] != tag[1:] for row in loose for before, tag in zip(["O", *row], row, strict=False)
    )


def test_names_become_parts():
    plain, chained = build("lstm"), build("transformer+crf")
    assert plain.chain is None and isinstance(chained.chain, LinearChainCRF)
    assert isinstance(plain.encoder.embedding, WordEmbedding) and isinstance(
        chained.encoder.embedding.tokens, WordEmbedding
    )
    assert build("gru", characters=0).encoder.embedding.characters is None
    assert isinstance(plain.head, LabelHead) and plain.head.width == len(TAGS)


@pytest.mark.parametrize(
    "make, problem",
    [
        (lambda: build("lsmt+crf"), "no model 'lsmt'"),
        (lambda: build("lstm+crff"), "crff"),
        (lambda: build("lstm+additive+crf"), "from the state of each step"),
        (lambda: build("lstm", pooling="max"), "model.pooling has no meaning"),
        (lambda: Tagger(build("gru").encoder, LabelHead(10, 5), chain=LinearChainCRF(4)), "as many labels as the head"),
    ],
)
def test_what_has_no_meaning_is_refused(make, problem):
    with pytest.raises(InputError) as caught:
        make()
    assert problem in caught.value.problem + caught.value.found


def test_words_are_forgotten_by_chance_and_their_characters_kept():
    torch.manual_seed(0)
    batch = some_batch()
    blurred = word_dropout(batch.source, batch.valid, 0.5, unknown=1)
    changed = blurred[..., 0] != batch.source[..., 0]
    assert 0 < changed.sum() < batch.valid.sum()
    assert (blurred[..., 0][changed] == 1).all() and not changed[~batch.valid].any()
    assert torch.equal(blurred[..., 1:], batch.source[..., 1:])
    assert torch.equal(word_dropout(batch.source, batch.valid, 0.0, unknown=1), batch.source)
    flat = word_dropout(batch.source[..., 0], batch.valid, 0.9, unknown=1)
    assert flat.shape == batch.valid.shape and (flat == 1).any()
