"""Copying: the probabilities of a pointer-generator network, written out from its formula in float64."""

import pytest
import torch

from atento.attention import Additive, Attention, Everything, Hard, PredictiveLocal, Softmax, Sparsemax
from atento.attention.linformer import Linformer
from atento.errors import InputError
from atento.layers import TokenEmbedding
from atento.models import Encoded
from atento.models.backbones import BahdanauDecoder, CopyDecoder, LuongDecoder
from atento.models.backbones.copy_decoder import Mixture
from atento.models.backbones.recurrent import as_state
from atento.models.builders import Vocabularies, build_captioner, build_translator
from atento.models.ensemble import ensemble_of
from atento.models.protocols import NOT_COPIED
from atento.recurrent import GRUCell, Stack
from atento.spec import ModelRecipe

BATCH, SOURCE, TARGET, SIZE, SOURCE_SIZE, TOKENS = 2, 5, 3, 4, 6, 7

VALID = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
COPIED = torch.tensor([[3, 5, 3, NOT_COPIED, 6], [4, 4, 2, 0, 0]])  # tokens occur twice; one is no target token
KINDS = [LuongDecoder, BahdanauDecoder]


def decoder(kind, *, distribution=None, extent=None):
    torch.manual_seed(0)
    score = Additive(SIZE, SOURCE_SIZE, hidden_size=SIZE)
    attention = Attention(score, distribution or Softmax(), extent or Everything())
    stack = Stack(GRUCell, SIZE + SOURCE_SIZE * (kind is BahdanauDecoder), SIZE)
    generator = kind(
        TokenEmbedding(TOKENS, SIZE), stack, as_state(SOURCE_SIZE, SIZE), attention, source_size=SOURCE_SIZE
    )
    made = CopyDecoder(generator, source_size=SOURCE_SIZE).double()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.5 * torch.randn_like(parameter))
    return made


def example(copied=COPIED):
    torch.manual_seed(1)
    states = torch.randn(BATCH, SOURCE, SOURCE_SIZE, dtype=torch.double).masked_fill(~VALID[..., None], torch.nan)
    previous = torch.randint(0, TOKENS, (BATCH, TARGET))
    return Encoded(states, VALID, torch.randn(BATCH, SOURCE_SIZE, dtype=torch.double), copied), previous


def by_the_formula(model, encoded, previous, row):
    """P (T, V): p_gen P_vocab(w) + (1 − p_gen) Σ_{i: x_i = w} a_i, a token and a position at a time."""
    generator, count = model.generator, int(encoded.valid[row].sum())
    states, cell = encoded.states[row, :count], generator.stack.cell(0)
    hidden, found = torch.tanh(generator.first_states(encoded.summary[row])).unsqueeze(0), []
    for token in previous[row]:
        embedded = generator.embedding(token[None])

        def attend(query):
            weights = generator.attention.score(query[None], states[None])[0, 0].softmax(dim=-1)
            return weights, (weights @ states)[None]

        if isinstance(generator, BahdanauDecoder):
            weights, context = attend(hidden)
            hidden = cell(torch.cat([embedded, context], dim=-1), cell.start(hidden)._replace(hidden=hidden)).hidden
        else:
            hidden = cell(embedded, cell.start(hidden)._replace(hidden=hidden)).hidden
            weights, context = attend(hidden)
        features = torch.tanh(generator.join(torch.cat([context, hidden], dim=-1)))
        vocabulary = (features @ generator.embedding.output_weight.T + generator.bias).softmax(dim=-1)[0]
        of_context, of_state, of_input = model.gate.weight[0].split([SOURCE_SIZE, SIZE, SIZE])
        p_gen = (of_context @ context[0] + of_state @ hidden[0] + of_input @ embedded[0] + model.gate.bias).sigmoid()
        chances = []
        for word in range(TOKENS):
            copying = sum(weights[i] for i in range(count) if encoded.copied[row, i] == word)
            left = sum(weights[i] for i in range(count) if encoded.copied[row, i] == NOT_COPIED)
            chances.append((p_gen + (1 - p_gen) * left) * vocabulary[word] + (1 - p_gen) * copying)
        found.append(torch.cat(chances))
    return torch.stack(found)


@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_and_gradients_follow_the_formula(kind):
    model, (encoded, previous) = decoder(kind), example()
    found = model(previous, encoded).exp()
    weights = list(model.parameters())
    torch.manual_seed(2)
    for row in range(BATCH):
        expected = by_the_formula(model, encoded, previous, row)
        torch.testing.assert_close(found[row], expected)
        share = torch.randn_like(expected)
        pairs = zip(
            torch.autograd.grad((found[row] * share).sum(), weights, retain_graph=True, allow_unused=True),
            torch.autograd.grad((expected * share).sum(), weights, allow_unused=True),
            strict=True,
        )
        for one, other in pairs:
            torch.testing.assert_close(*(torch.zeros(()) if part is None else part for part in (one, other)))


