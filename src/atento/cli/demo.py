"""atento demo: one small model learns, answers, and shows its attention, in less than a minute."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from atento.cli.look import show_attention
from atento.cli.options import BudgetOption, JsonOption
from atento.cli.output import ShowProgress, command, emit, remark, say
from atento.system import loading

if TYPE_CHECKING:
    from atento.api import Run
    from atento.bundle import Json
    from atento.training.events import Event

MODEL = "lstm+additive"
SETTINGS = {
    "train.steps": 500,  # after which nearly all answers are right: about 25 s on two cores
    "train.validations": 4,
    "train.baselines": False,
}
PAGE = "attention.html"
ANSWERS = 3  # of the test part that are shown
LONGEST_SOURCE = 24  # characters of the word whose attention is drawn, so that it fits a terminal
PROGRESS = ("start", "step", "validation", "finished")  # events that are shown; the notes on the data are told here
DATA = """\
1 of 4: the data
German number words and their English, made up as needed: 20,000 pairs, such as
dreiundvierzig, forty-three. 2,000 other numbers are kept for the test."""
LEARNING = """
2 of 4: the model learns
An LSTM reads a German word letter by letter. A second one writes the English
words, and attends to the letters before each of them (additive attention)."""
ANSWERING = """
3 of 4: it answers
Three of the numbers that it has never seen:"""
ATTENTION = """
4 of 4: its attention
A row for each word that it wrote, a column for each letter that it read. German
says the units before the tens, so the darkest places cross:"""


def demo(
    budget: BudgetOption = "40s",
    no_browser: Annotated[bool, Option("--no-browser", help="do not open the page in a browser")] = False,
    json: JsonOption = False,
) -> None:
    """See it work, in less than a minute: one small model learns, answers and shows its attention."""
    with loading():
        from atento import api  # torch loads only when it is needed
        from atento.api.folders import free_folder

    folder = free_folder("demo")
    if not json:
        say(DATA)
        say(LEARNING)
    with ShowProgress(quiet=json) as watch:

        def show(event: "Event") -> None:
            if event["event"] in PROGRESS:
                watch(event)
            if event["event"] == "finished" and not json:
                watch.line("now it is tested on the numbers that were kept")

        run = api.fit("numbers", model=MODEL, settings=SETTINGS, seed=0, budget=budget, out=folder, on_event=show)
    if json:
        page, shown = draw(run), answers_of(run)
        emit({"run": str(folder), "page": str(page), "answers": shown, **run.metrics})
    else:
        page = tell(run)
        say_next(folder)
    if not no_browser:
        open_page(page)


def tell(run: "Run") -> Path:
    """Say how good the model is, show answers and its attention; the page of the latter."""
    from atento.cli.train import result_line

    say(result_line(run.metrics, run.folder))
    say(ANSWERING)
    for line in answers_of(run):
        said = "right" if line["right"] else f"wrong: it is {line['reference']}"
        say(f"  {line['source']}\n    {line['output']} ({said})")
    say(ATTENTION)
    show_attention(run, drawn_source(run), run.folder / PAGE, json=False)
    return run.folder / PAGE


def draw(run: "Run") -> Path:
    """Write the page of the attention without a word."""
    run.explain(drawn_source(run)).save(run.folder / PAGE)
    return run.folder / PAGE


def answers_of(run: "Run") -> list["Json"]:
    """Some answers on the test part: to a short source, a long one and those between."""
    from atento.api.explain.answers import require_predictions

    lines = sorted(require_predictions(run.folder), key=lambda line: len(line["source"]))
    chosen = lines[len(lines) // (2 * ANSWERS) :: len(lines) // ANSWERS][:ANSWERS]
    return [
        {
            "source": line["source"],
            "output": line["output"],
            "reference": line["references"][0],
            "right": line["output"] in line["references"],
        }
        for line in chosen
    ]


def drawn_source(run: "Run") -> str:
    """The longest source of the test part that fits, and whose answer is right where one is."""
    from atento.api.explain.answers import require_predictions

    lines = [line for line in require_predictions(run.folder) if len(line["source"]) <= LONGEST_SOURCE]
    best = max(lines, key=lambda line: (line["output"] in line["references"], len(line["source"])))
    return str(best["source"])


def say_next(folder: Path) -> None:
    """Three commands to type next."""
    say("\nnext:")
    say(f"  {command('try', folder)}    # type a number in German words")
    say(f"  {command('look', folder, 'dreiundvierzig', '--what', 'steps')}    # one forward pass")
    say(f"  {command('compare', 'numbers')}    # seven models and two baselines, in five minutes")


def open_page(page: Path) -> None:
    """Open a page in the browser, where there is one with a screen."""
    import webbrowser

    screen = not sys.platform.startswith("linux") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")))
    if not screen or not webbrowser.open(page.resolve().as_uri()):
        remark(f"no browser was found: open {page} in one")
