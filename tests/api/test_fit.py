"""atento.fit, atento.load and what a run can do, from Python."""

import json

import pytest
import torch

import atento
from atento.api.fit import other_arithmetic
from atento.data.text.vocabulary import UNKNOWN
from atento.errors import InputError, MachineError
from atento.layers.products import has_bf16_instructions
from atento.native.library import ThisProcess

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


def test_a_run_is_used_from_python(plain, tiny_pairs, tmp_path):
    found = plain.evaluate(tiny_pairs)
    assert found.examples == 240 and found.value == found.scores[found.metric][0]
    assert found.to_json()["file"] == str(tiny_pairs) and found.notes
    table = plain.predict_file(tiny_pairs, out=tmp_path / "answers.csv")
    assert plain.predict(tiny_pairs) == table["prediction"] and (tmp_path / "answers.csv").exists()
    assert plain.check()
    assert [matrix.to_json()["title"] for matrix in plain.trace("abcd")]
    assert plain.explain("abcd").to_json()["text"] == plain.predict("abcd")[0]
    assert plain.report(tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_labels_that_training_never_met_are_told(tmp_path):
    texts = [f"{'good day' if n % 2 else 'bad night'} {n}" for n in range(60)]
    rows = [f"{text}\t{'yes' if 'good' in text else 'no'}" for text in texts]
    (tmp_path / "train.tsv").write_text("\n".join(["text\tlabel", *rows]) + "\n", encoding="utf-8")
    (tmp_path / "other.tsv").write_text(
        "\n".join(["text\tlabel", *rows[:8], "odd day\tnever"]) + "\n", encoding="utf-8"
    )
    run = atento.fit(tmp_path / "train.tsv", task="classify", model="gru", settings=SMALL, out=tmp_path / "run")
    found = run.evaluate(tmp_path / "other.tsv")
    assert found.examples == 9
    assert any("1 label in" in note and "was never seen in training: 'never'" in note for note in found.notes)


def weights(run):
    return torch.cat([tensor.flatten() for tensor in run.module.state_dict().values()])


def test_a_run_predicts_looks_and_is_loaded_again(plain):
    sources = ["abcd", "eeaa", "b"]
    answers = plain.predict(sources)
    assert len(answers) == 3
    assert plain.predict("abcd") == answers[:1]
    assert plain.explain("abcd").text == answers[0]
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
        {"train__optimizer": "adam"},
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
    assert run.metrics["ended"].endswith("steps taken")
    assert torch.isfinite(weights(run)).all()
    assert all(tensor.dtype == torch.float32 for tensor in run.module.state_dict().values())
    assert not torch.equal(weights(run), weights(plain))


def test_events_tell_the_story(fit, monkeypatch):
    monkeypatch.setattr(ThisProcess, "seconds", 3.2)
    seen = []
    fit(on_event=seen.append)
    told = [event["text"] for event in seen if event["event"] == "note"]
    assert "C kernels were compiled for this processor, once, in 3 s" in told
    kinds = [event["event"] for event in seen]
    assert kinds.count("start") == kinds.count("finished") == 1
    assert kinds.count("validation") == 2
    assert seen[kinds.index("start")]["bf16"] == has_bf16_instructions(), "what is rounded is said"
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
    assert run.predictor.bundle.codec.input.encode("abz")[-1] == UNKNOWN
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


@pytest.mark.parametrize(
    "settings", [{"train.bptt_steps": 8}, {"model.attend": "bahdanau"}, {"model.context": "input"}]
)
def test_what_has_no_meaning_for_a_model_leaves_no_folder(tiny_pairs, tmp_path, settings):
    with pytest.raises(InputError, match="has no meaning here"):
        atento.fit(tiny_pairs, model="transformer", settings=settings, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "key, yes, no", [("bf16", "bf16 products", "float32"), ("c_kernels", "C kernels", "torch's operations alone")]
)
@pytest.mark.parametrize("began", [False, True])
def test_a_run_that_goes_on_with_other_kernels_says_so(key, yes, no, began):
    same = {"bf16": began, "c_kernels": began}
    events = [{"event": "note"}, {"event": "start", **same}, {"event": "step"}]
    said = other_arithmetic(events, {**same, key: not began})
    assert f"began with {yes if began else no} and goes on with {no if began else yes}, as" in said
    assert other_arithmetic(events, same) is None
    assert other_arithmetic([{"event": "start"}], same) is None, "of an older version nothing is known"
