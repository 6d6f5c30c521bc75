"""Laws of every encoder with every decoder: whatever the tables and the recipe keys hold goes together.

Every two values of the factors meet in some case: families, attentions and recipe keys. The first law is asked of all
cases; a law of decoders, of those with one encoder, among which every value of the other factors is; a law of encoders
likewise. A test goes through the cases of one family and says in which it failed.
"""

import functools
import itertools
from typing import NamedTuple

import pytest
import torch

from atento.attention import DISTRIBUTIONS, EXTENTS, SCORES, Sizes, compose
from atento.data.text.vocabulary import END, PAD, START, UNKNOWN
from atento.decoding import SpecialTokens, argmax, beam, greedy, mix_inputs, sample
from atento.models import ModelName, TranslationBatch
from atento.models.builders import Vocabularies, build_translator
from atento.models.names import ALIGNMENTS, COPY, FAMILIES, LINFORMER
from atento.models.protocols import reorder
from atento.spec import ModelRecipe
from atento.tasks.catalogue import TRANSLATE
from cases import all_pairs, asked_of

BATCH, SOURCE, TARGET, SOURCE_TOKENS, TARGET_TOKENS = 3, 7, 5, 13, 11

MARKS = SpecialTokens(start=START, end=END, forbidden=(PAD, UNKNOWN, START))


KERNELS = [name for name, score in SCORES.items() if score.kind == "kernel"]
SHARING = [name for name in reversed(DISTRIBUTIONS) if name != "proportional"]  # softmax last
ONE_SIDED = ("location", "feature-based")  # scores that look at the query or at the key alone
ATTENTIONS = [  # each score, distribution and extent
    "",
    *(
        f"{score}+{distribution}"
        for score, distribution in itertools.zip_longest(
            [name for name in SCORES if name not in KERNELS], SHARING, fillvalue="softmax"
        )
    ),
    *(f"{score}+proportional" for score in KERNELS),
    *(f"dot+{extent}" for extent in EXTENTS),
    f"dot+{LINFORMER}",
]
ALIGNED = [f"additive+{word}" for word in ALIGNMENTS]  # recurrent decoders alone sum over alignments
COPYING = [f"additive+{COPY}", f"dot+sparsemax+{COPY}", f"dot+local-predictive+{COPY}"]  # or copy


class Case(NamedTuple):
    """A model by the parts of its name and its recipe keys; a transformer encoder attends as the decoder does."""

    encoder: str
    decoder: str
    attention: str
    attend: str = "luong"
    context: str = "auto"
    pooling: str = "auto"
    directions: int = 2

    @property
    def name(self):
        attends = f"+{self.attention}" if self.attention else ""
        return f"{self.encoder}{attends if self.encoder == 'transformer' else ''}/{self.decoder}{attends}"

    def __str__(self):
        return f"{self.name} attend={self.attend} context={self.context} pooling={self.pooling} {self.directions}"


def crosses_sequences(attention):
    built = compose(attention.split("+"), default_score="dot").build(Sizes(query=10, key=10))
    return built.extent.crosses_sequences


WITHIN = [name for name in ATTENTIONS if name.split("+")[-1] in EXTENTS and not crosses_sequences(name)]
AFTER_THE_STEP = [name for name in ATTENTIONS if not name or name.split("+")[-1] in EXTENTS]


def has_meaning(encoder, decoder, attention, attend, context, pooling, directions):
    if attention in ALIGNED:
        return "transformer" not in (encoder, decoder) and attend == "luong"
    if attention in COPYING:
        return "transformer" not in (encoder, decoder)
    if decoder == "transformer":
        return (attend, context, pooling) == ("luong", "auto", "auto")
    return attention not in WITHIN and not (attend == "bahdanau" and attention in AFTER_THE_STEP)


CASES = [
    Case(*values)
    for values in all_pairs(
        FAMILIES,
        FAMILIES,
        [*ATTENTIONS, *ALIGNED, *COPYING],
        ("luong", "bahdanau"),
        ("auto", "state", "input", "both"),
        ("auto", "last", "mean", "max"),
        (2, 1),
        allowed=has_meaning,
    )
]


def grouped(key, cases):
    return {name: list(some) for name, some in itertools.groupby(sorted(cases, key=key), key)}


