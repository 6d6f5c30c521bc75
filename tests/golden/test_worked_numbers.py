"""Every number of docs/worked-numbers.md, run as a reader would run it."""

import doctest
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "worked-numbers.md"
SNIPPET = re.compile(r"^```pycon\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)


def examples():
    """The page as one session; what stands between the snippets becomes blank lines, so that line numbers fit."""
    page = PAGE.read_text(encoding="utf-8")
    kept, last = [], 0
    for snippet in SNIPPET.finditer(page):
        kept += ["\n" * page.count("\n", last, snippet.start(1)), snippet.group(1)]
        last = snippet.end(1)
    return doctest.DocTestParser().get_doctest("".join(kept), {}, PAGE.name, str(PAGE), 0)


def run(session):
    told = []
    result = doctest.DocTestRunner(verbose=False).run(session, out=told.append, clear_globs=False)
    return result, "".join(told)


def test_every_number_of_the_page():
    result, told = run(examples())
    assert result.attempted > 60
    assert not result.failed, told


@pytest.mark.parametrize("digit", [0, -1], ids=["first digit", "last digit"])
def test_a_wrong_digit_is_noticed(digit):
    """Every printed number, changed, fails its example and no other."""
    session, changed = examples(), 0
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


def test_every_snippet_of_the_page_is_run():
    page = PAGE.read_text(encoding="utf-8")
    assert page.count("\n>>> ") == len(examples().examples)
