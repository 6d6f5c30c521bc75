"""What is printed: lines that fit, names that stay, nothing that steers a terminal, commands that can be pasted."""

import shlex

import pytest

from atento.api.finish import still_improving
from atento.cli.output import command, live_line, wrapped
from atento.cli.train import longer

FACTS = {
    "step": 340,
    "loss": 0.41,
    "metrics": {"exact": 0.52, "chrf": 0.81},
    "examples_per_second": 580.0,
    "elapsed": 31.0,
}


@pytest.mark.parametrize(
    "width, line",
    [
        (40, "lstm+additive+sparsemax   50%  exact 0.520"),
        (60, "lstm+additive+sparsemax   50%  exact 0.520 · 31 s left"),
        (80, "lstm+additive+sparsemax   50%  step 340 · loss 0.410 · exact 0.520 · 31 s left"),
        (10, "lstm+additive+sparsemax"),
    ],
)
def test_a_live_line_fits_and_keeps_the_name(width, line):
    found = live_line("lstm+additive+sparsemax", FACTS, 0.5, width)
    assert found == line if len(line) <= width or width == 10 else found == "lstm+additive+sparsemax   50%"
    wide = live_line("gru", FACTS, 0.5, 120)
    assert "━" * 10 + "╺" * 10 in wide and wide.endswith("· 580 examples/s · 31 s left")


def test_prose_wraps_between_words_and_commands_do_not():
    line = "· a note about --set data.label=reviews that goes on"
    assert wrapped(line, 36) == "· a note about\n  --set data.label=reviews that goes\n  on"
    assert wrapped("task    classify (90%): because so", 32) == "task    classify (90%): because\n        so"
    long = "next: atento look " + "x" * 100
    assert wrapped(long, 60) == long


@pytest.mark.parametrize("name", ["sp ace", "r c$(id)", "-dash", "plain", "ñ'x"])
def test_a_command_can_be_pasted(name):
    words = shlex.split(command("try", name))
    assert words[:2] == ["atento", "try"]
    assert words[2].removeprefix("./") == name and not words[2].startswith("-")


def run_of(values, losses, best, ended="time budget of 20 s used up", final=None):
    steps = [10 * (place + 1) for place in range(len(values))]
    curve = [
        {"step": step, "value": value, "loss": loss} for step, value, loss in zip(steps, values, losses, strict=True)
    ]
    scores = {"exact": [values[-1] if final is None else final, 0.0, 1.0]}
    return {"curve": curve, "ended": ended, "best_step": best, "metric": "exact", "scores": scores, "seconds": 20.2}


@pytest.mark.parametrize(
    "found, expected",
    [
        (run_of([0.1, 0.2, 0.3], [3, 2, 1], 30), True),
        (run_of([0.0, 0.0, 0.0], [3, 2, 1], 10), True),  # the score has not begun to move; the loss falls
        (run_of([0.0, 0.0, 0.0], [3, 1, 2], 10), False),
        (run_of([0.1, 0.3, 0.2], [3, 2, 1], 20), False),
        (run_of([1.0, 1.0, 1.0], [3, 2, 1], 10), False),
        ({**run_of([0.1, 0.3, 0.3], [3, 2, 1], 30), "gain_step": 20}, False),  # the last one was a tie of lower loss
        (run_of([0.1, 0.2, 0.3], [3, 2, 1], 30, ended="all 30 steps taken"), False),
        (run_of([0.3], [3], 10), False),
        (run_of([0.9, 0.9, 0.9], [None, 2, 1], 10), True),  # it began in closed form: no loss before the first step
        (run_of([0.9, 0.8], [None, None], 10), False),
    ],
)
def test_whether_a_run_was_still_improving(found, expected):
    assert still_improving(found) is expected
    assert longer(found) == "1m"


def test_a_run_that_needed_more_time_says_how_to_go_on(atento_command, tiny_pairs, tmp_path, processes):
    options = (*processes.SIZES, "--budget", "1s", "--set", "train.validations=5")
    done = atento_command.run("train", tiny_pairs, "--model", "gru", *options, "--out", "r 1", "--quiet", cwd=tmp_path)
    assert done.code == 0 and done.err == "", done.err
    assert "it was still improving when its time was used up" in done.out
    line = next(line for line in done.out.split("\n") if line.startswith("  atento train"))
    words = shlex.split(line)[1:]
    assert words == ["train", "r 1/recipe.toml", "--from", "r 1", "--budget", "3s"]
    again = atento_command.run(*words[:-1], "1s", "--out", "r 2", cwd=tmp_path)
    assert again.code == 0, again.err
    assert "tensors start from r 1" in again.err


LOUD = "\x1b]0;title\x07\x1b[31mred\x9b\u202e\x08"


def test_nothing_in_a_file_steers_a_terminal(atento_command, tmp_path):
    """Labels, texts, column names and names of files."""
    rows = [f"text {LOUD} {number},{'good' if number % 2 else 'b' + LOUD}" for number in range(60)]
    path = tmp_path / f"re{LOUD.replace('/', '')}views.csv"
    path.write_text(f"te{LOUD}xt,label\n" + "\n".join(rows), encoding="utf-8")
    for words in (("inspect", path.name), ("inspect", path.name, "--json"), ("train", f"{path.name}x")):
        done = atento_command.here(*words, cwd=tmp_path)
        for sign in "\x1b\x07\x08\x9b\u202e":
            assert sign not in done.out + done.err, (words, sign)
        assert r"\x1b" in done.out + done.err or r"\u001b" in done.out
