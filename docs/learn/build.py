"""Builds the lessons: `python docs/learn/build.py [NAME…]` runs each lesson once and writes its pages and notebooks.

A lesson is one file of `lessons/` in percent format. `# %% [en]` and `# %% [es]` begin a text cell of one language, in
comment lines of Markdown; `# %%` begins a cell of code. The first text cell of a language holds the title (`# Title`)
and, as its first paragraph, the point of the lesson in one sentence. A placeholder such as {{gain:.1f}} in a text is
filled from the variables of the code. A cell whose last line is a `LivePicture` shows it; the variable `hero`, or else
the first picture, is the still at the top of the page.
"""

import io
import os
import re
import sys
import time
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import nbformat

from atento.views.live import LivePicture
from atento.views.live.panels import fill
from atento.writing import write_atomically

HERE = Path(__file__).parent
LANGUAGES = ("en", "es")
ORDER = (
    *("cook", "gradients", "bottleneck", "alignments", "scores", "sparsity", "positions", "warmup"),
    *("costs", "flow", "words"),
)
CELL = re.compile(r"^# %%(?: \[(?P<language>\w+)\])?[ ]*\n", flags=re.MULTILINE)
PLACEHOLDER = re.compile(r"\{\{(.+?)\}\}")
IMAGE = re.compile(r"\[!\[(.*?)\]\((.*?)\)\]")  # the still of a page, which links to its live picture
END = "<!-- the lesson ends here -->"
TEXTS = {
    "en": {
        "open": "Open the live picture alone",
        "still": "as a still",
        "notebook": "## Run it yourself\n\nThe notebook of this page is [{name}.ipynb]({name}.ipynb): "
        "`jupyter lab docs/learn/en/{name}.ipynb` opens it. Change a number marked `change me`, run all cells, and the "
        "pictures follow; the sentences keep the numbers of the lesson as it came. "
        "`python docs/learn/build.py {name}` builds this page anew from `docs/learn/lessons/{name}.py`.",
        "around": "[All lessons](index.md) · [En español](../es/{name}.md)",
        "index": "# Learn\n\nEleven short lessons, from a network that remembers to one that attends. Each is a story "
        "with live pictures: move a slider, press play, read a value under the pointer. Every number is computed by "
        "the code on the page, and each page is also a notebook. [En español](../es/index.md)",
    },
    "es": {
        "open": "Abrir la figura viva aparte",
        "still": "como imagen fija",
        "notebook": "## Ejecútelo usted\n\nEl cuaderno de esta página es [{name}.ipynb]({name}.ipynb): "
        "`jupyter lab docs/learn/es/{name}.ipynb` lo abre. Cambie un número marcado con `change me`, ejecute todas las "
        "celdas y las figuras lo siguen; las frases conservan los números de la lección original. "
        "`python docs/learn/build.py {name}` vuelve a construir esta página a partir de "
        "`docs/learn/lessons/{name}.py`.",
        "around": "[Todas las lecciones](index.md) · [In English](../en/{name}.md)",
        "index": "# Aprender\n\nOnce lecciones breves, de una red que recuerda a una que atiende. Cada una es una "
        "historia con figuras vivas: mueva un deslizador, pulse reproducir, lea un valor bajo el puntero. Cada número "
        "lo calcula el código de la página, y cada página es también un cuaderno. [In English](../en/index.md)",
    },
}


@dataclass(frozen=True)
class Part:
    """One cell of a lesson: a text of one language, or code that all languages share."""

    language: str | None
    content: str


@dataclass
class Ran:
    """What the code of a lesson left: its variables, and what each cell of code printed and showed."""

    names: Mapping[str, Any]
    printed: list[str] = field(default_factory=list)
    shown: list[LivePicture | None] = field(default_factory=list)


def parts_of(name: str) -> list[Part]:
    """The cells of a lesson, in order."""
    source = (HERE / "lessons" / f"{name}.py").read_text(encoding="utf-8")
    found = list(CELL.finditer(source))
    ends = [*(one.start() for one in found[1:]), len(source)]
    parts = []
    for one, end in zip(found, ends, strict=True):
        content = source[one.end() : end].strip()
        if one["language"]:
            content = "\n".join(line.removeprefix("#").removeprefix(" ") for line in content.split("\n"))
        parts.append(Part(one["language"], content.strip()))
    return parts


def run(name: str) -> Ran:
    """Run the code of a lesson in this process, cell by cell, as a notebook does."""
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    shell.displayhook.write_output_prompt = lambda: None
    shell.displayhook.write_format_data = lambda *_: None  # results are written by `page`
    ran = Ran(shell.user_ns)
    for part in parts_of(name):
        if part.language is None:
            said = io.StringIO()
            with redirect_stdout(said):
                result = shell.run_cell(part.content)
            result.raise_error()
            shown = result.result
            ran.shown.append(shown if isinstance(shown, LivePicture) else None)
            value = "" if shown is None or isinstance(shown, LivePicture) else f"{shown!r}\n"
            ran.printed.append(said.getvalue() + value)
    return ran


