// The attention viewer as an anywidget, for Jupyter, VS Code, Colab and marimo: `gallery` are its views, `choice` is
// what is shown of them, and `theme` is auto, light or dark.

import { showAttention } from "./gallery.js";

const DARK_SIGNS = '[data-jp-theme-light="false"], .vscode-dark, .vscode-high-contrast:not(.vscode-high-contrast-light), html[theme="dark"], .dark, .dark-theme';
const LIGHT_SIGNS = '[data-jp-theme-light="true"], .vscode-light, .vscode-high-contrast-light, html[theme="light"], .light, .light-theme';

/** Whether the notebook around an element is dark; undefined where it does not say so. */
function isNotebookDark(element) {
  for (let place = element; place; place = place.getRootNode().host) {
    if (place.closest(DARK_SIGNS)) return true;
    if (place.closest(LIGHT_SIGNS)) return false;
  }
  return undefined;
}

function render({ model, el }) {
  const holder = document.createElement("div");
  const options = {};
  holder.className = "attention-widget";
  let shown = null;
  el.append(holder);

  function followTheme() {
    const theme = model.get("theme");
    options.dark = theme === "auto" ? isNotebookDark(el) : theme === "dark";
    const root = holder.querySelector(".attention-viewer");
    if (!root) return;
    if (options.dark === undefined) delete root.dataset.theme;
    else root.dataset.theme = options.dark ? "dark" : "light";
    shown.redraw();
  }

  function choose() {
    shown.choose(model.get("choice"));
  }

  function show() {
    shown?.remove();
    followTheme();
    shown = showAttention(holder, model.get("gallery"), options);
    followTheme();
    choose();
  }

  const watcher = new MutationObserver(followTheme);
  [document.documentElement, document.body].forEach((place) => watcher.observe(place, { attributes: true, attributeFilter: ["class", "theme", "data-jp-theme-light"] }));
  const changes = { "change:gallery": show, "change:theme": followTheme, "change:choice": choose };
  Object.entries(changes).forEach(([event, follow]) => model.on(event, follow));
  show();
  return () => {
    watcher.disconnect();
    Object.entries(changes).forEach(([event, follow]) => model.off(event, follow));
    shown.remove();
  };
}

export default { render };
