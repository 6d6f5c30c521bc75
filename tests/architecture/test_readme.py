"""Every command the documentation shows exists, with the options it shows; every link leads somewhere."""

import re
import shlex
import subprocess
import tomllib
from itertools import groupby, pairwise
from pathlib import Path

import typer.main

from atento.cli.app import app
from atento.cli.usage import UsageError
from atento.spec import keys
from atento.tasks.catalogue import TASKS

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
COMMANDS = typer.main.get_command(app).commands
FENCED = re.compile(r"^```.*?^```", flags=re.DOTALL | re.MULTILINE)
TEXTS = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in PAGES}


def shown_commands(text: str) -> list[list[str]]:
    """Lines that begin with `atento `, in blocks of code and in backticks."""
    blocks = "\n".join(re.findall(r"```(?:\w*)\n(.*?)```", text, flags=re.DOTALL))
    lines = [line for line in blocks.replace("\\\n", " ").splitlines() if line.startswith("atento ")]
    inline = re.findall(r"`(atento [^`]+)`", text)
    return [shlex.split(line, comments=True)[1:] for line in (*lines, *inline)]


def unknown_words(words: list[str]) -> list[str]:
    """What a command of the documentation names that the program does not know."""
    if words[0].startswith("-"):
        return []
    if words[0] not in COMMANDS:
        return words[:1]
    options = {name for parameter in COMMANDS[words[0]].params for name in parameter.opts} | {"--help", "--debug"}
    unknown = [word for word in words if word.startswith("--") and word.split("=")[0] not in options]
    changed = [word for before, word in pairwise(words) if before == "--set" and "=" in word]
    return [*unknown, *(word for word in changed if word.split("=")[0] not in {key.name for key in keys()})]


def test_shown_commands_exist():
    shown = [(page, words) for page, text in TEXTS.items() for words in shown_commands(text)]
    assert shown
    assert not [(page, words, unknown) for page, words in shown if (unknown := unknown_words(words))]
    named = {(page, key) for page, text in TEXTS.items() for key in re.findall(r"--set (\w+\.\w+)=", text)}
    assert not [(page, key) for page, key in named if key not in {known.name for known in keys()}]


def test_an_unknown_command_option_or_key_is_seen():
    assert unknown_words(shlex.split("trian numbers")) == ["trian"]
    assert unknown_words(shlex.split("train numbers --modle=rnn --seed 3")) == ["--modle=rnn"]
    assert unknown_words(shlex.split("train numbers --set model.hiden=3 --set model.hidden=3")) == ["model.hiden=3"]


def pasted_lines(text: str) -> list[str]:
    """Lines of shell that a reader pastes: those that begin with a program's name, or run atento further on."""
    blocks = "\n".join(re.findall(r"^```(?!python)\w*\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE))
    starts = r"^[ $]*(?:atento|make|pip|uv|python3?|source|torchrun) .*$"
    return re.findall(rf"{starts}|^.*[|&;] *atento .*$", blocks.replace("\\\n", " "), flags=re.MULTILINE)


def refused(line: str) -> str:
    """Why the program does not take a line as it stands; empty where it does."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError as error:
        return str(error)
    if words[0] == "$":
        return "a prompt is pasted too"
    for each in (
        list(part) for joint, part in groupby(words, key=lambda word: word in ("&&", "|", ";", ">")) if not joint
    ):
        run = each[each.index("-m") + 1 :] if "-m" in each else each
        if run[0] != "atento" or run[1].startswith("-"):
            continue
        if run[1] not in COMMANDS:
            return f"no command {run[1]}"
        try:
            COMMANDS[run[1]].make_context(run[1], run[2:])
        except UsageError as error:
            return f"{type(error).__name__}: {error}"
    return ""


def test_shown_commands_can_be_pasted():
    lines = [(page, line) for page, text in TEXTS.items() for line in pasted_lines(text)]
    assert not [(page, line, why) for page, line in lines if (why := refused(line))]
    script = "\n".join(line for _, line in lines)
    done = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_prose_behind_a_command_is_seen():
    assert "extra argument" in refused("atento compare reviews.csv     every family beside four simple models")
    assert not refused("atento compare reviews.csv     # every family beside four simple models")
    assert "Missing" in refused("atento train numbers && atento look")
    assert "no command trian" in refused("python -m atento trian numbers")
    wrong = ["$ atento runs", "   atento trian x", "cd x && atento trian x", "echo a b | atento predict RUN - at once"]
    for line in wrong:
        assert pasted_lines(f"```\n{line}\n```\n") == [line] and refused(line), line


def test_shown_make_targets_exist():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    shown = {page: set(re.findall(r"(?:^|`)make ([a-z]+)", text, flags=re.MULTILINE)) for page, text in TEXTS.items()}
    assert any(shown.values())
    assert not {page: unknown for page, named in shown.items() if (unknown := named - targets)}


def test_links_and_named_files_exist():
    links = [
        (page, link)
        for page, text in TEXTS.items()
        for link in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", FENCED.sub("", text))
        if "://" not in link
    ]
    named = [
        (page, name)
        for page, text in TEXTS.items()
        for name in re.findall(r"`((?:src|tests|docs|benchmarks)/[\w./+-]+)`", text)
    ]
    assert links and named
    assert not [(page, link) for page, link in links if not ((ROOT / page).parent / link).exists()]
    assert not [(page, name) for page, name in named if not (ROOT / name).exists()]


def test_what_the_pages_name_is_in_the_source_archive():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packed = set(settings["tool"]["hatch"]["build"]["targets"]["sdist"]["include"])
    named = {one for text in TEXTS.values() for one in re.findall(r"\b(tests|docs|benchmarks|examples)/\w", text)}
    assert {"src", "benchmarks", "docs"} <= named | {"src"} <= packed


def test_readme_begins_with_the_way_in():
    """First how to install, then one command; where a package index shows no picture, its words say what it is."""
    text = TEXTS["README.md"]
    first = [line.partition(" #")[0].rstrip() for line in pasted_lines(text)]
    assert first[:2] == ["python -m venv .venv".replace("python", "python3"), "source .venv/bin/activate"]
    assert "pip install ." in first and "uv pip install ." in first
    assert first.index("atento compare numbers") < 12 and "make demo" in text and "make test" in text
    pictures = re.findall(r"!\[([^\]]*)\]\(([^)]*)\)", text)
    assert pictures and all(len(words) > 40 and (ROOT / path).is_file() for words, path in pictures)


def test_readme_counts_the_models_right():
    task = TASKS["translate"]
    words = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    trained, simple = words[len(task.defaults.models)], words[len(task.judging.baselines)]
    assert re.search(f"{trained} models learn .* beside {simple} simple baselines", TEXTS["README.md"])


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
