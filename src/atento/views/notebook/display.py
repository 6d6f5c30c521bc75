"""Static HTML for notebooks: the parts of a view's page in one element, with a style of its own and without scripts.

`notebook_html` takes every result, view and module that has a page. The style is that of our pages, nested in the
class of the element, so that it changes nothing else in a notebook; light and dark follow the notebook's theme.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from atento.attention.attention import Attention
from atento.attention.heads import MultiHead
from atento.data.text.word_space import WordSpace
from atento.models.diagnostics.gradients import GradientFlow
from atento.spec.recipe import DEFAULT, Recipe
from atento.tasks.traces import Alignment
from atento.views.attention.alignment import AlignmentView
from atento.views.attention.attribution import attribution_page
from atento.views.attention.maps import AttentionMapsView, AttributionView
from atento.views.context import ContextView
from atento.views.embeddings import render_map
from atento.views.forecast import ForecastView
from atento.views.forecast_page import render_forecast
from atento.views.gradients import GradientFlowView, render_gradient_flow
from atento.views.html import STYLES, Markup, Page, asset, document, page, table, tag
from atento.views.latents import LatentView, render_latents
from atento.views.model.graph import ModelGraphView, graph_page
from atento.views.model.histograms import HistogramsView, histograms_page
from atento.views.model.positions import PositionsView
from atento.views.model.schedules import SchedulesView, schedules_page
from atento.views.notebook.inside import (
    alignment_page,
    context_page,
    maps_page,
    matrices_page,
    static_positions,
    tokens_page,
    units_page,
)
from atento.views.notebook.modules import attention_page, multi_head_page
from atento.views.notebook.results import ResultsView, results_page
from atento.views.phase import PhaseView
from atento.views.phase_page import render_phase
from atento.views.report.board import Comparison
from atento.views.report.report import costs, learning, opening, results
from atento.views.states import StatesView
from atento.views.steps import StepsView
from atento.views.tokens import TokensView
from atento.views.word_map import EmbeddingsView, embeddings_view

OWN_STYLE = "web/attention/attention.css"  # of the viewer, which no static page has
CLASS = "atento-view"
# How a notebook says that it is dark or light: JupyterLab, VS Code, Colab, marimo.
DARK = '[data-jp-theme-light="false"], .vscode-dark, .vscode-high-contrast, html[theme="dark"], .dark, .dark-theme'
LIGHT = '[data-jp-theme-light="true"], .vscode-light, html[theme="light"], .light, .light-theme'
COMMENT = re.compile(r"/\*.*?\*/", flags=re.DOTALL)
NOT_NESTED = re.compile(r"@page \{[^}]*\}|^html \{[^}]*\}", flags=re.MULTILINE)
WHOLE_PAGE = re.compile(r":root(?= \{)|^\s*body(?= \{)", flags=re.MULTILINE)
LIGHT_COLOURS = re.compile(r"\A:root \{(?P<colours>[^}]*)\}")
DARK_COLOURS = re.compile(r"prefers-color-scheme: dark\) \{\s*:root \{(?P<colours>[^}]*)\}")
FOR_SCRIPTS = re.compile(r"<script\b.*?</script>|<noscript>.*?</noscript>|<nav\b.*?</nav>", flags=re.DOTALL)
IDENTITY = re.compile(r' id="(?P<name>[^"]*)"')  # in text the quotes are escaped
REFERENCE = re.compile(r"url\(#(?P<name>[^)]*)\)")  # of a drawing to a part of it


def notebook_html(shown: object) -> str:
    """What a notebook shows of a result, a view or a module: HTML that needs no script and fetches nothing."""
    return framed_view(body_of(page_of(shown)))


def framed_view(body: Markup) -> str:
    """Parts of a page as an element of a notebook."""
    return tag("div", tag("style", Markup(scoped_style())), body, class_=CLASS)


def body_of(text: str) -> Markup:
    """What stands in a page, without what only its scripts use; a name may stand in a notebook more than once."""
    body = text.body if isinstance(text, Page) else Markup(text)
    static = FOR_SCRIPTS.sub("", body)
    used = set(REFERENCE.findall(static))
    return Markup(IDENTITY.sub(lambda found: found[0] if found["name"] in used else "", static))


@cache
def scoped_style() -> str:
    """The style of our pages inside the element of a view; its colours are the notebook's where it names a theme."""
    texts = [COMMENT.sub("", asset(name)) for name in STYLES if name != OWN_STYLE]
    nested = WHOLE_PAGE.sub("&", NOT_NESTED.sub("", "\n".join(texts)))
    light = "".join(found["colours"] for text in texts if (found := LIGHT_COLOURS.match(text.lstrip())))
    dark = "".join(found["colours"] for text in texts if (found := DARK_COLOURS.search(text)))
    own = f".{CLASS}.{CLASS}"  # twice, to stand above the notebook's style of tables
    rules = [
        f"{own} {{\n{nested}\n{COMMENT.sub('', asset('web/notebook.css'))}\n}}",
        f":is({LIGHT}) {own} {{ {light} color-scheme: light; }}",
        f":is({DARK}) {own} {{ {dark} color-scheme: dark; }}",
    ]
    return re.sub(r"\s+", " ", "\n".join(rules)).replace("} ", "}\n")


