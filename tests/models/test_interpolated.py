"""A network and counts, interpolated: the formula, the best shares, searches, and saved counts."""

import copy
import itertools

import numpy as np
import pytest
import torch

from atento.decoding import SpecialTokens, search
from atento.errors import InputError
from atento.layers.kneser_ney import KneserNey
from atento.models.builders.language_model import build_language_model
from atento.models.interpolated import InterpolatedDecoder, best_shares
from atento.spec import DecodeRecipe, ModelRecipe

V, ORDER, END = 7, 3, 3


def model(seed=0, *, shares=(0.2, 0.5, 0.8)):
    torch.manual_seed(seed)
    made = build_language_model(ModelRecipe(name="gru+ngram", hidden=5, dropout=0.0), V, order=ORDER).eval()
    rows = [torch.randint(0, V, (101,)).numpy(), torch.randint(0, 4, (53,)).numpy()]
    made.ngram.count(rows, skipped=1)
    made.shares.copy_(torch.tensor(shares))
    return made, rows


@torch.no_grad()
def mixed_logs(made, row):
    """The mixture's log-probabilities of a row, read at once."""
    features, _ = made.resume(row[None, :-1], made.decoder.start(made.empty_source(1)))
    logs = made.decoder.to_logits(features).log_softmax(dim=-1)[0].gather(1, row[1:, None]).squeeze(1)
    return made.mixed(logs, row, skipped=1)


def test_the_mixture_is_the_formula():
    """λ p + (1 − λ) q of every token, λ by how long a history the counts know."""
    made, rows = model()
    counts = KneserNey(ORDER, V).fit(rows, skipped=1)
    row = torch.tensor([END, 1, 2, 6, 6, 5, 0, 4])
    network = torch.linspace(-3, -0.1, 7, dtype=torch.float64)
    found = made.mixed(network, row, skipped=1)
    scored = counts.score(row.numpy(), skipped=1)
    for at in range(7):
        share = (0.2, 0.5, 0.8)[scored.matched[at]]
        expected = share * network[at].exp() + (1 - share) * scored.probabilities[at]
        assert found[at].exp().item() == pytest.approx(expected.item(), abs=1e-12)
    assert len(set(scored.matched.tolist())) > 1


def test_the_best_shares_are_found_and_never_below_either_part():
    chance = np.random.default_rng(0)
    matched = np.repeat([0, 1, 2], [400, 500, 2])
    network, counts = chance.uniform(0.01, 1, 902), chance.uniform(0.01, 1, 902)
    network[matched == 1] *= 0.001  # there the counts alone are right
    shares = best_shares(network, counts, matched, lengths=4)
    for length in (0, 1):
        own, other = network[matched == length], counts[matched == length]
        grid = [np.log(one * own + (1 - one) * other).sum() for one in np.linspace(0, 1, 501)]
        reached = np.log(shares[length] * own + (1 - shares[length]) * other).sum()
        assert reached > max(grid) - 0.4  # the prior of four tokens costs that little
    assert shares[1] < 0.05 < shares[0]
    assert shares[2] == pytest.approx(shares[3], abs=0.4), "few tokens or none: near the share of all"


def test_calibration_learns_from_held_out_rows():
    made, rows = model()
    row = torch.from_numpy(rows[0])
    made.calibrate([(row, torch.full((100,), -50.0))], skipped=1)
    assert (made.shares < 1e-3).all(), "a hopeless network is not heard"
    made.calibrate([(row, torch.full((100,), -0.001))], skipped=1)
    assert (made.shares > 0.9).all()


def test_searches_write_by_the_mixture():
    """Step by step the decoder gives the mixed probability of every next token; a greedy score is their sum."""
    made, _ = model()
    decoder, nothing = InterpolatedDecoder(made), made.empty_source(2)
    state, tokens = decoder.start(nothing), [torch.tensor([END, END])]
    with torch.no_grad():
        for _ in range(4):
            logits, state = decoder.step(tokens[-1], state)
            assert torch.allclose(logits.exp().sum(dim=-1), torch.ones(2), atol=1e-5)
            tokens.append(torch.tensor([logits[0].argmax(), 5]))
            rows = torch.stack(tokens, dim=1)
            for at, row in enumerate(rows):
                assert logits[at, row[-1]].item() == pytest.approx(mixed_logs(made, row)[-1].item(), abs=1e-5)
        special = SpecialTokens(start=END, end=END, forbidden=())
        for beam in (1, 3):
            recipe = DecodeRecipe(beam=beam)
            found = search(decoder, nothing, recipe, special_tokens=special, max_tokens=[6, 6], seeds=["", ""])
            ended = [END] if len(found[0].tokens) < 6 else []
            row = torch.tensor([END, *found[0].tokens, *ended])
            assert found[0].score == pytest.approx(mixed_logs(made, row).sum().item(), abs=1e-4)


def test_counts_are_saved_with_the_weights_and_stay_exact():
    made, _ = model()
    again = build_language_model(ModelRecipe(name="gru+ngram", hidden=5), V, order=ORDER)
    weights = {name: one.clone() for name, one in made.state_dict().items()}
    counts = {name.removeprefix("ngram."): one for name, one in weights.items() if name.startswith("ngram.")}
    again.ngram.adopt_sizes(counts)
    again.load_state_dict(weights)
    assert all(torch.equal(one, again.state_dict()[name]) for name, one in weights.items())
    assert copy.deepcopy(made).half().ngram.shares_2.dtype == torch.float64, "counts stay as they are"
    for name, wrong in itertools.product(("shares_1", "backoffs_0", "ngrams_2"), ("shorter", "gone", "negative")):
        broken = dict(counts)
        broken[name] = counts[name][:-1] if wrong == "shorter" else -counts[name] - 1.0
        if wrong == "gone":
            del broken[name]
        if (name, wrong) == ("ngrams_2", "negative"):
            continue  # found to be unknown
        with pytest.raises(InputError, match="not those of any text"):
            again.ngram.adopt_sizes(broken)
