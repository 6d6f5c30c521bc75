"""atento.fit, atento.load and what a run can do, from Python."""

import json

import pytest
import torch

import atento
from atento.data.text.vocabulary import UNKNOWN
from atento.errors import InputError, MachineError

SMALL = {"model.hidden": 16, "train.threads": 1, "train.batch_tokens": 400, "train.validations": 2, "train.steps": 8}


@pytest.fixture(scope="module")
def fit(tiny_pairs, tmp_path_factory):
    """A small run with other settings."""

    def start(model="gru+dot", *, seed=None, on_event=lambda event: None, **settings):
        values = {**SMALL, **{key.replace("__", "."): value for key, value in settings.items()}}
        out = tmp_path_factory.mktemp("fit") / "run"
        return atento.fit(tiny_pairs, model=model, settings=values, seed=seed, out=out, on_event=on_event)

    return start


@pytest.fixture(scope="module")
def plain(fit):
    return fit()


def weights(run):
    return torch.cat([tensor.flatten() for tensor in run.module.state_dict().values()])


def test_a_run_predicts_looks_and_is_loaded_again(plain):
    sources = ["abcd", "eeaa", "b"]
    answers = plain.predict(sources)
    assert len(answers) == 3
    assert plain.predict("abcd") == answers[:1]
    assert plain.look("abcd").text == answers[0]
    again = atento.load(plain.folder)
    assert again.predict(sources) == answers
    assert again.metrics == plain.metrics
    assert again.recipe == plain.recipe
    assert "gru+dot, exact" in repr(again)


def test_a_good_run_is_right(trained_run):
    assert trained_run.predict(["zwölftausenddreihundertvierundfünfzig"]) == [
        "twelve thousand three hundred fifty-four"
    ]


def test_every_run_records_how_it_came_about(plain, tiny_pairs):
    metrics = plain.metrics
    assert metrics["data"]["name"] == tiny_pairs.name
    assert metrics["data"]["parts"] == {"train": 216, "valid": 12, "test": 12}
    assert metrics["steps"] == 8
    assert metrics["parameters"] == weights(plain).numel()
    assert [point["step"] for point in metrics["curve"]] == [4, 8]
    assert all(isinstance(point["loss"], float) for point in metrics["curve"])
    assert metrics["command"].startswith("atento train ")
    card = (plain.folder / "README.md").read_text(encoding="utf-8")
    assert "gru+dot on pairs.tsv" in card and metrics["data"]["fingerprint"] in card


def test_one_seed_one_model(fit, plain):
    assert torch.equal(weights(fit()), weights(plain))
    assert not torch.equal(weights(fit(seed=1)), weights(plain))


@pytest.mark.parametrize(
    "settings",
    [
        {"train__label_smoothing": 0.2},
        {"train__optimiser": "adam"},
        {"train__precision": "bf16"},
        {"train__clip": 0.01},
        {"train__decay": "cosine"},
        {"train__weight_decay": 0.5},
        {"train__batch_tokens": 200},
    ],
    ids=str,
)
def test_every_choice_matters(fit, plain, settings):
    """Seed and data are the same: another end is the choice's doing."""
    run = fit(**settings)
    assert run.metrics["ended"] == "its limit was reached"
    assert torch.isfinite(weights(run)).all()
    assert all(tensor.dtype == torch.float32 for tensor in run.module.state_dict().values())
    assert not torch.equal(weights(run), weights(plain))


def test_events_tell_the_story(fit):
    seen = []
    fit(on_event=seen.append)
    kinds = [event["event"] for event in seen]
    assert kinds.count("start") == kinds.count("finished") == 1
    assert kinds.count("validation") == 2
    assert kinds.index("note") < kinds.index("start") < kinds.index("validation") < kinds.index("finished")
    validation = next(event for event in seen if event["event"] == "validation")
    assert set(validation["metrics"]) == {"exact", "symbol_error", "chrf", "bleu"}


def test_settings_as_words_or_values(tiny_pairs, tmp_path):
    words = [f"{key}={value}" for key, value in SMALL.items()]
    one = atento.fit(tiny_pairs, model="gru+dot", settings=words, out=tmp_path / "one")
    assert one.recipe.model.hidden == 16
    with pytest.raises(InputError, match=r"no recipe key 'model\.hiden'"):
        atento.fit(tiny_pairs, settings={"model.hiden": 3}, out=tmp_path / "two")
    assert not (tmp_path / "two").exists()


def test_a_folder_by_default(tiny_pairs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [atento.fit(tiny_pairs, model="gru", settings=SMALL).folder for _ in range(2)]
    assert [str(name) for name in names] == ["runs/pairs-gru-1", "runs/pairs-gru-2"]


def test_a_letter_of_the_test_part_alone_is_unknown(tiny_pairs, tmp_path):
    held = tmp_path / "held.tsv"
    held.write_text("abz\tz b a\n")
    files = {"data.valid": str(held), "data.test": str(held)}
    run = atento.fit(tiny_pairs, model="gru+dot", settings={**SMALL, **files}, out=tmp_path / "run")
    assert run.predictor.bundle.codec.source.encode("abz")[-1] == UNKNOWN
    assert run.metrics["examples"] == 1
    (line,) = (run.folder / "predictions.jsonl").read_text().splitlines()
    assert json.loads(line)["references"] == ["z b a"]


def test_what_is_not_there(tmp_path):
    with pytest.raises(InputError, match="there is no such run"):
        atento.load(tmp_path / "none")
    if not torch.cuda.is_available():
        with pytest.raises(MachineError, match="there is no GPU here"):
            atento.load(tmp_path / "none", device="cuda")
    with pytest.raises(AttributeError, match="no attribute 'fitt'"):
        _ = atento.fitt


@pytest.mark.parametrize("settings", [{"train.truncate": 8}, {"model.attend": "previous"}, {"model.handover": "input"}])
def test_what_has_no_meaning_for_a_model_leaves_no_folder(tiny_pairs, tmp_path, settings):
    with pytest.raises(InputError, match="has no meaning here"):
        atento.fit(tiny_pairs, model="transformer", settings=settings, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