every_pair = asked_of(grouped(lambda case: f"{case.encoder}/{case.decoder}", CASES))
every_decoder = asked_of(grouped(lambda case: case.decoder, [case for case in CASES if case.encoder == "gru"]))
every_encoder = asked_of(  # attention within a sequence goes with the transformer decoder, pooling with others
    grouped(lambda case: case.encoder, [case for case in CASES if case.decoder in ("gru", "transformer")])
)


def build(chosen, **choices):
    torch.manual_seed(0)
    sizes = {
        "hidden": 10,
        "layers": 2,
        "heads": 2,
        "feed_forward": 7,
        "window": 2,
        "block": 2,
        "max_length": 16,
        "linformer_rank": 3,
    }
    keys = {"attend": chosen.attend, "context": chosen.context, "pooling": chosen.pooling}
    recipe = ModelRecipe(name=chosen.name, directions=chosen.directions, **{**sizes, **keys, **choices})
    return build_translator(recipe, Vocabularies(SOURCE_TOKENS, TARGET_TOKENS))


@functools.cache
def built(chosen):
    """Shared by the laws that change nothing."""
    return build(chosen).eval()


def some_batch():
    torch.manual_seed(1)
    source, target = torch.randint(4, SOURCE_TOKENS, (BATCH, SOURCE)), torch.randint(4, TARGET_TOKENS, (BATCH, TARGET))
    source_valid = torch.arange(SOURCE) < torch.tensor([[7], [4], [2]])
    target_valid = torch.arange(TARGET) < torch.tensor([[3], [5], [4]])
    previous = torch.cat([torch.full((BATCH, 1), START), target[:, :-1]], dim=1)
    return TranslationBatch(source.masked_fill(~source_valid, PAD), source_valid, previous, target, target_valid)


def by_steps(decoder, previous, encoded):
    state, logits = decoder.start(encoded), []
    for at in range(previous.size(1)):
        step = decoder.step(previous[:, at], state)
        state = step.state
        logits.append(step.logits)
    return torch.stack(logits, dim=1)


def draws(model):
    """Whether chance has a say in training, so that one step need not lower the loss."""
    return any(not getattr(part, "differentiable", True) for part in model.modules())


def test_every_part_of_the_tables_is_in_some_case():
    named = {part for attention in ATTENTIONS for part in attention.split("+")}
    assert named >= {*SCORES, *DISTRIBUTIONS, *EXTENTS}
    assert {case.attention for case in CASES if case.encoder == "gru"} == {*ATTENTIONS, *ALIGNED, *COPYING}
    assert {case.attention for case in CASES if case.decoder == "transformer"} == set(ATTENTIONS)
    in_bahdanau = {part for case in CASES if case.attend == "bahdanau" for part in case.attention.split("+")}
    assert in_bahdanau >= {*SCORES, *DISTRIBUTIONS, COPY}


@pytest.mark.spec("X03", "A32")
@every_pair
def test_every_pair_trains_a_step_and_decodes(chosen):
    """Loss falls, every weight gets a finite gradient, steps give what the parallel pass gives, and it writes."""
    model, batch = build(chosen, layers=1, dropout=0.0), some_batch()
    loss = TRANSLATE.learning.loss(model, batch, 0.0)
    loss.mean.backward()
    without = [name for name, weight in model.named_parameters() if weight.grad is None]
    assert without == [] or chosen.attention.startswith(ONE_SIDED)
    learned = [weight for weight in model.parameters() if weight.grad is not None]
    assert torch.cat([weight.grad.flatten() for weight in learned]).isfinite().all()
    with torch.no_grad():
        for weight in learned:
            weight.sub_(0.01 * weight.grad)
        if not draws(model):
            assert TRANSLATE.learning.loss(model, batch, 0.0).total < loss.total
        encoded = model.eval().encode(batch.source, batch.source_valid)
        parallel = model.decoder(batch.previous, encoded)
        steps = by_steps(model.decoder, batch.previous[:, :3], encoded)
        torch.testing.assert_close(steps, parallel[:, :3], rtol=0, atol=1e-12)
    options = {"special_tokens": MARKS, "max_tokens": 2}
    kept = beam(model.decoder, encoded, width=2, **options)
    drawn = sample(model.decoder, encoded, seeds=["a", "b", "c"], **options)
    for row in (*greedy(model.decoder, encoded, **options), *drawn, *(one for found in kept for one in found)):
        assert len(row.tokens) <= 2
        assert all(END < token < TARGET_TOKENS for token in row.tokens)