@pytest.mark.parametrize("extent", [Everything(), PredictiveLocal(SIZE, SIZE, reach=1)], ids=repr)
@pytest.mark.parametrize("distribution", [Softmax(), Sparsemax()], ids=repr)
def test_probabilities_sum_to_one_whatever_is_attended_to(distribution, extent):
    model, (encoded, previous) = decoder(LuongDecoder, distribution=distribution, extent=extent), example()
    total = model(previous, encoded).exp().sum(-1)
    torch.testing.assert_close(total, torch.ones(BATCH, TARGET, dtype=torch.double), atol=1e-12, rtol=0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_source_that_cannot_be_copied_is_generated(kind):
    model, (encoded, previous) = decoder(kind), example(copied=None)
    expected = model.generator(previous, encoded).log_softmax(dim=-1)
    torch.testing.assert_close(model(previous, encoded), expected)


def mixture(logits, gate, weights):
    copied = torch.tensor([[3, 3, NOT_COPIED]])
    return Mixture(logits, gate, weights.softmax(dim=-1), copied)


def test_the_mixture_has_the_gradient_of_finite_differences():
    model = decoder(LuongDecoder)
    inputs = [torch.randn(size, dtype=torch.double, requires_grad=True) for size in ((1, SIZE), (1,), (1, 3))]
    assert torch.autograd.gradcheck(lambda *parts: model.log_probabilities(mixture(*parts)), inputs)


@pytest.mark.parametrize("gate", [-200.0, 200.0])
def test_a_closed_gate_gives_finite_numbers_and_gradients(gate):
    """A token that is neither generated nor copied has a probability of almost 0, and no −inf or NaN."""
    model = decoder(LuongDecoder).float()
    leaves = [torch.randn(1, SIZE), torch.tensor([gate]), torch.tensor([[0.0, 200.0, -200.0]])]
    leaves = [leaf.float().requires_grad_() for leaf in leaves]
    log_probs = model.log_probabilities(mixture(*leaves))
    assert log_probs.isfinite().all()
    assert bool(log_probs[0, 3] > -1e-4) is (gate < 0)
    grads = torch.autograd.grad(log_probs.sum(), leaves)
    assert all(grad.isfinite().all() for grad in grads)


def test_real_steps_alone_have_the_same_probabilities():
    model, (encoded, previous) = decoder(BahdanauDecoder), example()
    valid = torch.tensor([[True, True, False], [True, False, False]])
    torch.testing.assert_close(model.real_features(previous, valid, encoded), model(previous, encoded)[valid])


def test_what_cannot_be_copied_from_is_refused():
    with pytest.raises(InputError, match="none is drawn"):
        decoder(LuongDecoder, distribution=Hard())
    generator = decoder(LuongDecoder).generator
    generator.attention = Linformer(generator.attention, 16, 3)
    with pytest.raises(InputError, match="tokens that it attends to"):
        CopyDecoder(generator, source_size=SOURCE_SIZE)


@pytest.mark.parametrize(
    "name, said",
    [
        ("transformer+copy", "'copy' has no meaning"),
        ("lstm+copy", "needs one attention"),
        ("lstm+additive+copy+hard-exact", "one way"),
        ("lstm+dot+linformer+copy", "tokens that it attends to"),
        ("lstm+dot+sigmoid+copy", "none is drawn"),
    ],
)
def test_names_without_a_meaning_are_refused(name, said):
    with pytest.raises(InputError, match=said):
        build_translator(ModelRecipe(name=name), Vocabularies(11, 13))


def test_images_are_not_copied():
    with pytest.raises(InputError, match="'copy' has no meaning"):
        build_captioner(ModelRecipe(name="conv/lstm+additive+copy"), 11, side=8)


def translator(**choices):
    recipe = ModelRecipe(name="gru+additive+copy", hidden=10, **choices)
    return build_translator(recipe, Vocabularies(7, 5, copied=(-1, 1, -1, -1, 4, 3, -1))).double().eval()


def test_a_translator_knows_what_its_source_tokens_are_copied_as():
    source = torch.tensor([[4, 6, 1]])
    encoded = translator().encode(source, torch.ones_like(source, dtype=torch.bool))
    assert encoded.copied.tolist() == [[4, NOT_COPIED, 1]]
    same = build_translator(ModelRecipe(name="gru+additive+copy", hidden=10), Vocabularies(7, 5))
    assert same.copied_as.tolist() == [0, 1, 2, 3, 4, NOT_COPIED, NOT_COPIED]


@torch.no_grad()
def test_an_ensemble_copies_as_its_members_do():
    torch.manual_seed(0)
    members = [translator() for _ in range(3)]
    source, previous = torch.tensor([[4, 5, 4, 6]]), torch.tensor([[2, 4, 3]])
    valid = torch.ones_like(source, dtype=torch.bool)
    joint = ensemble_of(members)
    found = joint.decoder(previous, joint.encode(source, valid)).exp()
    expected = torch.stack([one.decoder(previous, one.encode(source, valid)).exp() for one in members]).mean(0)
    torch.testing.assert_close(found, expected)
