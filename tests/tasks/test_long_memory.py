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
def test_copying_without_and_with_attention():
    """The last state of a plain network holds a few letters; one that looks back holds them all."""
    probe = Probe("translate", "copy", 16)
    looks = probe.train("gru+dot+local", rate=1e-2, steps=300, window=1, hidden=32)
    remembers = probe.train("rnn", rate=4e-3, steps=300)
    assert probe.score(looks)["exact"] > 0.9
    assert probe.score(looks, is_long)["exact"] > 0.9
    assert probe.score(remembers, is_long)["exact"] < 0.1


def is_long(source):
    return len(source.split()) >= 8


@pytest.mark.spec("R18")
def test_recall_without_and_with_attention():
    """Among six pairs: whoever only knows the values that were there is right a little more than one time in six."""
    probe = Probe("translate", "recall", 6)
    looks = probe.train("gru+dot", rate=1e-2, steps=280, rows=64)
    remembers = probe.train("rnn", rate=4e-3, steps=280, rows=64)
    assert probe.score(looks)["exact"] > 0.9
    assert probe.score(looks, has_many_pairs)["exact"] > 0.85
    assert probe.score(remembers, has_many_pairs)["exact"] < 0.5


def has_many_pairs(source):
    return len(source.split()) >= 2 + 2 * 4


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
