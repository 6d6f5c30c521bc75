"""Trials side by side, in processes of their own: what they report, and that one of them is given up."""

import pytest

from atento.api.comparison.workers import LocalWorkers
from atento.api.prepare import assemble, gather_values, read_data
from atento.api.trials import GIVEN_UP, attempt_together, without_test
from atento.tuning.search import Asked

SMALL = {"train.batch_tokens": 200, "model.hidden": 8, "model.layers": 1, "train.checkpoint_every": 10}


@pytest.fixture
def data(tiny_pairs):
    values = gather_values(str(tiny_pairs), task="auto", model="rnn", settings=SMALL, seed=1, budget=None)
    return without_test(read_data(assemble(values), values))


def test_each_tells_its_validations_and_one_is_given_up(data, tmp_path):
    told, reports = [], {0: [], 1: []}

    def report(number, prune):
        return lambda validation, merit: reports[number].append((validation, merit)) or prune

    asked = [
        Asked(0, {"train.steps": 20, "train.validations": 2, "train.lr": 0.01}, report(0, prune=False)),
        Asked(1, {"train.steps": 1000, "train.validations": 100, "train.patience": 100}, report(1, prune=True)),
    ]
    merits = attempt_together(data, 1000.0, asked, LocalWorkers("cpu"), tmp_path, told.append)
    assert [number for number, _ in reports[0]] == [1, 2]
    assert 1 <= len(reports[1]) < 60  # to its end there are 87
    assert merits == [max(merit for _, merit in reports[0]), None]
    assert [(event["number"], event["merit"], event["why"]) for event in told] == [
        (0, merits[0], ""),
        (1, None, GIVEN_UP),
    ]
    assert not list(tmp_path.iterdir())  # checkpoints and recipes of trials are not kept