@pytest.mark.spec("X03")
@every_decoder
@torch.no_grad()
def test_one_token_at_a_time_equals_all_at_once(chosen):
    """The cached steps, the parallel pass, and each prefix walked anew without a cache."""
    model, batch = built(chosen), some_batch()
    encoded = model.encode(batch.source, batch.source_valid)
    parallel = model.decoder(batch.previous, encoded)
    torch.testing.assert_close(by_steps(model.decoder, batch.previous, encoded), parallel, rtol=0, atol=1e-12)
    for length in (1, 2, 4):
        uncached = model.decoder(batch.previous[:, :length], encoded)[:, -1]
        torch.testing.assert_close(uncached, parallel[:, length - 1], rtol=0, atol=1e-12)


@every_decoder
@torch.no_grad()
def test_the_future_never_matters_exactly(chosen):
    model, batch = built(chosen), some_batch()
    encoded = model.encode(batch.source, batch.source_valid)
    changed = batch.previous.clone()
    changed[:, 3:] = (changed[:, 3:] + 1) % TARGET_TOKENS
    expected = model.decoder(batch.previous, encoded)
    actual = model.decoder(changed, encoded)
    assert torch.equal(actual[:, :3], expected[:, :3])
    assert not torch.allclose(actual[:, 3:], expected[:, 3:])


@every_decoder
@torch.no_grad()
def test_neither_neighbours_nor_padding_matter_to_a_decoder(chosen):
    model, batch = built(chosen), some_batch()
    encoded = model.encode(batch.source, batch.source_valid)
    together = model.decoder(batch.previous, encoded)
    for row in range(BATCH):
        real = int(batch.source_valid[row].sum())
        alone = model.encode(batch.source[row : row + 1, :real], batch.source_valid[row : row + 1, :real])
        logits = model.decoder(batch.previous[row : row + 1], alone)
        torch.testing.assert_close(logits, together[row : row + 1], rtol=0, atol=1e-12)
    spoiled = encoded._replace(states=encoded.states.masked_fill(~encoded.valid.unsqueeze(-1), torch.nan))
    assert torch.equal(model.decoder(batch.previous, spoiled), together)
    torch.testing.assert_close(by_steps(model.decoder, batch.previous, spoiled), together, rtol=0, atol=1e-12)


@every_encoder
@torch.no_grad()
def test_neither_neighbours_nor_padding_matter_to_an_encoder(chosen):
    model, batch = built(chosen), some_batch()
    together = model.encode(batch.source, batch.source_valid)
    other = torch.where(batch.source_valid, batch.source, 5)  # another token in the padding
    spoiled = model.encode(other, batch.source_valid)
    assert torch.equal(spoiled.states[batch.source_valid], together.states[batch.source_valid])
    assert torch.equal(spoiled.summary, together.summary)
    for row in range(BATCH):
        real = int(batch.source_valid[row].sum())
        alone = model.encode(batch.source[row : row + 1, :real], batch.source_valid[row : row + 1, :real])
        torch.testing.assert_close(alone.states[0], together.states[row, :real], rtol=0, atol=1e-12)
        torch.testing.assert_close(alone.summary[0], together.summary[row], rtol=0, atol=1e-12)


@every_decoder
@torch.no_grad()
def test_weights_belong_to_their_step_and_sum_to_one(chosen):
    model, batch = built(chosen), some_batch()
    encoded = model.encode(batch.source, batch.source_valid)
    weights = model.decoder.weights(batch.previous, encoded)
    assert weights.shape[0] == BATCH
    assert weights.shape[-2:] == (TARGET, SOURCE)
    assert (weights.numel() > 0) is model.decoder.attends
    if not model.decoder.attends:
        return
    assert (weights[~batch.source_valid[:, None, None, None].expand_as(weights)] == 0).all()
    sees = (weights != 0).any(dim=-1)
    attention = ModelName.parse(chosen.name).decoder.without(*ALIGNMENTS, COPY).compose()
    unscaled = attention.extent != "local-predictive" and not chosen.name.endswith(LINFORMER)
    if DISTRIBUTIONS[attention.distribution].make(Sizes(5, 5)).sums_to_one and unscaled:
        torch.testing.assert_close(weights.sum(-1), sees.double())
    assert attention.extent != "everything" or sees.all()
    for length in (1, 3):
        prefix = model.decoder.weights(batch.previous[:, :length], encoded)
        torch.testing.assert_close(prefix[..., -1, :], weights[..., length - 1, :], rtol=0, atol=1e-13)


