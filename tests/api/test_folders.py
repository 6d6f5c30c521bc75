"""Where runs lie, that two never share a folder, and how they are listed."""

import fcntl
import shutil
import threading
from pathlib import Path

import pytest

import atento
from atento.api import folders, inspect
from atento.api.check import EXTRAS, examine, extra, probe_one, rated
from atento.api.folders import folder_name, held, in_use, list_runs, new_folder, require_free, require_place
from atento.api.prepare import assemble, gather_values
from atento.cli import manage
from atento.errors import InputError, MachineError
from atento.version import __version__


def test_names_of_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert folder_name("transformer/gru+dot") == "transformer-gru+dot"
    assert folder_name("../..") == "run"
    assert str(new_folder("a/my data.tsv", "lstm+additive")) == "runs/my-data-lstm+additive-1"
    new_folder("x.tsv", "rnn").mkdir(parents=True)
    assert str(new_folder("x.tsv", "rnn")) == "runs/x-rnn-2"
    assert str(new_folder("train.de,train.en", "rnn")) == "runs/train-rnn-1"


def test_a_folder_is_held_by_one(tmp_path):
    folder = tmp_path / "deep" / "run"
    with held(folder):
        (folder / "recipe.toml").touch()
        (folder / "weights.tmp").touch()
        assert in_use(folder)
        with pytest.raises(InputError, match="is in use by another run"), held(folder):
            pass
        with pytest.raises(InputError, match="is in use by another run"):
            require_free(folder, "run", resume=False)
        assert (folder / "weights.tmp").exists()
    assert not in_use(folder)
    with held(folder):
        assert not (folder / "weights.tmp").exists(), "a write that was killed leaves nothing"
    (tmp_path / "file").touch()
    with pytest.raises(MachineError, match="could not be written"), held(tmp_path / "file" / "run"):
        pass


def test_a_request_is_for_the_process_that_holds_the_folder(tmp_path):
    (tmp_path / "request").write_text("finish")  # for one that is gone
    with held(tmp_path):
        assert not (tmp_path / "request").exists()
        (tmp_path / "request").write_text("finish")
        with pytest.raises(InputError, match="is in use by another run"), held(tmp_path):
            pass
        assert (tmp_path / "request").exists(), "one that was refused takes nothing away"
    assert not (tmp_path / "request").exists()


def test_many_may_look_whether_a_folder_is_in_use(tmp_path):
    """A look is a lock for a moment: it is shared with other looks, and who wants to hold the folder waits for it."""
    with held(tmp_path):
        pass
    with (tmp_path / ".lock").open() as look:
        fcntl.flock(look, fcntl.LOCK_SH)
        assert not in_use(tmp_path)
        later = threading.Timer(0.03, fcntl.flock, (look, fcntl.LOCK_UN))
        later.start()
        with held(tmp_path):
            assert in_use(tmp_path)
        later.join()


def test_nobody_s_work_is_written_over(tmp_path):
    run, board, mine = tmp_path / "run", tmp_path / "board", tmp_path / "mine"
    for folder, name in ((run, "recipe.toml"), (board, "board.json"), (mine, "notes.txt")):
        folder.mkdir()
        (folder / name).touch()
    for folder in (run, board, mine):
        with pytest.raises(InputError):
            require_free(folder, "run", resume=False)
    require_free(run, "run", resume=True)
    require_free(board, "comparison", resume=True)
    require_free(tmp_path / "new", "run", resume=True)
    for folder, kind in ((run, "comparison"), (board, "run"), (mine, "run"), (mine / "notes.txt", "run")):
        with pytest.raises(InputError):
            require_free(folder, kind, resume=True)


def test_a_place_for_a_file(tmp_path):
    require_place(tmp_path / "a.HTML", (".html",))
    with pytest.raises(InputError, match="must end in"):
        require_place(tmp_path / "a.txt", (".html",))
    with pytest.raises(InputError, match="no such folder"):
        require_place(tmp_path / "no" / "a.html", (".html",))


