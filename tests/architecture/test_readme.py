"""Every command the documentation shows exists, with the options it shows; every link leads somewhere."""

import re
import shlex
from pathlib import Path

import pytest
import typer.main

from atento.cli.app import app
from atento.spec import keys

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
COMMANDS = typer.main.get_command(app).commands
ids = [str(path.relative_to(ROOT)) for path in PAGES]


def shown_commands(text: str) -> list[list[str]]:
    """Lines that begin with `atento `, in blocks of code and in backticks."""
    blocks = "\n".join(re.findall(r"```(?:\w*)\n(.*?)```", text, flags=re.DOTALL))
    lines = [line for line in blocks.splitlines() if line.startswith("atento ")]
    inline = re.findall(r"`(atento [^`]+)`", text)
    return [shlex.split(line, comments=True)[1:] for line in (*lines, *inline)]


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_shown_commands_exist(page):
    for words in shown_commands(page.read_text(encoding="utf-8")):
        if words[0].startswith("-"):
            continue
        assert words[0] in COMMANDS, words
        options = {name for parameter in COMMANDS[words[0]].params for name in parameter.opts} | {"--help", "--debug"}
        for place, word in enumerate(words):
            if word.startswith("--"):
                assert word.split("=")[0] in options, words
            if place and words[place - 1] == "--set" and "=" in word:
                assert word.split("=")[0] in {key.name for key in keys()}, words


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_shown_make_targets_exist(page):
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    shown = re.findall(r"(?:^|`)make ([a-z]+)", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert set(shown) <= targets


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_links_and_named_files_exist(page):
    text = page.read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", text):
        if "://" not in link:
            assert (page.parent / link).exists(), link
    for name in re.findall(r"`((?:src|tests|docs|benchmarks)/[\w./+-]+)`", text):
        assert (ROOT / name).exists(), name


def test_readme_shows_the_two_commands_and_a_picture():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in text and "make test" in text
    assert re.search(r"!\[[^\]]+\]\(docs/images/[\w-]+\.png\)", text)


def test_readme_python_runs(trained_run, monkeypatch):
    """The Python of the README, with the run it speaks of already trained."""
    import atento

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert blocks
    monkeypatch.setattr(atento, "fit", lambda *args, **options: trained_run, raising=False)
    monkeypatch.setattr(atento, "load", lambda *args, **options: trained_run, raising=False)
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})  # noqa: S102 - our own page
