"""The hooks of the documentation site: which pages there are, in which order, and what is written into them."""

import re
from fnmatch import fnmatchcase
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page
from reference import FILLED, api_pages, fill

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
OWN = (ROOT / "mkdocs.yml", ROOT / "docs" / "site")
ELSEWHERE = {  # files outside docs/ that are pages of the site
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "LICENSE": "license.md",
}
FOLDERS = {
    "decisions": ("Decisions", "Design decisions, each with its reasons and with what was left."),
    "defaults": ("Default values", "How the default values of each task were measured."),
}
RANKS = {  # how early a page stands among the results of a search: what to do before what to look up
    "howto/": 3,
    "faq": 2,
    "tutorials/": 1.5,
    "tasks/": 1.5,
    "reference/api/": 0.2,
    "reference/": 0.7,
    "decisions/": 0.3,
    "defaults/": 0.3,
    "changelog": 0.2,
    "coverage": 0.2,
    "license": 0.2,
    "walkthrough": 0.2,
}
LINK = re.compile(r"(?<=\]\()([^)#\s]+)(#[^)\s]*)?(?=\))")
MARKDOWN = re.compile(r"^# (.+)$", re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put pages where `nav` has patterns, and watch the code of the site."""
    names = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")} | set(generated_pages())
    config.nav, _ = expanded(config.nav or [], names, set())
    config.watch.extend(map(str, OWN))
    return config


def expanded(items: list, names: set[str], used: set[str]) -> tuple[list, set[str]]:
    """The items of `nav` with the pages that their patterns match; a page stands once, at its first pattern, and a
    section without pages is left out.
    """
    found: list = []
    for item in items:
        title, value = next(iter(item.items())) if isinstance(item, dict) else ("", item)
        if isinstance(value, list):
            inner, used = expanded(value, names, used)
            found += [{title: inner}] if inner else []
            continue
        pages = [name for name in names - used if fnmatchcase(name, value) and name.count("/") == value.count("/")]
        pages.sort(key=lambda name: name.removesuffix(".md"))
        used = used | set(pages)
        found += [{title: page} if title else page for page in pages]
    return found, used


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages, and the files outside docs/ that pages link to."""
    for name, text in generated_pages().items():
        files.append(File.generated(config, name, content=text))
    for path in linked_elsewhere():  # whatever `exclude_docs` says of their names
        copy = File.generated(config, published(path), abs_src_path=str(path), inclusion=InclusionLevel.INCLUDED)
        files.append(copy)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links that lead out of docs/ lead to what the site has of it; marked places are filled from the code."""
    name = page.file.src_uri
    page.meta.setdefault(
        "search", {"boost": next((rank for start, rank in RANKS.items() if name.startswith(start)), 1)}
    )
    if name in FILLED:
        markdown = fill(name, markdown)
    return LINK.sub(lambda link: inward(link[1], name) + (link[2] or ""), markdown)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """A Spanish lesson says to screen readers that it is Spanish."""
    spanish = page.file.src_uri.startswith("learn/es/")
    return output.replace('<html lang="en"', '<html lang="es"', 1) if spanish else output


def generated_pages() -> dict[str, str]:
    """Pages made at build time, by their paths below docs/."""
    pages = api_pages()
    for source, name in ELSEWHERE.items():
        if name != "index.md":
            pages[name] = rooted((ROOT / source).read_text(encoding="utf-8"), source)
    for folder, (title, about) in FOLDERS.items():
        rows = [
            f"- [{MARKDOWN.search(path.read_text(encoding='utf-8'))[1]}]({path.name})"
            for path in sorted((DOCS / folder).glob("*.md"))
        ]
        pages[f"{folder}/index.md"] = "\n".join([f"# {title}", "", about, "", *rows, ""])
    return pages


def rooted(text: str, source: str) -> str:
    """A file of the root as a page: its links begin in docs/. What is no Markdown is shown as it is."""
    if not source.endswith(".md"):
        return f"# License\n\natento is free software under the Apache License 2.0.\n\n```text\n{text.strip()}\n```\n"
    return LINK.sub(lambda link: from_root(link[1]) + (link[2] or ""), text)


def from_root(link: str) -> str:
    """A link of a page in the root, as one of a page in docs/."""
    return link if "://" in link else link.removeprefix("docs/") if link.startswith("docs/") else f"../{link}"


def inward(link: str, name: str) -> str:
    """A link of the page `name`, where it leads out of docs/ or to a folder, as one within the site."""
    if "://" in link:
        return link
    target = (DOCS / name).parent.joinpath(link).resolve()
    if target.is_dir():
        return f"{link.rstrip('/')}/index.md"
    if target.is_relative_to(DOCS):
        return link
    inside = ELSEWHERE.get(target.relative_to(ROOT).as_posix(), published(target))
    return "../" * name.count("/") + inside


def published(path: Path) -> str:
    """Where a file outside docs/ is within the site."""
    return f"files/{path.relative_to(ROOT).as_posix()}"


def linked_elsewhere() -> list[Path]:
    """The files outside docs/ that its pages link to, pages of the site apart."""
    found = set()
    for page in DOCS.rglob("*.md"):
        for link, _ in LINK.findall(page.read_text(encoding="utf-8")):
            target = (page.parent / link).resolve()
            if "://" not in link and target.is_file() and not target.is_relative_to(DOCS):
                found.add(target)
    return sorted(path for path in found if path.relative_to(ROOT).as_posix() not in ELSEWHERE)
