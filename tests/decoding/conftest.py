import copy
import functools

import pytest
import torch

from atento.data.text.vocabulary import END, PAD, START, UNKNOWN
from atento.decoding import SpecialTokens, greedy
from atento.models.builders import Vocabularies, build_translator
from atento.spec import ModelRecipe
from rows import one_row

ROWS, SOURCE, LONGEST, TARGET_TOKENS = 11, 5, 7, 7  # three words besides the four special_tokens


SPECIAL_TOKENS = SpecialTokens(start=START, end=END, forbidden=(PAD, UNKNOWN, START))


@pytest.fixture
def special_tokens():
    return SPECIAL_TOKENS


def random_case(name, seed):
    """A random model with strong opinions, and some sources it has read."""
    torch.manual_seed(seed)
    recipe = ModelRecipe(name=name, hidden=10, heads=2, feed_forward=7)
    model = build_translator(recipe, Vocabularies(13, TARGET_TOKENS)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2).add_(0.5 * torch.randn_like(parameter))
        valid = torch.arange(SOURCE) < torch.randint(1, SOURCE + 1, (ROWS, 1))
        return model, model.encode(torch.randint(4, 13, (ROWS, SOURCE)), valid)


@pytest.fixture(scope="session", params=["gru", "lstm+additive", "transformer"])
def case(request):
    """The first random model whose rows finish at different times."""
    for seed in range(100):
        model, encoded = random_case(request.param, seed)
        lengths = {
            len(one.tokens) for one in greedy(model.decoder, encoded, special_tokens=SPECIAL_TOKENS, max_tokens=LONGEST)
        }
        if len(lengths) > 3:
            return model, encoded
    raise AssertionError("no random model writes outputs of different lengths")


@pytest.fixture
def model(case):
    """A copy: some tests change it."""
    return copy.deepcopy(case[0])


@pytest.fixture
def encoded(case):
    return case[1]


@pytest.fixture(scope="session")
def log_probability(case):
    """Of each next token of a row after some written ones, teacher-forced and without any cache of states."""
    model, encoded = case

    @functools.cache
    @torch.no_grad()
    def of(row, written):
        alone = one_row(encoded, row)
        logits = model.decoder(torch.tensor([[START, *written]]), alone)[0, -1]
        logits[[PAD, UNKNOWN, START]] = -torch.inf
        return logits.log_softmax(-1).tolist()

    return of
