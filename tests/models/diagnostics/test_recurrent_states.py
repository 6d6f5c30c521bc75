"""Hidden states of recurrent stacks, and units that follow a pattern, on texts they were not chosen by."""

import torch

from atento.models.builders import Vocabularies, build_translator
from atento.models.diagnostics.recurrent_states import (
    PATTERNS,
    TokenStates,
    correlations,
    find_units,
    recorded_states,
    states_of_tokens,
)
from atento.recurrent import GRUCell, Stack
from atento.spec import ModelRecipe

TEXTS = ['a "quote" here', "no 12 quotes", 'x "y 3" z', 'he said "no" twice', '"all" of it 77', "(a (b) c) d"]


def test_states_are_the_outputs_of_the_stack_at_real_tokens():
    stack, inputs = Stack(GRUCell, 2, 3), torch.randn(2, 4, 2)
    valid = torch.tensor([[True] * 4, [True, True, False, False]])
    with recorded_states(torch.nn.ModuleDict({"encoder": stack})) as found:
        expected = stack(inputs, valid=valid).outputs
    (states,) = found["encoder"]
    torch.testing.assert_close(states.double(), torch.cat([expected[0], expected[1, :2]]), atol=1e-6, rtol=0)


def test_the_stack_with_a_state_for_each_token_is_taken():
    model = build_translator(ModelRecipe(name="gru", hidden=6), Vocabularies(13, 11)).eval()
    tokens = torch.randint(1, 13, (1, 7))
    with recorded_states(model) as found:
        read = model.encode(tokens, torch.ones_like(tokens, dtype=torch.bool))
        model.decoder(torch.randint(1, 11, (1, 5)), read)
    assert states_of_tokens(found, list("abcdefg")).part == "encoder.stack"
    assert states_of_tokens(found, list("abc¶defg")).tokens == list("abcdefg")
    assert states_of_tokens(found, list("ab")) is None


def test_a_planted_unit_is_found_and_noise_is_not_taken_for_it():
    torch.manual_seed(1)
    texts = []
    for text in TEXTS * 4:
        states = torch.randn(len(text), 12)
        states[:, 7] = -torch.tensor(PATTERNS["inside quotes"](text)) + 0.01 * states[:, 7]
        texts.append(TokenStates("encoder", list(text), states))
    found = {one.pattern: one for one in find_units(texts)}
    quotes = found["inside quotes"]
    assert quotes.unit == 7 and quotes.held_out < -0.99
    assert abs(found["digit"].held_out) < 0.35 and "capital letter" not in found
    assert next(iter(found)) == "inside quotes"
    assert find_units(texts[:1]) == []


def test_patterns_by_hand():
    assert PATTERNS["inside quotes"](list('a"b"c')) == [0, 1, 1, 0, 0]
    assert PATTERNS["inside brackets"](list("a(b)c)d")) == [0, 1, 1, 0, 0, 0, 0]
    assert PATTERNS["position in the line"](list("ab\ncd")) == [1, 2, 0, 1, 2]
    assert PATTERNS["position in the word"](list("ab cd")) == [1, 2, 0, 1, 2]
    assert PATTERNS["vowel"](list("Äpfel")) == [1, 0, 0, 1, 0]
    assert PATTERNS["same token as before"](list("aab")) == [0, 1, 0]


def test_correlations_are_pearson_s():
    states, pattern = torch.randn(20, 3), torch.randn(20)
    states[:, 2] = 5.0
    expected = torch.corrcoef(torch.stack([pattern, states[:, 0], states[:, 1]]))[0, 1:]
    torch.testing.assert_close(correlations(states, pattern)[:2], expected)
    assert correlations(states, pattern)[2] == 0 and correlations(states, torch.ones(20)) is None
