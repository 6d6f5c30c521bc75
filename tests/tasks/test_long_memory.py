"""Long memory: on each probe the plain network fails at a length that gates or attention master, in the same steps."""

from functools import partial

import pytest
import torch

from atento.data.builtin.probes import true_positions
from atento.spec import DataRecipe, DecodeRecipe, ModelRecipe, TokensRecipe
from atento.tasks.catalogue import TASKS

TESTED = 150


class Probe:
    """A built-in set, read once, on which several small models learn for the same number of steps."""

    def __init__(self, task, name, length):
        self.task = TASKS[task]
        reading = self.task.reading.read(DataRecipe(train=name, length=length), 0)
        self.codec = self.task.learning.learn(TokensRecipe(source="word", target="word"), reading.train[:4000])
        encoded = [self.task.learning.encode(self.codec, pair) for pair in reading.train[:4000]]
        length = partial(self.task.learning.length, self.codec)
        self.examples = sorted(encoded, key=length)  # neighbours are of like length: little padding
        self.questions = reading.test

    def train(self, name, *, rate, steps, rows=48, hidden=48, **choices):
        torch.manual_seed(0)
        module = self.task.learning.build(
            ModelRecipe(name=name, hidden=hidden, heads=2, dropout=0.0, **choices), self.codec
        )
        learner = torch.optim.Adam(module.parameters(), betas=(0.9, 0.98), fused=True)
        for step in range(steps):
            first = int(torch.randint(0, len(self.examples) - rows, ()))
            loss = self.task.learning.loss(
                module, self.task.learning.batch(self.codec, self.examples[first : first + rows]), 0.0
            ).mean
            learner.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(module.parameters(), 1.0)
            learner.param_groups[0]["lr"] = rate * min(1, (step + 1) / 30) * (1 - step / steps)
            learner.step()
        return module.eval()

    def score(self, module, chosen=lambda source: True):
        """The task's own headline over some of the unseen questions."""
        asked = [question for question in self.questions if chosen(question.source)][:TESTED]
        answers = self.task.answering.answer(
            module, self.codec, [question.source for question in asked], DecodeRecipe()
        )
        references = [question.references for question in asked]
        return {
            metric.name: metric.value([answer.text for answer in answers], references)
            for metric in self.task.judging.metrics(self.codec)
        }

    def curve(self, module, bands):
        """Exact match against length: of the questions whose words are in each band."""
        lengths = [range(low, high + 1) for low, high in bands]
        return [self.score(module, lambda source, band=band: len(source.split()) in band)["exact"] for band in lengths]


@pytest.fixture(scope="module")
def adding():
    return Probe("estimate", "adding", 50)


@pytest.mark.spec("R18")
@pytest.mark.parametrize("name, rate", [("gru", 1e-2), ("lstm", 1e-2), ("gru+additive", 1e-2), ("transformer", 3e-3)])
def test_gates_and_attention_add_two_numbers_far_apart(adding, name, rate):
    """Always guessing 1 errs by 1/6; a tenth of that is solved."""
    directions = 2 if name == "transformer" else 1
    found = adding.score(adding.train(name, rate=rate, steps=200, hidden=32, directions=directions))
    assert found["mse"] < 1 / 60
    assert found["r2"] > 0.9


@pytest.mark.spec("R18")
@pytest.mark.parametrize("rate", [1e-3, 3e-3, 1e-2])
def test_the_plain_network_does_not(adding, rate):
    found = adding.score(adding.train("rnn", rate=rate, steps=200, hidden=32, directions=1))
    assert found["mse"] > 0.5 / 6


@pytest.mark.spec("R18")
def test_adding_against_length():
    """The plain network adds over 8 steps, not over 50 by any of three rates (above); gates do both."""
    probe = Probe("estimate", "adding", 8)
    for name in ("rnn", "gru"):
        assert probe.score(probe.train(name, rate=1e-2, steps=200, hidden=32, directions=1))["mse"] < 1 / 60, name


RATES = (4e-3, 1e-2)  # of the plain network; a smaller one learns less in these steps


@pytest.mark.spec("R18")
def test_copying_against_length():
    """Through the last state of a plain network pass a few letters, through gates more, by attention all."""
    probe = Probe("translate", "copy", 16)
    bands = ((3, 5), (6, 8), (9, 16))  # letters
    plain = [probe.curve(probe.train("rnn", rate=rate, steps=300), bands) for rate in RATES]
    gates = probe.curve(probe.train("gru", rate=1e-2, steps=300), bands)
    looks = probe.curve(probe.train("gru+dot+local", rate=1e-2, steps=300, window=1, hidden=32), bands)
    assert all(short > 0.5 > 0.35 > middle > long and long < 0.1 for short, middle, long in plain)
    assert gates[0] > 0.85 and gates[1] > 0.1 + max(curve[1] for curve in plain) and gates[2] < 0.1
    assert min(looks) > 0.9


@pytest.mark.spec("R18")
def test_recall_against_the_number_of_pairs():
    """Whoever only knows the values that were there is right a little more than one time in as many as there are."""
    probe = Probe("translate", "recall", 6)
    bands = ((4, 4), (6, 8), (10, 14))  # words: one pair, two or three, four to six, and the question
    curves = {
        (name, rate): probe.curve(probe.train(name, rate=rate, steps=280, rows=64), bands)
        for name, rate in (*(("rnn", rate) for rate in RATES), ("gru", 1e-2), ("gru+dot", 1e-2))
    }
    looks = curves.pop(("gru+dot", 1e-2))
    assert min(looks) > 0.85 and looks[0] > 0.95
    assert all(one > 0.85 and two < 0.7 and many < 0.5 for one, two, many in curves.values())


@pytest.mark.spec("E05")
def test_a_learned_alignment_is_the_true_one():
    """Blocks of three words turned round: each word written looks at the word it comes from."""
    probe = Probe("translate", "alignment", 6)
    model = probe.train("lstm+dot", rate=8e-3, steps=400, hidden=64)
    assert probe.score(model)["exact"] > 0.8
    errors = []
    for question in probe.questions[:60]:
        look = probe.task.answering.look(model, probe.codec, question.source, DecodeRecipe())
        largest = look.weights[0, 0].argmax(-1).tolist()[: len(look.source)]
        right = sum(map(int.__eq__, largest, true_positions(len(look.source))))
        errors.append(1 - right / len(look.source))
    assert sum(errors) / len(errors) < 0.05
