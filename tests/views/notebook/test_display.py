import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import atento
from atento.api.backtest import Backtest, MeanRow
from atento.api.tune import Tuning
from atento.attention import Additive, Attention, Causal, Everything, MultiHead, ScaledDot, Softmax, Sparsemax, Window
from atento.models.diagnostics.attention_maps import AttentionMap
from atento.tasks.traces import Alignment
from atento.views.attention.maps import AttentionMapsView
from atento.views.embeddings import Embeddings
from atento.views.notebook.display import PAGES, notebook_html
from atento.views.notebook.modules import seen
from atento.views.notebook.pictures import heat_map
from atento.views.saving import ModelView

HOSTILE = "<img src=x onerror=alert(1)>\"'</style><script>alert(2)</script>"
LARGEST = 200_000  # characters of what a notebook stores

# The notebook's own style and theme, which must not show through.
HOST = """<!doctype html><meta charset="utf-8"><style>
.output table {{ border: 9px solid red; }} .output td, .output th {{ text-align: right; padding: 30px; }}
</style><body data-jp-theme-light="{light}"><h1>outside</h1><div class="output">{html}</div>"""


def every_view():
    weights = torch.rand(2, 3, 5, 7, generator=torch.Generator().manual_seed(0))
    names = [f"{HOSTILE}{at}" for at in range(7)]
    one = AttentionMap("cross-attention", "cross", names[:5], names, weights)
    return {
        "maps": AttentionMapsView(model=HOSTILE, source=HOSTILE, output=HOSTILE, maps=[one]),
        "alignment": Alignment(names, names[:5], weights, HOSTILE, None),
        "embeddings": Embeddings(names, np.random.default_rng(0).normal(size=(7, 5))),
        "attention": Attention(Additive(13, 11, hidden_size=7), Sparsemax(), Causal() & Window(5)),
        "heads": MultiHead(12, 3, Attention(ScaledDot(), Softmax(), Everything())),
        "recipe": atento.spec.Recipe().with_values({"data.train": HOSTILE}, why=HOSTILE),
    }


def kinds_of_views(kind=ModelView):
    """Every class of views, whichever module it stands in."""
    import importlib
    import pkgutil

    import atento.views

    for module in pkgutil.walk_packages(atento.views.__path__, "atento.views."):
        importlib.import_module(module.name)
    below = [kind]
    for one in below:
        below += one.__subclasses__()
    return {one for one in below[1:] if one.__module__.startswith("atento.")}


def test_a_notebook_shows_every_view():
    lacking = [kind.__name__ for kind in kinds_of_views() if not any(one in PAGES for one in kind.__mro__)]
    assert lacking == []
    with pytest.raises(TypeError, match="no view of dict"):
        notebook_html({})


@pytest.mark.parametrize("name", ["maps", "alignment", "embeddings", "attention", "heads", "recipe"])
def test_what_is_shown_is_small_static_and_escaped(name):
    html = every_view()[name]._repr_html_()
    assert len(html) < LARGEST
    inside = html.partition("</style>")[2]
    assert not re.search(r"<script|<img|<nav|onerror=alert\(1\)>\"| id=", inside)


def test_a_board_is_shown_without_scripts_and_with_its_table(board):
    inside = board._repr_html_().partition("</style>")[2]
    assert "<script" not in inside
    assert all(row.model in inside for row in board.rows)


@pytest.mark.parametrize(("light", "system"), [("true", "dark"), ("false", "light")])
def test_it_follows_the_notebook_and_changes_nothing_else(open_page, board, light, system):
    page = open_page(HOST.format(light=light, html=board._repr_html_()), color_scheme=system)
    found = page.evaluate(
        """() => {
          const style = (place) => getComputedStyle(document.querySelector(place));
          return { paper: style(".atento-view").backgroundColor, border: style(".atento-view table").borderTopWidth,
                   name: style(".atento-view tbody th").textAlign, outside: style("body > h1").fontSize,
                   around: style("body").backgroundColor };
        }"""
    )
    assert found["paper"] == {"true": "rgb(255, 255, 255)", "false": "rgb(20, 23, 27)"}[light]
    assert found["border"] == "0px"
    assert found["name"] == "start"
    assert found["outside"] == "32px"
    assert found["around"] == "rgba(0, 0, 0, 0)"


def test_a_backtest_and_a_search_show_their_numbers(tmp_path):
    mean = MeanRow(HOSTILE, False, 0.375, 0.125, {}, [0.25, 0.5], 2)
    backtest = Backtest(
        folder=tmp_path,
        data=HOSTILE,
        metric="mse",
        metrics={},
        origins=[{}, {}],
        refit=False,
        horizon=8,
        rows=[],
        means=[mean],
        took=1.0,
    )
    html = backtest._repr_html_().partition("</style>")[2]
    assert "0.375" in html and "0.125" in html and "2 of 2" in html and "<script" not in html
    runs = [
        SimpleNamespace(metrics={"scores": {"exact": numbers}}, recipe=atento.spec.Recipe())
        for numbers in ([0.75, 0.7, 0.8], [0.5, 0.4, 0.6])
    ]
    search = Tuning(
        folder=tmp_path,
        task="translate",
        model="gru",
        metric="exact",
        smaller_is_better=False,
        best=runs[0],
        default=runs[1],
        values={"train.lr": 0.123},
        trial=0,
        trials=[],
        tied=True,
        seconds_a_trial=1.0,
        seconds_at_the_end=1.0,
        test_examples=7,
    )
    html = search._repr_html_().partition("</style>")[2]
    assert "0.750" in html and "0.123" in html and "may be chance" in html


def test_labels_of_wide_letters_stay_inside_the_picture(open_page):
    tokens = ["中文字", "שלום עולם", "日本語の文章を読む", "plain"]
    page = open_page(
        f"<!doctype html><meta charset=utf-8>{heat_map(np.eye(4), queries=tokens, keys=tokens, label='x')}"
    )
    outside = page.evaluate(
        """() => {
          const frame = document.querySelector("svg").getBoundingClientRect();
          return [...document.querySelectorAll("svg text")].map((text) => text.getBoundingClientRect())
            .filter((box) => box.left < frame.left - 1 || box.top < frame.top - 1).length;
        }"""
    )
    assert outside == 0


def test_what_a_module_sees_is_its_extent():
    attention = every_view()["attention"]
    ahead = np.arange(16)[:, None] - np.arange(16)  # how far a key lies behind a query
    assert np.array_equal(seen(attention, heads=1, size=13) > 0, (ahead >= 0) & (ahead <= 5))
    html = attention._repr_html_()
    assert "project_query 13 → 7" in html
    assert "Causal() &amp; Window(" in html
    assert f"Attention, {sum(one.numel() for one in attention.parameters())} parameters" in html
