"""The attention viewer as an anywidget, with the scripts of our pages; it needs the extra `notebook`."""

from collections.abc import Sequence

import anywidget
import traitlets

from atento.bundle import Json
from atento.views.html import IMPORT, VIEWER, asset, module

SCRIPT = "web/attention/widget.js"
STYLES = ("web/attention/attention.css", "web/attention/widget.css")


def widget_module() -> str:
    """The viewer as one ES module whose default export is what anywidget calls."""
    return f"{module(VIEWER)}\n{IMPORT.sub('', asset(SCRIPT))}"


class AttentionWidget(anywidget.AnyWidget):
    """Attention maps one can explore, in Jupyter, VS Code, Colab and marimo.

    gallery: the views as `AttentionMapsView.to_json` gives them; those of the same input stand side by side.
    choice: what is shown: map (a name), layer and head, both from 0, and panes.
    theme: auto (as the notebook), light or dark.
    """

    _esm = widget_module()
    _css = "\n".join(map(asset, STYLES))
    gallery = traitlets.List(traitlets.Dict()).tag(sync=True)
    choice = traitlets.Dict().tag(sync=True)
    theme = traitlets.Enum(("auto", "light", "dark"), default_value="auto").tag(sync=True)

    def __init__(self, views: Sequence[Json], *, theme: str = "auto") -> None:
        super().__init__(gallery=[dict(view) for view in views], theme=theme)

    def choose(
        self, *, map: str = "", layer: int | None = None, head: int | None = None, panes: Sequence[str] = ()
    ) -> None:
        """Show one map, layer or head, both from 0, and only these panes: map, heads, links, text, table …"""
        given = {"map": map or None, "layer": layer, "head": head, "panes": list(panes) or None}
        self.choice = {key: value for key, value in given.items() if value is not None}
