import importlib.util
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def boards():
    """The module that makes boards; tests are no package, so it is loaded by its place."""
    place = importlib.util.spec_from_file_location("views_boards", Path(__file__).with_name("boards.py"))
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return module


@pytest.fixture
def board(boards):
    return boards.make_board()


@pytest.fixture
def open_page(browser, tmp_path):
    """Open HTML from a file; in the end nothing may have been fetched, complained about or popped up."""
    contexts, troubles = [], []

    def fetched(request):
        if request.url != (tmp_path / "page.html").as_uri() and not request.url.startswith("data:"):
            troubles.append(f"request {request.url}")

    def open_html(html, *, width=1280, **options):
        path = tmp_path / "page.html"
        path.write_text(html, encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 800}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: troubles.append(f"console {message.text}"))
        page.on("pageerror", lambda error: troubles.append(f"error {error}"))
        page.on("dialog", lambda dialog: troubles.append(f"dialog {dialog.message}"))
        page.on("request", fetched)
        page.goto(path.as_uri())
        return page

    open_html.troubles = troubles  # a test that expects one takes it out
    yield open_html
    for context in contexts:
        context.close()
    assert troubles == []
