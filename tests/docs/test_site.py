"""The documentation site, built as `make docs` builds it: strict, complete, searchable, without a foreign resource."""

import os
import re
import subprocess
import sys
import time
import tomllib
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import typer.main

from atento.cli.app import app
from atento.spec.recipe import accepted, keys

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NAMES = tomllib.loads((ROOT / "tests" / "architecture" / "public_names.toml").read_text(encoding="utf-8"))
PATIENCE = 300  # seconds for a build, on a machine that does other work
LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "object": "data"}
FIRST = 3  # results of a search that a reader looks at
SAID = "document.querySelector('.md-search-result__meta').textContent"
TYPE = """text => {
    const field = document.querySelector("[data-md-component=search-query]");
    field.value = text;
    field.dispatchEvent(new KeyboardEvent("keyup", {bubbles: true}));
}"""
SEARCHED = {  # what people type -> the page that answers it
    "beam search": "howto/beam-search.html",
    "cite": "faq.html",
    "confusion matrix": "howto/confusion-matrix.html",
    "early stopping": "howto/overfitting.html",
    "embedding": "meaning.html",
    "exogenous": "howto/exogenous-variables.html",
    "faq": "faq.html",
    "gpu": "howto/gpu.html",
    "hyperparameter": "howto/hyperparameter-search.html",
    "learning rate": "howto/learning-rate.html",
    "license": "license.html",
    "missing values": "howto/missing-values.html",
    "multivariate": "howto/exogenous-variables.html",
    "notebook": "howto/notebooks.html",
    "out of memory": "howto/out-of-memory.html",
    "overfit": "howto/overfitting.html",
    "resume": "howto/resume.html",
    "seq2seq": "tutorials/3-encoder-decoder.html",
    "teacher forcing": "howto/teacher-forcing.html",
    "train.lr": "reference/recipe.html",
}


