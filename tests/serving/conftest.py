"""Tiny trained models, and servers of them."""

from pathlib import Path

import pytest

import atento
from servers import run_server

TEXTS = ["good film", "great film", "bad film", "awful film", "good cast", "bad cast", "great cast", "awful cast"]
LABELS = ["for", "for", "against", "against", "for", "against", "for", "against"]


def train_classifier(folder, seed):
    """A tiny model of two labels, hardly trained."""
    rows = [{"text": text, "label": label} for text, label in zip(TEXTS * 6, LABELS * 6, strict=True)]
    settings = {"train.steps": 3, "model.hidden": 8, "train.threads": 1, "data.split": "60/20/20"}
    return atento.fit(
        rows, task="classify", model="gru+additive", settings=settings, seed=seed, device="cpu", out=folder
    )


@pytest.fixture(scope="session")
def classifier(tmp_path_factory):
    """The folder of a tiny classifier."""
    return Path(train_classifier(tmp_path_factory.mktemp("served") / "run", seed=0).folder)


@pytest.fixture(scope="session")
def other_classifier(tmp_path_factory):
    """Another one of the same form."""
    return Path(train_classifier(tmp_path_factory.mktemp("served") / "other", seed=1).folder)


@pytest.fixture(scope="session")
def server(classifier):
    """A server of the tiny classifier, which every test leaves as it was."""
    with run_server(classifier, "--limit", "seconds=20") as running:
        yield running


@pytest.fixture(scope="session")
def writer_folder(tiny_pairs, tmp_path_factory):
    """The folder of a model that writes text."""
    settings = {"train.steps": 40, "model.hidden": 16, "train.threads": 1}
    folder = tmp_path_factory.mktemp("served") / "writer"
    atento.fit(tiny_pairs, model="gru+dot", settings=settings, seed=0, device="cpu", out=folder)
    return folder


@pytest.fixture(scope="session")
def writer(writer_folder):
    """A server of that model."""
    with run_server(writer_folder) as running:
        yield running