def filled(text: str, names: Mapping[str, Any], language: str) -> str:
    """A text with the numbers of the run, written as the language writes them."""
    return PLACEHOLDER.sub(lambda found: fill("{" + found[1] + "}", names, language), text)


def opening(name: str, language: str, names: Mapping[str, Any]) -> tuple[str, str, str]:
    """Title, point and the rest of the first text cell."""
    first = next(part.content for part in parts_of(name) if part.language == language)
    title, _, rest = filled(first, names, language).partition("\n")
    point, _, rest = rest.strip().partition("\n\n")
    return title.removeprefix("# "), " ".join(point.split("\n")), rest.strip()


def page(name: str, language: str, ran: Ran) -> str:
    """The page of a lesson: title, point, still, then text, code, what it printed and live pictures."""
    title, point, rest = opening(name, language, ran.names)
    hero = f"{name}.{language}.png" if "hero" in ran.names else f"{name}-1.{language}.png"
    blocks = [
        f"# {title}",
        f"**{point}**",
        f"[![{title}](../figures/{hero})](../figures/{name}-1.{language}.html)",
        rest,
    ]
    texts = TEXTS[language]
    parts = parts_of(name)
    parts.remove(next(part for part in parts if part.language == language))
    code, pictures = 0, 0
    for part in parts:
        if part.language == language:
            blocks.append(filled(part.content, ran.names, language))
        elif part.language is None:
            blocks.append(f"```python\n{part.content}\n```")
            if ran.printed[code].strip():
                blocks.append(f"```text\n{ran.printed[code].rstrip()}\n```")
            picture = ran.shown[code]
            if picture is not None:
                pictures += 1
                file = f"../figures/{name}-{pictures}.{language}"
                said = picture.words.get(language, {}).get(picture.title, picture.title)
                frame = f'title="{said}" width="100%" height="{picture.height}" loading="lazy" style="border:0"'
                blocks.append(f'<iframe src="{file}.html" {frame}></iframe>')
                blocks.append(f"[{texts['open']}]({file}.html), [{texts['still']}]({file}.png)")
            code += 1
    blocks += [END, texts["notebook"].format(name=name), texts["around"].format(name=name)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def notebook(name: str, language: str, names: Mapping[str, Any]) -> str:
    """The notebook of a lesson in one language, without outputs."""
    made = nbformat.v4.new_notebook()
    made.metadata["language_info"] = {"name": "python"}
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    for part in parts_of(name):
        if part.language in (None, language):
            text = part.content if part.language is None else filled(part.content, names, language)
            new = nbformat.v4.new_code_cell if part.language is None else nbformat.v4.new_markdown_cell
            made.cells.append(new(text, id=f"{name}-{len(made.cells)}"))
    nbformat.validate(made)
    return nbformat.writes(made) + "\n"


def build(name: str) -> None:
    """Run one lesson and write all that is made of it."""
    started = time.process_time()  # of this core, whatever else the machine does
    ran = run(name)
    seconds = time.process_time() - started
    pictures = [picture for picture in ran.shown if picture is not None]
    figures = HERE / "figures"
    figures.mkdir(exist_ok=True)
    for language in LANGUAGES:
        (HERE / language).mkdir(exist_ok=True)
        write_atomically(HERE / language / f"{name}.md", page(name, language, ran).encode())
        write_atomically(HERE / language / f"{name}.ipynb", notebook(name, language, ran.names).encode())
        for number, picture in enumerate(pictures, start=1):
            picture.save(figures / f"{name}-{number}.{language}.html", language=language)
            picture.save(figures / f"{name}-{number}.{language}.png", language=language)
        if "hero" in ran.names:
            ran.names["hero"].save(figures / f"{name}.{language}.png", language=language)
    print(f"{name}: {seconds:.1f} s of one core, {len(pictures)} live pictures")


def index(language: str) -> str:
    """The cards of all lessons that have a page: number, title, still, point."""
    blocks = [TEXTS[language]["index"]]
    for number, name in enumerate(ORDER, start=1):
        path = HERE / language / f"{name}.md"
        if path.exists():
            title, point, still, *_ = path.read_text(encoding="utf-8").split("\n\n")
            alt, file = IMAGE.match(still).groups()  # type: ignore[union-attr]
            heading = f"## {number}. [{title.removeprefix('# ')}]({name}.md)"
            blocks += [heading, point.strip("*"), f'<img src="{file}" alt="{alt}" width="480">']
    return "\n\n".join(blocks) + "\n"


def main(names: list[str]) -> None:
    """Build the named lessons, or all, and the list of lessons in each language."""
    for name in names or [name for name in ORDER if (HERE / "lessons" / f"{name}.py").exists()]:
        build(name)
    for language in LANGUAGES:
        write_atomically(HERE / language / "index.md", index(language).encode())


if __name__ == "__main__":
    main(sys.argv[1:])
