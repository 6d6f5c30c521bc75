"""A notebook with every view, executed by a kernel; its widget in a browser, inside a minimal host of anywidgets."""

import json
import os
from base64 import b64encode
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import atento
from pages import wait_until

NOTEBOOK = Path(__file__).parents[3] / "examples" / "views.ipynb"
SECONDS = 300  # of a cell, on a busy machine
LARGEST = 200_000  # characters of a static output
WIDGETS = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
HOST = """<!doctype html><meta charset="utf-8"><body class="{theme}"><div id="host"></div><script type="module">
import widget from "data:text/javascript;base64,{script}";
const state = {state}, hearers = {{}};
const model = {{
  get: (name) => state[name],
  set: (name, value) => {{ state[name] = value; (hearers[`change:${{name}}`] ?? []).forEach((hear) => hear()); }},
  on: (event, hear) => (hearers[event] ??= []).push(hear),
  off: (event, hear) => {{ hearers[event] = hearers[event].filter((one) => one !== hear); }},
  save_changes: () => {{}},
}};
const host = document.getElementById("host");
const root = {shadow} ? host.attachShadow({{ mode: "open" }}) : host;
const style = document.createElement("style");
style.textContent = {style};
const el = document.createElement("div");
root.append(style, el);
window.model = model;
window.end = widget.render({{ model, el }});
</script>"""
PLACE = """(canvas, [row, column]) => {
    const { left, top, cell, row: height, x, y } = canvas.attention;
    return { x: left + (column + 0.5) * cell - x, y: top + (row + 0.5) * height - y };
}"""


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """The notebook with its outputs, and the folder it ran in."""
    folder = tmp_path_factory.mktemp("notebook")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    sources = {**os.environ, "PYTHONPATH": str(Path(atento.__file__).parents[1])}  # the kernel tests what we test
    NotebookClient(notebook, timeout=SECONDS, resources={"metadata": {"path": str(folder)}}).execute(env=sources)
    return notebook, folder


@pytest.fixture(scope="module")
def outputs(executed):
    """What each cell shows, by its name: the data of the results, and of what was displayed before them."""
    return {
        cell.id: [output.data for output in cell.outputs if "data" in output]
        for cell in executed[0].cells
        if cell.cell_type == "code"
    }


@pytest.fixture
def state(executed, outputs):
    """The state of the widget, as a notebook stores it."""
    (shown,) = outputs["widget"]
    return executed[0].metadata.widgets[WIDGETS]["state"][shown[VIEW]["model_id"]]["state"]


def hosted(state, *, theme="vscode-light", shadow=False):
    """A page that does with a widget what a notebook does."""
    kept = {name: state[name] for name in ("gallery", "choice", "theme")}
    return HOST.format(
        theme=theme,
        script=b64encode(state["_esm"].encode()).decode(),
        state=json.dumps(kept).replace("<", "\\u003c"),
        style=json.dumps(state["_css"]),
        shadow=json.dumps(shadow),
    )


def test_it_is_stored_without_outputs():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.id for cell in cells if cell.outputs or cell.execution_count] == []


def test_every_cell_shows_something_small(outputs, open_page):
    silent = ("data", "widget")
    html = {name: shown[-1].get("text/html", "") for name, shown in outputs.items() if name not in silent}
    assert [name for name, text in html.items() if not text] == []
    sizes = {name: len(text) for name, text in html.items() if name != "explain" and len(text) >= LARGEST}
    assert sizes == {}
    static = [text for name, text in html.items() if name not in ("explain", "estimator")]
    page = open_page("<!doctype html><meta charset=utf-8>" + "".join(static), width=1000)
    assert page.locator(".atento-view").count() == len(static)
    wider = "(e) => e.scrollWidth > e.clientWidth + 1"
    wide = page.evaluate(f"[...document.querySelectorAll('.atento-view')].filter({wider}).length")
    assert wide == 0
    assert "ClassifierEstimator" in html["estimator"]
    assert "atento-view" in html["estimator"]  # the fitted run, below scikit-learn's diagram


def test_progress_is_one_output_that_ends_complete(outputs):
    progress, result = outputs["run"]
    assert progress["text/html"].count("<progress") == 1
    assert 'value="1.000"' in progress["text/html"]
    assert "polyline" in progress["text/html"]
    assert "transformer" in result["text/html"]
    assert len(outputs["recurrent"]) == 1  # verbose=False shows nothing
    assert outputs["board"][0]["text/html"].count("<progress") == 2


@pytest.mark.spec("V02")
@pytest.mark.parametrize("shadow", [False, True])
def test_the_widget_shows_the_weights_that_python_has(executed, state, open_page, shadow):
    maps = atento.load(executed[1] / "transformer").explain("abc").maps
    page = open_page(hosted(state, shadow=shadow), width=1400)
    assert page.locator(".attention-tile").count() == 2
    page.evaluate("model.set('choice', { panes: ['map'] })")
    for one in maps:
        _, heads, rows, _ = one.weights.shape
        for layer, head in ((0, heads - 1), (1, 0)):
            page.evaluate("choice => model.set('choice', choice)", {"map": one.name, "layer": layer, "head": head})
            canvas = page.locator(".attention-map").first
            for row, column in ((rows - 1, 0), (1, 1)):
                canvas.hover(position=canvas.evaluate(PLACE, [row, column]))
                page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
                found = float(page.locator(".attention-readout").first.get_attribute("data-weight"))
                assert found == pytest.approx(float(one.weights[layer, head, row, column]), abs=1e-6, nan_ok=True)


def test_the_widget_follows_the_theme_and_leaves_nothing(state, open_page):
    page = open_page(hosted(state, theme="vscode-dark"), color_scheme="light")
    viewer = page.locator(".attention-viewer")
    assert viewer.get_attribute("data-theme") == "dark"
    page.evaluate("document.body.className = 'vscode-light'")
    wait_until(page, lambda: viewer.get_attribute("data-theme") == "light")
    page.evaluate("model.set('theme', 'dark')")
    assert viewer.get_attribute("data-theme") == "dark"
    page.evaluate("model.set('gallery', model.get('gallery').slice(0, 1))")
    assert page.locator(".attention-tile").count() == 1
    page.evaluate("end()")
    assert viewer.count() == 0
