// The drawer "the same as": what was clicked as a command, a recipe in TOML, and Python, each to copy.

import { copyText } from "/static/charts/copying.js";
import { button, make } from "./elements.js";

const FORMS = [["command", "same.command"], ["toml", "same.toml"], ["python", "same.python"]];
const SHOWN = 1500; // milliseconds that "copied" stands on a button

/** A folded drawer; `update(same)` shows other texts and keeps the form that was chosen. */
export function sameDrawer(same, words) {
  const tabs = make("div", { className: "tabs", role: "tablist", ariaLabel: words("same.title") });
  const code = make("code");
  const panel = make("div", { className: "same-text", role: "tabpanel" }, copyButton(words, () => code.textContent), make("pre", { className: "command", tabIndex: 0 }, code));
  const drawer = make("details", { className: "same" }, make("summary", { textContent: words("same.title") }), make("p", { className: "note", textContent: words("same.note") }), tabs, panel);
  let texts = same ?? {}, chosen = "command";

  function draw() {
    const offered = FORMS.filter(([form]) => texts[form]);
    drawer.hidden = !offered.length;
    if (!offered.length) return;
    if (!offered.some(([form]) => form === chosen)) chosen = offered[0][0];
    tabs.replaceChildren(...offered.map(([form, key]) => button(words(key), () => choose(form), { role: "tab", kind: "tab", aria: { selected: String(form === chosen) }, tabIndex: form === chosen ? 0 : -1, data: { form } })));
    code.textContent = texts[chosen];
  }

  function choose(form) {
    chosen = form;
    draw();
    tabs.querySelector(`[data-form="${form}"]`).focus();
  }

  tabs.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const offered = FORMS.map(([form]) => form).filter((form) => texts[form]);
    choose(offered[(offered.indexOf(chosen) + step + offered.length) % offered.length]);
  });
  drawer.update = (other) => {
    texts = other ?? {};
    draw();
  };
  draw();
  return drawer;
}

/** A button that copies a text and says so for a moment. */
export function copyButton(words, content, name = "") {
  const made = button(words("same.copy"), async () => {
    await copyText(content());
    made.textContent = words("same.copied");
    setTimeout(() => { made.textContent = words("same.copy"); }, SHOWN);
  }, { kind: "small copy", aria: { live: "polite", ...(name ? { label: `${words("same.copy")} ${name}` } : {}) } });
  return made;
}