def page_of(shown: object) -> str:
    """The page of what is shown, by its class or the nearest one that it comes from."""
    for kind in type(shown).__mro__:
        if kind in PAGES:
            return PAGES[kind](shown)
    raise TypeError(f"a notebook has no view of {type(shown).__name__}")


def comparison_page(board: Comparison) -> str:
    """A comparison or a run in short: its verdict, its table and its curves; the rest stands in its report."""
    titles = {"Results": results, "Quality against cost": costs, "Learning": learning}
    parts = [(title, write(board)) for title, write in titles.items()]
    sections = [tag("section", tag("h2", title), part) for title, part in parts if part]
    return document(board.title, opening(board), tag("main", *sections))


def recipe_page(recipe: Recipe) -> str:
    """The values of a recipe that were chosen, each with its reason, and all of it folded below."""
    values = recipe.flat()
    chosen = [(key, tag("code", repr(value)), recipe.why(key)) for key, value in values.items()
              if recipe.why(key) != DEFAULT]  # fmt: skip
    opening = [tag("p", f"{recipe.task} with {recipe.model.name}", class_="verdict")]
    whole = tag("details", tag("summary", f"All {len(values)} values"), tag("pre", tag("code", recipe.to_toml())))
    body = tag("section", table(("key", "value", "why"), chosen) if chosen else "", whole)
    return page("recipe", "recipe", opening, body)


def space_page(space: WordSpace) -> str:
    """A map of the most frequent words with their neighbours."""
    return render_map(embeddings_view(space))


PAGES: Mapping[type, Callable[[Any], str]] = {
    Alignment: alignment_page,
    AlignmentView: alignment_page,
    Attention: attention_page,
    AttentionMapsView: maps_page,
    AttributionView: attribution_page,
    Comparison: comparison_page,
    ContextView: context_page,
    EmbeddingsView: render_map,
    ForecastView: render_forecast,
    GradientFlow: lambda flow: render_gradient_flow(GradientFlowView(flow=flow)),
    GradientFlowView: render_gradient_flow,
    HistogramsView: histograms_page,
    LatentView: render_latents,
    ModelGraphView: graph_page,
    MultiHead: multi_head_page,
    PhaseView: render_phase,
    PositionsView: static_positions,
    Recipe: recipe_page,
    SchedulesView: schedules_page,
    ResultsView: results_page,
    StatesView: units_page,
    StepsView: matrices_page,
    TokensView: tokens_page,
    WordSpace: space_page,
}