def test_what_the_list_of_runs_shows(tmp_path):
    (tmp_path / "run").mkdir()
    for name in ("recipe.toml", "manifest.json"):
        (tmp_path / "run" / name).touch()
    (tmp_path / "half" / "recipes").mkdir(parents=True)
    (tmp_path / "board").mkdir()
    (tmp_path / "board" / "board.json").write_text('{"rows": [3], "winner": "rnn"}')
    (tmp_path / "other").mkdir()
    found = {entry["folder"].rpartition("/")[2]: entry for entry in list_runs(tmp_path)}
    assert set(found) == {"run", "half", "board"}
    assert [found[name]["state"] for name in ("run", "half", "board")] == ["damaged", "can be resumed", "damaged"]
    assert list_runs(tmp_path / "none") == []


@pytest.fixture(scope="module")
def two_runs(tiny_pairs, tmp_path_factory):
    """A finished run, and one that was stopped after its first validation."""
    folder = tmp_path_factory.mktemp("runs")
    settings = {"model.hidden": 8, "train.threads": 1, "train.steps": 4, "train.validations": 2}
    call = {"model": "rnn", "settings": {**settings, "train.checkpoint_every": 1}}

    def stop(event):
        if event["event"] == "validation":
            raise KeyboardInterrupt

    atento.fit(tiny_pairs, out=folder / "done", **call)
    with pytest.raises(KeyboardInterrupt):
        atento.fit(tiny_pairs, out=folder / "half", on_event=stop, **call)
    assert [entry["state"] for entry in list_runs(folder)] == ["can be resumed", "finished"]
    return folder


def flip(place):
    def change(path):
        content = bytearray(path.read_bytes())
        content[place] ^= 0b100
        path.write_bytes(content)

    return change


def cut(path):
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize("hashed", [10**9, 99], ids=["small", "large"])
@pytest.mark.parametrize(
    "file, change",
    [
        ("done/weights.safetensors", cut),
        ("done/weights.safetensors", flip(3)),  # of the length of its header
        ("done/weights.safetensors", Path.unlink),
        ("done/metrics.json", cut),
        ("done/predictions.jsonl", lambda path: path.write_text("")),
        ("done/manifest.json", lambda path: path.write_text("[]")),
        ("half/checkpoint.safetensors", cut),
        ("half/checkpoint.safetensors", flip(9)),  # in its header
        ("half/vocabulary.json", flip(-9)),
        ("half/recipe.toml", flip(-9)),
        ("half/events.jsonl", Path.unlink),
    ],
)
def test_a_damaged_run_is_listed_as_such(two_runs, tmp_path, monkeypatch, file, change, hashed):
    monkeypatch.setattr(folders, "SMALL", hashed)  # large files are judged by size and header
    runs = shutil.copytree(two_runs, tmp_path / "runs")
    assert [entry["damage"] for entry in list_runs(runs)] == ["", ""]
    change(runs / file)
    folder, name = file.split("/")
    found = {entry["folder"].rpartition("/")[2]: entry for entry in list_runs(runs)}
    assert found[folder]["state"] == "damaged"
    assert found[folder]["damage"].startswith(f"{name} is damaged: ")
    assert [entry["state"] for key, entry in found.items() if key != folder] != ["damaged"]


def test_a_flipped_weight_is_seen_in_a_small_file(two_runs, tmp_path, capsys, monkeypatch):
    runs = shutil.copytree(two_runs, tmp_path / "runs")
    flip(-9)(runs / "done" / "weights.safetensors")
    flip(-9)(runs / "half" / "checkpoint.safetensors")
    monkeypatch.setenv("COLUMNS", "80")
    manage.runs(runs)
    shown = "".join(capsys.readouterr().out.split())  # lines wrap
    assert "weights.safetensorsisdamaged:SHA-256" in shown
    assert "checkpoint.safetensorsisdamaged:SHA-256" in shown


