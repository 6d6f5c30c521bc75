"""No command sees its test part before all is learned and chosen, whatever step asks for it."""

import importlib
from dataclasses import replace

import pytest
from tests.tasks.shapes import SHAPES

import atento
from atento.api import prepare
from atento.tasks.catalogue import TASKS
from atento.tasks.sealed import SealBroken, SealedTest

compare, tune, backtest = (importlib.import_module(f"atento.api.{name}") for name in ("compare", "tune", "backtest"))
SMALL = {"model.hidden": 8, "model.layers": 1, "train.threads": 1, "train.validations": 1, "train.steps": 2}
STEPS = ("calibrate", "class_weights", "closed_form", "learn", "require_no_leak", "windows")  # of Learning


def peeping(task, step, seen):
    """A task with a step that looks at the test part of whatever was read."""
    whole = getattr(task.learning, step)

    def peep(*given):
        assert isinstance(seen[0], SealedTest)
        return [question.source for question in seen[0]] and whole and whole(*given)

    return replace(task, learning=replace(task.learning, **{step: peep}))


@pytest.fixture
def seen(monkeypatch):
    """The sealed parts that are read, in order."""
    parts, seal = [], prepare.seal

    def watched(reading):
        sealed = seal(reading)
        parts.append(sealed.test)
        return sealed

    monkeypatch.setattr(prepare, "seal", watched)
    return parts


@pytest.mark.spec("X04")
@pytest.mark.parametrize("step", STEPS)
def test_no_step_of_learning_can_look_at_it(step, seen, tmp_path, monkeypatch):
    name = "label" if step != "windows" else "generate"
    settings = {**SMALL, "train.class_weight": 0.5} if step == "class_weights" else SMALL
    monkeypatch.setitem(TASKS, name, peeping(TASKS[name], step, seen))
    file = next(iter(SHAPES[name].values()))(tmp_path)
    with pytest.raises(SealBroken, match=r"peep.* reads the test part"):
        atento.fit(file, task=name, settings=settings, out=tmp_path / "run")


@pytest.mark.spec("X04")
@pytest.mark.parametrize("name", ["label", "generate", "estimate"])
def test_a_run_opens_it_once_at_its_end(name, seen, tmp_path):
    file, told = next(iter(SHAPES[name].values()))(tmp_path), []
    watch = lambda event: told.append((event["event"], repr(seen[0]))) if seen else None  # noqa: E731
    run = atento.fit(file, task=name, settings=SMALL, out=tmp_path / "run", on_event=watch)
    assert len(seen) == 1 and "opened by atento.api.fit." in repr(seen[0])
    assert {state for _, state in told} == {f"SealedTest({len(seen[0])} examples, closed)"}
    assert run.metrics["data"]["parts"]["test"] == len(seen[0])


@pytest.mark.spec("X04")
def test_a_comparison_opens_it_once_when_everything_is_fitted(seen, tiny_pairs, tmp_path, monkeypatch):
    """The processes are left out: each of them opens the part that it read itself."""
    story, fit, final = [], compare.fit_baseline, compare.final_examination
    monkeypatch.setattr(compare, "run_all", lambda *jobs, **options: story.append("trained"))
    monkeypatch.setattr(compare, "fit_baseline", lambda *given: (story.append("fitted"), fit(*given))[1])
    monkeypatch.setattr(compare, "final_examination", lambda reading: (story.append("opened"), final(reading))[1])
    board = atento.compare(tiny_pairs, models=["rnn"], settings=SMALL, out=tmp_path / "board")
    assert story == ["fitted"] * (len(board.rows) - 1) + ["trained", "opened"]
    simple = [make().name for make in TASKS["translate"].judging.baselines]
    assert [row.model for row in board.rows if row.baseline and row.value is not None][: len(simple)] == simple
    assert len(seen) == 1 and "opened by" in repr(seen[0])


@pytest.mark.spec("X04")
def test_trials_and_origins_have_none(seen, tiny_pairs, tmp_path, monkeypatch):
    given = []
    monkeypatch.setattr(tune, "attempt_one", lambda data, *others: given.append(data.reading) or float(len(given)))
    monkeypatch.setattr(tune, "share_time", lambda *given: tune.Share(2, 1, 0.1, 0.2))
    atento.tune(tiny_pairs, model="rnn", settings={**SMALL, "train.steps": 0}, budget=1, out=tmp_path / "search")
    assert len(given) == 2 and all(reading.valid and not len(reading.test) for reading in given)
    assert not any(isinstance(reading.valid, SealedTest) for reading in given)
    opened = [repr(part).rpartition(" ")[2] for part in seen]
    assert opened == ["atento.api.tune.outcome)", "atento.api.fit.complete)", "atento.api.fit.complete)"]

    seen.clear()
    waves = tmp_path / "waves.csv"
    waves.write_text("t,y\n" + "".join(f"{n},{n % 7 + n / 90}\n" for n in range(200)), encoding="utf-8")
    settings = {**SMALL, "data.horizon": 3, "data.look_back": 7}
    atento.backtest(waves, models=["ridge"], origins=2, settings=settings, out=tmp_path / "origins")
    opened = [repr(part).rpartition(" ")[2] for part in seen]
    assert opened[0] == "closed)", "the first reading only asks for the horizon"
    assert set(opened[1:]) == {"atento.api.backtest.examine.<locals>.<listcomp>)", "atento.api.fit.fit_simple)"}
