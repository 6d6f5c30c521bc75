"""Every example of the pages that show some, run as a reader would run it."""

import doctest
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {"worked-numbers.md": 60, "attention.md": 30}  # and how many examples each has at least
every_page = pytest.mark.parametrize("name", PAGES)
SNIPPET = re.compile(r"^```pycon\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)


def examples(name):
    """The page as one session; what stands between the snippets becomes blank lines, so that line numbers fit."""
    page = (DOCS / name).read_text(encoding="utf-8")
    kept, last = [], 0
    for snippet in SNIPPET.finditer(page):
        kept += ["\n" * page.count("\n", last, snippet.start(1)), snippet.group(1)]
        last = snippet.end(1)
    return doctest.DocTestParser().get_doctest("".join(kept), {}, name, str(DOCS / name), 0)


def run(session):
    told = []
    result = doctest.DocTestRunner(verbose=False).run(session, out=told.append, clear_globs=False)
    return result, "".join(told)


@every_page
def test_every_example_of_the_page(name):
    result, told = run(examples(name))
    assert result.attempted >= PAGES[name]
    assert not result.failed, told


@pytest.mark.parametrize("digit", [0, -1], ids=["first digit", "last digit"])
def test_a_wrong_digit_is_noticed(digit):
    """Every printed number, changed, fails its example and no other."""
    session, changed = examples("worked-numbers.md"), 0
    for example in session.examples:
        digits = [match.start() for match in re.finditer(r"\d", example.want)]
        if digits:
            at = digits[digit]
            other = str((int(example.want[at]) + 1) % 10)
            example.want = example.want[:at] + other + example.want[at + 1 :]
            changed += 1
    result, _ = run(session)
    assert changed > 25
    assert result.failed == changed


@every_page
def test_every_snippet_of_the_page_is_run(name):
    page = (DOCS / name).read_text(encoding="utf-8")
    assert page.count("\n>>> ") == len(examples(name).examples)