def test_options_go_before_settings_before_the_file(tmp_path):
    path = tmp_path / "r.toml"
    path.write_text('[data]\ntrain = "numbers"\n[train]\nseed = 1\nsteps = 5\n[model]\nhidden = 8\nname = "rnn"\n')
    typed = {"task": "auto", "model": "gru", "settings": ["train.seed=2", "model.hidden=32"], "seed": 3, "budget": "1m"}
    values = gather_values(str(path), **typed)
    assert values["train.seed"] == 3
    assert values["model.hidden"] == "32"
    assert values["model.name"] == "gru"
    task, recipe, notes = assemble(values)
    assert task.name == "translate"
    assert (recipe.train.steps, recipe.train.budget, recipe.model.hidden) == (5, 60.0, 32)
    assert notes == []


def test_without_limits_there_is_a_budget_and_it_is_said(tiny_pairs, tmp_path, monkeypatch):
    monkeypatch.chdir(tiny_pairs.parent)
    typed = {"task": "auto", "model": "auto", "settings": (), "seed": None, "budget": None}
    _, recipe, notes = assemble(gather_values(tiny_pairs.name, **typed))
    assert recipe.train.budget == 600
    assert recipe.data.train == str(tiny_pairs), "a run's own recipe repeats it from anywhere"
    assert any(note.startswith("task: translate") for note in notes)
    assert any(note.startswith("model: ") for note in notes)
    assert any("600 s" in note for note in notes)


def test_the_doctor_finds_this_machine_well_and_survives_what_is_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = examine()
    assert all(probe.ok is not False for probe in found), found  # None: threads may be slow while other work is done
    assert found[0][:3] == ("atento", True, __version__)
    parts = {"extra tune", "python", "torch", "C kernels", "disk", "atomic writes here"}
    assert parts <= {probe.name for probe in found}
    assert not list(tmp_path.iterdir())
    assert rated({1: 81.0, 2: 3.0}) == (
        None, "1: 81 GFLOP/s, 2: 3 GFLOP/s: 2 threads are 27 times slower; other work may hold the cores",
    )  # fmt: skip
    assert rated({1: 80.0, 2: 60.0})[0] is True
    monkeypatch.setitem(EXTRAS, "more", {"no_such_module": "no-such-package"})
    assert extra("more") == (None, 'not installed: pip install "atento[more]"')
    broken = probe_one("probe", lambda: 1 / 0, fix="mend it")
    assert broken == ("probe", False, "ZeroDivisionError: division by zero", "mend it")


def test_inspect_lists_what_is_wrong_and_what_to_type(tmp_path):
    path = tmp_path / "p.tsv"
    good = "".join(f"w{n} b\tc d{n}\n" for n in range(60))
    path.write_text(good + "w1 b\tc d1\nno tab\n" + "e f\n" * 30)
    found = inspect(str(path))
    assert (found.rows, found.refused, found.task) == (61, 31, "translate")
    assert found.problems[0].where.startswith("p.tsv:62:7: ")
    assert len(found.problems) + found.more_problems == 33, "31 rows, one that repeats, and few to test on"
    assert found.next[0].endswith("--set data.bad_rows=skip")
    path.write_text("x\ty\n" + "1.5\t2.5\n" * 9)
    found = inspect(str(path))
    assert found.task is None


@pytest.mark.parametrize(
    "out, endings, fix",
    [
        ("r.pdf", (".html",), "--out r.html"),
        ("a b.gif", (".png", ".svg"), "--out 'a b.png'"),
        ("n/r.html", (".html",), "mkdir -p n"),
    ],
)
def test_a_place_that_cannot_be_written_gets_one_that_can(out, endings, fix):
    with pytest.raises(InputError) as caught:
        require_place(Path(out), endings)
    assert caught.value.fix == fix