class Parts(HTMLParser):
    """The anchors of a page, its links, and what it loads."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loaded = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.anchors |= {found[name] for name in ("id", "name") if found.get(name)}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if tag in LOADED and found.get(LOADED[tag]) and "canonical" not in found.get("rel", ""):
            self.loaded.append(found[LOADED[tag]])


@pytest.fixture(scope="session")
def site(tmp_path_factory, request):
    """The built site. The first process that asks builds it; others of the same run of the tests wait for it."""
    shared = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):
        shared = shared.parent
    place, log = shared / "site", shared / "site.log"
    try:
        (shared / "site.begun").touch(exist_ok=False)
    except FileExistsError:
        end = time.monotonic() + PATIENCE
        while not log.exists() and time.monotonic() < end:
            time.sleep(0.2)
    else:
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(place)]
        environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE)
        (shared / "site.said").write_text(f"{done.returncode}\n{done.stderr}", encoding="utf-8")
        (shared / "site.said").rename(log)
    code, _, said = log.read_text(encoding="utf-8").partition("\n")
    assert code == "0", said
    return place


@pytest.fixture(scope="session")
def pages(site):
    """Every page of the site by its path; live pictures, which are pages within pages, apart."""
    paths = [path for path in site.rglob("*.html") if path.parent.name != "figures"]
    return {path.relative_to(site).as_posix(): Parts(path.read_text(encoding="utf-8")) for path in paths}


def test_every_page_is_built(pages):
    written = {path.relative_to(DOCS).with_suffix(".html").as_posix() for path in DOCS.rglob("*.md")}
    packages = {f"reference/api/{package}.html" for package in NAMES}
    assert written | packages | {"changelog.html", "contributing.html", "license.html"} <= pages.keys()


def test_no_page_loads_anything_from_elsewhere(pages, site):
    foreign = [(name, one) for name, page in pages.items() for one in page.loaded if urlsplit(one).netloc]
    assert not foreign
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert not re.findall(r"url\(['\"]?(?:https?:)?//[^)]*|@import[^;]*//[^;]*", styles)


def broken_links(pages, site):
    """(page, link) of every link or resource within the site that leads to no file or to no anchor."""
    for name, page in pages.items():
        for link in {*page.links, *page.loaded}:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or name == "404.html":
                continue
            path = os.path.normpath(os.path.join(os.path.dirname(name), unquote(parts.path))) if parts.path else name
            target, anchor = pages.get(path), unquote(parts.fragment)
            there = target or (site / path).exists()
            if path.startswith("..") or not there or (anchor and target and anchor not in target.anchors):
                yield name, link


def test_every_link_and_anchor_leads_somewhere(pages, site):
    assert sum(len(page.links) for page in pages.values()) > 1000
    assert not list(broken_links(pages, site))


def test_a_broken_link_is_seen(tmp_path):
    (tmp_path / "a.html").touch()
    text = '<a href="a.html#b">1</a><a id="c" href="#d">2</a><a href="#c">3</a><img src="e.png">'
    found = {link for _, link in broken_links({"a.html": Parts(text)}, tmp_path)}
    assert found == {"a.html#b", "#d", "e.png"}


def test_every_public_name_is_on_the_page_of_its_package(pages):
    lacking = [
        f"{package}.{name}"
        for package, names in NAMES.items()
        for name in names
        if f"{package}.{name}" not in pages[f"reference/api/{package}.html"].anchors
    ]
    assert not lacking


def plain(text):
    """The words of a piece of HTML, without any blank."""
    return re.sub(r"\s+", "", unescape(re.sub(r"<[^>]+>", "", text)))


def entries(path):
    """The words below each heading of the third level, by its anchor."""
    pieces = re.split(r'<h3[^>]* id="([^"]+)"[^>]*>|<h2', path.read_text(encoding="utf-8").partition("</article>")[0])
    return {anchor: plain(text) for anchor, text in pairwise(pieces) if anchor and "<" not in anchor}


def test_signatures_have_types(site):
    text = plain((site / "reference" / "api" / "atento.attention.html").read_text(encoding="utf-8"))
    assert "Additive(query_size:int,key_size:int,*,hidden_size:int" in text


def test_every_recipe_key_is_explained(site):
    """Meaning, type or allowed words, bounds and default of each."""
    found = entries(site / "reference" / "recipe.html")
    assert list(found) == [key.name for key in keys()]
    for key in keys():
        kind, _, bounds = accepted(key.name).partition(", ")
        meaning = plain(key.description.replace("`", ""))
        words = [word for word in kind.split(" | ") if word]
        default = str(key.default).lower() if isinstance(key.default, bool) else str(key.default)
        limits = re.findall(r"[a-z]+|[\d.-]+", bounds)
        text = found[key.name].replace(",", "")
        for said in (meaning[1:].replace(",", ""), *map(plain, words), *limits, f"default{default}".replace(",", "")):
            assert said in text.replace('""', "") or said in text, (key.name, said)


def test_every_command_and_option_is_listed(site):
    found = entries(site / "reference" / "commands.html")
    commands = typer.main.get_command(app).commands
    assert found.keys() == commands.keys()
    lacking = [
        (name, option)
        for name, command in commands.items()
        for parameter in command.params
        for option in (*parameter.opts, parameter.help)
        if (option.startswith("-") or " " in option) and plain(option.replace("`", ""))[1:] not in found[name]
    ]
    assert not lacking


def test_what_people_search_for_is_found(browser, site):
    """In the page itself, opened from disk as a reader may: the page that answers is among the first results."""
    page = browser.new_page(viewport={"width": 1300, "height": 900})
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto((site / "index.html").as_uri())
    page.wait_for_selector("[data-md-component=search]:not([hidden])")
    page.focus("[data-md-component=search-query]")
    lacking = {}
    for words, wanted in SEARCHED.items():
        page.evaluate(TYPE, "")
        page.wait_for_function(f"{SAID}.includes('Type to start')")
        page.evaluate(TYPE, words)
        page.wait_for_function(f"{SAID}.includes('matching')")
        found = page.eval_on_selector_all(".md-search-result__item > a", "links => links.map(link => link.href)")
        first = [urlsplit(link).path.removeprefix(f"{site}/") for link in found[:FIRST]]
        if wanted not in first:
            lacking[words] = first
    page.close()
    assert not lacking
    assert not [url for url in requests if not url.startswith(("file:", "data:", "about:"))]
