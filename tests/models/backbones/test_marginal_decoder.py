"""Exact hard attention: the probability of a target is a sum over every way to align it, written out."""

import itertools

import pytest
import torch

from atento.attention import Additive, Attention, Everything, Hard, Softmax, Sparsemax, Window
from atento.errors import InputError
from atento.layers import TokenEmbedding
from atento.models import Encoded
from atento.models.backbones import MarginalDecoder
from atento.models.backbones.marginal_decoder import forward_only
from atento.models.backbones.recurrent import as_state
from atento.models.builders import Vocabularies, build_translator
from atento.recurrent import GRUCell, Stack
from atento.spec import ModelRecipe

BATCH, SOURCE, TARGET, SIZE, SOURCE_SIZE, TOKENS = 2, 5, 3, 4, 6, 7

VALID = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])


def decoder(*, monotonic, distribution=None, extent=None):
    torch.manual_seed(0)
    attention = Attention(
        Additive(SIZE, SOURCE_SIZE, hidden_size=SIZE), distribution or Softmax(), extent or Everything()
    )
    stack = Stack(GRUCell, SIZE, SIZE)
    made = MarginalDecoder(
        TokenEmbedding(TOKENS, SIZE),
        stack,
        as_state(SOURCE_SIZE, SIZE),
        attention,
        source_size=SOURCE_SIZE,
        monotonic=monotonic,
    ).double()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.5 * torch.randn_like(parameter))
    return made


def example():
    torch.manual_seed(1)
    states = torch.randn(BATCH, SOURCE, SOURCE_SIZE, dtype=torch.double).masked_fill(~VALID[..., None], torch.nan)
    previous, target = torch.randint(0, TOKENS, (2, BATCH, TARGET))
    previous[:, 1:] = target[:, :-1]
    return Encoded(states, VALID, torch.randn(BATCH, SOURCE_SIZE, dtype=torch.double)), previous, target


def sum_over_alignments(model, encoded, previous, target, row, *, monotonic):
    """Σ over all alignments of Π p(a_t | a_{t−1}, s_t) P(y_t | s_t, h_{a_t}), a path at a time."""
    count = int(encoded.valid[row].sum())
    states = encoded.states[row, :count]
    hidden = torch.tanh(model.first_states(encoded.summary[row])).unsqueeze(0)
    cell = model.stack.cell(0)
    attended, emitted = [], []
    for time in range(TARGET):
        hidden = cell(
            model.embedding(previous[row, time : time + 1]), cell.start(hidden)._replace(hidden=hidden)
        ).hidden
        attended.append(model.attention.score(hidden.unsqueeze(0), states.unsqueeze(0))[0, 0].softmax(dim=-1))
        features = torch.tanh(model.from_key(states) + model.from_state(hidden))
        emitted.append((features @ model.embedding.output_weight.T + model.bias).softmax(dim=-1)[:, target[row, time]])
    total = torch.zeros((), dtype=torch.double)
    for path in itertools.product(range(count), repeat=TARGET):
        if monotonic and list(path) != sorted(path):
            continue
        ways = [(0, *path)[time] if monotonic else 0 for time in range(TARGET)]  # the first key that each may take
        chances = [
            attended[time][at] / attended[time][ways[time] :].sum() * emitted[time][at] for time, at in enumerate(path)
        ]
        total = total + torch.stack(chances).prod()
    return total


@pytest.mark.spec("A17")
@pytest.mark.parametrize("monotonic", [False, True])
def test_the_sum_over_all_alignments(monotonic):
    model, (encoded, previous, target) = decoder(monotonic=monotonic), example()
    logits = model(previous, encoded)
    torch.testing.assert_close(logits.exp().sum(-1), torch.ones(BATCH, TARGET, dtype=torch.double))
    found = logits.gather(-1, target.unsqueeze(-1)).sum(dim=(1, 2)).exp()
    cells = [parameter for parameter in model.parameters() if parameter.requires_grad]
    for row in range(BATCH):
        expected = sum_over_alignments(model, encoded, previous, target, row, monotonic=monotonic)
        torch.testing.assert_close(found[row], expected)
        of_paths = torch.autograd.grad(expected.log(), cells, retain_graph=True, allow_unused=True)
        of_model = torch.autograd.grad(found[row].log(), cells, retain_graph=True, allow_unused=True)
        for one, other in zip(of_paths, of_model, strict=True):
            if one is not None:
                torch.testing.assert_close(other, one)


def test_monotonic_alignments_do_not_go_back():
    """The first step can only come from the last key, and the second would rather go back."""
    forward, back = torch.full((1, 5), -300.0).double(), torch.full((1, 5), -300.0).double()
    forward[:, 4], back[:, 0] = 0.0, 0.0
    second = forward_only(forward_only(torch.zeros(1, 5).double(), forward), back)
    assert second.argmax() == 4 and second.exp().sum() == pytest.approx(1.0)


@pytest.mark.parametrize("monotonic", [False, True])
def test_weights_of_any_distribution_that_sums_to_one(monotonic):
    model, (encoded, previous, _) = decoder(monotonic=monotonic, distribution=Sparsemax()), example()
    torch.testing.assert_close(
        model(previous, encoded).exp().sum(-1), torch.ones(BATCH, TARGET, dtype=torch.double), atol=1e-12, rtol=0
    )


def test_what_cannot_be_summed_over_is_refused():
    with pytest.raises(InputError, match="none is drawn"):
        decoder(monotonic=False, distribution=Hard())
    with pytest.raises(InputError, match="every key"):
        decoder(monotonic=True, extent=Window(2))


@pytest.mark.parametrize(
    "name, said",
    [
        ("transformer+hard-exact", "hard-exact"),
        ("lstm+hard-exact", "needs one attention"),
        ("lstm+additive+hard-exact+hard-monotonic", "one way"),
    ],
)
def test_names_without_a_meaning_are_refused(name, said):
    with pytest.raises(InputError, match=said):
        build_translator(ModelRecipe(name=name), Vocabularies(11, 13))
