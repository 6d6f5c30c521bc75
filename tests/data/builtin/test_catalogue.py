"""Names of built-in sets, and files of the same name."""

import pytest

from atento.data.builtin.catalogue import is_builtin


@pytest.mark.parametrize(
    "made, expected",
    [("", True), ("lorenz", False), ("lorenz/a.csv", False), ("lorenz/recipe.toml", True), ("lorenz/recipes/0", True)],
)
def test_a_file_goes_before_a_built_in_set_and_the_folder_of_a_run_does_not(made, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if made:
        (tmp_path / made).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / made).touch()
    assert is_builtin("lorenz") is expected
    assert not is_builtin("lorenzo")
