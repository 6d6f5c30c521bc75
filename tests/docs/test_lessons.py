"""Every lesson runs as a notebook, its pages hold the numbers of that run, and both languages say the same."""

import importlib.util
import json
import math
import os
import re
from pathlib import Path
from unittest import mock

import nbformat
import pytest
from jupyter_client import launcher
from nbclient import NotebookClient

import atento

LEARN = Path(__file__).parents[2] / "docs" / "learn"
NAMES = sorted(path.stem for path in (LEARN / "lessons").glob("*.py"))
LANGUAGES = ("en", "es")
SECONDS = 300  # of a cell, on a busy machine
LARGEST = 300_000  # bytes of a figure
RELATIVE, DIGITS = 0.1, 3  # a number may differ by a tenth, or by three units of its last digit
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
CODE = re.compile(r"```.*?```|`[^`\n]*`|\]\([^)]*\)|<[^>]*>", flags=re.DOTALL)
SPANISH = re.compile(r"\b(?:el|la|los|las|de|del|que|en|y|una|un|es|se|con|por|su|al|lo|no|para|cada)\b")
ENGLISH = re.compile(r"\b(?:the|of|and|is|are|that|it|to|with|from|which|this|for|not|its|be|each)\b")


def load_builder():
    """The builder; docs are no package, so it is loaded by its place."""
    place = importlib.util.spec_from_file_location("learn_build", LEARN / "build.py")
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return module


BUILDER = load_builder()
RENDERED = f"""
import importlib.util, json
place = importlib.util.spec_from_file_location("learn_build", {str(LEARN / "build.py")!r})
builder = importlib.util.module_from_spec(place)
place.loader.exec_module(builder)
texts = {{language: [builder.filled(part.content, globals(), language) for part in builder.parts_of(NAME)
    if part.language == language] for language in builder.LANGUAGES}}
print(json.dumps(texts))
"""


def cells_of(name, language):
    return nbformat.read(LEARN / language / f"{name}.ipynb", as_version=4).cells


def page_of(name, language):
    return (LEARN / language / f"{name}.md").read_text(encoding="utf-8")


def as_number(text, language):
    """The value of a number as a language writes it, and one unit of its last digit."""
    point = "." if language == "en" else ","
    whole, _, part = text.rpartition(point) if point in text else (text, "", "")
    return float(f"{re.sub('[.,]', '', whole)}.{part or 0}"), 10.0 ** -len(part)


def differences(found, wanted, language="en"):
    """Where two texts differ: in words at all, in numbers by more than another machine may cause."""
    if NUMBER.split(found) != NUMBER.split(wanted):
        pairs = zip(NUMBER.split(found), NUMBER.split(wanted), strict=False)
        return [pair for pair in pairs if pair[0] != pair[1]][:1] or ["one text is longer"]
    faults = []
    for here, there in zip(NUMBER.findall(found), NUMBER.findall(wanted), strict=True):
        (one, unit), (other, _) = as_number(here, language), as_number(there, language)
        if not math.isclose(one, other, rel_tol=RELATIVE, abs_tol=DIGITS * unit):
            faults.append((here, there))
    return faults


def flat(text):
    return re.sub(r"\s+", " ", text.replace("**", "")).strip()


@pytest.fixture(scope="module")
def forked_kernels(nursery):
    """Kernels are processes of their own that need not load torch."""

    def popen(words, *, env, **options):
        env.pop("JPY_PARENT_PID")  # by which a kernel would end itself: another process has forked it
        return nursery.popen(words, env=env, **options)

    with mock.patch.object(launcher, "Popen", popen):
        yield


@pytest.fixture(scope="module", params=NAMES)
def ran(request, tmp_path_factory, forked_kernels):
    """A lesson, what its notebook printed in each cell of code, and the texts filled from its variables."""
    name = request.param
    notebook = nbformat.read(LEARN / "en" / f"{name}.ipynb", as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(RENDERED.replace("NAME", repr(name)), id="rendered"))
    folder = tmp_path_factory.mktemp(name)
    sources = {**os.environ, "PYTHONPATH": str(Path(atento.__file__).parents[1]), "OMP_NUM_THREADS": "1"}
    NotebookClient(notebook, timeout=SECONDS, resources={"metadata": {"path": str(folder)}}).execute(env=sources)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    printed = ["".join(one.text for one in cell.outputs if one.output_type == "stream") for cell in code]
    frames = sum("text/html" in one.get("data", {}) for cell in code for one in cell.outputs)
    return name, printed[:-1], json.loads(printed[-1]), frames


