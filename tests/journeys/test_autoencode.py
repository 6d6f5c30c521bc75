"""Autoencoders as a user: a series and a film, trained, compared, looked at, written out, and what is refused."""

import csv
import json

import numpy as np
import pytest

SMALL = (
    *("--set", "model.hidden=8", "--set", "model.latent=2", "--set", "train.steps=6"),
    *("--set", "train.validations=2", "--set", "train.threads=1", "--device", "cpu"),
)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A table of two channels, and a film of a spot that goes round."""
    folder = tmp_path_factory.mktemp("autoencode")
    turn = np.arange(400) / 7
    rows = [f"{np.sin(one):.5f},{np.cos(one) + 3:.5f}" for one in turn]
    (folder / "wheel.csv").write_text("left,right\n" + "\n".join(rows) + "\n", encoding="utf-8")
    rows, columns = np.mgrid[:9, :7]
    spots = [np.exp(-((rows - 4 - 2 * np.sin(t)) ** 2 + (columns - 3 - 2 * np.cos(t)) ** 2) / 4) for t in turn]
    np.save(folder / "spot.npy", np.stack(spots))
    return folder


@pytest.fixture(scope="module")
def run(atento_command, place):
    words = ("train", "wheel.csv", "--task", "autoencode", "--set", "data.look_back=10", "--model", "gru", *SMALL)
    done = atento_command.run(*words, "--out", "run", cwd=place)
    assert done.code == 0, done.err
    assert done.out.startswith("mse ")
    return place / "run"


@pytest.mark.spec("D07")
def test_the_same_commands_work(atento_command, place, run):
    found = atento_command.run("evaluate", run, "wheel.csv", "--json", cwd=place).document
    assert (found["metric"], found["examples"]) == ("mse", 391)
    assert list(found["scores"]) == ["mse", "r2", "next_step"]
    done = atento_command.run("predict", run, "wheel.csv", "--out", "path.csv", cwd=place)
    assert done.code == 0, done.err
    path = list(csv.DictReader((place / "path.csv").read_text(encoding="utf-8").splitlines()))
    assert list(path[0]) == ["ds", "z1", "z2"]
    assert (len(path), path[0]["ds"], path[-1]["ds"]) == (391, "9", "399")
    assert atento_command.run("check", run, cwd=place).code == 0
    steps = atento_command.run("look", run, "--what", "steps", "--json", cwd=place).document["steps"]
    assert [step["title"] for step in steps] == ["window", "latent", "recreated"]


@pytest.mark.spec("D07")
def test_the_path_of_the_latents_can_be_seen(atento_command, place, run):
    view = atento_command.run("look", run, "--what", "phase", "--json", cwd=place).document
    assert [(plane["across"], plane["up"]) for plane in view["planes"]] == [("z1", "z2")]
    assert set(view["facts"]) == {"mse", "r2", "next step"}
    for name, begins in (("path.png", b"\x89PNG"), ("path.html", b"<!doctype html>"), ("path.json", b"{")):
        done = atento_command.run("look", run, "--what", "phase", "--out", name, cwd=place)
        assert done.code == 0, done.err
        assert (place / name).read_bytes()[: len(begins)].lower() == begins.lower()


@pytest.mark.spec("D07")
def test_a_film_is_compared_with_its_principal_components(atento_command, place):
    words = ("compare", "spot.npy", "--task", "autoencode", "--models", "linear,conv", *SMALL)
    done = atento_command.run(*words, "--out", "board", cwd=place)
    assert done.code == 0, done.err
    assert "a video of 400 frames, 9 × 7 pixels" in done.err
    board = json.loads((place / "board" / "board.json").read_text(encoding="utf-8"))
    values = {row["model"]: row["value"] for row in board["rows"]}
    assert set(values) == {"mean", "pca-3", "linear", "conv"}
    assert values["pca-3"] < values["mean"]
    assert values[board["winner"]] == min(values.values())
    assert (place / "board" / "report.html").exists()


def test_what_is_refused(atento_command, place):
    for words, message in (
        (("wheel.csv", "--model", "conv"), "reads the frames of a video, and this is none"),
        (("wheel.csv", "--set", "data.horizon=4"), "data.horizon has no meaning for the task autoencode"),
        (("wheel.csv", "--set", "model.latent=99", "--set", "data.look_back=10"), "model.latent=99"),
        (("wheel.csv", "--set", "data.look_back=390"), "look_back"),
        (("spot.npy", "--model", "lineer"), "linear"),
    ):
        done = atento_command.here("train", *words, "--task", "autoencode", cwd=place)
        assert done.code == 2, done.err
        assert message in done.err
    assert not (place / "runs").exists()
