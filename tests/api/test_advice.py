"""Advice for the command line in words of Python."""

import pytest

from atento.api.advice import advice_in, in_python
from atento.errors import InputError, Interrupted


@pytest.mark.parametrize(
    "typed, written",
    [
        ("pass --set data.gaps=linear to fill it", 'pass settings={"data.gaps": "linear"} to fill it'),
        ("--set a.b=1 --set c.d=2", 'settings={"a.b": "1", "c.d": "2"}'),
        ("name the task: --task tag, please", 'name the task: task="tag", please'),
        ("atento compare memory:12ab/DataFrame.jsonl --set a.b=6/2", 'atento.compare(data, settings={"a.b": "6/2"})'),
        ("atento train memory:12ab/list.jsonl", "atento.fit(data)"),
        ("or: atento train a/recipe.toml --out a --resume", 'or: atento.fit(data, out="a", resume=True)'),
        ("memory:12ab/DataFrame.jsonl: no task fits", "DataFrame: no task fits"),
        ("atento train reviews.csv --set a.b=1", 'atento.fit(data, settings={"a.b": "1"})'),
        ("atento inspect 'a b.csv' --task tag shows it", 'atento.inspect(data, task="tag") shows it'),
        ("nothing to change", "nothing to change"),
    ],
)  # fmt: skip
def test_commands_become_arguments(typed, written):
    assert in_python(typed) == written


def test_errors_keep_their_kind_and_what_they_carry():
    with pytest.raises(InputError) as caught, advice_in(in_python):
        raise InputError("a", found="b", fix="--set a.b=c", settings={"a.b": "c"})
    assert caught.value.fix == 'settings={"a.b": "c"}' and caught.value.settings == {"a.b": "c"}
    with pytest.raises(Interrupted) as stopped, advice_in(in_python):
        raise Interrupted(2, "stopped", fix="--set a.b=c")
    assert stopped.value.exit_code == 130 and "settings" in stopped.value.fix