@every_decoder
@torch.no_grad()
def test_a_reordered_state_goes_on_as_its_rows_would(chosen):
    model, batch = built(chosen), some_batch()
    encoded = model.encode(batch.source, batch.source_valid)
    state = model.decoder.start(encoded)
    for at in range(2):
        state = model.decoder.step(batch.previous[:, at], state).state
    rows = torch.tensor([2, 0, 2, 1, 0])
    moved = model.decoder.step(batch.previous[rows, 2], reorder(state, rows))
    stayed = model.decoder.step(batch.previous[:, 2], state)
    torch.testing.assert_close(moved.logits, stayed.logits[rows], rtol=0, atol=1e-13)
    again = model.decoder.step(batch.previous[rows, 3], moved.state).logits
    torch.testing.assert_close(again, model.decoder(batch.previous, encoded)[rows, 3], rtol=0, atol=1e-12)


@every_decoder
def test_a_beam_of_one_is_greedy(chosen):
    model, batch = built(chosen), some_batch()
    encoded = model.encode(batch.source, batch.source_valid)
    options = {"special_tokens": MARKS, "max_tokens": 2 * TARGET}  # some rows end before others
    ones = [found[0] for found in beam(model.decoder, encoded, width=1, **options)]
    best = greedy(model.decoder, encoded, **options)
    assert [one.tokens for one in ones] == [one.tokens for one in best]
    assert [one.score for one in ones] == pytest.approx([one.score for one in best], abs=1e-5)


@pytest.mark.spec("X03", "E07", "E03")
@every_decoder
def test_neighbours_do_not_change_what_is_drawn_or_mixed(chosen):
    model, batch = built(chosen), some_batch()
    encoded = model.encode(batch.source, batch.source_valid)
    drawn = sample(
        model.decoder, encoded, special_tokens=MARKS, max_tokens=TARGET, seeds=["a", "b", "c"], temperature=2.0
    )
    keep = torch.tensor([[True, False, True, False, False]] * BATCH)
    options = {"choose": argmax, "special_tokens": MARKS}
    mixed = mix_inputs(model.decoder, encoded, batch.previous, keep, **options)
    assert torch.equal(mixed[:, [0, 2]], batch.previous[:, [0, 2]])
    for row in range(BATCH):
        alone, here = reorder(encoded, torch.tensor([row])), slice(row, row + 1)
        again = sample(
            model.decoder, alone, special_tokens=MARKS, max_tokens=TARGET, seeds=["abc"[row]], temperature=2.0
        )
        assert again[0].tokens == drawn[row].tokens
        assert torch.equal(mix_inputs(model.decoder, alone, batch.previous[here], keep[here], **options), mixed[here])


@pytest.mark.spec("R12", "X03")
@every_decoder
@torch.no_grad()
def test_stretches_of_a_target_equal_the_whole(chosen):
    """Only a decoder that recurs has them; they go on from a carried state."""
    model, batch = built(chosen), some_batch()
    assert hasattr(model.decoder, "resume") is model.decoder.is_recurrent
    if not model.decoder.is_recurrent:
        return
    state = TRANSLATE.learning.truncated_bptt.start(model, batch)
    total = 0.0
    for stretch in TRANSLATE.learning.truncated_bptt.cut(batch, 2):
        loss, state = TRANSLATE.learning.truncated_bptt.loss(model, stretch, state, 0.0)
        total = total + loss.total
    torch.testing.assert_close(total, TRANSLATE.learning.loss(model, batch, 0.0).total, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "chosen",
    [
        *(Case(family, family, "") for family in ("rnn", "gru", "lstm", "transformer")),
        *(Case(family, family, "additive") for family in ("gru", "transformer")),
        Case("lstm", "lstm", "dot"),
        Case("lstm", "lstm", "additive", attend="bahdanau"),
        Case("gru", "gru", f"additive+{COPY}"),
    ],
    ids=str,
)
def test_products_in_bfloat16_train_on_a_processor(chosen):
    model, batch = build(chosen, dropout=0.0).float(), some_batch()
    expected = TRANSLATE.learning.loss(model, batch, 0.0).mean
    with torch.autocast("cpu", torch.bfloat16):
        loss = TRANSLATE.learning.loss(model, batch, 0.0).mean
    loss.backward()
    assert loss.item() == pytest.approx(expected.item(), abs=0.05)
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())
