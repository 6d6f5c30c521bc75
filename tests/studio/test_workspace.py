"""Names in the workspace: which files a request may speak of, what a dropped file is called, what is listed."""

import pytest

from atento.studio.workspace import (
    OutsideWorkspace,
    clean_name,
    free_path,
    is_inside,
    list_files,
    relative_name,
    require_own_files,
    require_source,
    run_folders,
)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A workspace that is the current folder, with a file beside it."""
    (tmp_path / "secret.csv").write_text("a\n")
    folder = tmp_path / "work"
    (folder / "data").mkdir(parents=True)
    (folder / "a.csv").write_text("a\n")
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    "name, kept",
    [
        ("reviews.csv", "reviews.csv"),
        ("reseñas de 2024 (v2).csv", "reseñas de 2024 (v2).csv"),
        ("train.de,en.tsv", "train.de-en.tsv"),
        ("<img src=x onerror=alert(1)>.csv", "img src-x onerror-alert(1).csv"),
        ("a'b\"c;d|e.csv", "a-b-c-d-e.csv"),
        ("--out.csv", "out.csv"),
        ("a\nb.csv", "a-b.csv"),
        ("texts.tar.gz", "texts.tar.gz"),
        ("???.csv", "data.csv"),
        ("no ending", "no ending"),
        ("v1.2 final.csv.", "v1.2 final.csv"),
    ],
)
def test_a_dropped_file_has_a_plain_name(name, kept):
    assert clean_name(name) == kept


def test_a_long_name_fits_in_a_folder(here):
    for name in ("ñ" * 500 + ".csv", "a" * 300 + "." + "b" * 300):
        kept = clean_name(name)
        assert len(kept.encode()) <= 200
        (here / "data" / kept).write_text("x")
    assert clean_name("ñ" * 500 + ".csv").endswith("ñ.csv")


@pytest.mark.parametrize(
    "name", ["", ".", "..", ".hidden", "a/b.csv", "../a.csv", "a\\b.csv", "a\0.csv", "/etc/passwd"]
)
def test_a_name_with_folders_is_refused(name):
    with pytest.raises(OutsideWorkspace):
        clean_name(name)


def test_nothing_is_replaced(here):
    for expected in ("data/a.csv", "data/a-2.csv", "data/a-3.csv"):
        path = free_path("a.csv")
        assert str(path) == expected
        path.write_text("x")
    (here / "data" / "b.csv.gz").write_text("x")
    assert str(free_path("b.csv.gz")) == "data/b-2.csv.gz"
    (here / "data" / "c.csv").symlink_to("nowhere")
    assert str(free_path("c.csv")) == "data/c-2.csv"


def test_a_source_is_built_in_or_in_the_workspace(here, tmp_path):
    for name in (
        "numbers",
        "a.csv",
        "data",
        str(here / "a.csv"),
        "a.csv,data/b.csv",
        "data.zip/inside.csv",
        "not there.csv",
    ):
        require_source(name, what="file")
    for name in ("../secret.csv", str(tmp_path / "secret.csv"), "a.csv,../secret.csv", "", "a\0.csv", "/"):
        with pytest.raises(OutsideWorkspace):
            require_source(name, what="file")
    (here / "loop").symlink_to("loop")
    (here / ".hidden").mkdir()
    for name in ("loop", ".hidden", ".hidden/a.csv"):
        with pytest.raises(OutsideWorkspace):
            require_source(name, what="file")


@pytest.mark.parametrize("key", ["data.train", "data.valid", "data.test", "tokens.vectors"])
def test_every_key_that_names_a_file_is_looked_at(here, key):
    with pytest.raises(OutsideWorkspace, match=key):
        require_own_files("a.csv", {key: "../secret.csv"})
    section, _, name = key.partition(".")
    (here / "recipe.toml").write_text(f'[{section}]\n{name} = "../secret.csv"\n')
    with pytest.raises(OutsideWorkspace, match=key):
        require_own_files("recipe.toml", {})
    require_own_files("recipe.toml", {key: "a.csv"})  # a setting goes before the file


def test_the_keys_that_name_files_are_all_there_are():
    """Of a new recipe key that names a file, `FILE_KEYS` must know."""
    from atento.spec import keys
    from atento.studio.workspace import FILE_KEYS

    named = {key.name for key in keys() if key.kind == "str" and " file" in key.description}
    assert named - {"task"} == set(FILE_KEYS)  # the task is guessed from the file


def test_the_list_has_data_files_only(here):
    for name in ("b.jsonl", "notes.md", "script.py", ".hidden.csv", "data/c.parquet"):
        (here / name).write_text("x")
    (here / "link.csv").symlink_to(here.parent / "secret.csv")
    (here / "own.csv").symlink_to("a.csv")
    assert {entry["name"] for entry in list_files()} == {"a.csv", "b.jsonl", "data/c.parquet", "own.csv"}
    assert is_inside(here / "own.csv") and not is_inside(here / "link.csv")


def test_runs_are_named_by_their_folders(here):
    for place in ("one-1", "two-compare-1/recipes", "two-compare-1/lstm+additive", "nothing", ".studio"):
        (here / "runs" / place).mkdir(parents=True)
    for place in ("one-1", "two-compare-1/lstm+additive", ".studio"):
        (here / "runs" / place / "recipe.toml").write_text("")
    assert list(run_folders()) == ["one-1", "two-compare-1", "two-compare-1/lstm+additive"]


def test_a_file_is_named_as_the_page_names_it(here, tmp_path):
    assert relative_name(str(here / "data" / "a.csv")) == "data/a.csv"
    assert relative_name(f"{here}/a.de,{here}/a.en") == "a.de,a.en"
    assert relative_name(str(tmp_path / "secret.csv")) == str(tmp_path / "secret.csv")
    assert relative_name("numbers") == "numbers" and relative_name("") == ""