def test_the_notebook_runs_and_the_pages_hold_its_numbers(ran):
    name, printed, texts, frames = ran
    assert frames == page_of(name, "en").count("<iframe") >= 1
    for language in LANGUAGES:
        page = flat(page_of(name, language).partition(BUILDER.END)[0])
        notebook = [flat(cell.source) for cell in cells_of(name, language) if cell.cell_type == "markdown"]
        for stored, wanted in zip(notebook, map(flat, texts[language]), strict=True):
            assert differences(stored, wanted, language) == []
        for text in notebook[1:]:
            assert text in page
        title, point, *_ = texts[language][0].split("\n\n")
        stored = page_of(name, language).split("\n\n")
        assert differences(flat(f"{stored[0]} {stored[1]}"), flat(f"{title} {point}"), language) == []
    stored = re.findall(r"```text\n(.*?)\n```", page_of(name, "en"), flags=re.DOTALL)
    for one, wanted in zip(stored, [text.rstrip() for text in printed if text.strip()], strict=True):
        assert differences(flat(one), flat(wanted)) == []


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_have_the_same_code_and_no_outputs(name):
    english, spanish = ([cell for cell in cells_of(name, language)] for language in LANGUAGES)
    code = [[cell.source for cell in cells if cell.cell_type == "code"] for cells in (english, spanish)]
    assert code[0] == code[1] == [part.content for part in BUILDER.parts_of(name) if part.language is None]
    assert not [cell.id for cell in (*english, *spanish) if cell.get("outputs") or cell.get("execution_count")]
    kinds = [[cell.cell_type for cell in cells] for cells in (english, spanish)]
    assert kinds[0] == kinds[1]
    assert any("# change me" in text for text in code[0])
    blocks = re.findall(r"```python\n(.*?)\n```", page_of(name, "es"), flags=re.DOTALL)
    assert blocks == code[1]


@pytest.mark.parametrize("name", NAMES)
def test_its_figures_are_there_and_small(name):
    for language in LANGUAGES:
        page = page_of(name, language)
        named = set(re.findall(r"\.\./figures/([\w.-]+)", page))
        assert any(file.endswith(".png") for file in named) and any(file.endswith(".html") for file in named)
        assert all(f".{language}." in file for file in named)
        sizes = {file: (LEARN / "figures" / file).stat().st_size for file in named}
        assert not {file: size for file, size in sizes.items() if not 1_000 < size <= LARGEST}
    assert page_of(name, "en").count("<iframe") == page_of(name, "es").count("<iframe")


@pytest.mark.parametrize("name", NAMES)
def test_spanish_is_spanish(name):
    """Each paragraph has more of the small words of its own language than of the other."""
    for language, own, other in (("en", ENGLISH, SPANISH), ("es", SPANISH, ENGLISH)):
        for paragraph in CODE.sub(" ", page_of(name, language)).split("\n\n"):
            if len(paragraph.split()) > 12:
                text = paragraph.lower()
                assert len(own.findall(text)) > len(other.findall(text)), paragraph
    titles = [page_of(name, language).partition("\n")[0] for language in LANGUAGES]
    assert titles[0] != titles[1]
    for path in (LEARN / "figures").glob(f"{name}-*.es.html"):
        data = json.loads(re.search(r'id="live-picture">(.*?)</script>', path.read_text(encoding="utf-8"))[1])
        shown = [data["title"], data["caption"], *(slider["name"] for slider in data["sliders"])]
        assert not [text for text in shown if text and text not in data["words"]["es"]], path.name


def test_the_lists_name_every_lesson():
    for language in LANGUAGES:
        assert re.findall(r"^## \d+\. \[[^\]]+\]\((\w+)\.md\)", page_of("index", language), re.MULTILINE) == [
            name for name in BUILDER.ORDER if name in NAMES
        ]


def test_a_wrong_number_or_word_is_seen():
    assert differences("a gain of 1,234.5 and 12%", "a gain of 1,230.9 and 12%") == []
    assert differences("una ganancia de 1.234,5", "una ganancia de 1.834,5", "es") == [("1.234,5", "1.834,5")]
    assert differences("0,0068", "0,0096", "es") == [("0,0068", "0,0096")]
    assert differences("0.52", "0.91") == [("0.52", "0.91")]
    assert differences("a gain of 3", "a loss of 3")
